"""A fold: one part of the measurements of a run, with its figures and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, get_type_hints

from attrs import Factory, frozen

from emulator.trace import Trace
from scenarios.observe.history.subscriptions import arm
from scenarios.observe.measures.figure import Figure, Value
from scenarios.observe.measures.isr_row import IsrChanged
from scenarios.observe.past.cluster_past import Past


@frozen(kw_only=True)
class Measured:
    """The cluster that is measured.

    Attributes:
        min_isr: the min.insync.replicas of each topic that sets it at the start.
        default_min_isr: the brokers' min.insync.replicas at the start.
        caps_min_isr: these count as at most the number of a partition's replicas (KAFKA-15583, 3.7).
        keep_rows: whether the rows for the data set are kept; without them only the figures remain.
        figures: whether every figure is computed; otherwise only those that the course of a run depends on.
    """

    min_isr: Mapping[str, int] = Factory(dict)
    default_min_isr: int = 1
    caps_min_isr: bool = False
    keep_rows: bool = True
    figures: bool = True


@frozen
class RunParts:
    """The parts of a run that a fold reads.

    Attributes:
        trace: the run's events; a fold subscribes to it before the run starts.
        past: the past of the cluster; it has taken in each event before the fold.
        measured: the settings of the cluster that events do not carry.
        isr_changed: called at each change of a partition's row of ``isr_events``, and when the run ends.
    """

    trace: Trace
    past: Past
    measured: Measured
    isr_changed: list[IsrChanged] = Factory(list)


@frozen
class Table:
    """A table of the data set.

    Attributes:
        row: the class whose fields are the columns, in their order: an event, or a row of its own.
        without: the fields of an event that are left out; the table ``events`` has them.
    """

    row: type[Any]
    without: tuple[str, ...] = ()

    def columns(self) -> dict[str, Any]:
        """Column name to its Python type."""
        return {name: hint for name, hint in get_type_hints(self.row).items() if name not in self.without}


class Fold:
    """The base of all folds. It is subscribed to what its ``on_...`` methods are annotated with, as a checker is; a
    subclass may subscribe to more in its constructor. Its work per event is O(1).

    Attributes:
        FIGURES: the figures that it computes.
        TABLES: the tables of the data set that it fills, by name.
        counts: the current values of the figures that are counts.
    """

    FIGURES: ClassVar[Sequence[Figure]] = ()
    TABLES: ClassVar[Mapping[str, Table]] = {}

    def __init__(self, source: RunParts) -> None:
        self.counts: dict[str, int] = {}
        arm(self, source.trace, source.past)

    def finish(self, end_us: int) -> None:
        """Close the open intervals: the run has ended."""

    def figures(self) -> Mapping[str, Value]:
        """The exact value of each of ``FIGURES``, after ``finish``."""
        return self.counts

    def tables(self) -> Mapping[str, list[Any]]:
        """The rows of each of ``TABLES``, after ``finish``."""
        return {}
