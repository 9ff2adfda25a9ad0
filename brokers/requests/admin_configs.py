"""DescribeConfigs, AlterConfigs and IncrementalAlterConfigs (kafka.server.AdminManager, 2.3)."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from attrs import define, field

from brokers.admin_policies import AdminPolicies
from brokers.config_def import (
    DYNAMIC,
    RATES,
    TOPIC_CONFIGS,
    ConfigDefinition,
    ConfigException,
    ServerProperties,
    valid_topic_config,
)
from brokers.dynamic_broker_config import DynamicBrokerConfig
from brokers.metadata_cache import MetadataCache
from brokers.requests.broker_loggers import BrokerLoggers
from brokers.requests.router import handles
from brokers.topic_creation import AdminZkClient, check_name
from emulator.network import Channel
from emulator.nodes import Process
from emulator.protocol.alter_configs import (
    AlterConfigOp,
    AlterConfigsRequest,
    AlterConfigsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    OpType,
)
from emulator.protocol.configs import LONG_MAX, ConfigType
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
from emulator.protocol.errors import NO_API_ERROR, ApiError, ApiException, Errors
from emulator.protocol.znodes import ALL_BROKERS, broker_entity, topic_entity
from emulator.zookeeper import ZkError

Config = Mapping[str, str]
Layers = Callable[[], Mapping[str, Config]]
"""The dynamic settings of the broker, by entity: its own, and those of all brokers."""

INSTEAD: Mapping[str, ConfigSynonym] = {
    name: ConfigSynonym(other, value, ConfigSource.DEFAULT_CONFIG)
    for name, other, value in (
        ("log.retention.ms", "log.retention.hours", "168"),
        ("log.roll.ms", "log.roll.hours", "168"),
        ("log.roll.jitter.ms", "log.roll.jitter.hours", "0"),
        ("log.flush.interval.ms", "log.flush.scheduler.interval.ms", str(LONG_MAX)),
    )
}
"""Settings that have no value unless they are set, each with the one that holds instead, which is named with it only if
it is set itself (DynamicBrokerConfig.brokerConfigSynonyms, AdminManager.configSynonyms; 2.4.1)."""


class _Layer(NamedTuple):
    """The sources of a broker's setting."""

    source: ConfigSource
    config: Config


