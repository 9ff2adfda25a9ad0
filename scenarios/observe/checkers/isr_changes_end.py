"""I5: a change of an ISR that a leader has begun ends."""

from __future__ import annotations

from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    IsrChanged,
    IsrProposed,
    IsrUpdateFailed,
    NodeCrashed,
    ReplicaOffline,
    ReplicaStopped,
)
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Gravity, Moment
from scenarios.observe.checkers.in_time import InTime
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.isr_facts import ChangeWaits

OfLeader = tuple[int, TopicPartition]
"""A broker, and a partition that it leads."""

OfReplica = BecameLeader | BecameFollower | ReplicaOffline | ReplicaStopped | IsrChanged | IsrUpdateFailed


class IsrChangesEnd(InTime[OfLeader]):
    """A leader learns the outcome of each change of its ISR that it proposes: until then it proposes no other one, and
    neither lets a follower join nor a dead one leave (Partition.sendAlterIsrRequest, 2.7; KAFKA-13091).

    Verified: once a second, and when the cluster is at rest: each proposal, until the leader has its outcome, or has
        another role. The bound is controller.socket.timeout.ms, after which an AlterIsr whose connection is lost is
        sent again, and 5 s, while the leader works and the controller reaches it.

    Not verified: that a change which has failed is tried again (``laggards_leave``, ``converged``).
    """

    ids = ("I5",)
    gravity = Gravity.LIVENESS
    statement = "proposed(isr) ⇒ ◇≤T outcome ∨ another role: a change of an ISR that a leader has begun ends"
    fails_when = "a leader does not hear what ZooKeeper has answered"

    def begin(self) -> None:
        super().begin()
        self.bound_us = self.start.time_us("controller.socket.timeout.ms", 30_000) + SETTLING_US
        self._last: dict[OfLeader, IsrProposed] = {}

    def on_proposed(self, event: IsrProposed) -> None:
        key = event.node, TopicPartition.of(event.topic, event.partition)
        self._last[key] = event
        self.lasting.begin(key, event.t_us)

    def on_outcome(self, event: IsrChanged | IsrUpdateFailed | BecameLeader | BecameFollower | ReplicaOffline) -> None:
        self._end(event)

    def on_stopped(self, event: ReplicaStopped) -> None:
        if event.deleted:
            self._end(event)

    def _end(self, event: OfReplica) -> None:
        if len(self.lasting):
            self.lasting.end((event.node, TopicPartition.of(event.topic, event.partition)))

    def on_crashed(self, event: NodeCrashed) -> None:
        self.lasting.end_all(lambda key: key[0] == event.node)

    def free_since_us(self, key: OfLeader) -> int | None:
        return self.now.reached_since_us(key[0])

    def report(self, moment: Moment, key: OfLeader, held_us: int) -> None:
        proposed, (node, tp) = self._last[key], key
        self.violated(moment, ChangeWaits(node, proposed.kind, proposed.isr, held_us), tp, (node,))
