"""The produces that wait at one partition for more than the leader."""

from collections import deque
from collections.abc import Callable

from attrs import define, field

from brokers.purgatory.delayed_produce import DelayedProduce
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition


@define(eq=False)
class WaitingProduces:
    """Those with acks=all wait in the order of the log: whatever completes one has completed all before it.

    Attributes:
        counted: those that wait for a number of replicas, up to 0.8: (base offset, required offset, acks, produce).
    """

    tp: TopicPartition
    counted: list[tuple[int, int, int, DelayedProduce]] = field(factory=list)
    _queue: deque[tuple[int, int, DelayedProduce]] = field(factory=deque)

    def add(self, base_offset: int, required: int, produce: DelayedProduce) -> None:
        """``produce`` appended at ``base_offset``, and waits for the high watermark to reach ``required``."""
        queue = self._queue
        if queue and queue[-1][1] > required:
            # A batch that was sent again, and stands further ahead in the log (KIP-98).
            queue.insert(sum(waits[1] <= required for waits in queue), (base_offset, required, produce))
        else:
            queue.append((base_offset, required, produce))

    def complete(self, high_watermark: int, error: Errors) -> None:
        """Those that ask for no more than ``high_watermark`` end with ``error``, which may be NONE."""
        queue = self._queue
        while queue and queue[0][1] <= high_watermark:
            base_offset, _required, produce = queue.popleft()
            produce.finish(self.tp, error, base_offset)

    def complete_counted(self, replicas_at: Callable[[int], int]) -> None:
        """Those end whose number of replicas in sync has reached their offset: ``replicas_at`` says how many have."""
        waiting, self.counted = self.counted, []
        for entry in waiting:
            base_offset, required, acks, produce = entry
            if replicas_at(required) >= acks:
                produce.finish(self.tp, Errors.NONE, base_offset)
            else:
                self.counted.append(entry)

    def fail(self, error: Errors) -> None:
        """All of them end with ``error``."""
        queue, counted = self._queue, self.counted
        self._queue, self.counted = deque(), []
        for base_offset, _required, produce in queue:
            produce.finish(self.tp, error, base_offset)
        for base_offset, _required, _acks, produce in counted:
            produce.finish(self.tp, error, base_offset)
