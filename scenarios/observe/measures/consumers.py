"""The reads of consumers: their lag in messages, and the delay of each message.

- ``lag``: max(0, the leader's high watermark - the consumer's position), at grid instants, on change, as replica lag
  (``scenarios.observe.measures.replica_lag``). It keeps its value while a consumer receives nothing; a consumer that
  has failed has none.
- ``delay_us`` of a poll: the time from when a leader's high watermark passed the last message that the poll returned
  until the poll; None where that was before the first consumer started.

What a leap lets applications read (``Leapt``) has no delay, and no lag counts for its time; delays are weighted by what
the stretch in which they were seen stands for (``scenarios.observe.measures.stretches``).

Runs without consumers pay nothing: high watermarks are followed from the first consumer position on.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from attrs import Factory, define

from emulator.protocol.events import ConsumerFailed, HighWatermarksMoved, LeapBegan, Leapt, PollReturned, PositionReset
from scenarios.observe.measures.figure import Better, Compared, Figure, Limit, Value, percentiles
from scenarios.observe.measures.fold import RunParts, Table
from scenarios.observe.measures.grid import OnGrid
from scenarios.observe.measures.percentile import lag_figures
from scenarios.observe.measures.stretches import Stretches

KEPT = 4096
"""The steps of a high watermark that are kept; when there are more, those that all consumers have passed are
dropped."""


class ConsumeRow(NamedTuple):
    """The result of one poll for one partition. ``delay_us``: as defined above."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    offset: int
    next_offset: int
    leader: int
    leader_epoch: int
    high_watermark: int
    delay_us: int | None


class ConsumerLagRow(NamedTuple):
    """One consumer's lag on the grid of 100 ms, on change. Unit: records."""

    t_us: int
    w_us: int
    topic: str
    partition: int
    node: int
    lag: int


@define(eq=False)
class _ConsumedPartition:
    """One partition.

    Attributes:
        ends, times: the values of the high watermark, in ascending order, and the time of each.
        positions: the offset of the next record, by consumer.
        open: the row that still holds, by consumer.
    """

    topic: str
    partition: int
    high_watermark: int = 0
    ends: list[int] = Factory(list)
    times: list[int] = Factory(list)
    positions: dict[int, int] = Factory(dict)
    open: dict[int, ConsumerLagRow] = Factory(dict)

    def advanced(self, high_watermark: int, t_us: int) -> None:
        self.high_watermark = high_watermark
        if self.ends and high_watermark <= self.ends[-1]:
            keep = bisect_left(self.ends, high_watermark)
            del self.ends[keep:], self.times[keep:]
        self.ends.append(high_watermark)
        self.times.append(t_us)
        if len(self.ends) > KEPT:
            passed = bisect_left(self.ends, min(self.positions.values(), default=high_watermark))
            del self.ends[:passed], self.times[:passed]

    def readable_since_us(self, offset: int) -> int | None:
        """The time since when everything before ``offset`` could be read; None if not known."""
        place = bisect_left(self.ends, offset)
        return self.times[place] if place < len(self.ends) else None


