"""The batches that are not acknowledged yet (RecordAccumulator, 2.3): their order, and when they expire."""

from collections import deque
from collections.abc import Iterator

from attrs import define, field

from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.produce import ProducedBatch
from emulator.protocol.types import NO_LEADER, TopicPartition


@define(eq=False, weakref_slot=False)
class Pending:
    """A batch that is not acknowledged yet.

    Attributes:
        attempts: how many times it was sent.
        error: the result of the last attempt.
        rests_until_us: when it may be sent again.
        done: whether it was acknowledged, refused for good, or has expired.
    """

    batch: ProducedBatch
    queue: "Queue"
    closed_us: int
    attempts: int = 0
    error: Errors = NO_ERROR
    rests_until_us: int = 0
    done: bool = False


@define(eq=False)
class Queue:
    """The batches of one partition that wait to be sent, the next one first.

    Attributes:
        leader: that of the last metadata.
        muted: a batch is in flight, and with one request at a time no other may overtake it.
    """

    tp: TopicPartition
    leader: int = NO_LEADER
    muted: bool = False
    waiting: deque[Pending] = field(factory=deque)


@define(eq=False)
class Accumulator:
    """All batches of one producer. ``ready``: the queues in which a batch waits."""

    ready: dict[Queue, None] = field(factory=dict)
    _unfinished: deque[Pending] = field(factory=deque)
    """In the order in which they were closed; those that are done are removed at the head."""

    def add(self, pending: Pending) -> None:
        """Add a batch that has just been closed."""
        self._unfinished.append(pending)
        queue = pending.queue
        queue.waiting.append(pending)
        self.ready[queue] = None

    def put_back(self, pending: Pending) -> None:
        """Put a batch back to be sent again, before all that wait."""
        self._put(pending).appendleft(pending)

    def put_back_in_order(self, pending: Pending) -> None:
        """Put a batch back to be sent again, after those with lower ids: an idempotent producer keeps their order."""
        waiting = self._put(pending)
        place = 0
        while place < len(waiting) and waiting[place].batch.id < pending.batch.id:
            place += 1
        waiting.insert(place, pending)

    def _put(self, pending: Pending) -> deque[Pending]:
        self.ready[pending.queue] = None
        return pending.queue.waiting

    def expired(self, closed_before_us: int) -> Iterator[Pending]:
        """Remove and return the batches that were closed by that time and are not done; some may be in flight."""
        unfinished = self._unfinished
        while unfinished and (unfinished[0].done or unfinished[0].closed_us <= closed_before_us):
            pending = unfinished.popleft()
            if not pending.done:
                queue = pending.queue
                if pending in queue.waiting:
                    queue.waiting.remove(pending)
                    if not queue.waiting:
                        del self.ready[queue]
                yield pending

    @property
    def unfinished(self) -> bool:
        """Whether a batch is not done."""
        unfinished = self._unfinished
        while unfinished and unfinished[0].done:
            unfinished.popleft()
        return bool(unfinished)
