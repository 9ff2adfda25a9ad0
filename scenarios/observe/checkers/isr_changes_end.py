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
from scenarios.observe.checkers.checker import Checker, Gravity, Moment
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.isr_facts import ChangeWaits
from scenarios.observe.history.deadlines import Deadlines

OfLeader = tuple[int, TopicPartition]
"""A broker, and a partition that it leads."""

OfReplica = BecameLeader | BecameFollower | ReplicaOffline | ReplicaStopped | IsrChanged | IsrUpdateFailed


class IsrChangesEnd(Checker):
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
        self._bound_us = self.start.time_us("controller.socket.timeout.ms", 30_000) + SETTLING_US
        self._open: Deadlines[OfLeader] = Deadlines()
        self._last: dict[OfLeader, IsrProposed] = {}

    def on_proposed(self, event: IsrProposed) -> None:
        key = event.node, TopicPartition.of(event.topic, event.partition)
        self._last[key] = event
        self._open.begin(key, event.t_us)

    def on_outcome(self, event: IsrChanged | IsrUpdateFailed | BecameLeader | BecameFollower | ReplicaOffline) -> None:
        self._end(event)

    def on_stopped(self, event: ReplicaStopped) -> None:
        if event.deleted:
            self._end(event)

    def _end(self, event: OfReplica) -> None:
        if len(self._open):
            self._open.end((event.node, TopicPartition.of(event.topic, event.partition)))

    def on_crashed(self, event: NodeCrashed) -> None:
        self._open.end_all(lambda key: key[0] == event.node)

    def look(self, moment: Moment) -> None:
        if len(self._open):
            self._report_overdue(moment, self._bound_us)

    def at_rest(self, moment: Moment) -> None:
        self._report_overdue(moment, self.now.bound_at_rest(moment.t_us, self._bound_us))

    def _report_overdue(self, moment: Moment, bound_us: int) -> None:
        for key, held_us in self._open.overdue(moment.t_us, bound_us, lambda key: self.now.reached_since_us(key[0])):
            proposed, (node, tp) = self._last[key], key
            self.violated(moment, ChangeWaits(node, proposed.kind, proposed.isr, held_us), tp, (node,))
