"""The sequence numbers of an idempotent producer (TransactionManager without transactions, 2.3.1).

Records are numbered per partition from 0. A batch keeps its numbers when it is sent again, so that a broker can tell;
where the client no longer knows whether a broker has a batch, it begins anew under another producer id.
"""

from collections.abc import Iterable

from attrs import define, field

from emulator.protocol.errors import Errors
from emulator.protocol.produce import IdempotentBatch, ProducedBatch
from scenarios.cluster.clients.producing.accumulator import Pending, Queue

NO_PRODUCER_ID = -1
_SEQUENCE_LOST = (Errors.OUT_OF_ORDER_SEQUENCE_NUMBER, Errors.UNKNOWN_PRODUCER_ID)


@define(eq=False)
class Sequences:
    """One partition's.

    Attributes:
        next: the number of the next record.
        acked: of the last record that was acknowledged.
        sent: batches that have their numbers and no fate, in their order.
        unresolved: a batch that may or may not have been written has expired.
    """

    next: int = 0
    acked: int = -1
    sent: list[Pending] = field(factory=list)
    unresolved: bool = False


@define(eq=False)
class Idempotence:
    """All of one producer's. ``producer_id``: NO_PRODUCER_ID until a broker has given one."""

    producer_id: int = NO_PRODUCER_ID
    _partitions: dict[Queue, Sequences] = field(factory=dict)
    _renumbered: dict[Pending, None] = field(factory=dict)
    """Those that were given other numbers since they were sent."""

    def may_send(self, queue: Queue, first: Pending) -> bool:
        """Whether ``first``, the next batch of ``queue``, may go now: a batch that is sent again waits until all before
        it are through, a new one until the partition's past is known."""
        if self.producer_id == NO_PRODUCER_ID:
            return False
        sequences = self._of(queue)
        if _base(first) is None:
            return not sequences.unresolved
        return not sequences.sent or sequences.sent[0] is first

    def number(self, pending: Pending) -> None:
        """A batch is about to be sent: give it its numbers, if it is for the first time."""
        self._renumbered.pop(pending, None)
        if _base(pending) is None:
            sequences = self._of(pending.queue)
            self._renumber(pending, sequences.next)
            sequences.next += pending.batch.count
            sequences.sent.append(pending)

    def acknowledged(self, pending: Pending) -> None:
        """A broker has the batch."""
        if self._is_current(pending.batch):
            sequences = self._of(pending.queue)
            sequences.acked = max(sequences.acked, _last(pending))
            sequences.sent.remove(pending)

    def may_retry(self, pending: Pending, error: Errors) -> bool:
        """Whether an error that is no retriable one in itself is one here: the batches before this one are missing."""
        if error is not Errors.OUT_OF_ORDER_SEQUENCE_NUMBER or not self._is_current(pending.batch):
            return False
        sequences = self._of(pending.queue)
        return not sequences.unresolved and (pending in self._renumbered or _base(pending) != sequences.acked + 1)

    def is_of_the_past(self, pending: Pending) -> bool:
        """Its numbers are those of an earlier producer id: sent again it could appear twice."""
        return _base(pending) is not None and not self._is_current(pending.batch)

    def failed(self, pending: Pending, error: Errors, *, refused: bool) -> None:
        """A batch was given up. ``refused``: a broker has surely not written it, so that its numbers are free."""
        if not self._is_current(pending.batch):
            return
        if error in _SEQUENCE_LOST:
            self._begin_anew()
            return
        sequences = self._of(pending.queue)
        sequences.sent.remove(pending)
        if refused:
            self._close_gap(sequences, pending)

    def expired(self, pending: Pending) -> None:
        """A batch was given up because its time was over; it may have been written."""
        if self._is_current(pending.batch):
            sequences = self._of(pending.queue)
            sequences.sent.remove(pending)
            sequences.unresolved |= pending.attempts > 1

    def resolve(self, queues: Iterable[Queue]) -> None:
        """Look at the partitions in question once nothing of theirs is under way: numbers that nobody acknowledged are
        a gap that only another producer id closes."""
        for queue in queues:
            sequences = self._partitions.get(queue)
            if sequences is not None and sequences.unresolved and not sequences.sent:
                if sequences.next != sequences.acked + 1:
                    self._begin_anew()
                    return
                sequences.unresolved = False

    def _begin_anew(self) -> None:
        self.producer_id = NO_PRODUCER_ID
        self._partitions.clear()
        self._renumbered.clear()

    def _close_gap(self, sequences: Sequences, gone: Pending) -> None:
        """The batches behind ``gone`` take over its numbers."""
        count, base = gone.batch.count, _base(gone)
        assert base is not None
        sequences.next -= count
        for pending in sequences.sent:
            behind = _base(pending)
            if behind is not None and behind > base:
                self._renumber(pending, behind - count)
                self._renumbered[pending] = None

    def _renumber(self, pending: Pending, base: int) -> None:
        batch = pending.batch
        pending.batch = IdempotentBatch(batch.tp, batch.count, batch.size, batch.id, self.producer_id, base)

    def _is_current(self, batch: ProducedBatch) -> bool:
        return isinstance(batch, IdempotentBatch) and batch.producer_id == self.producer_id

    def _of(self, queue: Queue) -> Sequences:
        found = self._partitions.get(queue)
        if found is None:
            found = self._partitions[queue] = Sequences()
        return found


def _base(pending: Pending) -> int | None:
    batch = pending.batch
    return batch.base_sequence if isinstance(batch, IdempotentBatch) else None


def _last(pending: Pending) -> int:
    batch = pending.batch
    assert isinstance(batch, IdempotentBatch)
    return batch.last_sequence
