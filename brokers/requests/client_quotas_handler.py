"""DescribeClientQuotas and AlterClientQuotas (AdminManager, 2.6 and 2.7; ZkAdminManager, 2.8): any broker reads and
writes ZooKeeper."""

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_address

from attrs import define

from brokers.admin_policies import AdminPolicies
from brokers.client_quotas import (
    CONNECTIONS,
    CONSUMER,
    DEFAULT,
    MUTATIONS,
    PRODUCER,
    REQUESTS,
    desanitized,
    entity_of,
    path_of,
    sanitized,
)
from brokers.requests.admin_configs import api_error
from brokers.requests.router import handles
from brokers.topic_creation import AdminZkClient
from emulator.network import Channel
from emulator.nodes import Process
from emulator.protocol.client_quotas import (
    CLIENT_ID,
    EXACT,
    IP,
    SPECIFIED,
    USER,
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    QuotaEntity,
    QuotaFilter,
)
from emulator.protocol.client_quotas import DEFAULT as IS_DEFAULT
from emulator.protocol.configs import as_text
from emulator.protocol.errors import NO_API_ERROR, ApiError, ApiException, Errors
from emulator.zookeeper import NoNode, ZkError

LONG, INT, DOUBLE = "LONG", "INT", "DOUBLE"
Keys = Mapping[str, str]
"""The settings of an entity, with their types."""
KEYS: Keys = {PRODUCER: LONG, CONSUMER: LONG, REQUESTS: DOUBLE, MUTATIONS: DOUBLE}
KEYS_OF_ADDRESSES: Keys = {CONNECTIONS: INT}
EPSILON = 1e-6
"""How far from a whole number a value may be that has to be one."""


@define(eq=False)
class ClientQuotasHandler:
    """Answers for the entities in ZooKeeper."""

    process: Process
    admin_zk: AdminZkClient
    policies: AdminPolicies

    # -- describe -----------------------------------------------------------------------------------------------------

    @handles(DescribeClientQuotasRequest)
    def describe(self, request: DescribeClientQuotasRequest, channel: Channel) -> None:
        self.process.spawn(self._describe, request, channel, name="describe client quotas")

    async def _describe(self, request: DescribeClientQuotasRequest, channel: Channel) -> None:
        try:
            wanted = _by_type(request.filters, (USER, CLIENT_ID, IP) if self._knows_addresses else (USER, CLIENT_ID))
            entries = []
            for path in await self._paths():
                parts, keys = _parts(path)
                settings = await self.admin_zk.config(path)
                quotas = tuple((key, float(value)) for key, value in settings.items() if key in keys)
                if parts and quotas and _fits(parts, wanted, request.strict):
                    entries.append((parts, quotas))
            response = DescribeClientQuotasResponse(NO_API_ERROR, tuple(entries))
        except (ApiException, ZkError) as error:
            response = DescribeClientQuotasResponse(api_error(error))
        channel.reply(response, response.size)

    async def _paths(self) -> list[str]:
        """The paths of all entities, below ``/config/``."""
        users = [f"users/{user}" for user in await self._children("users")]
        pairs = [f"{user}/clients/{client}" for user in users for client in await self._children(f"{user}/clients")]
        ips = [f"ips/{ip}" for ip in await self._children("ips")] if self._knows_addresses else []
        return [*users, *(f"clients/{client}" for client in await self._children("clients")), *pairs, *ips]

    async def _children(self, path: str) -> Sequence[str]:
        try:
            return await self.admin_zk.zk.children(f"/config/{path}")
        except NoNode:
            return ()

    @property
    def _knows_addresses(self) -> bool:
        return self.policies.limits_addresses

    # -- alter --------------------------------------------------------------------------------------------------------

    @handles(AlterClientQuotasRequest)
    def alter(self, request: AlterClientQuotasRequest, channel: Channel) -> None:
        self.process.spawn(self._alter, request, channel, name="alter client quotas")

    async def _alter(self, request: AlterClientQuotasRequest, channel: Channel) -> None:
        results = []
        for entity, changes in request.entries:
            error: ApiError = NO_API_ERROR
            try:
                path = self._path(entity)
                settings = self._changed(await self.admin_zk.config(path), changes, _parts(path)[1])
                if not request.validate_only:
                    await self.admin_zk.change_config(path, settings)
            except (ApiException, ZkError) as refused:
                error = api_error(refused)
            results.append((entity, error))
        response = AlterClientQuotasResponse(tuple(results))
        channel.reply(response, response.size)

    def _path(self, entity: QuotaEntity) -> str:
        """The path of the entity that a request names. Raises: ApiException."""
        if not entity:
            raise _invalid("Invalid empty client quota entity")
        found: dict[str, str] = {}
        for type, name in entity:
            if type not in (USER, CLIENT_ID) and not (type == IP and self._knows_addresses):
                raise _invalid(f"Unhandled client quota entity type: {type}")
            if name == "":
                raise _invalid(f"Empty {type} not supported")
            found[type] = DEFAULT if name is None else name
        if IP not in found:
            return path_of((found.get(USER), found.get(CLIENT_ID)))
        if len(found) > 1:
            words = "IP entity should not be used with user/client ID entity."
            raise _invalid(f"Invalid quota entity combination, {words}")
        node = sanitized(found[IP])
        if not _is_address(found[IP]):
            raise _invalid(f"{node} is not a valid IP or resolvable host.")
        return f"ips/{node}"

    def _changed(
        self, settings: dict[str, str], changes: Iterable[tuple[str, float | None]], keys: Keys
    ) -> dict[str, str]:
        """Raises: ApiException."""
        for key, value in changes:
            if value is None:
                settings.pop(key, None)
            elif key not in keys or (key == MUTATIONS and not self.policies.limits_mutations):
                raise _invalid(f"Invalid configuration key {key}")
            elif keys[key] == DOUBLE:
                settings[key] = as_text(value)
            elif abs(int(value + EPSILON) - value) > EPSILON:
                raise _invalid(f"Configuration {key} must be a {keys[key] if self._knows_addresses else 'Long'} value")
            else:
                settings[key] = str(int(value + EPSILON))
        return settings