class Reads(OnGrid):
    """The fold over one run."""

    FIGURES = (
        Figure(
            name="consumed_messages",
            text="messages that polls have returned to applications",
            unit="messages",
            better=Better.HIGHER,
            limit=Limit.AT_ANY_TIME,
            compared=Compared.WITH_CONSUMERS,
        ),
        Figure(
            name="consume_p50_us",
            text="median over the polls of the time since their last message could be read",
            unit="ms",
            better=Better.LOWER,
            compared=Compared.WITH_CONSUMERS,
        ),
        Figure(
            name="consume_p99_us",
            text="99th percentile over the polls of the time since their last message could be read",
            unit="ms",
            better=Better.LOWER,
            compared=Compared.WITH_CONSUMERS,
        ),
        *percentiles(
            "consumer_lag",
            "how many committed messages a consumer has yet to read",
            compared=Compared.WITH_CONSUMERS,
        ),
    )
    TABLES: ClassVar[Mapping[str, Table]] = {"consume": Table(ConsumeRow), "consumer_lag": Table(ConsumerLagRow)}

    def __init__(self, source: RunParts) -> None:
        super().__init__(source)
        self.counts = {"consumed_messages": 0}
        self._delay_us: dict[int, int] = {}  # delay of a poll -> number of polls
        self._lag_us: dict[int, int] = {}  # lag in records -> microseconds, over all consumers and partitions
        self._rows: list[ConsumeRow] = []
        self._lag_rows: list[ConsumerLagRow] = []
        self._keep_rows = source.measured.keep_rows
        self._topics: dict[str, dict[int, _ConsumedPartition]] = {}
        self._changed: dict[_ConsumedPartition, None] = {}
        """The partitions that have changed since the last instant."""
        self._trace = trace = source.trace
        self._leaps = False
        self._stretches = Stretches.of(trace)
        trace.fold(PositionReset, self._reset)
        trace.fold(LeapBegan, self._leap_began)
        trace.fold(Leapt, self._leap_ended)
        trace.fold(PollReturned, self._returned)
        trace.fold(ConsumerFailed, self._failed)

    def figures(self) -> Mapping[str, Value]:
        p50, p99 = self._stretches.percentiles(self._delay_us, (0.5, 0.99))
        lags = lag_figures("consumer_lag", self._lag_us)
        return {**self.counts, "consume_p50_us": p50, "consume_p99_us": p99, **lags}

    def tables(self) -> Mapping[str, list[Any]]:
        return {"consume": self._rows, "consumer_lag": self._lag_rows}

    # -- events -----------------------------------------------------------------------------------------------------

    def _reset(self, event: PositionReset) -> None:
        if not self._topics:
            self._trace.fold(HighWatermarksMoved, self._high_watermarks_moved)
        self._touch(event.t_us, event.topic, event.partition).positions[event.node] = event.offset

    def _touch(self, t_us: int, topic: str, number: int) -> _ConsumedPartition:
        """The partition, which an event at ``t_us`` is about to change."""
        if t_us > self._instant_us:
            self._read_before(t_us)
        partitions = self._topics.setdefault(topic, {})
        partition = partitions.get(number)
        if partition is None:
            partition = partitions[number] = _ConsumedPartition(topic, number)
        self._changed[partition] = None
        return partition

    def _high_watermarks_moved(self, event: HighWatermarksMoved) -> None:
        partitions = self._topics.get(event.topic)
        if not event.leader or partitions is None:
            return
        t_us = event.t_us
        for number, high_watermark in zip(event.partitions, event.high_watermarks, strict=True):
            partition = partitions.get(number)
            if partition is not None:
                if t_us > self._instant_us:
                    self._read_before(t_us)
                self._changed[partition] = None
                partition.advanced(high_watermark, t_us)

    def _returned(self, event: PollReturned) -> None:
        t_us, node, topic = event.t_us, event.node, event.topic
        delays_us: list[int | None] = []
        for number, offset, next_offset, high_watermark in zip(
            event.partitions, event.offsets, event.next_offsets, event.high_watermarks, strict=True
        ):
            partition = self._touch(t_us, topic, number)
            if not partition.ends:
                partition.high_watermark = max(partition.high_watermark, high_watermark)
            partition.positions[node] = next_offset
            self.counts["consumed_messages"] += next_offset - offset
            since_us = None if self._leaps else partition.readable_since_us(next_offset)
            delay_us = None if since_us is None else t_us - since_us
            if delay_us is not None:
                self._delay_us[delay_us] = self._delay_us.get(delay_us, 0) + 1
                if self._stretches.open is not None:
                    self._stretches.open.add(t_us, (delay_us,))
            delays_us.append(delay_us)
        if self._keep_rows:
            self._rows += [
                ConsumeRow(
                    *row[:3], node, topic, row.partition, row.offset, row.next_offset, row.leader, row.leader_epoch,
                    row.high_watermark, delay_us,
                )
                for row, delay_us in zip(event.rows(), delays_us, strict=True)
            ]  # fmt: skip

    def _failed(self, event: ConsumerFailed) -> None:
        self._touch(event.t_us, event.topic, event.partition).positions.pop(event.node, None)

    def _leap_began(self, event: LeapBegan) -> None:
        self._leaps = True
        for partition in self._partitions():
            for row in partition.open.values():
                self._close(row, event.t_us)
            partition.open.clear()

    def _leap_ended(self, event: Leapt) -> None:
        self._leaps = False
        self._changed.update(dict.fromkeys(self._partitions()))

    def _partitions(self) -> Iterator[_ConsumedPartition]:
        return (partition for partitions in self._topics.values() for partition in partitions.values())

    # -- the grid ---------------------------------------------------------------------------------------------------

    def _read(self, instant_us: int) -> None:
        for partition in self._changed:
            self._read_partition(partition, instant_us)
        self._changed.clear()

    def _read_partition(self, partition: _ConsumedPartition, instant_us: int) -> None:
        open_rows = partition.open
        for node in [node for node in open_rows if node not in partition.positions]:
            self._close(open_rows.pop(node), instant_us)
        for node, position in partition.positions.items():
            lag = max(0, partition.high_watermark - position)
            before = open_rows.get(node)
            if before is not None:
                if before.lag == lag:
                    continue
                self._close(before, instant_us)
            open_rows[node] = ConsumerLagRow(instant_us, 0, partition.topic, partition.partition, node, lag)

    def _close_all(self, end_us: int) -> None:
        for partition in self._partitions():
            for row in partition.open.values():
                self._close(row, end_us)
            partition.open.clear()

    def _close(self, row: ConsumerLagRow, t_us: int) -> None:
        held_us = t_us - row.t_us
        if held_us > 0:
            self._lag_us[row.lag] = self._lag_us.get(row.lag, 0) + held_us
            if self._keep_rows:
                self._lag_rows.append(row._replace(w_us=held_us))
