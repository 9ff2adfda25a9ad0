"""How long the moves of partitions took, from the operator's first request to the end of the last move.

A move that is open at the run's end is censored: a result of its own, never a number. The same holds for a move that
the operator gives up, and for one that was planned and never requested, whose time counts from the plan. A request for
a partition that is already moving continues the open move with a new target; a request to cancel continues it with the
original replicas as its target. A request that is refused changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from emulator.protocol.assignments import without
from emulator.protocol.errors import Errors
from emulator.protocol.events import MoveAnswered, MoveCancelled, MovePlanned, MoveReported, MoveStarted
from emulator.protocol.types import TopicPartition
from emulator.trace import Event
from scenarios.observe.measures.added_replicas import AddedReplicaRow, AddedReplicas
from scenarios.observe.measures.figure import Better, Compared, Figure, Limit, Value
from scenarios.observe.measures.fold import Fold, Source, Table
from scenarios.observe.measures.move_ends import MoveEnds


class MoveRow(NamedTuple):
    """One partition's move, from the operator's request; ``w_us`` ends with the run when ``finished`` is false."""

    t_us: int
    seq: int
    w_us: int
    topic: str
    partition: int
    original: tuple[int, ...]
    target: tuple[int, ...]
    finished: bool


class Moves(Fold):
    """The fold over one run. Its rows are in the order of the moves' ends, unfinished ones last."""

    FIGURES = (
        Figure(
            name="time_to_complete_us",
            text="from the first move's start until the last one is done; none if a move is unfinished",
            unit="s",
            better=Better.LOWER,
            limit=Limit.AT_THE_END,
        ),
        Figure(name="moves", text="moves of partitions", unit="moves", compared=Compared.NO),
        Figure(
            name="moves_finished",
            text="moves that were done",
            unit="moves",
            better=Better.HIGHER,
            compared=Compared.NO,
        ),
        Figure(
            name="bytes_moved",
            text="what replicas received that moves added",
            unit="bytes",
            better=Better.LOWER,
            limit=Limit.AT_THE_END,
        ),
        Figure(
            name="bytes_wasted",
            text="of these, what was lost again, or was received by replicas that their moves did not keep",
            unit="bytes",
            better=Better.LOWER,
            limit=Limit.AT_THE_END,
        ),
    )
    TABLES: ClassVar[Mapping[str, Table]] = {"moves": Table(MoveRow), "added_replicas": Table(AddedReplicaRow)}

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        trace, topology = source.trace, source.topology
        self._rows: list[MoveRow] = []
        self._open: dict[TopicPartition, MoveRow] = {}
        self._before: dict[TopicPartition, MoveRow | None] = {}
        self._planned: dict[TopicPartition, MoveRow] = {}
        self._added = AddedReplicas(trace)
        self._added_rows: list[AddedReplicaRow] = []
        self._keep_rows = source.measured.keep_rows
        self._bytes_moved = self._bytes_wasted = 0
        self._topology = topology
        trace.fold(MovePlanned, self._announced)
        trace.fold(MoveStarted, self._started)
        trace.fold(MoveCancelled, self._cancelled)
        trace.fold(MoveAnswered, self._answered)
        trace.fold(MoveReported, self._reported)
        MoveEnds(trace, topology, self._ended)

    @property
    def open(self) -> int:
        """Moves that are under way, or that the operator has still to request."""
        return len(self._open) + len(self._planned)

    @property
    def under_way(self) -> tuple[TopicPartition, ...]:
        """The partitions whose moves were requested and have not ended."""
        return tuple(self._open)

    def adding(self, tp: TopicPartition) -> tuple[int, ...]:
        """The replicas that a move under way adds to a partition."""
        row = self._open.get(tp)
        return () if row is None else without(row.target, row.original)

    @property
    def open_rows(self) -> tuple[MoveRow, ...]:
        """The moves that are under way, so far."""
        return tuple(self._open.values())

    @property
    def unfinished(self) -> tuple[TopicPartition, ...]:
        """After ``finish``: the partitions whose moves had not ended."""
        return tuple(TopicPartition(row.topic, row.partition) for row in self._rows if not row.finished)

    def finish(self, end_us: int) -> None:
        unfinished = (*self._open.values(), *self._planned.values())
        self._rows += [row._replace(w_us=end_us - row.t_us) for row in unfinished]
        for tp in self._open:
            self._received(tp, end_us)
        self._open.clear()
        self._planned.clear()

    def figures(self) -> Mapping[str, Value]:
        rows, finished = self._rows, sum(row.finished for row in self._rows)
        took_us = None
        if rows and finished == len(rows):
            took_us = max(row.t_us + row.w_us for row in rows) - min(row.t_us for row in rows)
        return {
            "time_to_complete_us": took_us,
            "moves": len(rows),
            "moves_finished": finished,
            "bytes_moved": self._bytes_moved,
            "bytes_wasted": self._bytes_wasted,
        }

    def tables(self) -> Mapping[str, list[Any]]:
        return {"moves": self._rows, "added_replicas": self._added_rows}

    def _announced(self, event: MovePlanned) -> None:
        tp = TopicPartition(event.topic, event.partition)
        self._planned[tp] = self._row(tp, event)

    def _started(self, event: MoveStarted) -> None:
        tp = TopicPartition(event.topic, event.partition)
        self._planned.pop(tp, None)
        before = self._before[tp] = self._open.get(tp)
        if before is not None:
            self._open[tp] = before._replace(target=event.target)
            return
        row = self._open[tp] = self._row(tp, event)
        self._added.begin(tp, event.t_us, row.original)

    def _received(self, tp: TopicPartition, t_us: int) -> None:
        """A move that was under way has ended: take in what its added replicas received."""
        rows = self._added.end(tp, t_us, self._topology.assignment(tp))
        for row in rows:
            self._bytes_moved += row.bytes
            self._bytes_wasted += row.lost_bytes if row.assigned else row.bytes
        if self._keep_rows:
            self._added_rows += rows

    def _row(self, tp: TopicPartition, event: MovePlanned | MoveStarted) -> MoveRow:
        original = self._topology.assignment(tp)
        return MoveRow(event.t_us, event.seq, 0, tp.topic, tp.partition, original, event.target, False)

    def _cancelled(self, event: MoveCancelled) -> None:
        tp = TopicPartition(event.topic, event.partition)
        before = self._before[tp] = self._open.get(tp)
        if before is not None:
            self._open[tp] = before._replace(target=before.original)

    def _answered(self, event: MoveAnswered) -> None:
        tp = TopicPartition(event.topic, event.partition)
        before = self._before.pop(tp, None)
        if not refused(event):
            return
        if before is None:
            self._planned.pop(tp, None)
            if self._open.pop(tp, None) is not None:
                self._received(tp, event.t_us)
        elif tp in self._open:
            self._open[tp] = before

    def _ended(self, event: Event, tp: TopicPartition) -> None:
        row = self._open.pop(tp, None)
        if row is not None:
            self._rows.append(row._replace(w_us=event.t_us - row.t_us, finished=True))
            self._received(tp, event.t_us)

    def _reported(self, event: MoveReported) -> None:
        tp = TopicPartition(event.topic, event.partition)
        if event.interrupted and not event.done and tp in self._open:
            row = self._open.pop(tp)
            self._rows.append(row._replace(w_us=event.t_us - row.t_us))
            self._received(tp, event.t_us)


def refused(event: MoveAnswered) -> bool:
    """Whether the request was refused. One without an answer may have been granted."""
    return event.error not in (Errors.NONE.name, Errors.REQUEST_TIMED_OUT.name)