def _invalid(what: str) -> ApiException:
    return ApiException(Errors.INVALID_REQUEST, what)


def _is_address(name: str) -> bool:
    """Whether connections can come from there. The world has no names of hosts (DynamicConfig.Ip.isValidIpEntity)."""
    try:
        return name in (DEFAULT, "localhost") or ip_address(name) is not None
    except ValueError:
        return False


def _parts(path: str) -> tuple[QuotaEntity, Keys]:
    """The entity at a path below ``/config/``, as answers have it, with the keys of its quotas; empty: it is none."""
    if path.startswith("ips/"):
        name = desanitized(path.removeprefix("ips/"))
        return ((IP, None if name == DEFAULT else name),), KEYS_OF_ADDRESSES
    parts = zip((USER, CLIENT_ID), entity_of(path) or (None, None), strict=True)
    return tuple((type, None if name == DEFAULT else name) for type, name in parts if name is not None), KEYS


def _by_type(filters: Iterable[QuotaFilter], known: Sequence[str]) -> dict[str, QuotaFilter]:
    """Raises: ApiException."""
    found: dict[str, QuotaFilter] = {}
    for each in filters:
        if each.type in found:
            what = "client" if each.type == CLIENT_ID else each.type
            raise _invalid(f"Duplicate {what} filter component entity type")
        if each.type == "":
            raise _invalid("Unexpected empty filter component entity type")
        if each.type not in known:
            raise ApiException(Errors.UNSUPPORTED_VERSION, f"Custom entity type '{each.type}' not supported")
        if each.match_type not in (EXACT, IS_DEFAULT, SPECIFIED):
            raise _invalid(f"Unexpected match type: {each.match_type}")
        found[each.type] = each
    if IP in found and len(found) > 1:
        words = "IP filter component should not be used with user or clientId filter component."
        raise _invalid(f"Invalid entity filter component combination, {words}")
    return found


def _fits(entity: QuotaEntity, wanted: dict[str, QuotaFilter], strict: bool) -> bool:
    """Whether an entity is one of those that a request asks for."""
    parts = dict(entity)
    if strict and not parts.keys() <= wanted.keys():
        return False
    for type, each in wanted.items():
        exact = None if each.match_type == IS_DEFAULT else each.match
        if type not in parts or (each.match_type != SPECIFIED and parts[type] != exact):
            return False
    return True
