"""R9: a replica that leaves the assignment is stopped first."""

from __future__ import annotations

from controller.procedures import stopped_after
from emulator.protocol.control_requests import ControlQueued
from emulator.protocol.events import ControllerElected, ControllerResigned, NodeCrashed
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from emulator.trace import Event
from emulator.trace.events import Step
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.control_facts import DroppedUnstopped
from scenarios.observe.past.changes import AssignmentWritten

RECENT_US = 60_000_000
"""A broker that has registered within this time may be unknown to a controller that is held up in its move."""


class DropsStopped(Checker):
    """A controller that writes an assignment without a replica has asked its broker to delete it: no one does so later,
    since the next controller finds the move done, and the replica would stay for ever.

    Verified: each write of an assignment by a controller, for each broker that leaves it and has been registered for a
        minute: the same controller has queued a StopReplica with deletion for it in the same term. Where a protocol
        writes first (kip-455's U1, kafka-6794's step 5), when its last step of stopping ends.

    Kafka loses such a replica nevertheless, and nothing is expected of it: where the broker is down, or starts
    meanwhile; where the controller dies, or the broker bounces, with the request in its queue (KafkaController
    .onPartitionReassignment, 0.8 to 2.7: steps 9 and 10, B5 and B6); and where the controller dies between kip-455's U1
    and U3: its successor reads an assignment in which the replica is neither in RS nor in RR
    (updateCurrentReassignment, 2.4 to 2.7).

    Not verified: that the broker gets the request (``requests_delivered``) and carries it out (``converged``).
    """

    ids = ("R9",)
    statement = "r leaves RS ⇒ StopReplica(r) queued before: a replica that leaves the assignment is stopped first"
    fails_when = "a move writes its assignment and stops no replica"

    def begin(self) -> None:
        self._asked: dict[int, dict[tuple[TopicPartition, int], None]] = {}
        """The replicas that each controller has asked brokers to delete, in its present term."""
        self._owed: dict[TopicPartition, tuple[AssignmentWritten, str]] = {}
        """The last write of an assignment whose replicas are stopped later, and the step that ends with that."""

    def on_elected(self, event: ControllerElected) -> None:
        self._asked[event.node] = {}
        self._owed.clear()

    def on_end(self, event: ControllerResigned | NodeCrashed) -> None:
        self._asked.pop(event.node, None)

    def on_queued(self, event: ControlQueued) -> None:
        request = event.request
        if isinstance(request, StopReplicaRequest) and request.delete_partitions and event.node in self._asked:
            self._asked[event.node].update(dict.fromkeys((tp, event.broker) for tp in request.partitions))

    def on_assigned(self, event: AssignmentWritten) -> None:
        if not event.replicas or event.client not in self._asked:
            return
        asked = self._asked[event.client]
        for broker in event.replicas:
            if broker not in event.before:
                asked.pop((event.tp, broker), None)
        if set(event.before) <= set(event.replicas):
            return
        step, acting = self.cluster.steps.get(event.tp), self.cluster.acting.get(event.client)
        of_term = step is not None and acting is not None and step.node == event.client and step.seq > acting.seq
        if step is not None and of_term and (stops := stopped_after(step.step)):
            self._owed[event.tp] = event, stops
        else:
            self._check(event, event)

    def on_step(self, event: Step) -> None:
        if event.edge != "after" or not event.topic:
            return
        tp = TopicPartition.of(event.topic, event.partition)
        owed, stops = self._owed.get(tp, (None, ""))
        if owed is not None and stops == event.step:
            del self._owed[tp]
            if owed.client == event.node:
                self._check(event, owed)

    def _check(self, event: Event, write: AssignmentWritten) -> None:
        tp, asked = write.tp, self._asked.get(write.client, {})
        for broker in write.before:
            if broker not in write.replicas and (tp, broker) not in asked and self._is_known(broker, event.t_us):
                facts = DroppedUnstopped(write.client, broker, write.before, write.replicas)
                self.violated(event, facts, tp, (broker,))

    def _is_known(self, broker: int, now_us: int) -> bool:
        """Whether a broker has been registered for so long that every controller knows it."""
        since_us = self.cluster.registered_us(broker)
        recent = now_us - RECENT_US if self.cluster.was_interrupted(broker) else now_us
        return since_us is not None and since_us <= recent
