"""M1, M2: the controller's state machines make legal transitions only."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from emulator.protocol.control_requests import ControlQueued, PartitionsChanged, ReplicasChanged
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from emulator.trace.events import Step
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.control_facts import DeletedInOtherState, StateChanged, StepNotBegun

PARTITION_STATES = {0: "New", 1: "Online", 2: "Offline", 3: "NonExistent"}
REPLICA_STATES = {
    1: "New", 2: "Online", 3: "Offline", 4: "DeletionStarted", 5: "DeletionSuccessful", 6: "DeletionIneligible",
    7: "NonExistent",
}  # fmt: skip
OF_PARTITIONS: Mapping[int, frozenset[int]] = {
    0: frozenset((3,)), 1: frozenset((0, 1, 2)), 2: frozenset((0, 1, 2)), 3: frozenset((2,)),
}  # fmt: skip
"""Each state, and those before it."""
DELETED_IN = (4, 7)
"""The states in which a replica is deleted; the second in releases that know no deletion of topics."""
OF_REPLICAS: Mapping[int, frozenset[int]] = {
    1: frozenset((7,)), 2: frozenset((1, 2, 3, 6)), 3: frozenset((1, 2, 3, 6)), 4: frozenset((3,)), 5: frozenset((4,)),
    6: frozenset((3, 4)), 7: frozenset((3, 5)),
}  # fmt: skip


class LegalTransitions(Checker):
    """The states of partitions and replicas follow each other as Kafka's state machines allow, a replica is deleted
    only in the state of one that is, and no step of a procedure ends that was not begun.

    Verified: each state change of a controller, against the transitions of Kafka 1.0 to 2.7 and the controller page's
        (where an offline replica may become NonExistent at once). Each StopReplica with deletion: the controller has
        changed the replica to DeletionStarted, or NonExistent, and to no other state since. The end of each step of a
        protocol, failover, deletion and so on: the same controller has begun it, for the same partition and hop.

    Not verified: the states with which a new controller begins; that what is refused is tried again.
    """

    ids = ("M1", "M2")
    statement = (
        "p, r: before → after ∈ the legal transitions: states of partitions and replicas follow each other as allowed"
    )
    catches = ("KAFKA-1097", "KAFKA-9089")
    fails_when = "the state machines make every change that they are asked for"

    def begin(self) -> None:
        self._deleting: dict[tuple[int, int], dict[TopicPartition, None]] = {}
        """Replicas that are being deleted, by controller and broker."""
        self._begun: dict[tuple[object, ...], None] = {}
        """Steps, each with what it is for."""

    def on_step(self, event: Step) -> None:
        step = event.step, event.topic, event.partition, event.broker, event.hop, event.node
        if event.edge == "before":
            self._begun[step] = None
        elif step in self._begun:
            del self._begun[step]
        else:
            tp = TopicPartition(event.topic, event.partition) if event.topic and event.partition >= 0 else None
            self.violated(event, StepNotBegun(event.step, event.node, event.topic, event.partition), tp)

    def on_partitions(self, event: PartitionsChanged) -> None:
        self._check(event, None, OF_PARTITIONS[event.after], PARTITION_STATES)

    def on_replicas(self, event: ReplicasChanged) -> None:
        self._check(event, event.broker, OF_REPLICAS[event.after], REPLICA_STATES)
        deleting = self._deleting.setdefault((event.node, event.broker), {})
        if event.after in DELETED_IN:
            deleting.update(dict.fromkeys(event.partitions))
        elif deleting:
            for tp in event.partitions:
                deleting.pop(tp, None)

    def on_queued(self, event: ControlQueued) -> None:
        request = event.request
        if isinstance(request, StopReplicaRequest) and request.delete_partitions:
            deleting = self._deleting.get((event.node, event.broker), {})
            for tp in request.partitions:
                if tp not in deleting:
                    self.violated(event, DeletedInOtherState(event.broker, event.node), tp)

    def _check(
        self,
        event: PartitionsChanged | ReplicasChanged,
        broker: int | None,
        allowed: Collection[int],
        names: Mapping[int, str],
    ) -> None:
        if all(before in allowed for before in event.before):
            return
        for tp, before in zip(event.partitions, event.before, strict=True):
            if before not in allowed:
                self.violated(event, StateChanged(broker, names[before], names[event.after], event.node), tp)
