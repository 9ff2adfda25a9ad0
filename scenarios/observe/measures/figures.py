"""The figures of one run, and the metrics that people read.

Both computations of every figure, the folds during the run and Spark's afterwards, end in a ``Figures``; ``metrics``
turns either into seconds and milliseconds, in one place, so that equal figures print alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from attrs import frozen

from scenarios.observe.measures.broker_traffic import BrokerTraffic
from scenarios.observe.measures.consumers import Reads
from scenarios.observe.measures.control_plane import ControlPlane
from scenarios.observe.measures.figure import Figure, Value
from scenarios.observe.measures.fold import Fold
from scenarios.observe.measures.isr_states import IsrStates
from scenarios.observe.measures.isr_times import IsrTimes
from scenarios.observe.measures.leadership import Leadership
from scenarios.observe.measures.leaps import Leaps
from scenarios.observe.measures.losses import Losses
from scenarios.observe.measures.moves import Moves
from scenarios.observe.measures.producers import Produces
from scenarios.observe.measures.recoveries import Recoveries
from scenarios.observe.measures.replica_lag import ReplicaLags

F = TypeVar("F", bound=Fold)

FOLDS: list[type[Fold]] = [
    Moves, IsrTimes, IsrStates, Recoveries, ReplicaLags, BrokerTraffic, Leadership, Losses, Produces, Reads,
    ControlPlane, Leaps,
]  # fmt: skip
"""All folds that compute figures. Their order, and the order of the figures in each, is that of a run's account of
itself and of the comparison."""


BY_SPARK: list[Callable[[], object]] = []
"""The declarations of the second computation of plug-ins' figures; ``scenarios.studies.spark.aggregations`` calls
them."""


def register(by_spark: Callable[[], object]) -> Callable[[type[F]], type[F]]:
    """Let a fold from outside this package measure every later run. It is written as a decorator.

    Args:
        by_spark: declares the second computation of the same figures, with ``understudy.spark.computes``. It is called
            when Spark is there, so that a run does without it.

    Raises: ValueError where one of its figures is there already.
    """

    def add(fold: type[F]) -> type[F]:
        for figure in fold.FIGURES:
            if figure.name in declared():
                raise ValueError(f"there is a figure {figure.name!r} already")
        FOLDS.append(fold)
        BY_SPARK.append(by_spark)
        return fold

    return add


def declared() -> dict[str, Figure]:
    """All figures by name, in their order."""
    return {figure.name: figure for fold in FOLDS for figure in fold.FIGURES}


@frozen
class Figures(Mapping[str, Value]):
    """The exact figures of one run, by name, in the order of ``declared()``."""

    exact: Mapping[str, Value]

    def __getitem__(self, name: str) -> Value:
        return self.exact[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.exact)

    def __len__(self) -> int:
        return len(self.exact)

    def whole(self, name: str) -> int:
        """The value of a figure that every run has, and that is an integer."""
        value = self[name]
        assert isinstance(value, int), f"{name} is {value}"
        return value

    @property
    def unfinished_moves(self) -> int:
        """The number of moves that were not done."""
        return self.whole("moves") - self.whole("moves_finished")

    def metrics(self) -> dict[str, Value]:
        """Metric name to value, in the units of ``Figure.unit``."""
        figures = declared()
        return {figures[name].metric: figures[name].readable(value) for name, value in self.items()}
