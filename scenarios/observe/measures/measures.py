"""All measures of one run behind one name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emulator.protocol.types import TopicPartition
from emulator.trace import Trace
from scenarios.observe.measures.figure import Value
from scenarios.observe.measures.figures import FOLDS, Figures
from scenarios.observe.measures.fold import Fold, Measured, RunParts
from scenarios.observe.measures.isr_times import IsrTimes
from scenarios.observe.measures.moves import Moves
from scenarios.observe.measures.true_gauges import GAUGES, TrueGauges
from scenarios.observe.past.cluster_past import Past

NEEDED: tuple[type[Fold], ...] = (Moves, IsrTimes)
"""The folds that the course of a run depends on: it waits for moves, and reads in-sync sets."""


class Measures:
    """Subscribes to a trace before the run; ``finish`` closes everything and returns the figures.

    Attributes:
        past: the past of the cluster, for others on the same trace.
    """

    def __init__(self, trace: Trace, measured: Measured) -> None:
        self.past = Past(trace)
        source = RunParts(trace, self.past, measured)
        self._folds = [fold(source) for fold in (FOLDS if measured.figures else NEEDED)]
        self._counted: dict[str, Fold] = {name: fold for fold in self._folds for name in fold.counts}
        [self._moves] = [fold for fold in self._folds if isinstance(fold, Moves)]
        [isr] = [fold for fold in self._folds if isinstance(fold, IsrTimes)]
        self._isr = isr
        self._gauges = TrueGauges(source, isr)
        self._figures: Figures | None = None

    @property
    def any_open_moves(self) -> bool:
        """Whether moves are in progress, or the operator will still request some."""
        return self._moves.any_open

    @property
    def under_way(self) -> tuple[TopicPartition, ...]:
        """The partitions whose moves were requested and have not ended."""
        return self._moves.under_way

    @property
    def unfinished(self) -> tuple[TopicPartition, ...]:
        """After ``finish``: the partitions whose moves had not ended."""
        return self._moves.unfinished

    @property
    def worst_partition(self) -> TopicPartition | None:
        """The partition that was under-replicated for the longest time, after ``finish``; None where none was."""
        worst = self._isr.worst
        return None if worst is None else worst.tp

    def adding(self, tp: TopicPartition) -> tuple[int, ...]:
        """The replicas that a move in progress adds to a partition."""
        return self._moves.adding(tp)

    def now(self, metric: str) -> int:
        """The present value of a gauge or counter of ``scenarios.language.METRICS``. Raises: KeyError for another
        name, or one whose figures are not computed."""
        if metric in GAUGES:
            return self._gauges.total(GAUGES[metric].jmx)
        return self._counted[metric].counts[metric]

    def finish(self, end_us: int) -> Figures:
        """End the measurement, at ``end_us``. Calling it again gives the same figures."""
        if self._figures is None:
            for fold in (*self._folds, self._gauges):
                fold.finish(end_us)
            values: dict[str, Value] = {}
            for fold in self._folds:
                found = fold.figures()
                values.update((figure.name, found[figure.name]) for figure in fold.FIGURES)
            self._figures = Figures(values)
        return self._figures

    def tables(self) -> Mapping[str, list[Any]]:
        """The rows of each table (``Fold.TABLES`` has the columns), after ``finish``."""
        assert self._figures is not None, "the intervals are still open: finish first"
        return {name: rows for fold in (*self._folds, self._gauges) for name, rows in fold.tables().items()}
