"""The metrics that a scenario may limit: Kafka's gauges and meters where they exist, Understudy's figures elsewhere.

A ``gauge`` has a value at any virtual time; a ``counter`` only grows and can be read at any time; a ``total`` is known
when the run has ended. Kafka's names are those of kafka-behaviour §9; the three under-replicated times are the three
definitions of readings §8, all of them recorded in every run.

Gauges and figures are declared where they are computed (``scenarios.observe.measures``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import frozen

from scenarios.observe.measures.figure import Limit
from scenarios.observe.measures.figures import declared
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


METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _metrics()}
