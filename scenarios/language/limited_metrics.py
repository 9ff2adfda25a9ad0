"""The metrics that a scenario may limit: Kafka's gauges and meters where they exist, Understudy's figures elsewhere.

A ``gauge`` has a value at any virtual time; a ``counter`` only grows and can be read at any time; a ``total`` is known
when the run has ended. Kafka's names are those of kafka-behaviour §9. The three under-replicated times are the three
definitions of readings §8, all of them recorded in every run.

Gauges and figures are declared where they are computed (``scenarios.observe.measures``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import frozen

from scenarios.observe.measures.figure import Limit
from scenarios.observe.measures.figures import FOLDS, declared
from scenarios.observe.measures.true_gauges import GAUGES


@frozen
class Metric:
    """One metric.

    Attributes:
        form: ``gauge``, ``counter`` or ``total``.
        jmx: Kafka's MBean, where there is one.
    """

    name: str
    form: str
    unit: str
    help: str
    jmx: str | None = None


def _metrics() -> Iterator[Metric]:
    for gauge in GAUGES.values():
        yield Metric(gauge.name, "gauge", gauge.unit, gauge.text, gauge.jmx)
    yield from _figures(Limit.AT_ANY_TIME)
    yield from _figures(Limit.AT_THE_END)


def _figures(limit: Limit) -> Iterator[Metric]:
    for figure in declared().values():
        if figure.limit is limit:
            yield Metric(figure.metric, limit.value, figure.unit, figure.text, figure.jmx)


class Metrics(Mapping[str, Metric]):
    """All metrics by name, including those of plug-ins that have been imported."""

    def __init__(self) -> None:
        self._folds = 0
        self._known: dict[str, Metric] = {}

    def _now(self) -> dict[str, Metric]:
        if self._folds != len(FOLDS):
            self._folds, self._known = len(FOLDS), {metric.name: metric for metric in _metrics()}
        return self._known

    def __getitem__(self, name: str) -> Metric:
        return self._now()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())


METRICS: Mapping[str, Metric] = Metrics()
