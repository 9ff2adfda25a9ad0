"""The metrics of a run as rows of the data set: each value, and the time for which it was shown."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any, NamedTuple

from scenarios.observe.exposition.shown import ShownMetric, ShownMetrics


class BrokerMetricRow(NamedTuple):
    """The value that a broker's metric showed from ``t_us`` on, for ``w_us``.

    Attributes:
        kind: gauge, meter or timer.
        name: the MBean with its tags, of which ``topic`` and ``partition`` are repeated.
        value: a gauge's value, a meter's count, or the time that a timer has measured, in us.
    """

    t_us: int
    w_us: int
    node: int
    kind: str
    name: str
    topic: str | None
    partition: int | None
    value: int


class MetricRows(ShownMetrics):
    """A sink for ``Trace.sink``. Gauges and meters have a row for each value that lasted, timers one for each time;
    metrics that are derived from others have none."""

    def __init__(self, lacks: Collection[str] = ()) -> None:
        super().__init__(lacks)
        self._rows: list[BrokerMetricRow] = []
        self._open: dict[tuple[int, str], BrokerMetricRow] = {}

    def __call__(self, chunk: list[Any]) -> None:
        self.see(chunk)

    def rows(self, end_us: int) -> list[BrokerMetricRow]:
        """All rows; the run is over."""
        for row in self._open.values():
            self._close(row, end_us)
        self._open.clear()
        return self._rows

    def _changed(self, event: Any, name: str, metric: ShownMetric) -> None:
        kind, value = metric.kind, int(metric.value)
        if kind == "timer":
            if not metric.durations_us:
                return
            value = metric.durations_us[-1]
        elif kind == "derived":
            return
        before = self._open.get((event.node, name))
        if before is not None:
            if before.value == value and kind != "timer":
                return
            self._close(before, event.t_us)
        topic, partition = _partition(name)
        self._open[event.node, name] = BrokerMetricRow(event.t_us, 0, event.node, kind, name, topic, partition, value)

    def _ended(self, event: Any, name: str) -> None:
        row = self._open.pop((event.node, name), None)
        if row is not None:
            self._close(row, event.t_us)

    def _close(self, row: BrokerMetricRow, t_us: int) -> None:
        if t_us > row.t_us or row.kind == "timer":
            self._rows.append(row._replace(w_us=t_us - row.t_us))


@lru_cache(1 << 16)
def _partition(name: str) -> tuple[str | None, int | None]:
    """Topic and partition from the tags."""
    tags = dict(tag.split("=", 1) for tag in name.split(",")[1:])
    return tags.get("topic"), int(tags["partition"]) if "partition" in tags else None
