"""The bytes that brokers received and sent in each second, from their own meters (BrokerTopicMetrics).

A meter is written at the end of each second in which it counted. Counts of the second in which a process died are lost,
as in a real cluster. A release that does not measure replication (0.8) has none of these figures, nor has a run without
traffic.

What a leap brings (``Leapt``) is counted at its end: the row of that second is longer than a second, and the peaks are
those of the other rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from emulator.metrics import mbean
from emulator.metrics.grid import METERS_US
from emulator.metrics.metric_events import MeterMarked, MetricRegistered
from emulator.protocol.events import LeapBegan, Leapt
from scenarios.observe.measures.figure import Better, Figure, Limit, Value
from scenarios.observe.measures.fold import Fold, RunParts, Table

_NAMES = ("BytesInPerSec", "BytesOutPerSec", "ReplicationBytesInPerSec", "ReplicationBytesOutPerSec")
METERS: Mapping[str, int] = {mbean("kafka.server", "BrokerTopicMetrics", name): at for at, name in enumerate(_NAMES)}
"""The full names of the meters, and the places of their columns."""
_REPLICATION = 2


class BrokerTrafficRow(NamedTuple):
    """The counts of one broker's meters in the second that began at ``t_us``, in bytes; where a leap ended in it, those
    of all seconds from the one before the leap began.

    Attributes:
        bytes_in, bytes_out: the bytes of producers and to consumers.
        replication_bytes_in, replication_bytes_out: the bytes as follower and to followers; None where the release has
            no such meters.
    """

    t_us: int
    w_us: int
    node: int
    bytes_in: int
    bytes_out: int
    replication_bytes_in: int | None
    replication_bytes_out: int | None


def _peak(name: str, what: str) -> Figure:
    return Figure(
        name=name,
        text=f"the most that one broker {what} in a second, clients and replication together",
        unit="bytes/s",
        better=Better.LOWER,
        limit=Limit.AT_THE_END,
    )


class BrokerTraffic(Fold):
    """The fold over one run. Its cost is that of the meters' events: a few for each broker and second."""

    FIGURES = (_peak("peak_broker_egress", "sent"), _peak("peak_broker_ingress", "received"))
    TABLES: ClassVar[Mapping[str, Table]] = {"broker_traffic": Table(BrokerTrafficRow)}

    def __init__(self, source: RunParts) -> None:
        super().__init__(source)
        self._rows: list[BrokerTrafficRow] = []
        self._keep_rows = source.measured.keep_rows
        self._totals: dict[tuple[int, int], int] = {}
        """The count of each broker's meter when it was written last."""
        self._seconds: dict[int, dict[int, int]] = {}
        """The counts of each broker's meters in the second that ends at ``_until_us``."""
        self._until_us = 0
        self._measured = False
        self._peaks: list[int | None] = [None, None]
        self._leapt: list[Leapt] = []
        """The leaps that have ended since the last second was closed."""
        self._leaps = False

    def finish(self, end_us: int) -> None:
        self._close()

    def figures(self) -> Mapping[str, Value]:
        ingress, egress = self._peaks
        return {"peak_broker_egress": egress, "peak_broker_ingress": ingress}

    def tables(self) -> Mapping[str, list[Any]]:
        return {"broker_traffic": self._rows}

    def on_registered(self, event: MetricRegistered) -> None:
        place = METERS.get(event.metric)
        if place is not None:
            self._totals[event.node, place] = 0
            self._measured = self._measured or place >= _REPLICATION

    def on_marked(self, event: MeterMarked) -> None:
        place = METERS.get(event.metric)
        if place is None:
            return
        if event.t_us > self._until_us:
            if not self._leaps and (not self._leapt or self._leapt[-1].t_us <= self._until_us):
                self._close()
            self._until_us = event.t_us
        counted = event.total - self._totals.get((event.node, place), 0)
        self._totals[event.node, place] = event.total
        second = self._seconds.setdefault(event.node, {})
        second[place] = second.get(place, 0) + counted

    def on_leap_began(self, event: LeapBegan) -> None:
        self._leaps = True

    def on_leap_ended(self, event: Leapt) -> None:
        self._leaps = False
        self._leapt.append(event)

    def _close(self) -> None:
        leapt, begin_us = self._leapt, self._until_us - METERS_US
        if leapt and self._seconds:
            begin_us = max(0, min(begin_us, leapt[0].since_us // METERS_US * METERS_US) - METERS_US)
            if self._until_us % METERS_US == 0:  # a broker that loses its partitions writes meters at other times, too
                self._leapt = []
        for node, second in self._seconds.items():
            counted = [second.get(place, 0) for place in range(len(METERS))]
            if self._measured and not leapt:
                for direction, peak in enumerate(self._peaks):
                    self._peaks[direction] = max(peak or 0, counted[direction] + counted[direction + _REPLICATION])
            if self._keep_rows:
                replication = counted[_REPLICATION:] if self._measured else (None, None)
                rest = *counted[:_REPLICATION], *replication
                self._rows.append(BrokerTrafficRow(begin_us, self._until_us - begin_us, node, *rest))
        self._seconds.clear()
