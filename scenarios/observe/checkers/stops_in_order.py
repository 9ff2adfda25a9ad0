"""R6: a StopReplica that arrives late stops nothing."""

from __future__ import annotations

from emulator.protocol.events import ReplicaStopped
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.control_facts import StoppedByEarlier
from scenarios.observe.past.knowledge import Role


class StopsInOrder(Checker):
    """A replica that a LeaderAndIsr has started is stopped only by a StopReplica that was sent after it.

    Verified: each StopReplica that a broker carries out, against the LeaderAndIsr that gave the replica the role that
        it has. A request that is sent again, as its answer was lost, counts from the attempt that arrives.

    A release whose StopReplica has no leader epochs (before KIP-570, 2.6) breaks this where a request is stuck on a
    connection that the controller has given up, and arrives behind what was sent on the next one.

    Not verified: that a StopReplica which is in order is carried out (a refused one leaves a stray replica); the order
        of two LeaderAndIsr (E2).
    """

    ids = ("R6",)
    statement = (
        "StopReplica with epoch < le_b changes nothing: no replica is stopped by a request from before the one that "
        "started it"
    )
    fails_when = "StopReplica has no leader epochs"

    def on_stopped(self, event: ReplicaStopped) -> None:
        before: Role | None = self.history.past.replaced(event)
        started = -1 if before is None or before.stopped else before.event.cause
        if event.cause < started:
            facts = StoppedByEarlier(event.node, event.deleted, event.cause, started)
            self.violated(event, facts, TopicPartition.of(event.topic, event.partition))
