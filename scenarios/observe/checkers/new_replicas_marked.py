"""R8, M3: a replica that is being added is announced as new, and as a follower."""

from __future__ import annotations

from emulator.protocol.control_requests import ControlQueued
from emulator.protocol.events import ControllerElected
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Moment
from scenarios.observe.checkers.in_time import InTime
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.control_facts import NotAnnouncedAsNew
from scenarios.observe.past.changes import AssignmentWritten


class NewReplicasMarked(InTime[tuple[TopicPartition, int]]):
    """A replica that a move has added is announced as new to its broker, and not as the leader.

    Verified: each replica that the topic's znode has more than before: of the LeaderAndIsr requests that name it, one
        queued within 5 s of the first says that it is new, unless another controller is elected in between, for which
        it is not; none before that makes it the leader. One that says so counts only where none before it has the same
        leader epoch: the broker refuses the second request of an epoch.

    Up to 2.6 the request that raises the leader epoch goes to all replicas, old and new, and marks none; a replica is
    then not created where a log directory of its broker is offline (KAFKA-10314, 2.7). Such releases are not checked.

    Not verified: replicas that are added without a change of the assignment (KAFKA-42), or to a partition that has
        never had a leader: all of its replicas are new, and one of them is its first leader
        (PartitionStateMachine.initializeLeaderAndIsrForPartitions, 2.4 to 3.0); those of a move whose target is in the
        ISR already, as where an earlier one has dropped the last replica in it: it ends at once, and starts none
        (KafkaController.onPartitionReassignment, 2.4 to 3.9); that no other replica is announced as new.
    """

    ids = ("R8", "M3")
    statement = (
        "r joins RS ⇒ it gets isNew, and another leader: a replica that is added is announced as new, and as a follower"
    )
    fails_when = "a later change of the same batch takes the mark away"

    bound_us = SETTLING_US

    def begin(self) -> None:
        super().begin()
        self._promised = self.start.marks_new_replicas
        self._new: dict[int, dict[TopicPartition, None]] = {}
        self._used: dict[tuple[TopicPartition, int], int] = {}
        """The leader epoch of the last request that did not say so."""

    def on_assigned(self, event: AssignmentWritten) -> None:
        before = event.before
        had_a_leader = self.cluster.states.get(event.tp) is not None
        starts = before and had_a_leader and not self._ends_at_once(event)
        for broker in event.replicas if starts else ():
            if broker not in before:
                self._new.setdefault(broker, {})[event.tp] = None
        for broker in before:
            if broker not in event.replicas:
                self._forget(broker, event.tp)

    def _ends_at_once(self, event: AssignmentWritten) -> bool:
        """Whether the partition has each replica of the move's target in its ISR."""
        removing, isr = self.cluster.removing(event.tp), self.cluster.isr(event.tp)
        return all(broker in isr for broker in event.replicas if broker not in removing)

    def _forget(self, broker: int, tp: TopicPartition) -> None:
        self._new.get(broker, {}).pop(tp, None)
        self.lasting.end((tp, broker))
        self._used.pop((tp, broker), None)

    def on_elected(self, event: ControllerElected) -> None:
        self._new.clear()
        self.lasting.clear()
        self._used.clear()

    def on_queued(self, event: ControlQueued) -> None:
        new, request = self._new.get(event.broker), event.request
        if not (new and self._promised) or not isinstance(request, LeaderAndIsrRequest):
            return
        for state in request.partitions:
            if state.tp not in new:
                continue
            if state.leader == event.broker:
                self.violated(event, NotAnnouncedAsNew(event.broker, None), state.tp)
            key = state.tp, event.broker
            marked = state.is_new and state.leader_epoch > self._used.get(key, -1)
            if marked or state.leader == event.broker:
                self._forget(event.broker, state.tp)
            else:
                self._used[key] = state.leader_epoch
                self.lasting.begin(key, event.t_us)

    def at_rest(self, moment: Moment) -> None:
        self.report_overdue(moment, 0)

    def free_since_us(self, _: tuple[TopicPartition, int]) -> int:
        return 0

    def report(self, moment: Moment, key: tuple[TopicPartition, int], held_us: int) -> None:
        tp, broker = key
        self._forget(broker, tp)
        self.violated(moment, NotAnnouncedAsNew(broker, held_us), tp)
