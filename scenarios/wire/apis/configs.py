"""DescribeConfigs, AlterConfigs and IncrementalAlterConfigs."""

from typing import Any

from brokers.dynamic_broker_config import PER_BROKER
from emulator.protocol.alter_configs import (
    AlterConfigOp,
    AlterConfigsRequest,
    AlterConfigsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from emulator.protocol.configs import ConfigType
from emulator.protocol.describe_configs import (
    ConfigEntry,
    ConfigSource,
    ConfigSynonym,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribedResource,
    Resource,
    ResourceType,
)
from emulator.protocol.errors import ApiError
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api
from scenarios.wire.apis.shared import answer


@wire_api
class DescribeConfigs(WireApi):
    """Versions: 0 has whether a value is the default, later ones its source; 3 has types, and documentation, which is
    null here."""

    key = 32

    def to_request(self, body: Body, connection: Connection) -> DescribeConfigsRequest:
        wanted = tuple((_resource(each), _names(each["configuration_keys"])) for each in body["resources"])
        return DescribeConfigsRequest(wanted, body["include_synonyms"])

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        found: DescribeConfigsResponse = response
        asked = zip(found.resources, body["resources"], strict=True)
        return {"results": [self._described(each, wanted, body, connection) for each, wanted in asked]}

    def _described(self, found: DescribedResource, wanted: Body, body: Body, connection: Connection) -> Body:
        entries, names = found.entries, _names(wanted["configuration_keys"])
        if found.resource.type == ResourceType.BROKER and found.resource.name and not found.error.code:
            stated = connection.served.stated.get(connection.broker, {})
            more = [_stated(name, value, body["include_synonyms"]) for name, value in stated.items()]
            everything = names is None or (not names and bool(entries))  # an empty list asks for all, since 2.7
            entries = (*entries, *(entry for entry in more if everything or entry.name in (names or ())))
        return {**_result(found.resource, found.error), "configs": [_entry(entry) for entry in entries]}


def _names(keys: list[str] | None) -> tuple[str, ...] | None:
    return None if keys is None else tuple(keys)


def _stated(name: str, value: str, with_synonyms: bool) -> ConfigEntry:
    """A setting that a broker's server.properties has, as every cluster needs it."""
    type = ConfigType.INT if name == "broker.id" else ConfigType.STRING
    own = [ConfigSynonym(name, value, ConfigSource.STATIC_BROKER_CONFIG)]
    own += [each for each in (_DEFAULTS.get(name),) if each is not None]
    synonyms = tuple(own) if with_synonyms else ()
    return ConfigEntry(name, value, ConfigSource.STATIC_BROKER_CONFIG, type, name not in PER_BROKER, synonyms=synonyms)


_DEFAULTS = {"broker.id": ConfigSynonym("broker.id", "-1", ConfigSource.DEFAULT_CONFIG)}


def _entry(entry: ConfigEntry) -> Body:
    return {
        "name": entry.name,
        "value": entry.value,
        "read_only": entry.read_only,
        "is_default": entry.source is ConfigSource.DEFAULT_CONFIG,
        "config_source": int(entry.source),
        "is_sensitive": entry.is_sensitive,
        "synonyms": [
            {"name": synonym.name, "value": synonym.value, "source": int(synonym.source)} for synonym in entry.synonyms
        ],
        "config_type": int(entry.type),
        "documentation": None,
    }


@wire_api
class AlterConfigs(WireApi):
    """Change all settings of a resource at once."""

    key = 33

    def to_request(self, body: Body, connection: Connection) -> AlterConfigsRequest:
        changes = tuple(
            (_resource(each), tuple((config["name"], config["value"]) for config in each["configs"]))
            for each in body["resources"]
        )
        return AlterConfigsRequest(changes, body["validate_only"])

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        return _altered(response)


@wire_api
class IncrementalAlterConfigs(WireApi):
    """Change single settings (KIP-339)."""

    key = 44

    def to_request(self, body: Body, connection: Connection) -> IncrementalAlterConfigsRequest:
        changes = tuple(
            (
                _resource(each),
                tuple(
                    AlterConfigOp(config["name"], config["config_operation"], config["value"])
                    for config in each["configs"]
                ),
            )
            for each in body["resources"]
        )
        return IncrementalAlterConfigsRequest(changes, body["validate_only"])

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        return _altered(response)


def _altered(response: AlterConfigsResponse | IncrementalAlterConfigsResponse) -> Body:
    return {"responses": [_result(resource, error) for resource, error in response.resources]}


def _resource(each: Body) -> Resource:
    return Resource(each["resource_type"], each["resource_name"])


def _result(resource: Resource, error: ApiError) -> Body:
    return {**answer(error), "resource_type": resource.type, "resource_name": resource.name}
