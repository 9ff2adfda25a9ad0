"""Replication throttle (KIP-73): listed replicas share a rate of bytes while they catch up (kafka-behaviour, 8.6).

The rate is Kafka's windowed one: what the samples of the window hold, over the time since the oldest began. The
answer that crosses the bound still goes through; what follows waits until time has brought the rate down.
"""

from collections import deque
from collections.abc import Mapping

from attrs import define, field, frozen

from emulator.protocol.types import TopicPartition

Replicas = Mapping[TopicPartition, tuple[int, ...]]


@define(eq=False)
class ReplicationQuota:
    """One broker's quota for one direction. ``rate`` is in bytes per second of virtual time."""

    rate: int
    partitions: Mapping[TopicPartition, tuple[int, ...]]
    windows: int = 11
    window_us: int = 1_000_000
    _samples: deque[list[int]] = field(factory=deque)
    """``[begin in us, bytes]``, oldest first."""

    def throttles(self, tp: TopicPartition) -> bool:
        """Whether this broker's replica of ``tp`` is listed; its bytes count then, in sync or not."""
        return tp in self.partitions

    def record(self, size: int, now_us: int) -> None:
        """``size`` bytes of listed partitions have passed."""
        samples = self._samples
        if not samples or now_us - samples[-1][0] >= self.window_us:
            samples.append([now_us, 0])
            if len(samples) > self.windows:
                samples.popleft()
        samples[-1][1] += size

    def exceeded(self, now_us: int) -> bool:
        """Whether the rate over the window is above the bound. The first window counts as a whole one."""
        samples = self._samples
        while samples and now_us - samples[0][0] >= self.windows * self.window_us:
            samples.popleft()
        if not samples:
            return False
        elapsed_us = max(now_us - samples[0][0], self.window_us)
        return sum(size for _begin, size in samples) * 1_000_000 > self.rate * elapsed_us


@frozen
class ReplicationThrottle:
    """The dynamic configuration that a reassignment tool sets: two rates and two lists of replicas.

    Attributes:
        leader_rate, follower_rate: bytes per second that each broker may send, and receive.
        leader_replicas: who sends under the rate, to followers out of sync.
        follower_replicas: who receives under the rate, while behind.
        windows, window_us: replication.quota.window.num and .size.seconds.
    """

    leader_rate: int
    follower_rate: int
    leader_replicas: Replicas
    follower_replicas: Replicas
    windows: int = 11
    window_us: int = 1_000_000

    def leader_quota(self, broker: int) -> ReplicationQuota | None:
        """What binds ``broker`` as a leader; None where none of its replicas is listed."""
        return self._quota(self.leader_rate, self.leader_replicas, broker)

    def follower_quota(self, broker: int) -> ReplicationQuota | None:
        """What binds ``broker`` as a follower; None where none of its replicas is listed."""
        return self._quota(self.follower_rate, self.follower_replicas, broker)

    def _quota(self, rate: int, replicas: Replicas, broker: int) -> ReplicationQuota | None:
        mine = {tp: brokers for tp, brokers in replicas.items() if broker in brokers}
        return ReplicationQuota(rate, mine, self.windows, self.window_us) if mine else None
