"""Records one partition's move: a fold over the events of a run, those of ZooKeeper included."""

from __future__ import annotations

from attrs import define, field, frozen

from emulator.protocol.events import (
    Fault,
    FetchPosition,
    HighWatermarksMoved,
    LogLoaded,
    PartitionFailed,
    PartitionFailureCleared,
    ReplicaStopped,
    Truncated,
)
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from emulator.trace import Trace
from emulator.trace.events import Step, ZkWritten
from scenarios.language import STEPS
from scenarios.observe.measures.topology import Topology

Brokers = tuple[int, ...]


@frozen
class GateVisit:
    """The move has reached a gate of its protocol, with leader and ISR at that moment.

    Attributes:
        hop: the hop, from 1, of protocols with hops; else 0.
        occurrence: the number of the visit of this edge in this hop, counted from 1.
        controller: the broker that performs the step.
        leader, isr: those in ZooKeeper; -1 without a leader.
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
        visits: the gates of the move, in order.
        passed: the number of times that each step was done.
        assignment, state: the assignment and the state znode in ZooKeeper.
        replicas: the brokers that have the partition's log on disk.
        high_watermarks: broker -> its high watermark.
        fetching: broker -> (leader, offset) of its fetcher's position; the offset is -1 once the fetcher has ended.
        failed: broker -> why its fetcher marked the partition as failed (KIP-461).
        waiting: the step that has begun and not ended; empty between two steps.
        healed_us: the time when the last action but one was done: the last action of a cell only lets time pass.
        leader_outside_us, isr_outside_us: the time for which ZooKeeper had a leader, or a member of the ISR, outside
            the assignment.
    """

    tp: TopicPartition
    protocol: str
    visits: list[GateVisit] = field(factory=list)
    passed: dict[str, int] = field(factory=dict)
    waiting: str = ""
    assignment: Brokers = ()
    state: LeaderAndIsr | None = None
    replicas: dict[int, None] = field(factory=dict)
    high_watermarks: dict[int, int] = field(factory=dict)
    fetching: dict[int, tuple[int, int]] = field(factory=dict)
    failed: dict[int, str] = field(factory=dict)
    healed_us: int = 0
    leader_outside_us: int = 0
    isr_outside_us: int = 0
    _seen: dict[tuple[str, str, int], int] = field(factory=dict)
    _since_us: int = 0
    _done_us: int = 0

    def watch(self, trace: Trace, topology: Topology) -> None:
        topology.subscribe(self._assigned, self._stated)
        trace.fold(Step, self._stepped)
        trace.fold(LogLoaded, self._loaded)
        trace.fold(ReplicaStopped, self._stopped)
        trace.fold(HighWatermarksMoved, self._advanced)
        trace.fold(Truncated, self._truncated)
        trace.fold(FetchPosition, self._positioned)
        trace.fold(PartitionFailed, self._fetch_failed)
        trace.fold(PartitionFailureCleared, self._fetch_unfailed)
        trace.fold(Fault, self._fault)

    def close(self, now_us: int) -> None:
        self._account(now_us)

    @property
    def leader(self) -> int:
        return -1 if self.state is None else self.state.leader

    @property
    def isr(self) -> Brokers:
        return () if self.state is None else self.state.isr

    # -- ZooKeeper ----------------------------------------------------------------------------------------------------

    def _assigned(self, event: ZkWritten, tp: TopicPartition, replicas: Brokers) -> None:
        if tp == self.tp:
            self._account(event.t_us)
            self.assignment = replicas

    def _stated(self, event: ZkWritten, tp: TopicPartition, state: LeaderAndIsr | None) -> None:
        if tp == self.tp:
            self._account(event.t_us)
            self.state = state

    def _account(self, now_us: int) -> None:
        """Add the time since the last change to the intervals that were open."""
        held_us, self._since_us = now_us - self._since_us, now_us
        if self.state is None or not self.assignment:
            return
        if self.state.leader >= 0 and self.state.leader not in self.assignment:
            self.leader_outside_us += held_us
        if any(broker not in self.assignment for broker in self.state.isr):
            self.isr_outside_us += held_us

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

    # -- the brokers --------------------------------------------------------------------------------------------------

    def _loaded(self, event: LogLoaded) -> None:
        if (event.topic, event.partition) == self.tp:
            self.replicas[event.node] = None
            self.high_watermarks[event.node] = event.high_watermark

    def _advanced(self, event: HighWatermarksMoved) -> None:
        if event.topic == self.tp.topic and self.tp.partition in event.partitions:
            at = event.partitions.index(self.tp.partition)
            self.high_watermarks[event.node] = event.high_watermarks[at]

    def _truncated(self, event: Truncated) -> None:
        if (event.topic, event.partition) == self.tp:
            self.high_watermarks[event.node] = event.high_watermark

    def _stopped(self, event: ReplicaStopped) -> None:
        if (event.topic, event.partition) == self.tp and event.deleted:
            self.replicas.pop(event.node, None)

    def _positioned(self, event: FetchPosition) -> None:
        if (event.topic, event.partition) == self.tp:
            self.fetching[event.node] = event.leader, event.offset

    def _fetch_failed(self, event: PartitionFailed) -> None:
        if (event.topic, event.partition) == self.tp:
            self.failed[event.node] = event.reason

    def _fetch_unfailed(self, event: PartitionFailureCleared) -> None:
        if (event.topic, event.partition) == self.tp:
            self.failed.pop(event.node, None)

    # -- the scenario -------------------------------------------------------------------------------------------------

    def _fault(self, event: Fault) -> None:
        if event.action != "reassign.execute":
            self.healed_us, self._done_us = self._done_us, event.t_us
