"""The batches that are not acknowledged yet (RecordAccumulator, 2.3): their order, and when they expire."""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from attrs import define, field

from emulator.protocol.errors import Errors
from emulator.protocol.produce import ProducedBatch
from emulator.protocol.types import NO_LEADER, TopicPartition


@define(eq=False)
class Queue:
    """The batches of one partition that wait to be sent, the next one first.

    Attributes:
        leader: the leader in the last metadata.
        muted: a batch is in flight, and with one request at a time no other may overtake it.
    """

    tp: TopicPartition
    leader: int = NO_LEADER
    muted: bool = False
    waiting: deque[ProducedBatch] = field(factory=deque)


@define(eq=False)
class Retry:
    """A batch that failed with a retriable error.

    Attributes:
        attempts: how many times it was sent.
        error: the result of the last attempt.
        rests_until_us: time from which it may be sent again.
    """

    attempts: int
    error: Errors
    rests_until_us: int


class Expired(NamedTuple):
    """A batch whose delivery timeout is over: how many times it was sent, and the last error, if there was one."""

    batch: ProducedBatch
    attempts: int
    error: Errors


@define(eq=False)
class Accumulator:
    """All batches of one producer. A batch that is neither waiting nor failed costs one entry in ``unfinished``.

    Attributes:
        queues: queues of the producer's partitions.
        ready: the queues in which a batch waits.
        unfinished: when each batch was closed that is not done (acknowledged, refused for good, or expired), in the
            order of closing.
        retries: unfinished batches that have failed.
    """

    queues: Sequence[Queue]
    ready: dict[Queue, None] = field(factory=dict)
    unfinished: dict[ProducedBatch, int] = field(factory=dict)
    retries: dict[ProducedBatch, Retry] = field(factory=dict)
    _by_partition: dict[TopicPartition, Queue] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._by_partition = {queue.tp: queue for queue in self.queues}

    def queue(self, batch: ProducedBatch) -> Queue:
        """The queue of the batch's partition."""
        return self._by_partition[batch.tp]

    def mute(self, batches: Iterable[ProducedBatch], *, muted: bool) -> None:
        """Let no other batch of these partitions be sent, or let them be sent again."""
        for batch in batches:
            self._by_partition[batch.tp].muted = muted

    def rests_until_us(self, batch: ProducedBatch) -> int:
        """When a waiting batch may be sent."""
        retry = self.retries.get(batch)
        return 0 if retry is None else retry.rests_until_us

    def attempts(self, batches: Sequence[ProducedBatch]) -> tuple[int, ...]:
        """How many times each of some batches was sent that have been sent."""
        retries = self.retries
        if not retries:
            return (1,) * len(batches)
        return tuple([retries[batch].attempts if batch in retries else 1 for batch in batches])

    def attempts_so_far(self) -> list[int]:
        """How many times each unfinished batch was sent, in the order of ``unfinished``; 0: never."""
        retries = self.retries
        waiting = {batch for queue in self.ready for batch in queue.waiting}
        return [retries[batch].attempts if batch in retries else int(batch not in waiting) for batch in self.unfinished]

    def sent_again(self, batches: Iterable[ProducedBatch]) -> None:
        """Count an attempt at those of the batches that were sent before."""
        for batch in batches:
            if batch in self.retries:
                self.retries[batch].attempts += 1

    def put_back(self, batch: ProducedBatch, error: Errors, rests_until_us: int, *, in_order: bool) -> None:
        """Put a batch back to be sent again: before all that wait or, ``in_order``, after those with lower ids."""
        [attempts] = self.attempts((batch,))
        self.retries[batch] = Retry(attempts, error, rests_until_us)
        queue = self._by_partition[batch.tp]
        self.ready[queue] = None
        place = 0
        if in_order:
            place = next((at for at, other in enumerate(queue.waiting) if other.id >= batch.id), len(queue.waiting))
        queue.waiting.insert(place, batch)

    def expire(self, closed_before_us: int) -> list[Expired]:
        """The batches that were closed by that time and are not done; some may be in flight, none waits any more."""
        late = []
        for batch, closed_us in self.unfinished.items():
            if closed_us > closed_before_us:
                break
            late.append(self._expired(batch))
        return late

    def _expired(self, batch: ProducedBatch) -> Expired:
        retry, queue = self.retries.get(batch), self._by_partition[batch.tp]
        waits = batch in queue.waiting
        if waits:
            queue.waiting.remove(batch)
            if not queue.waiting:
                del self.ready[queue]
        if retry is None:
            return Expired(batch, 0 if waits else 1, Errors.REQUEST_TIMED_OUT)
        return Expired(batch, retry.attempts, retry.error)

    def finish(self, batches: Sequence[ProducedBatch]) -> tuple[int, ...]:
        """Forget batches that are done. Returns when each was closed."""
        if self.retries:
            for batch in batches:
                self.retries.pop(batch, None)
        return tuple(map(self.unfinished.pop, batches))
