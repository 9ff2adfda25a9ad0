"""The replication throttles of one broker: KIP-73's quotas, KIP-542's, and the dynamic settings that change them
(kafka-behaviour §8.6).

The rate is Kafka's windowed one (ReplicationQuotaManager and SimpleRate, 2.3): the bytes in the samples of the window,
over the time since the oldest sample began. The response that exceeds the quota is still sent; later ones wait until
time has brought the rate down.

KIP-542 was discussed and never merged (KAFKA-8330): no release has its settings. Its rule is here for comparison: its
two rates apply only to replicas that a reassignment adds, until they are in sync, so that a restarted replica catches
up unthrottled. Brokers know which replicas are being added where LeaderAndIsr says so (KIP-455, or KIP-352's draft);
under other releases the rates apply to no replica. A replica that KIP-73 lists counts for that quota alone, as the KIP
has it.
"""

from collections.abc import Mapping
from typing import NamedTuple

from attrs import Factory, define, field, frozen

from emulator.metrics import Gauge, attribute
from emulator.nodes import Process
from emulator.protocol.configs import LONG_MAX, ConfigType, config, config_keys, with_settings
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import broker_entity

UNLIMITED = LONG_MAX
"""Kafka's quota where none is set."""
NO_PARTITIONS: frozenset[int] = frozenset()
NOT_JUDGED = (-1, 0, False)


def stood_still_us(passed_us: int, window_us: int) -> int:
    """For how much of ``passed_us`` the clock of a quota stands still where data is not simulated: for whole samples.

    So they begin at the same part of a second as before, and as long before a producer's batch: what comes in a rhythm
    of its own decides when a quota lets something pass for the last time in a sample, and so how much in all."""
    return passed_us // window_us * window_us


