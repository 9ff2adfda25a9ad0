"""How long the partitions' moves took, from the operator's request to the last one's end.

A move that the run's end finds open is censored: it is a result of its own and never a number; so is one that its
operator takes back, and one that he never came to ask for, whose time then counts from the plan. A request for a
partition that is already moving continues the open move with a new target; a request to cancel, with the original
replicas as its target. A request that is refused changes nothing.
"""

from __future__ import annotations

from emulator.protocol.errors import Errors
from emulator.protocol.events import MoveAnswered, MoveCancelled, MovePlanned, MoveReported, MoveStarted
from emulator.protocol.types import TopicPartition
from emulator.trace import Event, Trace
from scenarios.observe.measures.move_ends import MoveEnds
from scenarios.observe.measures.rows import MoveRow
from scenarios.observe.measures.topology import Topology


class Moves:
    """The fold over one run.

    Attributes:
        rows: the moves, those that ended first, in the order of their ends.
    """

    def __init__(self, trace: Trace, topology: Topology) -> None:
        self.rows: list[MoveRow] = []
        self._open: dict[TopicPartition, MoveRow] = {}
        self._before: dict[TopicPartition, MoveRow | None] = {}
        self._planned: dict[TopicPartition, MoveRow] = {}
        self._topology = topology
        trace.fold(MovePlanned, self._announced)
        trace.fold(MoveStarted, self._started)
        trace.fold(MoveCancelled, self._cancelled)
        trace.fold(MoveAnswered, self._answered)
        trace.fold(MoveReported, self._reported)
        MoveEnds(trace, topology, self._ended)

    @property
    def open(self) -> int:
        """Moves that are under way, or that the operator has still to ask for."""
        return len(self._open) + len(self._planned)

    @property
    def under_way(self) -> tuple[TopicPartition, ...]:
        """The partitions whose moves were asked for and have not ended."""
        return tuple(self._open)

    def finish(self, end_us: int) -> None:
        unfinished = (*self._open.values(), *self._planned.values())
        self.rows += [row._replace(w_us=end_us - row.t_us) for row in unfinished]
        self._open.clear()
        self._planned.clear()

    def time_to_complete_us(self) -> int | None:
        """First request to last end; None without a move, and when one is unfinished. After ``finish``."""
        if not self.rows or not all(row.finished for row in self.rows):
            return None
        return max(row.t_us + row.w_us for row in self.rows) - min(row.t_us for row in self.rows)

    def finished(self) -> int:
        return sum(row.finished for row in self.rows)

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
        self._open[tp] = self._row(tp, event)

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
            self._open.pop(tp, None)
        elif tp in self._open:
            self._open[tp] = before

    def _ended(self, event: Event, tp: TopicPartition) -> None:
        row = self._open.pop(tp, None)
        if row is not None:
            self.rows.append(row._replace(w_us=event.t_us - row.t_us, finished=True))

    def _reported(self, event: MoveReported) -> None:
        tp = TopicPartition(event.topic, event.partition)
        if event.interrupted and not event.done and tp in self._open:
            row = self._open.pop(tp)
            self.rows.append(row._replace(w_us=event.t_us - row.t_us))

def refused(event: MoveAnswered) -> bool:
    """Was the request turned down? Without an answer it may have been granted."""
    return event.error not in (Errors.NONE.name, Errors.REQUEST_TIMED_OUT.name)
