"""The times in which partitions were under-replicated, below min.insync.replicas, or without a leader.

One interval per partition and state, from ZooKeeper's contents (``scenarios.observe.past``); the meaning of the
flags is in ``scenarios.observe.measures.isr_row``.

A move is open from ``MoveStarted`` to its end (``move_ends``), unless it is refused. A cancelled move goes back to its
original. From step ``delete.partitions`` on, the partitions of a topic count as deleted: their ISRs shrink and their
leaders go by intention, and Kafka's controller leaves them out of its gauges too (``topicsWithDeletionStarted``). The
flags are computed from ZooKeeper, whichever broker leads: a broker's own gauge can know less (readings §8).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

from attrs import define

from emulator.protocol.events import MoveAnswered, MoveCancelled, MoveStarted, NodeCrashed, NodeStarted
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import ALL_BROKERS, CONFIG_TOPICS, LeaderAndIsr, decode_config
from emulator.trace import Event
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.measures.at_once import AtOnce
from scenarios.observe.measures.figure import Better, Compared, Figure, Limit, Value
from scenarios.observe.measures.fold import Fold, RunParts, Table
from scenarios.observe.measures.isr_row import IsrRow, flags
from scenarios.observe.measures.move_ends import MoveEnds
from scenarios.observe.measures.moves import refused
from scenarios.observe.past.changes import AssignmentWritten, StateWritten
from scenarios.observe.past.cluster_state import DELETED_FROM

NO_FLAGS = (False, False, False, False, False)
_FINAL = 2
"""The flag of KIP-352 as adopted, among the five."""
Changed = Callable[[int, TopicPartition, tuple[int, tuple[bool, ...]], tuple[int, tuple[bool, ...]]], None]
"""Time, partition, and (leader, flags) before and after; (-1, NO_FLAGS) while the partition does not exist."""


class Worst(NamedTuple):
    """A partition, and the time for which it was under-replicated in all."""

    tp: TopicPartition
    held_us: int


@define(eq=False)
class _PartitionIsr:
    topic: str
    partition: int
    min_isr: int
    state: LeaderAndIsr | None = None
    assignment: tuple[int, ...] = ()
    original: tuple[int, ...] = ()
    target: tuple[int, ...] = ()
    deleting: bool = False
    before: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    """Original and target as they were before the last request."""
    open: IsrRow | None = None
    last: IsrRow | None = None
    """The row that ended last."""
    under_replicated_us: int = 0


def _time(name: str, text: str, unit: str = "partition-seconds") -> Figure:
    return Figure(name=name, text=text, unit=unit, better=Better.LOWER, limit=Limit.AT_THE_END)


class IsrTimes(Fold):
    """The fold over one run. Its rows are closed intervals, in the order of their ends.

    Attributes:
        on_change: called at each change of a partition's leader or flags.
    """

    FIGURES = (
        _time(
            "under_replicated_any_us",
            "time with any partition under-replicated: fewer in sync than replicas that are not being added (KIP-352)",
            "s",
        ),
        Figure(
            name="under_replicated_until_us",
            text="virtual time until which partitions were under-replicated, at most the end of the run; 0: none was",
            unit="s",
            better=Better.LOWER,
            limit=Limit.AT_THE_END,
            compared=Compared.NO,
        ),
        _time("under_replicated_final_us", "under-replicated time by KIP-352, summed over the partitions"),
        _time("under_replicated_worst_us", "under-replicated time by KIP-352, of the partition with the most", "s"),
        _time("under_replicated_peak", "the most partitions that were under-replicated at once", "partitions"),
        _time(
            "under_replicated_by_moves_us",
            "what the moves themselves add by Kafka's rule up to 2.4, which counts replicas that are being added",
        ),
        _time("under_replicated_assigned_us", "under-replicated time by Kafka's rule up to 2.4, all assigned replicas"),
        _time("under_replicated_draft_us", "under-replicated time as KIP-352's draft defines it"),
        _time("under_min_isr_us", "time below min.insync.replicas"),
        _time("offline_us", "time without a leader in ZooKeeper"),
        _time("excess_isr_us", "in-sync replicas beyond the replication factor", "replica-seconds"),
        _time("extra_replica_us", "assigned replicas beyond the replication factor", "replica-seconds"),
        _time("peak_replicas", "the largest number of replicas that one partition was assigned at a time", "replicas"),
    )
    TABLES: ClassVar[Mapping[str, Table]] = {"isr_events": Table(IsrRow)}

    def __init__(self, source: RunParts) -> None:
        super().__init__(source)
        trace, past, measured = source.trace, source.past, source.measured
        self._rows: list[IsrRow] = []
        self._under_replicated = AtOnce()
        self._by_moves_us = 0  # under-replicated by the rule up to 2.4 alone
        self._flag_us = [0, 0, 0, 0, 0]  # per flag, in the order above: the time it was up, over all partitions
        self._excess_us = 0  # the integral of max(0, |ISR| - RF), RF being the target's replication factor
        self._extra_us = 0  # the integral of max(0, |assignment| - RF)
        self._peak_replicas = 0
        self.on_change: list[Changed] = []
        self._tell = source.isr_changed
        self._measured = measured
        self._min_isr = dict(measured.min_isr)
        self._default_min_isr = measured.default_min_isr
        self._partitions: dict[TopicPartition, _PartitionIsr] = {}
        self._down: set[int] = set()  # asked for membership only, never iterated
        self._cluster = past.now
        MoveEnds(trace, past, self._move_ended)

    def finish(self, end_us: int) -> None:
        for partition in self._partitions.values():
            row = partition.open
            self._close(partition, end_us)
            if row is not None:
                for see in self._tell:
                    see(end_us, row, None, row)
        self._under_replicated.change(end_us, 0)

    def figures(self) -> Mapping[str, Value]:
        flag_us, worst = dict(zip(IsrRow._fields[-5:], self._flag_us, strict=True)), self.worst
        return {
            "under_replicated_any_us": self._under_replicated.any_us,
            "under_replicated_until_us": self._under_replicated.until_us,
            "under_replicated_worst_us": 0 if worst is None else worst.held_us,
            "under_replicated_peak": self._under_replicated.peak,
            "under_replicated_by_moves_us": self._by_moves_us,
            **{f"{flag}_us": held_us for flag, held_us in flag_us.items()},
            "excess_isr_us": self._excess_us,
            "extra_replica_us": self._extra_us,
            "peak_replicas": self._peak_replicas,
        }

    @property
    def worst(self) -> Worst | None:
        """The partition that was under-replicated for the longest time; of several the first by name; None where none
        was."""
        found = [
            Worst(TopicPartition.of(partition.topic, partition.partition), partition.under_replicated_us)
            for partition in self._partitions.values()
            if partition.under_replicated_us
        ]
        return min(found, key=lambda worst: (-worst.held_us, worst.tp), default=None)

    def tables(self) -> Mapping[str, list[Any]]:
        return {"isr_events": self._rows}

    def leader(self, tp: TopicPartition) -> int:
        """The leader of a partition in ZooKeeper, -1 without one."""
        partition = self._partitions.get(tp)
        return -1 if partition is None or partition.state is None else partition.state.leader

    def on_assigned(self, event: AssignmentWritten) -> None:
        partition = self._partition(event.tp)
        partition.assignment = event.replicas
        if not event.replicas:
            partition.deleting = False
        self._changed(partition, event)

    def on_stated(self, event: StateWritten) -> None:
        partition = self._partition(event.tp)
        partition.state = event.state
        self._changed(partition, event)

    def on_configured(self, event: ZkWritten) -> None:
        """A topic's settings, or those of all brokers, were written: min.insync.replicas may have changed."""
        parent, _, name = event.path.rpartition("/")
        if parent == CONFIG_TOPICS:
            before, own = self._min_isr.pop(name, None), _min_isr_in(event)
            if own is not None:
                self._min_isr[name] = own
            if own == before:
                return
        elif event.path == f"/config/{ALL_BROKERS}":
            own = _min_isr_in(event)
            self._default_min_isr = self._measured.default_min_isr if own is None else own
        else:
            return
        for partition in self._partitions.values():
            least = self._min_isr_of(partition.topic)
            if partition.min_isr != least:
                partition.min_isr = least
                self._changed(partition, event)

    def _min_isr_of(self, topic: str) -> int:
        return self._min_isr.get(topic, self._default_min_isr)

    def on_move_started(self, event: MoveStarted) -> None:
        partition = self._partition(TopicPartition.of(event.topic, event.partition))
        partition.before = (partition.original, partition.target)
        partition.original = partition.original or partition.assignment
        partition.target = event.target
        self._changed(partition, event)

    def on_move_cancelled(self, event: MoveCancelled) -> None:
        partition = self._partition(TopicPartition.of(event.topic, event.partition))
        partition.before = (partition.original, partition.target)
        partition.target = partition.original
        self._changed(partition, event)

    def on_move_answered(self, event: MoveAnswered) -> None:
        partition = self._partition(TopicPartition.of(event.topic, event.partition))
        if refused(event) and partition.original:
            partition.original, partition.target = partition.before
            self._changed(partition, event)

    def _move_ended(self, event: Event, tp: TopicPartition) -> None:
        partition = self._partition(tp)
        partition.original = partition.target = ()
        self._changed(partition, event)

    def on_stepped(self, event: Step) -> None:
        if event.step == DELETED_FROM and event.edge == "after":
            for tp in self._cluster.partitions(event.topic):
                partition = self._partition(tp)
                partition.deleting = True
                self._changed(partition, event)

    def on_node_started(self, event: NodeStarted) -> None:
        if event.node in self._down:
            self._down.discard(event.node)
            self._node_changed(event, event.node)

    def on_node_crashed(self, event: NodeCrashed) -> None:
        self._down.add(event.node)
        self._node_changed(event, event.node)

    def _node_changed(self, event: Event, node: int) -> None:
        for partition in self._partitions.values():
            if partition.state is not None and node in partition.state.isr:
                self._changed(partition, event)

    def _partition(self, tp: TopicPartition) -> _PartitionIsr:
        found = self._partitions.get(tp)
        if found is None:
            found = _PartitionIsr(tp.topic, tp.partition, self._min_isr_of(tp.topic))
            self._partitions[tp] = found
        return found

    def _changed(self, partition: _PartitionIsr, event: Event) -> None:
        closed, before = partition.open, _leader_and_flags(partition.open)
        self._close(partition, event.t_us)
        if partition.state is not None and partition.assignment and not partition.deleting:
            partition.open = self._row(partition, partition.state, event)
        for tell in self._tell:
            tell(event.t_us, closed, partition.open, partition.last)
        after = _leader_and_flags(partition.open)
        if before != after:
            self._under_replicated.change(event.t_us, after[1][_FINAL] - before[1][_FINAL])
            tp = TopicPartition.of(partition.topic, partition.partition)
            for see in self.on_change:
                see(event.t_us, tp, before, after)

    def _row(self, partition: _PartitionIsr, state: LeaderAndIsr, event: Event) -> IsrRow:
        least = partition.min_isr
        if self._measured.caps_min_isr:
            least = min(least, len(partition.assignment))
        return IsrRow(
            event.t_us,
            event.seq,
            0,
            partition.topic,
            partition.partition,
            state.leader,
            state.leader_epoch,
            state.isr,
            partition.assignment,
            partition.original,
            partition.target,
            least,
            sum(node not in self._down for node in state.isr),
            *flags(state, partition.assignment, partition.original, partition.target, least),
        )

    def _close(self, partition: _PartitionIsr, t_us: int) -> None:
        row, partition.open = partition.open, None
        if row is None:
            return
        partition.last = row
        held_us = t_us - row.t_us
        for index, up in enumerate(row[-5:]):
            if up:
                self._flag_us[index] += held_us
        if row.under_replicated_final:
            partition.under_replicated_us += held_us
        elif row.under_replicated_assigned:
            self._by_moves_us += held_us
        wanted, assigned = row.wanted, len(row.assignment)
        self._excess_us += held_us * max(0, len(row.isr) - wanted)
        self._extra_us += held_us * max(0, assigned - wanted)
        self._peak_replicas = max(self._peak_replicas, assigned)
        if self._measured.keep_rows:
            self._rows.append(row._replace(w_us=held_us))


def _min_isr_in(event: ZkWritten) -> int | None:
    """The min.insync.replicas that a configuration sets; None if it does not."""
    stated = None if event.op == "delete" else decode_config(event.data).get("min.insync.replicas")
    return None if stated is None else int(stated)


def _leader_and_flags(row: IsrRow | None) -> tuple[int, tuple[bool, ...]]:
    return (-1, NO_FLAGS) if row is None else (row.leader, row[-5:])