@define(eq=False)
class Quota:
    """A limit in bytes per second of virtual time, and the bytes that were counted.

    The samples are a ring. An obsolete sample is reset at the next look, and until then it still counts for the length
    of the window, as Kafka's do (SampledStat, 2.3).

    A leader counts every answer to a follower, also those in which no replica is throttled, which come at least every
    replica.fetch.wait.max.ms (KafkaApis.handleFetchRequest, 0.10.1 to 2.7). So its window is full when a move begins,
    and all that the rate allows for the length of it passes at once; then little, until those samples are over. Here
    such answers are not counted one by one: while ``counts_constantly``, each sample follows the one before.

    Attributes:
        rate: the limit.
        windows: replication.quota.window.num.
        window_us: replication.quota.window.size.seconds.
        held_us: the time at which its clock stands still (``hold``); None: it runs.
        shut: whether it then counts as exceeded, or as not exceeded, whatever was counted.
        counted: the bytes that were counted so far.
    """

    rate: int = UNLIMITED
    windows: int = 11
    window_us: int = 1_000_000
    held_us: int | None = None
    shut: bool = False
    counted: int = 0
    _samples: list[list[int]] = field(factory=list)
    """The samples: ``[begin in us, bytes]``."""
    _current: int = 0
    _constantly: bool = False
    _judged: tuple[int, int, bool] = NOT_JUDGED
    """The last answer of ``is_quota_exceeded``, with its time and the rate: one answer asks for each partition."""

    @property
    def limited(self) -> bool:
        return self.rate < UNLIMITED

    def counts_constantly(self, constantly: bool, now_us: int) -> None:
        """Declare whether bytes, few or many, are counted all the time from now on."""
        self.record(0, now_us)
        if not self._samples:  # its clock stands still
            self._samples.append([now_us if self.held_us is None else self.held_us, 0])
        self._constantly = constantly

    def _go_on(self, now_us: int) -> None:
        """Begin the samples that are due since, if bytes were counted all the time."""
        if self._constantly:
            samples, window_us = self._samples, self.window_us
            begin_us = samples[self._current][0]
            passed = (now_us - begin_us) // window_us
            for sample in range(max(1, passed - self.windows + 1), passed + 1):
                self._current = (self._current + 1) % self.windows
                samples[self._current : self._current + 1] = [[begin_us + sample * window_us, 0]]

    def record(self, size: int, now_us: int) -> None:
        """Count ``size`` bytes, within the limit or not. While its clock stands still, nothing is counted."""
        if self.held_us is not None:
            return
        self.counted += size
        self._judged = NOT_JUDGED
        self._go_on(now_us)
        samples = self._samples
        if not samples:
            samples.append([now_us, 0])
        elif now_us - samples[self._current][0] >= self.window_us:
            self._current = (self._current + 1) % self.windows
            samples[self._current : self._current + 1] = [[now_us, 0]]
        samples[self._current][1] += size
        self._reset_obsolete(now_us)

    def is_quota_exceeded(self, now_us: int) -> bool:
        """Whether the rate is above the limit. If there is no sample, the window begins with this call, as in Kafka."""
        if self.rate >= UNLIMITED:
            return False
        if self.held_us is not None:
            return self.shut
        at_us, rate, exceeded = self._judged
        if at_us == now_us and rate == self.rate:
            return exceeded
        self._go_on(now_us)
        if not self._samples:
            self._samples.append([now_us, 0])
        self._reset_obsolete(now_us)
        held, elapsed_us = self._window(now_us)
        exceeded = held * 1_000_000 > self.rate * elapsed_us
        self._judged = now_us, self.rate, exceeded
        return exceeded

    def byte_rate(self, now_us: int) -> float:
        """Bytes per second over the window (``byte-rate`` of kafka.server:type=LeaderReplication and its like). Reading
        it changes no later result."""
        if self.held_us is not None:
            now_us = self.held_us
        self._go_on(now_us)
        held, elapsed_us = self._window(now_us)
        return held * 1_000_000 / elapsed_us

    def hold(self, now_us: int, *, shut: bool = False) -> None:
        """Let its clock stand still from now on: time passes in which data is not simulated. ``shut``: meanwhile it
        lets nothing pass; else everything."""
        self._go_on(now_us)
        self.held_us, self.shut = now_us, shut

    def release(self, now_us: int, ran_us: int = 0) -> None:
        """Let its clock run again: its samples are moved to now, each at its old distance from the others and from the
        instant at which the clock was stopped. ``ran_us``: as if it had run for so long meanwhile."""
        if self.held_us is not None:
            passed_us, self.held_us = now_us - ran_us - self.held_us, None
            self._judged = NOT_JUDGED
            for sample in self._samples:
                sample[0] += passed_us

    @property
    def cycle_us(self) -> int:
        """The length of all its samples, in microseconds: what is counted once is over after that time."""
        return self.windows * self.window_us

    def _reset_obsolete(self, now_us: int) -> None:
        obsolete_us = now_us - self.windows * self.window_us
        for sample in self._samples:
            if sample[0] <= obsolete_us:
                sample[:] = now_us, 0

    def _window(self, now_us: int) -> tuple[int, int]:
        """The bytes of the samples in the window, and its length in us; the first window counts as a whole one."""
        over_us, begin_us, held = now_us - self.windows * self.window_us, now_us, 0
        for sample_us, size in self._samples:
            if sample_us > over_us:
                held += size
                if sample_us < begin_us:
                    begin_us = sample_us
        return held, max(now_us - begin_us, self.window_us)


@define(eq=False)
class ReplicationQuotaManager(Quota):
    """KIP-73: one broker's quota in one direction, and the replicas that it throttles while they are out of sync.

    The bytes of listed partitions count, in sync or not.
    """

    _listed: dict[str, frozenset[int] | None] = field(factory=dict)
    """The partitions of each topic whose replica here is listed; None: all of them."""

    def mark_throttled(self, topic: str, partitions: frozenset[int] | None) -> bool:
        """List ``partitions`` of ``topic`` and no others; None: all, present and future. Returns whether this changed
        the list."""
        before = self._listed.get(topic, NO_PARTITIONS)
        if partitions == NO_PARTITIONS:
            self._listed.pop(topic, None)
        else:
            self._listed[topic] = partitions
        return partitions != before

    def is_throttled(self, tp: TopicPartition) -> bool:
        """Whether this broker's replica of ``tp`` is listed."""
        partitions = self._listed.get(tp.topic, NO_PARTITIONS)
        return partitions is None or tp.partition in partitions

    @property
    def lists(self) -> dict[str, frozenset[int] | None]:
        """The partitions of each topic whose replica here is listed; None: all of them."""
        return dict(self._listed)

    @property
    def lists_any(self) -> bool:
        return bool(self._listed)


