"""Series drawn beneath the Gantt, in bins of equal width: throughput, throttle, lag of followers, produce latency."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from attrs import frozen
from numpy.typing import NDArray

from emulator.protocol.znodes import decode_config
from emulator.trace.events import ZkWritten
from scenarios.studies.report.run.role_spans import TimeSpan

MOST_BINS = 400
_WIDTHS_US = tuple(
    factor * unit for unit in (100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000) for factor in (1, 2, 5)
)
METER_US = 1_000_000
"""How often meters are recorded: a bin of throughput is not narrower."""
METERS = {
    "written": "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec",
    "replicated": "kafka.server:type=BrokerTopicMetrics,name=ReplicationBytesInPerSec",
}
"""Name of a series to the MBean whose growth it is, summed over the brokers."""
MOST_FOLLOWERS = 6
OTHERS = "all others, the highest"
_RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
_CONFIG = "/config/brokers/"


@frozen
class Bins:
    """The bins of a figure. The last one ends at or after the end of the run."""

    width_us: int
    count: int

    @classmethod
    def over(cls, end_us: int, at_least_us: int = 0) -> Bins:
        """The narrowest bins of which there are at most ``MOST_BINS``."""
        fitting = (width for width in _WIDTHS_US if width >= at_least_us and end_us <= width * MOST_BINS)
        width = next(fitting, _WIDTHS_US[-1])
        return cls(width, max(1, -(-end_us // width)))

    def of(self, t_us: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bin in which a time lies."""
        return np.clip(t_us // self.width_us, 0, self.count - 1)


def throughput(meters: pa.Table, end_us: int) -> dict[str, Any]:
    """Bytes per second, by series; a broker that starts again counts from zero. ``meters``: rows of
    ``broker_metrics``. A series that the release has no meter for is left out."""
    bins = Bins.over(end_us, METER_US)
    lines = {}
    for series, name in METERS.items():
        rows = meters.filter(pc.equal(meters["name"], pa.scalar(name))).sort_by(
            [("node", "ascending"), ("t_us", "ascending")]
        )
        if rows.num_rows:
            lines[series] = _growth(rows, bins)
    return {"bin_us": bins.width_us, "unit": "bytes/s", "lines": lines}


def _growth(rows: pa.Table, bins: Bins) -> list[float]:
    node, t_us, value = (rows[name].to_numpy() for name in ("node", "t_us", "value"))
    grown = np.diff(value, prepend=0)
    begins = np.concatenate(([True], node[1:] != node[:-1])) | (grown < 0)
    grown = np.where(begins, value, grown)
    total = np.zeros(bins.count)
    np.add.at(total, bins.of(np.maximum(t_us - 1, 0)), grown)
    found: list[float] = np.round(total * 1e6 / bins.width_us).tolist()
    return found


def throttles(events: Iterable[Any], end_us: int) -> list[TimeSpan]:
    """The highest replication throttle that a broker had, in bytes per second, while there was one (KIP-73)."""
    rates: dict[str, int] = {}
    found: list[TimeSpan] = []
    since, highest = 0, 0
    for event in events:
        if type(event) is not ZkWritten or not event.path.startswith(_CONFIG):
            continue
        config = {} if event.op == "delete" or not event.data else decode_config(event.data)
        rates[event.path] = max((int(config[name]) for name in _RATES if name in config), default=0)
        now = max(rates.values())
        if now != highest:
            if highest:
                found.append(TimeSpan(since, event.t_us, str(highest)))
            since, highest = event.t_us, now
    if highest:
        found.append(TimeSpan(since, end_us, str(highest)))
    return found


def lags(rows: pa.Table, end_us: int) -> dict[str, Any]:
    """The highest lag in each bin, in records between the ends of the logs: the followers that had most of it, each for
    itself, and all others together. ``rows``: ``replica_lag``."""
    bins = Bins.over(end_us)
    order = rows.sort_by(
        [("topic", "ascending"), ("partition", "ascending"), ("node", "ascending"), ("t_us", "ascending")]
    )
    followers = _followers(order)
    peaks = sorted(followers, key=lambda name: (-int(followers[name][2].max()), name))
    shown = [name for name in peaks if followers[name][2].max() > 0]
    lines = {name: _highest(*followers[name], bins).tolist() for name in shown[:MOST_FOLLOWERS]}
    rest = shown[MOST_FOLLOWERS:]
    if rest:
        lines[OTHERS] = np.maximum.reduce([_highest(*followers[name], bins) for name in rest]).tolist()
    return {"bin_us": bins.width_us, "unit": "records", "lines": lines, "others": len(rest)}


Held = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Times, how long each value held, and the values."""


def _followers(rows: pa.Table) -> dict[str, Held]:
    """``orders-0 on broker 4`` to what its lag was."""
    if not rows.num_rows:
        return {}
    topics = rows["topic"].combine_chunks().dictionary_encode()
    codes = topics.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    names = topics.dictionary.to_pylist()
    partition, node, t_us, w_us, lag = (
        rows[name].fill_null(pa.scalar(0)).to_numpy() for name in ("partition", "node", "t_us", "w_us", "true_lag")
    )
    changes = (np.diff(codes) != 0) | (np.diff(partition) != 0) | (np.diff(node) != 0)
    begins = np.concatenate(([0], np.flatnonzero(changes) + 1, [len(codes)]))
    found = {}
    for first, last in pairwise(begins):
        name = f"{names[codes[first]]}-{partition[first]} on broker {node[first]}"
        found[name] = (t_us[first:last], w_us[first:last], lag[first:last])
    return found


def _highest(
    t_us: NDArray[np.int64], w_us: NDArray[np.int64], value: NDArray[np.int64], bins: Bins
) -> NDArray[np.int64]:
    """The highest value in each bin: of those that began in it, and of the one that held when it began."""
    found = np.zeros(bins.count, dtype=np.int64)
    np.maximum.at(found, bins.of(t_us), value)
    starts = np.arange(bins.count) * bins.width_us
    before = np.searchsorted(t_us, starts, side="right") - 1
    held = (before >= 0) & (t_us[before] + w_us[before] > starts)
    return np.maximum(found, np.where(held, value[before], 0))


def produced(rows: Sequence[Mapping[str, Any]], end_us: int) -> dict[str, Any]:
    """Produce latency of the batches whose outcome lies in a bin, in milliseconds (null where there is none), and how
    many were given up, by Kafka's name of the error. ``rows``: ``produce``."""
    bins = Bins.over(end_us, METER_US)
    acked: dict[int, list[int]] = {}
    errors: Counter[tuple[int, str]] = Counter()
    for row in rows:
        place = min(row["t_us"] // bins.width_us, bins.count - 1)
        if row["outcome"] in ("acked", "duplicate"):
            acked.setdefault(place, []).append(row["latency_us"])
        elif row["error"] != "NONE":
            errors[place, row["error"]] += 1
    lines = {
        name: [
            round(float(np.percentile(acked[place], percent)) / 1_000, 3) if place in acked else None
            for place in range(bins.count)
        ]
        for name, percent in (("median", 50), ("99th percentile", 99), ("slowest", 100))
    }
    if not acked:
        lines = {}
    given_up = [[place, error, count] for (place, error), count in sorted(errors.items())]
    return {"bin_us": bins.width_us, "unit": "ms", "lines": lines, "errors": given_up}
