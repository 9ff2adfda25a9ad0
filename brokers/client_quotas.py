"""The quotas of one broker's clients: bytes per second that a user or a client.id may produce and consume (KIP-13,
KIP-55; ClientQuotaManager, 1.1 to 2.8).

A rate is Kafka's windowed one (Rate, SampledStat): the bytes in eleven samples of a second each, over their time, in
which samples that do not exist yet count as whole ones. What exceeds a quota is carried out all the same; the time that
would bring the rate down is the throttle time of its answer. How a channel is then muted is not decided here.
"""

from collections.abc import Callable, Mapping
from urllib.parse import quote, unquote

from attrs import define, field

from brokers.controller_mutations import BoundedControllerMutationQuota, ControllerMutationQuota, TokenBucket, java_int
from emulator.protocol.mutating_client import MutatingClient

SAMPLES, WINDOW_MS = 11, 1000
"""quota.window.num and quota.window.size.seconds."""
DEFAULT = ""
"""The name of the default entity: one that no user and no client id has, as "<default>" may be."""
DEFAULT_NODE = "<default>"
"""The name of the default entity in ZooKeeper (ConfigEntityName.Default); a client called so has another one."""
ANONYMOUS = "ANONYMOUS"
"""The user of a connection without authentication (KafkaPrincipal.ANONYMOUS)."""
PRODUCER, CONSUMER = "producer_byte_rate", "consumer_byte_rate"
REQUESTS, MUTATIONS = "request_percentage", "controller_mutation_rate"
CONNECTIONS = "connection_creation_rate"
"""The quota of an address, which is kept and has no effect."""
NO_LIMIT = float((1 << 63) - 1)
"""The rate of a bucket without a quota."""
Limits = Mapping[str, str]
Entity = tuple[str | None, str | None]
"""A user and a client id, or DEFAULT; None: the entity has no such part."""


def sanitized(name: str) -> str:
    """A name, or DEFAULT, as ZooKeeper has it in a path (Sanitizer.sanitize)."""
    return DEFAULT_NODE if name == DEFAULT else quote(name, safe="").replace("~", "%7E")


def desanitized(node: str) -> str:
    """The reverse of ``sanitized``."""
    return DEFAULT if node == DEFAULT_NODE else unquote(node)


def entity_of(path: str) -> Entity | None:
    """The entity whose settings are at ``/config/`` + ``path``: ``clients/billing``, ``users/alice``,
    ``users/alice/clients/billing``. None: it is no entity with quotas."""
    kind, *names = path.split("/")
    if "" in names:
        return None
    parts = [desanitized(name) for name in names]
    if kind == "clients" and len(names) == 1:
        return None, parts[0]
    if kind == "users" and len(names) == 1:
        return parts[0], None
    if kind == "users" and len(names) == 3 and names[1] == "clients":
        return parts[0], parts[2]
    return None


def path_of(entity: Entity) -> str:
    """The reverse of ``entity_of``."""
    user, client = (None if name is None else sanitized(name) for name in entity)
    if user is None:
        return f"clients/{client}"
    return f"users/{user}" if client is None else f"users/{user}/clients/{client}"


