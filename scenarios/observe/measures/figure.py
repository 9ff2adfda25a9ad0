"""A figure of a run: one number, declared beside the fold that computes it during the run.

Spark computes each of them again from the tables of the data set (``scenarios.studies.spark.aggregations``). Whatever
else knows the figures reads this declaration: the metrics that scenario files may limit, the account that a run gives
of itself, and the rows of ``understudy compare``.
"""

from __future__ import annotations

from enum import Enum

from attrs import frozen

QUANTILES = (0.5, 0.95, 0.99)
Value = int | float | None

_SUFFIX = "_us"
_SCALES = {"ms": 1_000}
"""Microseconds in the unit; seconds where the unit is none of these."""


class Limit(Enum):
    """The times when a scenario may limit a figure."""

    NEVER = ""
    AT_ANY_TIME = "counter"
    """The figure only grows, and can be read at any time."""
    AT_THE_END = "total"
    """The figure is known when the run has ended."""


class Compared(Enum):
    """Whether ``understudy compare`` has a row for a figure."""

    NO = "no"
    YES = "yes"
    WITH_CONSUMERS = "with consumers"
    """Only where a consumer has read something, after all other rows."""


class Better(Enum):
    """The better one of two values of a figure, all else being equal."""

    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"
    """The figure describes a run and does not judge it."""


@frozen(kw_only=True)
class Figure:
    """One number about a run.

    Attributes:
        name: the name of the exact value. It ends with ``_us`` where that is microseconds of virtual time, summed over
            partitions or replicas where these have the state.
        text: the meaning, for ``understudy list metrics`` and docs/reference/scenario-file.md.
        unit: the unit of the metric that people read. A time is read in seconds, or in milliseconds if this is ``ms``.
        better: the better one of two values.
        limit: the time when a scenario may limit it.
        compared: whether it is a row of the comparison.
        jmx: Kafka's MBean for it, where there is one.
    """

    name: str
    text: str
    unit: str
    better: Better = Better.NEITHER
    limit: Limit = Limit.NEVER
    compared: Compared = Compared.YES
    jmx: str | None = None

    @property
    def metric(self) -> str:
        """The name that people read: ``_us`` becomes ``_s`` or ``_ms``."""
        if not self.is_time:
            return self.name
        return self.name.removesuffix(_SUFFIX) + ("_ms" if self.unit in _SCALES else "_s")

    @property
    def is_time(self) -> bool:
        """Whether the figure is in microseconds, and read in another unit."""
        return self.name.endswith(_SUFFIX)

    def readable(self, value: Value) -> Value:
        """The metric's value for this exact one."""
        if value is None or not self.is_time:
            return value
        return value / _SCALES.get(self.unit, 1_000_000)


def percentiles(stem: str, text: str, *, compared: Compared = Compared.YES, jmx: str | None = None) -> list[Figure]:
    """The figures of a lag: its median, 95th and 99th percentile and maximum over time. Unit: messages."""
    names = {"p50": "median", "p95": "95th percentile", "p99": "99th percentile", "max": "maximum"}
    return [
        Figure(
            name=f"{stem}_{suffix}",
            text=f"{name} over time of {text}",
            unit="messages",
            better=Better.LOWER,
            limit=Limit.AT_THE_END,
            compared=compared,
            jmx=jmx,
        )
        for suffix, name in names.items()
    ]
