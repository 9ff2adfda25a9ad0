"""Batches without a fate (RecordAccumulator, 2.3): in which order they wait, and when they have waited too long."""

from collections import deque
from collections.abc import Iterator

from attrs import define, field

from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.produce import ProducedBatch
from emulator.protocol.types import NO_LEADER, TopicPartition


@define(eq=False, weakref_slot=False)
class Pending:
    """A batch without a fate.

    Attributes:
        attempts: how often it was sent.
        error: what the last attempt came to.
        rests_until_us: when it may be tried again.
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
    """One partition's batches that wait to be sent, first the one to be sent next.

    Attributes:
        leader: as the last metadata said.
        muted: a batch is under way, and with one request at a time nothing may overtake it.
    """

    tp: TopicPartition
    leader: int = NO_LEADER
    muted: bool = False
    waiting: deque[Pending] = field(factory=deque)


@define(eq=False)
class Accumulator:
    """All of one producer's. ``ready``: the queues in which something waits."""

    ready: dict[Queue, None] = field(factory=dict)
    _unfinished: deque[Pending] = field(factory=deque)
    """In the order in which they were closed; those that are done go when they come to the head."""

    def add(self, pending: Pending) -> None:
        """A batch has just been closed."""
        self._unfinished.append(pending)
        queue = pending.queue
        queue.waiting.append(pending)
        self.ready[queue] = None

    def put_back(self, pending: Pending) -> None:
        """To be tried again, before all that waits."""
        self._put(pending).appendleft(pending)

    def put_back_in_order(self, pending: Pending) -> None:
        """To be tried again, behind those with lower ids: batches of an idempotent producer keep their order."""
        waiting = self._put(pending)
        place = 0
        while place < len(waiting) and waiting[place].batch.id < pending.batch.id:
            place += 1
        waiting.insert(place, pending)

    def _put(self, pending: Pending) -> deque[Pending]:
        self.ready[pending.queue] = None
        return pending.queue.waiting

    def expired(self, closed_before_us: int) -> Iterator[Pending]:
        """What was closed at that time or earlier and is not done; it waits no more, but may be under way."""
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
        """Is there a batch without a fate?"""
        unfinished = self._unfinished
        while unfinished and unfinished[0].done:
            unfinished.popleft()
        return bool(unfinished)
