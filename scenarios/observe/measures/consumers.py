"""What consumers get: how far they are behind in messages, and how long after a message could be read it was.

- ``lag``: max(0, the leader's high watermark - the consumer's position), at grid instants, on change, as replica lag is
  (``scenarios.observe.measures.lag``). It stands while a consumer hears of nothing; one that failed has none.
- ``delay_us`` of a poll: from when a leader's high watermark passed the last message given out until then; None where
  that was before the first consumer began.

Runs without consumers pay nothing: high watermarks are looked at from the first position on.
"""

from __future__ import annotations

from bisect import bisect_left

from attrs import Factory, define

from emulator.protocol.events import Consumed, ConsumerFailed, HighWatermark, PositionReset
from emulator.trace import Trace
from scenarios.observe.measures.cluster import Measured
from scenarios.observe.measures.grid import OnGrid
from scenarios.observe.measures.rows import ConsumerLagRow, ConsumeRow

KEPT = 4096
"""Steps of a high watermark that are remembered, before those that all consumers have passed are let go."""


@define(eq=False)
class _Partition:
    """``ends``, ``times``: to where the high watermark has moved, in growing order, and when; ``positions``: by
    consumer."""

    topic: str
    partition: int
    dirty: bool = False
    high_watermark: int = 0
    ends: list[int] = Factory(list)
    times: list[int] = Factory(list)
    positions: dict[int, int] = Factory(dict)
    open: dict[int, ConsumerLagRow] = Factory(dict)

    def advanced(self, high_watermark: int, t_us: int) -> None:
        self.high_watermark = high_watermark
        keep = bisect_left(self.ends, high_watermark)
        del self.ends[keep:], self.times[keep:]
        self.ends.append(high_watermark)
        self.times.append(t_us)
        if len(self.ends) > KEPT:
            passed = bisect_left(self.ends, min(self.positions.values(), default=high_watermark))
            del self.ends[:passed], self.times[:passed]

    def readable_since_us(self, offset: int) -> int | None:
        """Since when everything before ``offset`` could be read."""
        place = bisect_left(self.ends, offset)
        return self.times[place] if place < len(self.ends) else None


class Reads(OnGrid[_Partition]):
    """The fold over one run.

    Attributes:
        messages: how many were given out, each as often as it was.
        delay_us: delay of a poll -> how many.
        lag_us: lag in records -> microseconds, over all consumers and partitions.
        rows, lag_rows: for the data set.
    """

    def __init__(self, trace: Trace, measured: Measured) -> None:
        super().__init__()
        self.messages = 0
        self.delay_us: dict[int, int] = {}
        self.lag_us: dict[int, int] = {}
        self.rows: list[ConsumeRow] = []
        self.lag_rows: list[ConsumerLagRow] = []
        self._keep_rows = measured.keep_rows
        self._trace = trace
        trace.fold(PositionReset, self._reset)
        trace.fold(Consumed, self._consumed)
        trace.fold(ConsumerFailed, self._failed)

    # -- events -----------------------------------------------------------------------------------------------------

    def _reset(self, event: PositionReset) -> None:
        if not self._partitions:
            self._trace.fold(HighWatermark, self._high_watermark)
        self._touch(event.t_us, event.topic, event.partition).positions[event.node] = event.offset

    def _high_watermark(self, event: HighWatermark) -> None:
        if event.leader and (event.topic, event.partition) in self._partitions:
            partition = self._touch(event.t_us, event.topic, event.partition)
            partition.advanced(event.high_watermark, event.t_us)

    def _consumed(self, event: Consumed) -> None:
        partition = self._touch(event.t_us, event.topic, event.partition)
        if not partition.ends:
            partition.high_watermark = max(partition.high_watermark, event.high_watermark)
        partition.positions[event.node] = event.next_offset
        self.messages += event.next_offset - event.offset
        since_us = partition.readable_since_us(event.next_offset)
        delay_us = None if since_us is None else event.t_us - since_us
        if delay_us is not None:
            self.delay_us[delay_us] = self.delay_us.get(delay_us, 0) + 1
        if self._keep_rows:
            self.rows.append(
                ConsumeRow(
                    *event[:3], event.node, event.topic, event.partition, event.offset, event.next_offset, event.leader,
                    event.leader_epoch, event.high_watermark, delay_us,
                )
            )  # fmt: skip

    def _failed(self, event: ConsumerFailed) -> None:
        self._touch(event.t_us, event.topic, event.partition).positions.pop(event.node, None)

    # -- the grid ---------------------------------------------------------------------------------------------------

    def _create(self, topic: str, number: int) -> _Partition:
        return _Partition(topic, number)

    def _read(self, partition: _Partition, instant_us: int) -> None:
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

    def _close(self, row: ConsumerLagRow, t_us: int) -> None:
        held_us = t_us - row.t_us
        if held_us > 0:
            self.lag_us[row.lag] = self.lag_us.get(row.lag, 0) + held_us
            if self._keep_rows:
                self.lag_rows.append(row._replace(w_us=held_us))
