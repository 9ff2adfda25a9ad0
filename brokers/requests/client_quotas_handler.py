"""DescribeClientQuotas and AlterClientQuotas (AdminManager, 2.6 and 2.7): any broker reads and writes ZooKeeper."""

from collections.abc import Iterable, Sequence

from attrs import define

from brokers.client_quotas import CONSUMER, DEFAULT, MUTATIONS, PRODUCER, REQUESTS, Entity, entity_of, path_of
from brokers.requests.admin_configs import api_error
from brokers.requests.router import handles
from brokers.topic_creation import AdminZkClient
from emulator.network import Channel
from emulator.nodes import Process
from emulator.protocol.client_quotas import (
    CLIENT_ID,
    EXACT,
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
from emulator.protocol.errors import NO_API_ERROR, ApiError, ApiException, Errors
from emulator.zookeeper import NoNode, ZkError

KEYS = (PRODUCER, CONSUMER, REQUESTS, MUTATIONS)
WHOLE = (PRODUCER, CONSUMER)
EPSILON = 1e-6
"""How far from a whole number a value may be that has to be one."""


@define(eq=False)
class ClientQuotasHandler:
    """Answers for the entities in ZooKeeper.

    Attributes:
        limits_mutations: KIP-599 (2.7): there is a quota of the controller's work.
    """

    process: Process
    admin_zk: AdminZkClient
    limits_mutations: bool = False

    # -- describe -----------------------------------------------------------------------------------------------------

    @handles(DescribeClientQuotasRequest)
    def describe(self, request: DescribeClientQuotasRequest, channel: Channel) -> None:
        self.process.spawn(self._describe, request, channel, name="describe client quotas")

    async def _describe(self, request: DescribeClientQuotasRequest, channel: Channel) -> None:
        try:
            wanted = _by_type(request.filters)
            entries = []
            for path in await self._paths():
                entity = entity_of(path)
                settings = await self.admin_zk.config(path)
                quotas = tuple((key, float(value)) for key, value in settings.items() if key in KEYS)
                if entity is not None and quotas and _fits(entity, wanted, request.strict):
                    entries.append((_as_asked(entity), quotas))
            response = DescribeClientQuotasResponse(NO_API_ERROR, tuple(entries))
        except (ApiException, ZkError) as error:
            response = DescribeClientQuotasResponse(api_error(error))
        channel.reply(response, response.size)

    async def _paths(self) -> list[str]:
        """The paths of all entities, below ``/config/``."""
        users = [f"users/{user}" for user in await self._children("users")]
        pairs = [f"{user}/clients/{client}" for user in users for client in await self._children(f"{user}/clients")]
        return [*users, *(f"clients/{client}" for client in await self._children("clients")), *pairs]

    async def _children(self, path: str) -> Sequence[str]:
        try:
            return await self.admin_zk.zk.children(f"/config/{path}")
        except NoNode:
            return ()

    # -- alter --------------------------------------------------------------------------------------------------------

    @handles(AlterClientQuotasRequest)
    def alter(self, request: AlterClientQuotasRequest, channel: Channel) -> None:
        self.process.spawn(self._alter, request, channel, name="alter client quotas")

    async def _alter(self, request: AlterClientQuotasRequest, channel: Channel) -> None:
        results = []
        for entity, changes in request.entries:
            error: ApiError = NO_API_ERROR
            try:
                path = path_of(_named(entity))
                settings = self._changed(await self.admin_zk.config(path), changes)
                if not request.validate_only:
                    await self.admin_zk.change_config(path, settings)
            except (ApiException, ZkError) as refused:
                error = api_error(refused)
            results.append((entity, error))
        response = AlterClientQuotasResponse(tuple(results))
        channel.reply(response, response.size)

    def _changed(self, settings: dict[str, str], changes: Iterable[tuple[str, float | None]]) -> dict[str, str]:
        """Raises: ApiException."""
        for key, value in changes:
            if value is None:
                settings.pop(key, None)
            elif key not in KEYS or (key == MUTATIONS and not self.limits_mutations):
                raise _invalid(f"Invalid configuration key {key}")
            elif key not in WHOLE:
                settings[key] = repr(value)
            elif abs(int(value + EPSILON) - value) > EPSILON:
                raise _invalid(f"Configuration {key} must be a Long value")
            else:
                settings[key] = str(int(value + EPSILON))
        return settings


def _invalid(what: str) -> ApiException:
    return ApiException(Errors.INVALID_REQUEST, what)


def _named(entity: QuotaEntity) -> Entity:
    """The entity of a request. Raises: ApiException."""
    if not entity:
        raise _invalid("Invalid empty client quota entity")
    found: dict[str, str] = {}
    for type, name in entity:
        if type not in (USER, CLIENT_ID):
            raise _invalid(f"Unhandled client quota entity type: {type}")
        if name == "":
            raise _invalid(f"Empty {type} not supported")
        found[type] = DEFAULT if name is None else name
    return found.get(USER), found.get(CLIENT_ID)


def _as_asked(entity: Entity) -> QuotaEntity:
    """The entity as answers have it."""
    parts = zip((USER, CLIENT_ID), entity, strict=True)
    return tuple((type, None if name == DEFAULT else name) for type, name in parts if name is not None)


def _by_type(filters: Iterable[QuotaFilter]) -> dict[str, QuotaFilter]:
    """Raises: ApiException."""
    found: dict[str, QuotaFilter] = {}
    for each in filters:
        if each.type in found:
            what = "user" if each.type == USER else "client"
            raise _invalid(f"Duplicate {what} filter component entity type")
        if each.type == "":
            raise _invalid("Unexpected empty filter component entity type")
        if each.type not in (USER, CLIENT_ID):
            raise ApiException(Errors.UNSUPPORTED_VERSION, f"Custom entity type '{each.type}' not supported")
        if each.match_type not in (EXACT, IS_DEFAULT, SPECIFIED):
            raise _invalid(f"Unexpected match type: {each.match_type}")
        found[each.type] = each
    return found


def _fits(entity: Entity, wanted: dict[str, QuotaFilter], strict: bool) -> bool:
    """Whether an entity is one of those that a request asks for."""
    for type, name in zip((USER, CLIENT_ID), entity, strict=True):
        if type not in wanted:
            if name is not None and strict:
                return False
            continue
        each = wanted[type]
        exact = DEFAULT if each.match_type == IS_DEFAULT else each.match
        if name is None or (each.match_type != SPECIFIED and name != exact):
            return False
    return True
