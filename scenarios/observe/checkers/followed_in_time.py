"""F2: what a broker follows is fetched, whatever happens to other partitions."""

from __future__ import annotations

from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    FetcherStopped,
    FetchPosition,
    NodeCrashed,
    NodeStarted,
    PartitionFailed,
    PartitionFailureCleared,
    ReplicaOffline,
    ReplicaStopped,
)
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Gravity, Moment
from scenarios.observe.checkers.in_time import InTime
from scenarios.observe.checkers.led_in_time import PER_PARTITION_US, SETTLING_US
from scenarios.observe.findings.fetch_facts import NotFetched, ThreadDied

Replica = tuple[TopicPartition, int]


class FollowedInTime(InTime[Replica]):
    """A broker that follows a partition soon fetches it from the leader that it knows, and goes on with it.

    Verified: no fetcher thread dies. Once a second, and when the cluster is at rest: a partition of which a broker is a
        follower, and on which its fetcher has not given up (KIP-461), has a fetch position at that leader, while both
        brokers live and reach each other, and the leader leads in that leader epoch. The bound is
        replica.socket.timeout.ms, after which a lost request for the ends of epochs is sent again,
        replica.fetch.backoff.ms, 5 s, and 10 ms for each partition.

    Before KIP-461 (2.3) an unforeseen error ends the thread; what such a broker follows is not checked any more until
    it is started again.

    Not verified: that records arrive; partitions that a throttle holds back; copies between log directories.
    """

    ids = ("F2",)
    gravity = Gravity.LIVENESS
    statement = (
        "follows(b, p, l) ⇒ fetches(b, p, l) within T, and no thread dies: "
        "an error on one partition does not end the fetching of others, and what is followed is fetched"
    )
    catches = ("KAFKA-8346", "KAFKA-9769")
    fails_when = "an error on one partition ends its thread"

    def begin(self) -> None:
        super().begin()
        self._isolates = self.start.isolates_failures
        self.bound_us = (
            self.start.time_us("replica.socket.timeout.ms", 30_000)
            + self.start.time_us("replica.fetch.backoff.ms", 1_000)
            + SETTLING_US
        )
        self._follows: dict[int, dict[TopicPartition, tuple[int, int]]] = {}
        """Leader and leader epoch of each partition that a broker follows, by broker."""
        self._dead: dict[int, None] = {}

    def on_follower(self, event: BecameFollower) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._follows.setdefault(event.node, {})[tp] = event.leader, event.leader_epoch
        self._compare(tp, event.node, event.t_us)

    def _compare(self, tp: TopicPartition, broker: int, now_us: int) -> None:
        follows = self._follows.get(broker, {}).get(tp)
        if follows is None or self.cluster.fetches_from(broker, tp) == follows[0]:
            self.lasting.end((tp, broker))
        else:
            self.lasting.begin((tp, broker), now_us)

    def on_position(self, event: FetchPosition) -> None:
        self._compare(TopicPartition.of(event.topic, event.partition), event.node, event.t_us)

    def on_end(
        self, event: PartitionFailed | PartitionFailureCleared | BecameLeader | ReplicaStopped | ReplicaOffline
    ) -> None:
        """Also as a failed partition is given back: no fetch is due until its next role names the leader."""
        tp = TopicPartition.of(event.topic, event.partition)
        self._follows.get(event.node, {}).pop(tp, None)
        self.lasting.end((tp, event.node))

    def on_died(self, event: FetcherStopped) -> None:
        if event.reason != "died":
            return
        if self._isolates:
            self.violated(event, ThreadDied(event.node, event.fetcher, event.leader))
        self._dead[event.node] = None

    def on_started(self, event: NodeStarted) -> None:
        self._dead.pop(event.node, None)

    def on_crashed(self, event: NodeCrashed) -> None:
        for tp in self._follows.pop(event.node, ()):
            self.lasting.end((tp, event.node))

    def more_us(self) -> int:
        return PER_PARTITION_US * len(self.lasting)

    def report(self, moment: Moment, replica: Replica, held_us: int) -> None:
        tp, broker = replica
        leader, epoch = self._follows[broker][tp]
        self.violated(moment, NotFetched(broker, leader, epoch, held_us), tp, (broker,))

    def free_since_us(self, replica: Replica) -> int | None:
        (tp, broker), now = replica, self.now
        leader, epoch = self._follows[broker][tp]
        leads = self.cluster.leads(leader, tp)
        idle = broker in self._dead or self.cluster.is_shutting_down(broker) or self.cluster.lacks_dirs(broker)
        idle |= broker in now.impaired
        if leads is None or leads.leader_epoch != epoch or idle or now.troubled or self.cluster.is_deleting(tp.topic):
            return None
        if not (now.works(broker) and now.works(leader) and self.cluster.connected(broker, leader)):
            return None
        return max(now.calm_since_us, leads.t_us)
