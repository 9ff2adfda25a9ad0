"""Records one partition's move: a fold over the events of a run, those of ZooKeeper included."""

from __future__ import annotations

from attrs import define, field, frozen

from emulator.protocol.events import Fault
from emulator.protocol.types import TopicPartition
from emulator.trace import Trace
from emulator.trace.events import Step
from scenarios.language import STEPS
from scenarios.observe.past.changes import AssignmentWritten, StateWritten
from scenarios.observe.past.cluster_past import Past
from scenarios.observe.past.cluster_state import FoldedState

Brokers = tuple[int, ...]


@frozen
class GateVisit:
    """The move has reached a gate of its protocol, with leader and ISR at that moment.

    Attributes:
        hop: the hop, from 1, of protocols with hops; else 0.
        occurrence: the number of the visit of this edge in this hop, counted from 1.
        controller: the broker that performs the step.
        leader, isr: leader and ISR in ZooKeeper; -1 without a leader.
    """

    step: str
    edge: str
    hop: int
    occurrence: int
    controller: int
    leader: int
    isr: Brokers


@define(eq=False)
class MoveRecorder:
    """Records one partition. Created before the run; ``close`` ends the intervals.

    Attributes:
        cluster: the present state of the cluster.
        visits: the gates of the move, in order.
        passed: the number of times that each step was done.
        waiting: the step that has begun and not ended; empty between two steps.
        healed_us: the time when the last action but one was done: the last action of a cell only lets time pass.
        leader_outside_us, isr_outside_us: the time for which ZooKeeper had a leader, or a member of the ISR, outside
            the assignment.
    """

    tp: TopicPartition
    protocol: str
    cluster: FoldedState
    visits: list[GateVisit] = field(factory=list)
    passed: dict[str, int] = field(factory=dict)
    waiting: str = ""
    healed_us: int = 0
    leader_outside_us: int = 0
    isr_outside_us: int = 0
    _leader_outside: bool = False
    _isr_outside: bool = False
    _seen: dict[tuple[str, str, int], int] = field(factory=dict)
    _since_us: int = 0
    _done_us: int = 0

    @classmethod
    def of(cls, tp: TopicPartition, protocol: str, trace: Trace, past: Past) -> MoveRecorder:
        """The recorder of a partition, that watches a run which begins."""
        recorder = cls(tp, protocol, past.now)
        past.subscribe(AssignmentWritten, recorder._written)
        past.subscribe(StateWritten, recorder._written)
        trace.fold(Step, recorder._stepped)
        trace.fold(Fault, recorder._fault)
        return recorder

    def close(self, now_us: int) -> None:
        self._account(now_us)

    @property
    def leader(self) -> int:
        return self.cluster.leader(self.tp)

    @property
    def isr(self) -> Brokers:
        return self.cluster.isr(self.tp)

    # -- ZooKeeper ----------------------------------------------------------------------------------------------------

    def _written(self, change: AssignmentWritten | StateWritten) -> None:
        if change.tp == self.tp:
            self._account(change.t_us)
            assigned = self.cluster.assignment(self.tp)
            self._leader_outside = bool(assigned) and self.leader >= 0 and self.leader not in assigned
            self._isr_outside = bool(assigned) and any(broker not in assigned for broker in self.isr)

    def _account(self, now_us: int) -> None:
        """Add the time since the last change to the intervals that were open."""
        held_us, self._since_us = now_us - self._since_us, now_us
        self.leader_outside_us += held_us * self._leader_outside
        self.isr_outside_us += held_us * self._isr_outside

    # -- the controller -----------------------------------------------------------------------------------------------

    def _stepped(self, event: Step) -> None:
        owner = STEPS.get(event.step)
        if owner is None or owner.name != self.protocol:
            return
        place = event.step, event.edge, max(0, event.hop)
        self._seen[place] = occurrence = self._seen.get(place, 0) + 1
        self.visits.append(GateVisit(*place, occurrence, event.node, self.leader, self.isr))
        if event.edge == "after":
            self.passed[event.step] = self.passed.get(event.step, 0) + 1
            self.waiting = ""
        else:
            self.waiting = event.step

    # -- the scenario -------------------------------------------------------------------------------------------------

    def _fault(self, event: Fault) -> None:
        if event.action != "reassign.execute":
            self.healed_us, self._done_us = self._done_us, event.t_us
