"""Step functions of time: counts of open intervals, and the gauges that brokers show."""

from collections.abc import Iterable
from itertools import groupby

from attrs import define, field

from benchmarks.experiments.charts import Point
from emulator.metrics.metric_events import GaugeSet
from emulator.protocol.events import NodeCrashed
from scenarios.runs.runner import Stage

Steps = list[Point]
"""A value over time, as points in ascending order: the time in seconds, and the value from then on."""


def value_at(steps: Steps, at_s: float) -> float:
    """0 before the first."""
    return next((value for start_s, value in reversed(steps) if start_s <= at_s), 0)


def between(steps: Steps, start_s: float, end_s: float) -> list[float]:
    """All values in that stretch."""
    return [value_at(steps, start_s), *(value for at_s, value in steps if start_s < at_s < end_s)]


def area(steps: Steps, start_s: float, end_s: float) -> float:
    """The integral over that stretch."""
    ends = [at_s for at_s, _ in steps if start_s < at_s < end_s]
    return sum(value_at(steps, a) * (b - a) for a, b in zip([start_s, *ends], [*ends, end_s], strict=True))


def count(intervals: Iterable[tuple[int, int]]) -> Steps:
    """The number of ``intervals``, (start, length) in microseconds, that hold at each time."""
    changes = sorted(change for t_us, w_us in intervals for change in ((t_us, 1), (t_us + w_us, -1)))
    steps, value = [], 0
    for t_us, same in groupby(changes, key=lambda change: change[0]):
        value += sum(step for _, step in same)
        steps.append((t_us / 1_000_000, float(value)))
    return steps


@define(eq=False)
class Shown:
    """A gauge summed over the brokers that show it; one that is dead shows nothing. ``watch`` is for ``emulate``."""

    metric: str
    steps: Steps = field(factory=list)
    _values: dict[int, int] = field(factory=dict)

    def watch(self, stage: Stage) -> None:
        stage.cluster.trace.fold(GaugeSet, self._set)
        stage.cluster.trace.fold(NodeCrashed, self._crashed)

    def _set(self, event: GaugeSet) -> None:
        if event.metric == self.metric:
            self._put(event.t_us, event.node, event.value)

    def _crashed(self, event: NodeCrashed) -> None:
        self._put(event.t_us, event.node, 0)

    def _put(self, t_us: int, node: int, value: int) -> None:
        self._values[node] = value
        self.steps.append((t_us / 1_000_000, float(sum(self._values.values()))))