def listed_here(settings: Mapping[str, str], name: str, broker: int) -> frozenset[int] | None:
    """The partitions of a topic whose replica on ``broker`` the list ``name`` holds: ``*`` is all of them (None), else
    ``partition:broker`` with commas between (TopicConfigHandler.parseThrottledPartitions, 2.3)."""
    text = settings.get(name, "").strip()
    if text.startswith("*"):
        return None
    replicas = (item.strip().split(":") for item in text.split(",") if item.strip())
    return frozenset(int(partition) for partition, holder in replicas if int(holder) == broker)


class ThrottleRate:
    """The byte-rate of one replication quota (``kafka.server:type=LeaderReplication`` and its like, KIP-73). It exists
    from the first counted bytes on, as Kafka's sensor does, and is written once a second until its window is empty."""

    def __init__(self, process: Process, type: str, quota: Quota) -> None:
        self._process = process
        self._name = attribute("kafka.server", type, "byte-rate")
        self._quota = quota
        self._gauge: Gauge | None = None
        self._due = False

    def counted(self) -> None:
        """Bytes were counted: write the rate at the next second."""
        if not self._due:
            self._due = True
            self._process.metrics.meters.add(self)

    def write(self) -> None:
        """Write the rate; called once a second while bytes are in the window."""
        if self._gauge is None:
            self._gauge = self._process.metrics.gauge(self._name)
        rate = round(self._quota.byte_rate(self._process.clock_us))
        self._gauge.set(rate)
        self._due = False
        if rate:
            self.counted()


@define(eq=False)
class Throttle:
    """One direction of one broker: as a leader, or as a follower.

    Attributes:
        listed: the quota of KIP-73.
        reassigned: the quota of KIP-542.
        active: whether any replica can be throttled. Callers check it first, since it is False in most runs.
        version: incremented whenever the set of throttled replicas may have changed.
        rate: the metric of the byte-rate of ``listed``; None in processes that have no metrics.
    """

    listed: ReplicationQuotaManager = Factory(ReplicationQuotaManager)
    reassigned: Quota = Factory(Quota)
    active: bool = False
    version: int = 0
    rate: ThrottleRate | None = None
    _readers: int = 0
    """The number of followers whose sessions are open."""

    def quota(self, tp: TopicPartition, adding: bool) -> Quota | None:
        """The quota that limits the replica of ``tp`` while it is out of sync. ``adding``: a reassignment adds it."""
        if self.listed.is_throttled(tp):
            return self.listed
        return self.reassigned if adding and self.reassigned.limited else None

    def record(self, tp: TopicPartition, adding: bool, size: int, now_us: int) -> None:
        """Count ``size`` bytes of ``tp``. ``adding``: they go to an out-of-sync replica that a reassignment adds."""
        quota = self.quota(tp, adding)
        if quota is not None:
            quota.record(size, now_us)
            if quota is self.listed and self.rate is not None:
                self.rate.counted()

    @property
    def quotas(self) -> tuple[Quota, Quota]:
        return self.listed, self.reassigned

    def read_by(self, change: int, now_us: int) -> None:
        """A follower begins to fetch from this broker (``change`` 1), or stops (-1)."""
        before, self._readers = self._readers, self._readers + change
        if bool(before) is not bool(self._readers):
            for quota in self.quotas:
                quota.counts_constantly(bool(self._readers), now_us)

    def changed(self) -> None:
        self.active = self.listed.lists_any or self.reassigned.limited
        self.version += 1


@define(eq=False)
class CopyThrottle(Throttle):
    """Copies between the log directories of one broker: all of them share ``listed``, and no list applies (KIP-113)."""

    def quota(self, tp: TopicPartition, adding: bool) -> Quota | None:
        return self.listed

    def changed(self) -> None:
        self.active = self.listed.limited
        self.version += 1