@define(eq=False)
class ConfigsHandler:
    """Answers for topics, whose settings it reads from ZooKeeper, and for its own broker.

    Attributes:
        server: the settings with which the broker was started.
        layers: the function that returns the settings changed since.
        loggers: the loggers of the broker; None: the release has none that clients see.
    """

    process: Process
    admin_zk: AdminZkClient
    metadata: MetadataCache
    server: ServerProperties
    layers: Layers
    policies: AdminPolicies = field(factory=AdminPolicies)
    loggers: BrokerLoggers | None = None

    # -- describe -----------------------------------------------------------------------------------------------------

    @handles(DescribeConfigsRequest)
    def describe(self, request: DescribeConfigsRequest, channel: Channel) -> None:
        self.process.spawn(self._describe, request, channel, name="describe configs")

    async def _describe(self, request: DescribeConfigsRequest, channel: Channel) -> None:
        described = []
        for resource, names in request.resources:
            try:
                entries = await self._entries(resource)
            except (ApiException, ZkError) as error:
                described.append(DescribedResource(resource, api_error(error)))
                continue
            everything = names is None or (not names and self.policies.no_names_are_all)
            wanted = [entry for entry in entries if everything or entry.name in (names or ())]
            if not request.include_synonyms:
                wanted = [entry._replace(synonyms=()) for entry in wanted]
            described.append(DescribedResource(resource, NO_API_ERROR, tuple(wanted)))
        response = DescribeConfigsResponse(tuple(described))
        channel.reply(response, response.size)

    async def _entries(self, resource: Resource) -> list[ConfigEntry]:
        if resource.type == ResourceType.TOPIC:
            check_name(resource.name)
            if not self.metadata.partitions_of(resource.name):
                raise ApiException(Errors.UNKNOWN_TOPIC_OR_PARTITION)
            return self.topic_entries(await self.admin_zk.config(topic_entity(resource.name)))
        if self._is_logger(resource):
            if not resource.name:
                raise ApiException(Errors.INVALID_REQUEST, "Broker id must not be empty")
            self._check_own(resource.name, "expected {} but received")
            assert self.loggers is not None
            return self.loggers.entries()
        if resource.type != ResourceType.BROKER:
            raise ApiException(Errors.INVALID_REQUEST, f"Unsupported resource type: {_type(resource)}")
        if resource.name:
            self._check_own(resource.name, "expected {} or empty string, but received")
            return [self._broker_entry(name) for name in sorted({**self.server, **self._default(), **self._own()})]
        return [self._default_entry(name, value) for name, value in sorted(self._default().items())]

    def _is_logger(self, resource: Resource) -> bool:
        return resource.type == ResourceType.BROKER_LOGGER and self.loggers is not None

    def topic_entries(self, own: Config) -> list[ConfigEntry]:
        """All settings of a topic that has set ``own``."""
        return [_topic_entry(key, own, self._synonyms(key.broker_name)) for key in TOPIC_CONFIGS.values()]

    def _broker_entry(self, name: str) -> ConfigEntry:
        return self._entry(name, self._synonyms(name))

    def _default_entry(self, name: str, value: str) -> ConfigEntry:
        return self._entry(name, (ConfigSynonym(name, value, ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),))

    def _entry(self, name: str, synonyms: tuple[ConfigSynonym, ...]) -> ConfigEntry:
        """A setting of brokers. What Kafka does not know may be a password (AdminManager.createBrokerConfigEntry)."""
        found = self.server.get(name)
        definition = (RATES.get(name) if self.policies.shows_rates else None) if found is None else found.definition
        type = ConfigType.UNKNOWN if definition is None else definition.type
        dynamic = name in DYNAMIC if found is None else found.is_dynamic
        if definition is None:
            synonyms = tuple(synonym._replace(value=None) for synonym in synonyms)
        if not synonyms:
            return ConfigEntry(name, None, ConfigSource.DEFAULT_CONFIG, type, not dynamic)
        first = synonyms[0]
        return ConfigEntry(name, first.value, first.source, type, not dynamic, definition is None, synonyms)

    def _synonyms(self, name: str) -> tuple[ConfigSynonym, ...]:
        """The broker's values of a setting, the one in force first."""
        layers = (
            _Layer(ConfigSource.DYNAMIC_BROKER_CONFIG, self._own()),
            _Layer(ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG, self._default()),
        )
        found = [ConfigSynonym(name, layer.config[name], layer.source) for layer in layers if name in layer.config]
        server = self.server.get(name)
        if server is not None and server.is_stated:
            found.append(ConfigSynonym(name, server.value, ConfigSource.STATIC_BROKER_CONFIG))
        if name in INSTEAD:
            if found:
                found.append(INSTEAD[name])
        elif server is not None:
            found.append(ConfigSynonym(name, server.definition.default, ConfigSource.DEFAULT_CONFIG))
        return tuple(found)

    def _own(self) -> Config:
        return self.layers().get(broker_entity(self.process.node.id), {})

    def _default(self) -> Config:
        return self.layers().get(ALL_BROKERS, {})

    # -- alter --------------------------------------------------------------------------------------------------------

    @handles(AlterConfigsRequest)
    def alter(self, request: AlterConfigsRequest, channel: Channel) -> None:
        changes = [
            (resource, partial(self._replaced, resource, entries, request.validate_only))
            for resource, entries in request.resources
        ]
        self.process.spawn(self._answer, request, changes, AlterConfigsResponse, channel, name="alter configs")

    @handles(IncrementalAlterConfigsRequest)
    def alter_incrementally(self, request: IncrementalAlterConfigsRequest, channel: Channel) -> None:
        changes = [
            (resource, partial(self._changed, resource, ops, request.validate_only))
            for resource, ops in request.resources
        ]
        self.process.spawn(
            self._answer, request, changes, IncrementalAlterConfigsResponse, channel, name="alter configs"
        )

    async def _answer(
        self,
        request: AlterConfigsRequest | IncrementalAlterConfigsRequest,
        changes: Iterable[tuple[Resource, Callable[[], Awaitable[None]]]],
        answer: Callable[
            [tuple[tuple[Resource, ApiError], ...]], AlterConfigsResponse | IncrementalAlterConfigsResponse
        ],
        channel: Channel,
    ) -> None:
        """Make one change after the other."""
        outcomes, changes = [], list(changes)
        times = Counter(resource for resource, _ in changes)
        for resource, change in changes:
            try:
                if times[resource] > 1 and self.policies.checks_resources:
                    raise ApiException(Errors.INVALID_REQUEST, "Each resource must appear at most once.")
                await change()
                outcomes.append((resource, NO_API_ERROR))
            except ConfigException as error:
                why = f"Invalid config value for resource {resource}: {error}"
                of_topic = resource.type == ResourceType.TOPIC and self.policies.checks_resources
                code = Errors.INVALID_CONFIG if of_topic else Errors.INVALID_REQUEST
                outcomes.append((resource, ApiError(code, why)))
            except (ApiException, ZkError) as error:
                outcomes.append((resource, api_error(error)))
        response = answer(tuple(outcomes))
        channel.reply(response, response.size)

    async def _replaced(
        self, resource: Resource, entries: Iterable[tuple[str, str | None]], validate_only: bool
    ) -> None:
        self._entity(resource)
        config = dict(entries)
        nulls = [name for name, value in config.items() if value is None]
        if nulls:
            raise self.null_values(nulls)
        await self._write(resource, config, validate_only)

    async def _changed(self, resource: Resource, ops: tuple[AlterConfigOp, ...], validate_only: bool) -> None:
        names = [op.name for op in ops]
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice:
            which = "" if self.policies.checks_resources else f" : {','.join(twice)}"
            raise ApiException(Errors.INVALID_REQUEST, f"Error due to duplicate config keys{which}")
        strict = self.policies.checks_resources
        missing = [op for op in ops if op.value is None and op.op != OpType.DELETE]
        nulls = [op.name if strict else f"{_verb(op)}:{op.name}" for op in missing]
        if nulls:
            raise self.null_values(nulls)
        if self._is_logger(resource):
            self._change_levels(resource, ops, validate_only)
            return
        config: dict[str, str | None] = dict(await self.admin_zk.config(self._entity(resource)))
        for op in ops:
            self._change(resource, config, op)
        await self._write(resource, config, validate_only)

    def _change_levels(self, resource: Resource, ops: tuple[AlterConfigOp, ...], validate_only: bool) -> None:
        if resource.name:
            self._check_own(resource.name, "expected {}, but received", alters=True)
        assert self.loggers is not None
        self.loggers.check(resource, ops, by_3_2=self.policies.checks_resources)
        if not validate_only:
            self.loggers.change(ops)

    def null_values(self, names: Iterable[str], *, of_new_topic: bool = False) -> ApiException:
        """Why settings ``names`` that have no value are refused."""
        if not self.policies.knows_missing_settings:
            return ApiException(Errors.UNKNOWN_SERVER_ERROR)
        code, what = Errors.INVALID_REQUEST, "topic configs " if of_new_topic else ""
        if of_new_topic and self.policies.checks_resources:
            code, what = Errors.INVALID_CONFIG, "topic configs"
        return ApiException(code, f"Null value not supported for {what}: {','.join(names)}")

    def _change(self, resource: Resource, config: dict[str, str | None], op: AlterConfigOp) -> None:
        """Make one change in ``config`` (AdminManager.prepareIncrementalConfigs)."""
        if op.op == OpType.SET:
            config[op.name] = op.value
        elif op.op == OpType.DELETE:
            config.pop(op.name, None)
        elif op.op not in (OpType.APPEND, OpType.SUBTRACT):
            raise ApiException(Errors.INVALID_REQUEST, f"Unknown operation: {op.op}")
        else:
            key = self._definition(resource, op.name)
            if key is None:
                raise ApiException(Errors.INVALID_CONFIG, f"Unknown topic config name: {op.name}")
            if key.type is not ConfigType.LIST:
                why = f"Config value {_verb(op).lower()} is not allowed for config key: {op.name}"
                strict = self.policies.checks_resources
                raise ApiException(Errors.INVALID_CONFIG if strict else Errors.INVALID_REQUEST, why)
            config[op.name] = self._list(key, config.get(op.name), op)

    def _list(self, key: ConfigDefinition, text: str | None, op: AlterConfigOp) -> str:
        """The list ``text`` after a change. Up to 3.2 an empty list had an empty item, and an item could come twice."""
        if text is None and not self.policies.knows_missing_settings:
            raise ApiException(Errors.UNKNOWN_SERVER_ERROR)
        once = self.policies.checks_resources
        items = [item for item in (key.default if text is None else text).split(",") if item or not once]
        for item in (op.value or "").split(","):
            if op.op == OpType.APPEND and not (once and item in items):
                items.append(item)
            elif op.op == OpType.SUBTRACT and item in items:
                items.remove(item)
        return ",".join(items)

    def _definition(self, resource: Resource, name: str) -> ConfigDefinition | None:
        if resource.type == ResourceType.TOPIC:
            return TOPIC_CONFIGS.get(name)
        found = self.server.get(name)
        return None if found is None else found.definition

    async def _write(self, resource: Resource, config: Mapping[str, str | None], validate_only: bool) -> None:
        if resource.type == ResourceType.TOPIC:
            check_name(resource.name)
            if not await self.admin_zk.exists(resource.name):
                why = f"The topic '{resource.name}' does not exist."
                raise ApiException(Errors.UNKNOWN_TOPIC_OR_PARTITION, why)
            valid = valid_topic_config(config)
        else:
            now = DynamicBrokerConfig(self.server, self._default(), self._own())
            valid = now.validate(config, per_broker=bool(resource.name))
        if not validate_only:
            await self.admin_zk.change_config(self._entity(resource), valid)

    def _entity(self, resource: Resource) -> str:
        """The entity whose settings are changed. Raises: ApiException."""
        if resource.type == ResourceType.TOPIC:
            if not resource.name and self.policies.checks_resources:
                raise ApiException(Errors.INVALID_REQUEST, "Default topic resources are not allowed.")
            return topic_entity(resource.name)
        if resource.type != ResourceType.BROKER:
            why = f"AlterConfigs is only supported for topics and brokers, but resource type is {_type(resource)}"
            if self.policies.checks_resources:
                why = f"Unknown resource type {resource.type}"
            raise ApiException(Errors.INVALID_REQUEST, why)
        if not resource.name:
            return ALL_BROKERS
        self._check_own(resource.name, "expected {}, but received", alters=True)
        return broker_entity(self.process.node.id)

    def _check_own(self, name: str, expected: str, *, alters: bool = False) -> None:
        """A broker knows its own settings only."""
        what = "Node" if alters and self.policies.checks_resources else "Broker"
        if not name.removeprefix("-").isdecimal():
            raise ApiException(Errors.INVALID_REQUEST, f"{what} id must be an integer, but it is: {name}")
        if int(name) != self.process.node.id:
            why = f"Unexpected broker id, {expected.format(self.process.node.id)} {name}"
            raise ApiException(Errors.INVALID_REQUEST, why)


def _topic_entry(key: ConfigDefinition, own: Config, of_broker: tuple[ConfigSynonym, ...]) -> ConfigEntry:
    """A setting of a topic; what the topic has not set is the broker's."""
    synonyms = of_broker
    if key.name in own:
        synonyms = (ConfigSynonym(key.name, own[key.name], ConfigSource.TOPIC_CONFIG), *of_broker)
    if not synonyms:
        return ConfigEntry(key.name, key.default, ConfigSource.DEFAULT_CONFIG, key.type)
    return ConfigEntry(key.name, synonyms[0].value, synonyms[0].source, key.type, synonyms=synonyms)


def _verb(op: AlterConfigOp) -> str:
    known = op.op in OpType.__members__.values()
    return OpType(op.op).name if known else "UNKNOWN"


def _type(resource: Resource) -> str:
    known = resource.type in ResourceType.__members__.values()
    return ResourceType(resource.type).name if known else "UNKNOWN"


def api_error(error: ApiException | ZkError) -> ApiError:
    """The error of a response; what fails in ZooKeeper has no code of its own."""
    if isinstance(error, ApiException):
        return error.error
    return ApiError(Errors.UNKNOWN_SERVER_ERROR, str(error))
