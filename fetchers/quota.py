"""A bound on bytes per second, and the replicas that KIP-73 lists under one (kafka-behaviour, 8.6).

The rate is Kafka's windowed one (ReplicationQuotaManager and SimpleRate, 2.3): what the samples of the window hold,
over the time since the oldest began. The answer that crosses the bound still goes through; what follows waits until
time has brought the rate down.
"""

from collections.abc import Mapping

from attrs import define, field

from emulator.protocol.types import TopicPartition

UNLIMITED = 2**63 - 1
"""Kafka's bound where none is set."""
NO_PARTITIONS: frozenset[int] = frozenset()


@define(eq=False)
class Quota:
    """Bytes per second of virtual time that may pass, and those that have.

    The samples are a ring, and one that is obsolete begins anew at the next look: it still counts for how long the
    window is, as Kafka's do (SampledStat, 2.3).

    Attributes:
        rate: the bound.
        windows, window_us: replication.quota.window.num and .size.seconds.
    """

    rate: int = UNLIMITED
    windows: int = 11
    window_us: int = 1_000_000
    _samples: list[list[int]] = field(factory=list)
    """``[begin in us, bytes]``."""
    _current: int = 0

    @property
    def limited(self) -> bool:
        return self.rate < UNLIMITED

    def record(self, size: int, now_us: int) -> None:
        """``size`` bytes have passed, allowed or not."""
        samples = self._samples
        if not samples:
            samples.append([now_us, 0])
        elif now_us - samples[self._current][0] >= self.window_us:
            self._current = (self._current + 1) % self.windows
            samples[self._current : self._current + 1] = [[now_us, 0]]
        samples[self._current][1] += size
        self._renew(now_us)

    def exceeded(self, now_us: int) -> bool:
        """Whether the rate is above the bound. Where there is no sample, the window begins at this look, as Kafka's."""
        if self.rate >= UNLIMITED:
            return False
        if not self._samples:
            self._samples.append([now_us, 0])
        self._renew(now_us)
        held, elapsed_us = self._window(now_us)
        return held * 1_000_000 > self.rate * elapsed_us

    def byte_rate(self, now_us: int) -> float:
        """Bytes per second over the window (``byte-rate`` of kafka.server:type=LeaderReplication and its like). Changes
        nothing, whoever reads it how often."""
        held, elapsed_us = self._window(now_us)
        return held * 1_000_000 / elapsed_us

    def _renew(self, now_us: int) -> None:
        """Obsolete samples begin anew."""
        obsolete_us = now_us - self.windows * self.window_us
        for sample in self._samples:
            if sample[0] <= obsolete_us:
                sample[:] = now_us, 0

    def _window(self, now_us: int) -> tuple[int, int]:
        """What the living samples hold, and for how long; the first window counts as a whole one."""
        alive = [sample for sample in self._samples if now_us - sample[0] < self.windows * self.window_us]
        begin_us = min([begin for begin, _size in alive], default=now_us)
        return sum([size for _begin, size in alive]), max(now_us - begin_us, self.window_us)


@define(eq=False)
class ReplicationQuota(Quota):
    """KIP-73: one broker's quota in one direction, with the replicas that it binds while they are out of sync.

    The bytes of listed partitions count, in sync or not.
    """

    _listed: dict[str, frozenset[int] | None] = field(factory=dict)
    """Topic -> partitions whose replica here is listed; None: all of them."""

    def list_replicas(self, topic: str, partitions: frozenset[int] | None) -> bool:
        """These of ``topic`` are listed and no others; None: all, whatever partitions there will be. Returns whether
        that is new."""
        before = self._listed.get(topic, NO_PARTITIONS)
        if partitions == NO_PARTITIONS:
            self._listed.pop(topic, None)
        else:
            self._listed[topic] = partitions
        return partitions != before

    def throttles(self, tp: TopicPartition) -> bool:
        """Whether this broker's replica of ``tp`` is listed."""
        partitions = self._listed.get(tp.topic, NO_PARTITIONS)
        return partitions is None or tp.partition in partitions

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
