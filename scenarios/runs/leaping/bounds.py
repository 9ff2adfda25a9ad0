"""Bounds: how far a leap may go, and why no further."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from attrs import define

from scenarios.language import Scenario
from scenarios.runs.leaping.followed import FetchedReplica, Key, running
from scenarios.runs.leaping.sharing import Sharing

if TYPE_CHECKING:
    from brokers.log.log_config import LogConfig
    from scenarios.cluster.cluster import Cluster

MICRO = 1_000_000
SMALL, LARGE = 1 << 20, 4 << 20
"""The bytes of a batch that stands for several, see ``Bounds.chunk``."""
BEFORE_ENTRIES_US = 1_000_000
"""How long before an entry of the method, or of a client, all is simulated again."""


class LeapEnd(NamedTuple):
    """The end of a leap: its time, and the reason (``Leapt.reason``)."""

    t_us: int
    reason: str


@define(eq=False)
class Bounds:
    """The bounds of the leaps of one run.

    Attributes:
        acts_us: the time before which the method does nothing, see ``Method.acts_us``.
    """

    cluster: Cluster
    scenario: Scenario
    acts_us: Callable[[], int | None]

    def refusal(self) -> str:
        """Why no leap is possible in this run; empty: leaps are possible."""
        scenario, cluster = self.scenario, self.cluster
        limit = scenario.strategy.limit
        reasons = (
            (scenario.clients or scenario.frames or scenario.attached, "there are clients of a plug-in, or real ones"),
            (scenario.schedule != "fifo", "its schedule is another than fifo"),
            (cluster.setup.disk_speed is not None, "its disks take time"),
            (limit is not None and limit.rule is not None, "its throttle follows a metric"),
            (
                any(broker.replicas.policies.out_of_sync.even_at_the_end for broker in running(cluster)),
                "its brokers drop replicas from the ISR that have nothing to fetch",
            ),
            (
                any(load.message_size > load.max_request_size for load in cluster.setup.workloads),
                "a producer's messages are too large to be sent",
            ),
            (any(each.retention_bytes >= 0 for each in self._configs()), "a log may lose segments for its size"),
            (any(each.compacts for each in self._configs()), "a topic is compacted"),
        )
        return next((reason for holds, reason in reasons if holds), "")

    def _configs(self) -> Iterator[LogConfig]:
        """The settings of every topic's logs, broker by broker."""
        for broker in running(self.cluster):
            for topic in self.cluster.setup.topics:
                yield broker.replicas.logs.directories[0].config_of(topic.name)

    def chunk(self) -> int:
        """The bytes of a batch that stands for several, at most: as much as a fetch reads of a partition by default, or
        a hundredth of what the smallest quota lets pass in a cycle. A larger one would pass a throttle at once, since
        Kafka sends the first batch of an answer whatever its size (KIP-74); before that, such a batch was never
        sent."""
        brokers = running(self.cluster)
        if not all(broker.replicas.policies.sends_first_batch for broker in brokers):
            return SMALL
        listed = [throttle.listed for broker in brokers for throttle in (broker.quotas.leader, broker.quotas.follower)]
        least = min((quota.rate * quota.cycle_us // MICRO for quota in listed if quota.limited), default=0)
        return min(LARGE, max(SMALL, least // 100))

    def entry_us(self) -> int | None:
        """The time from which on all has to be simulated again; None: no such time is known."""
        return min((limit.t_us for limit in self._entries()), default=None)

    def _entries(self) -> Iterator[LeapEnd]:
        acts_us, now = self.acts_us(), self.cluster.world.now
        if acts_us is not None:
            yield LeapEnd(acts_us - BEFORE_ENTRIES_US, "entry")
        times = [(each.load.start_us, each.load.stop_us) for each in self.cluster.producers]
        times += [(each.load.start_us, each.load.stop_us) for each in self.cluster.consumers]
        for of_it in times:
            for t_us in of_it:
                if t_us is not None and t_us + BEFORE_ENTRIES_US > now:
                    yield LeapEnd(t_us - BEFORE_ENTRIES_US, "entry")
        yield LeapEnd(self.scenario.horizon_us - BEFORE_ENTRIES_US, "limit")
        for broker in running(self.cluster):
            due_us = broker.replicas.logs.retention.due_us
            if due_us is not None:
                yield LeapEnd(due_us + now - broker.process.clock_us - BEFORE_ENTRIES_US, "entry")

    def limit(
        self, most: LeapEnd, copies: Sequence[FetchedReplica], sharing: Sharing, since_us: int, phase_us: int
    ) -> tuple[LeapEnd, Mapping[Key, int]]:
        """How far the next leap may go: not beyond ``most``. Also the time at which each copy ends, as far as it is
        before that or at that time.

        Args:
            since_us: the time at which each copy was where it is.
            phase_us: as for ``Sharing.ends_in_us``, at that time.
        """
        soonest = sharing.soonest(copies)
        ends = {}
        for each in soonest:
            in_us = sharing.ends_in_us(each, phase_us)
            if in_us is not None:
                ends[each.key] = since_us + in_us
        found = [most, *self._entries()]
        if ends:
            found.append(LeapEnd(min(ends.values()), "copy"))
        limit = min(found)
        return limit, {key: t_us for key, t_us in ends.items() if t_us <= limit.t_us}
