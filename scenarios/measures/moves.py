"""How long the partitions' moves took, from the operator's request to the last one's end.

A move that the run's end finds open is censored: it is a result of its own and never a number. A request for
a partition that is already moving continues the open move with a new target.
"""

from __future__ import annotations

from emulator.protocol.events import MoveFinished, MoveStarted
from emulator.protocol.types import TopicPartition
from emulator.trace import Trace
from scenarios.measures.rows import MoveRow
from scenarios.measures.topology import Topology


class Moves:
    """The fold over one run.

    Attributes:
        rows: the moves, those that ended first, in the order of their ends.
    """

    def __init__(self, trace: Trace, topology: Topology) -> None:
        self.rows: list[MoveRow] = []
        self._open: dict[TopicPartition, MoveRow] = {}
        self._topology = topology
        trace.fold(MoveStarted, self._started)
        trace.fold(MoveFinished, self._finished)

    @property
    def open(self) -> int:
        """Moves that are under way."""
        return len(self._open)

    def finish(self, end_us: int) -> None:
        self.rows += [row._replace(w_us=end_us - row.t_us) for row in self._open.values()]
        self._open.clear()

    def time_to_complete_us(self) -> int | None:
        """First request to last end; None without a move, and when one is unfinished. After ``finish``."""
        if not self.rows or not all(row.finished for row in self.rows):
            return None
        return max(row.t_us + row.w_us for row in self.rows) - min(row.t_us for row in self.rows)

    def finished(self) -> int:
        return sum(row.finished for row in self.rows)

    def _started(self, event: MoveStarted) -> None:
        tp = TopicPartition(event.topic, event.partition)
        before = self._open.get(tp)
        if before is not None:
            self._open[tp] = before._replace(target=event.target)
            return
        original = self._topology.assignment(tp)
        self._open[tp] = MoveRow(event.t_us, event.seq, 0, tp.topic, tp.partition, original, event.target, False)

    def _finished(self, event: MoveFinished) -> None:
        row = self._open.pop(TopicPartition(event.topic, event.partition), None)
        if row is not None:
            self.rows.append(row._replace(w_us=event.t_us - row.t_us, finished=True))
