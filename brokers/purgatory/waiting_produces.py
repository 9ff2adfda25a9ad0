"""The acks=all produces that wait at one partition."""

from collections import deque

from attrs import define, field

from brokers.purgatory.delayed_produce import DelayedProduce
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition


@define(eq=False)
class WaitingProduces:
    """They wait in the order of the log: whatever completes one has completed all before it."""

    tp: TopicPartition
    _queue: deque[tuple[int, int, DelayedProduce]] = field(factory=deque)

    def add(self, base_offset: int, required: int, produce: DelayedProduce) -> None:
        """``produce`` appended at ``base_offset``, and waits for the high watermark to reach ``required``."""
        self._queue.append((base_offset, required, produce))

    def complete(self, high_watermark: int, error: Errors) -> None:
        """Those that ask for no more than ``high_watermark`` end with ``error``, which may be NONE."""
        queue = self._queue
        while queue and queue[0][1] <= high_watermark:
            base_offset, _required, produce = queue.popleft()
            produce.finish(self.tp, error, base_offset)

    def fail(self, error: Errors) -> None:
        """All of them end with ``error``."""
        queue = self._queue
        while queue:
            base_offset, _required, produce = queue.popleft()
            produce.finish(self.tp, error, base_offset)