@frozen
class ThrottledRates:
    """The rates of one broker, in bytes per second. Kafka keeps them for each broker by itself (KIP-226)."""

    leader: int = config(
        "leader.replication.throttled.rate",
        UNLIMITED,
        "bytes/s to throttled followers (KIP-73)",
        dynamic=True,
        type=ConfigType.LONG,
    )
    follower: int = config(
        "follower.replication.throttled.rate",
        UNLIMITED,
        "bytes/s from throttled leaders (KIP-73)",
        dynamic=True,
        type=ConfigType.LONG,
    )
    leader_reassignment: int = config(
        "leader.reassignment.throttled.rate",
        UNLIMITED,
        "bytes/s to replicas being added (KIP-542)",
        dynamic=True,
        type=ConfigType.LONG,
    )
    follower_reassignment: int = config(
        "follower.reassignment.throttled.rate",
        UNLIMITED,
        "bytes/s of replicas being added (KIP-542)",
        dynamic=True,
        type=ConfigType.LONG,
    )
    alter_log_dirs: int = config(
        "replica.alter.log.dirs.io.max.bytes.per.second", UNLIMITED, "bytes/s between the log directories of a broker",
        dynamic=True, type=ConfigType.LONG,
    )  # fmt: skip


class QuotaSettings(NamedTuple):
    """The dynamic settings of one broker's quotas, as they are in force.

    Attributes:
        rates: bytes per second, in the order of ``ThrottledRates``.
        leader, follower: the partitions of each topic whose replica here is listed; None: all of them.
    """

    rates: tuple[int, ...]
    leader: Mapping[str, frozenset[int] | None]
    follower: Mapping[str, frozenset[int] | None]


RATE_NAMES = tuple(key.name for key in config_keys(ThrottledRates).values())


@define(eq=False)
class QuotaManagers:
    """The replication quotas of one broker (QuotaFactory.QuotaManagers, 2.3)."""

    broker: int
    leader: Throttle = Factory(Throttle)
    follower: Throttle = Factory(Throttle)
    alter_log_dirs: CopyThrottle = Factory(CopyThrottle)

    @classmethod
    def windowed(cls, broker: int, windows: int, window_us: int) -> "QuotaManagers":
        """Unlimited quotas with the window of replication.quota.window.num and .size.seconds."""

        def quotas() -> tuple[ReplicationQuotaManager, Quota]:
            return ReplicationQuotaManager(UNLIMITED, windows, window_us), Quota(UNLIMITED, windows, window_us)

        return cls(broker, Throttle(*quotas()), Throttle(*quotas()), CopyThrottle(*quotas()))

    def show(self, process: Process) -> None:
        """Let ``process`` show the rates, under the names of Kafka's QuotaType."""
        for type, throttle in (
            ("LeaderReplication", self.leader),
            ("FollowerReplication", self.follower),
            ("AlterLogDirsReplication", self.alter_log_dirs),
        ):
            throttle.rate = ThrottleRate(process, type, throttle.listed)

    @property
    def settings(self) -> QuotaSettings:
        leader, follower, copies = self.leader, self.follower, self.alter_log_dirs
        quotas = (leader.listed, follower.listed, leader.reassigned, follower.reassigned, copies.listed)
        return QuotaSettings(tuple(one.rate for one in quotas), leader.listed.lists, follower.listed.lists)

    def configured(self, entity: str, settings: Mapping[str, str]) -> None:
        """Take over the dynamic settings of ``entity``. A setting that is missing is reset: to an unlimited rate, or to
        an empty list. The default of all brokers is ignored, as up to 3.8 (BrokerConfigHandler); since then it comes as
        settings of the broker itself."""
        if entity == broker_entity(self.broker):
            self._limit(settings)
        elif entity.startswith("topics/"):
            topic = entity.removeprefix("topics/")
            for side, throttle in (("leader", self.leader), ("follower", self.follower)):
                name = f"{side}.replication.throttled.replicas"
                if throttle.listed.mark_throttled(topic, listed_here(settings, name, self.broker)):
                    throttle.changed()

    def _limit(self, settings: Mapping[str, str]) -> None:
        stated = {name: settings[name] for name in RATE_NAMES if name in settings}
        rates = with_settings(ThrottledRates(), {name: int(value) for name, value in stated.items()})
        self.leader.listed.rate, self.leader.reassigned.rate = rates.leader, rates.leader_reassignment
        self.follower.listed.rate, self.follower.reassigned.rate = rates.follower, rates.follower_reassignment
        self.alter_log_dirs.listed.rate = rates.alter_log_dirs
        for throttle in (self.leader, self.follower, self.alter_log_dirs):
            throttle.changed()
