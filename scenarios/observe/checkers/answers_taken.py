"""M4: a controller acts on the answers that it waits for."""

from __future__ import annotations

from controller.states import ReplicaState
from emulator.protocol.control_requests import ControlDelivered, ReplicasChanged
from emulator.protocol.errors import NO_ERROR
from emulator.protocol.events import ControllerElected, ControllerResigned, ControlResponse, NodeCrashed
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from emulator.trace.events import Step
from scenarios.observe.checkers.checker import Gravity, Moment, forget
from scenarios.observe.checkers.in_time import InTime
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.request_facts import AnswerIgnored, AnswerMistaken

STARTS, STOP_REPLICA = "delete.start", "StopReplica"
Deleted = tuple[int, int, TopicPartition]
"""A controller, a broker, and a partition of which it deletes the replica there."""


class AnswersTaken(InTime[Deleted]):
    """A controller that has a replica deleted takes note of the broker's answer, also where the request was sent again:
    the deletion of the topic goes on then (TopicDeletionManager.completeReplicaDeletion, failReplicaDeletion, 0.8.1).

    Verified: once a second, each replica that a controller has changed to ReplicaDeletionStarted, and whose broker has
        answered: it has another state 5 s later, unless the controller resigns, ends or does not get on. Of a topic
        that is deleted the state is
        ReplicaDeletionSuccessful only where the answer has no error, for the request or for this partition, and
        ReplicaDeletionIneligible only where it has one, or its broker is gone, was so, or has lost a log directory. An
        answer that has come before the deletion began again counts for that (completeReplicaDeletion).

    Not verified: answers to LeaderAndIsr (``controller_remembers`` sees offline replicas that are not known).
    """

    ids = ("M4",)
    gravity = Gravity.LIVENESS
    statement = "answered(deletion of r) ⇒ soon state_c(r) changes: a controller acts on answers"
    fails_when = "the answer to a request that was sent again is dropped"

    bound_us = SETTLING_US

    def begin(self) -> None:
        super().begin()
        self._started: dict[Deleted, int | None] = {}
        """The deletions that have begun, and when; None: it is that of a move, which waits for no answer."""
        self._starts: dict[int, str] = {}
        """By controller, the topic whose deletion it starts."""
        self._answers: dict[int, ControlResponse] = {}
        """The answers to StopReplica that are on their way, by the event that asked."""
        self._errors: dict[Deleted, str] = {}
        """The error with which each replica was answered."""

    def on_changed(self, event: ReplicasChanged) -> None:
        for tp in event.partitions:
            replica = event.node, event.broker, tp
            self.lasting.end(replica)
            if event.after == ReplicaState.DELETION_STARTED:
                self._started[replica] = event.t_us if self._starts.get(event.node) == tp.topic else None
            elif (started_us := self._started.pop(replica, None)) is not None:
                self._compare(event, tp, started_us)
            if event.after == ReplicaState.DELETION_SUCCESSFUL:  # else the next attempt may take it for its answer
                self._errors.pop(replica, None)

    def _compare(self, event: ReplicasChanged, tp: TopicPartition, started_us: int) -> None:
        """A replica leaves ReplicaDeletionStarted."""
        error, deleted = (
            self._errors.get((event.node, event.broker, tp)),
            event.after == ReplicaState.DELETION_SUCCESSFUL,
        )
        since_us = self.cluster.registered_us(event.broker)
        there = since_us is not None and since_us < started_us and not self.cluster.lacks_dirs(event.broker)
        if (error != NO_ERROR.name) if deleted else (error == NO_ERROR.name and there):
            facts = AnswerMistaken(event.node, event.broker, deleted, error or "")
            self.violated(event, facts, tp, (event.broker,))

    def on_step(self, event: Step) -> None:
        if event.step == STARTS:
            self._starts[event.node] = event.topic if event.edge == "before" else ""

    def on_response(self, event: ControlResponse) -> None:
        if event.api == STOP_REPLICA:
            self._answers[event.cause] = event

    def on_delivered(self, event: ControlDelivered) -> None:
        request, answer = event.request, self._answers.pop(event.cause, None)
        if isinstance(request, StopReplicaRequest) and request.delete_partitions:
            refused = {} if answer is None else dict(zip(answer.refused, answer.errors, strict=True))
            for tp in request.partitions:
                replica = event.node, event.broker, tp
                if replica in self._started:
                    self.lasting.begin(replica, event.t_us)
                    whole = NO_ERROR.name if answer is None else answer.error
                    self._errors[replica] = whole if whole != NO_ERROR.name else refused.get(str(tp), whole)

    def on_other_controller(self, event: ControllerResigned | ControllerElected | NodeCrashed) -> None:
        self.lasting.end_all(lambda replica: replica[0] == event.node)
        forget(event.node, self._started, self._errors)

    def at_rest(self, moment: Moment) -> None:
        self.report_overdue(moment, 0)

    def report(self, moment: Moment, replica: Deleted, held_us: int) -> None:
        node, broker, tp = replica
        self.violated(moment, AnswerIgnored(node, broker, held_us), tp, (node, broker))

    def free_since_us(self, replica: Deleted) -> int | None:
        """Since when the controller gets on; None: it does not now."""
        return self.now.controlled_since_us() if replica[0] == self.cluster.controller else None