@define(eq=False)
class SampledRate:
    """A rate over the samples of a window, in values per second."""

    _samples: list[list[float]] = field(factory=list)
    """The samples: ``[begin in ms, sum]``."""
    _current: int = 0

    def record(self, value: float, now_ms: int) -> None:
        samples = self._samples
        if not samples:
            samples.append([now_ms, 0.0])
        elif now_ms - samples[self._current][0] >= WINDOW_MS:
            self._current = (self._current + 1) % SAMPLES
            samples[self._current : self._current + 1] = [[now_ms, 0.0]]
        samples[self._current][1] += value

    def measure(self, now_ms: int) -> tuple[float, int]:
        """The rate, and the length of its window in ms. Samples that are over begin again now, as in Kafka."""
        for sample in self._samples:
            if now_ms - sample[0] >= SAMPLES * WINDOW_MS:
                sample[:] = now_ms, 0.0
        elapsed_ms = now_ms - int(min((sample[0] for sample in self._samples), default=now_ms))
        window_ms = elapsed_ms + max(SAMPLES - 1 - elapsed_ms // WINDOW_MS, 0) * WINDOW_MS
        return sum(sample[1] for sample in self._samples) / (window_ms / 1000), window_ms


@define(eq=False)
class ClientQuotaManager:
    """The quotas of one kind.

    Attributes:
        key: its name in the settings of an entity.
    """

    key: str
    _limits: dict[Entity, float] = field(factory=dict)
    _levels: dict[tuple[bool, bool], None] = field(factory=dict)
    """Whether entities with quotas have had a user, and a client id. A level stays until the broker ends, as in
    Kafka."""
    _rates: dict[tuple[str, str], SampledRate] = field(factory=dict)

    def update(self, entity: Entity, settings: Limits) -> None:
        """Take over the quota of an entity, or that it has none any more."""
        user, client = entity
        self._levels[user is not None, client is not None] = None
        if self.key in settings:
            self._limits[entity] = float(settings[self.key])
        else:
            self._limits.pop(entity, None)

    def record(self, user: str, client: str, value: float, now_ms: int) -> int:
        """Count bytes. Returns the throttle time in ms; 0: the quota is kept."""
        if not self._levels:
            return 0
        tags = self._tags(user, client)
        rate = self._rates.setdefault(tags, SampledRate())
        rate.record(value, now_ms)
        limit, (found, window_ms) = self._limit(tags), rate.measure(now_ms)
        if limit is None or found <= limit:
            return 0
        return _throttle_ms(found, limit, window_ms)

    def unrecord(self, user: str, client: str, value: float, now_ms: int) -> None:
        """Take back bytes that were counted and are not sent."""
        self._rates[self._tags(user, client)].record(-value, now_ms)

    def most_in_window(self, user: str, client: str) -> int | None:
        """The most bytes that fit into a window (getMaxValueInQuotaWindow, 2.5); None: any number."""
        limit = self._limit(self._tags(user, client)) if self._levels else None
        return None if limit is None else int(limit * (SAMPLES - 1) * WINDOW_MS / 1000)

    def _tags(self, user: str, client: str) -> tuple[str, str]:
        """The user and the client id whose rate counts; empty: that of all (DefaultQuotaCallback.quotaMetricTags)."""
        if len(self._levels) == 1:
            ((by_user, by_client),) = self._levels
            return user if by_user else "", client if by_client else ""
        for entity in self._levels_of(user, client):
            if entity in self._limits:
                by_client = entity[1] is not None
                return (user if entity[0] is not None else ""), (client if by_client else "")
        return "", client

    @staticmethod
    def _levels_of(user: str, client: str) -> tuple[Entity, ...]:
        """The entities that a client belongs to, the one that counts first (KIP-55)."""
        return (
            (user, client), (user, DEFAULT), (user, None), (DEFAULT, client), (DEFAULT, DEFAULT), (DEFAULT, None),
            (None, client), (None, DEFAULT),
        )  # fmt: skip

    def _limit(self, tags: tuple[str, str]) -> float | None:
        """The limit of those whose rate ``tags`` name; None: there is none (DefaultQuotaCallback.quotaLimit)."""
        user, client = tags
        both = bool(user and client)
        of_both = [entity for entity in self._levels_of(user, client) if None not in entity]
        alone: list[Entity] = [(user, None), (DEFAULT, None)] if user else [(None, client), (None, DEFAULT)]
        if not user and not client:
            return None
        return next((self._limits[entity] for entity in (of_both if both else alone) if entity in self._limits), None)


def _throttle_ms(rate: float, limit: float, window_ms: int) -> int:
    """The time after which the rate is the limit, if nothing else comes: ``(O - T) / T * W``. A limit of 0, and what
    does not fit into 32 bits, gives what Java's conversions give."""
    if limit == 0:
        return 0  # the largest long as an int is -1, and no time at all
    delay_ms = int((rate - limit) / limit * window_ms + 0.5)
    return java_int(delay_ms)


@define(eq=False)
class ControllerMutationQuotaManager(ClientQuotaManager):
    """The quotas of partitions that clients create and delete."""

    _buckets: dict[tuple[str, str], TokenBucket] = field(factory=dict)

    def new_quota_for(self, client: MutatingClient, now_ms: Callable[[], int]) -> ControllerMutationQuota:
        if not self._levels:
            return ControllerMutationQuota()
        tags = self._tags(client.user, client.client_id)
        bucket, limit = self._buckets.setdefault(tags, TokenBucket()), self._limit(tags)
        return BoundedControllerMutationQuota(bucket, NO_LIMIT if limit is None else limit, client.is_strict, now_ms)


@define(eq=False)
class ClientQuotas:
    """The quotas of the clients of one broker (QuotaFactory.QuotaManagers). Those of requests' time are kept in
    ZooKeeper alone: requests here take no thread's time that could be counted."""

    produce: ClientQuotaManager = field(factory=lambda: ClientQuotaManager(PRODUCER))
    fetch: ClientQuotaManager = field(factory=lambda: ClientQuotaManager(CONSUMER))
    mutations: ControllerMutationQuotaManager = field(factory=lambda: ControllerMutationQuotaManager(MUTATIONS))

    def configured(self, path: str, settings: Limits) -> None:
        """Take over the settings of an entity."""
        entity = entity_of(path)
        if entity is not None:
            self.produce.update(entity, settings)
            self.fetch.update(entity, settings)
            self.mutations.update(entity, settings)
