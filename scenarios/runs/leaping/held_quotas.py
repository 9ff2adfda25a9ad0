"""Held quotas: the replication quotas of all brokers while a leap is under way.

Their clocks stand still in a leap, so that their cycle keeps its phase, and by whole samples: so the samples also keep
their distance to all that comes in a rhythm of its own. What is over of the leap passes on their clocks, as does the
time in which producers are held before it; copies get nothing for that from the leap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from attrs import define, field

from emulator.protocol.shown import QuotaCounted
from fetchers.quota import stood_still_us
from scenarios.runs.leaping.followed import FetchedReplica, running
from scenarios.runs.leaping.sharing import Sharing, bounds

if TYPE_CHECKING:
    from brokers.broker import Broker
    from fetchers.quota import Quota, Throttle
    from scenarios.cluster.clients.producer import Producer
    from scenarios.cluster.cluster import Cluster


@define(eq=False)
class HeldQuotas:
    """The quotas of one cluster.

    Attributes:
        since_us: when their clocks were stopped last.
    """

    cluster: Cluster
    since_us: int = 0
    _due: list[tuple[Producer, int]] = field(factory=list)
    """When each producer's next tick was due then."""

    def hold(self, producers: Sequence[Producer]) -> None:
        """Stop their clocks. Those of leaders let nothing pass meanwhile."""
        self.since_us = self.cluster.world.now
        self._due = [(producer, producer.due_us) for producer in producers]
        for broker, throttle, quota in self._quotas():
            quota.hold(broker.process.clock_us, shut=throttle is broker.quotas.leader)

    @property
    def still_us(self) -> int:
        """For how long their clocks have stood still; where there is no throttle, since they were stopped."""
        return self.whole_us(self.cluster.world.now - self.since_us)

    def whole_us(self, passed_us: int) -> int:
        """The part of a time in which clocks stand still. A leap that may end at any time ends so that nothing is over:
        where copies get a little in each sample, one in which they get nothing is missed for long."""
        windows_us = [quota.window_us for _broker, throttle, quota in self._quotas() if throttle.active]
        return stood_still_us(passed_us, max(windows_us, default=1))

    @property
    def cycle_us(self) -> int:
        """The length of their cycle: stretches are whole ones."""
        return max(broker.quotas.leader.listed.cycle_us for broker in running(self.cluster))

    def release(self) -> None:
        """Let their clocks run again."""
        ran_us = self.cluster.world.now - self.since_us - self.still_us
        for broker, _throttle, quota in self._quotas():
            quota.release(broker.process.clock_us, ran_us)

    def count(self, sharing: Sharing, fetched: Sequence[FetchedReplica]) -> None:
        """Count what the leap has brought to replicas in sync of the ticks that were missed while clocks ran. Their
        number is that of whole ticks: what is counted once is over at once, and decides what passes then."""
        cluster, still_us = self.cluster, self.still_us
        ran_us = {producer.load.partitions[0].topic: producer.due_us - due_us for producer, due_us in self._due}
        missed = {tp: load * max(0, ran_us.get(tp.topic, 0) - still_us) for tp, load in sharing.loads.items()}
        for bound in bounds([each for each in fetched if not each.in_sync], fetched, missed):
            (side, node), size = bound.place, round(bound.used)
            broker = cluster.brokers[node]
            throttle = broker.quotas.leader if side == "leader" else broker.quotas.follower
            if size:
                throttle.listed.record(size, broker.process.clock_us)
                cluster.trace.show(QuotaCounted, node, side, size)

    def _quotas(self) -> Iterator[tuple[Broker, Throttle, Quota]]:
        """Each replication quota of each broker that runs."""
        for broker in running(self.cluster):
            for throttle in (broker.quotas.leader, broker.quotas.follower):
                for quota in throttle.quotas:
                    yield broker, throttle, quota


def is_shut_out(copy: FetchedReplica) -> bool:
    """Whether its leader sends a copy nothing while its quota is shut."""
    quota = copy.leader.quotas.leader.quota(copy.state.tp, copy.state.adding)
    return quota is not None and quota.limited
