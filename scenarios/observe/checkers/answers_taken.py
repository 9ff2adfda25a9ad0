"""M4: a controller acts on the answers that it waits for."""

from __future__ import annotations

from controller.states import ReplicaState
from emulator.protocol.control_requests import ControlDelivered, ReplicasChanged
from emulator.protocol.events import ControllerElected, ControllerResigned, NodeCrashed
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Gravity, Moment
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.control_facts import AnswerIgnored
from scenarios.observe.history.deadlines import Deadlines

Deleted = tuple[int, int, TopicPartition]
"""A controller, a broker, and a partition of which it deletes the replica there."""


class AnswersTaken(Checker):
    """A controller that has a replica deleted takes note of the broker's answer, also where the request was sent again:
    the deletion of the topic goes on then (TopicDeletionManager.completeReplicaDeletion, failReplicaDeletion, 0.8.1).

    Verified: once a second, each replica that a controller has changed to ReplicaDeletionStarted, and whose broker has
        answered: it has another state 5 s later, unless the controller resigns, ends or does not get on.

    Not verified: answers to LeaderAndIsr (``controller_remembers`` sees offline replicas that are not known).
    """

    ids = ("M4",)
    gravity = Gravity.LIVENESS
    statement = "answered(deletion of r) ⇒ soon state_c(r) changes: a controller acts on answers"
    fails_when = "the answer to a request that was sent again is dropped"

    def begin(self) -> None:
        self._started: dict[Deleted, None] = {}
        self._answered: Deadlines[Deleted] = Deadlines()

    def on_changed(self, event: ReplicasChanged) -> None:
        for tp in event.partitions:
            replica = event.node, event.broker, tp
            self._answered.end(replica)
            if event.after == ReplicaState.DELETION_STARTED:
                self._started[replica] = None
            else:
                self._started.pop(replica, None)

    def on_delivered(self, event: ControlDelivered) -> None:
        request = event.request
        if isinstance(request, StopReplicaRequest) and request.delete_partitions:
            for tp in request.partitions:
                if (event.node, event.broker, tp) in self._started:
                    self._answered.begin((event.node, event.broker, tp), event.t_us)

    def on_other_controller(self, event: ControllerResigned | ControllerElected | NodeCrashed) -> None:
        self._answered.end_all(lambda replica: replica[0] == event.node)
        for replica in [replica for replica in self._started if replica[0] == event.node]:
            del self._started[replica]

    def look(self, moment: Moment) -> None:
        if len(self._answered):
            self._report_overdue(moment, SETTLING_US)

    def at_rest(self, moment: Moment) -> None:
        self._report_overdue(moment, 0)

    def _report_overdue(self, moment: Moment, bound_us: int) -> None:
        for (node, broker, tp), held_us in self._answered.overdue(moment.t_us, bound_us, self._free_since_us):
            self.violated(moment, AnswerIgnored(node, broker, held_us), tp, (node, broker))

    def _free_since_us(self, replica: Deleted) -> int | None:
        """Since when the controller gets on; None: it does not now."""
        return self.now.controlled_since_us() if replica[0] == self.cluster.controller else None
