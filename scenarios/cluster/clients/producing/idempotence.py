"""The sequence numbers of an idempotent producer (TransactionManager without transactions, 2.3.1).

Records are numbered per partition from 0. A batch keeps its numbers when it is sent again, so that the broker
recognises it. Where the client no longer knows whether a broker has a batch, it starts again with a new producer id.
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
    """The sequence numbers of one partition.

    Attributes:
        next: the number of the next record.
        acked: of the last record that was acknowledged.
        sent: batches that have their numbers and are not done, in order.
        unresolved: a batch that may or may not have been written has expired.
    """

    next: int = 0
    acked: int = -1
    sent: list[Pending] = field(factory=list)
    unresolved: bool = False


@define(eq=False)
class Idempotence:
    """The sequence numbers of one producer. ``producer_id``: NO_PRODUCER_ID until a broker has given one."""

    producer_id: int = NO_PRODUCER_ID
    _partitions: dict[Queue, Sequences] = field(factory=dict)
    _renumbered: dict[Pending, None] = field(factory=dict)
    """The batches that were given other numbers after they were sent."""

    def may_send(self, queue: Queue, first: Pending) -> bool:
        """Whether ``first``, the next batch of ``queue``, may be sent now: one that is sent again waits until all
        before it are acknowledged, a new one until no earlier batch is unresolved."""
        if self.producer_id == NO_PRODUCER_ID:
            return False
        sequences = self._of(queue)
        if _base(first) is None:
            return not sequences.unresolved
        return not sequences.sent or sequences.sent[0] is first

    def number(self, pending: Pending) -> None:
        """Give a batch that is about to be sent its numbers, if it has none."""
        self._renumbered.pop(pending, None)
        if _base(pending) is None:
            sequences = self._of(pending.queue)
            self._renumber(pending, sequences.next)
            sequences.next += pending.batch.count
            sequences.sent.append(pending)

    def acknowledged(self, pending: Pending) -> None:
        """A broker has acknowledged the batch."""
        if self._is_current(pending.batch):
            sequences = self._of(pending.queue)
            sequences.acked = max(sequences.acked, _last(pending))
            sequences.sent.remove(pending)

    def may_retry(self, pending: Pending, error: Errors) -> bool:
        """Whether an error that is not retriable in itself is so here, because batches before this one are missing."""
        if error is not Errors.OUT_OF_ORDER_SEQUENCE_NUMBER or not self._is_current(pending.batch):
            return False
        sequences = self._of(pending.queue)
        return not sequences.unresolved and (pending in self._renumbered or _base(pending) != sequences.acked + 1)

    def has_old_producer_id(self, pending: Pending) -> bool:
        """Whether its numbers belong to an earlier producer id: sent again, it could be written twice."""
        return _base(pending) is not None and not self._is_current(pending.batch)

    def failed(self, pending: Pending, error: Errors, *, refused: bool) -> None:
        """A batch has failed. ``refused``: no broker can have written it, so its numbers are free."""
        if not self._is_current(pending.batch):
            return
        if error in _SEQUENCE_LOST:
            self._start_again()
            return
        sequences = self._of(pending.queue)
        sequences.sent.remove(pending)
        if refused:
            self._close_gap(sequences, pending)

    def expired(self, pending: Pending) -> None:
        """A batch has expired; it may have been written."""
        if self._is_current(pending.batch):
            sequences = self._of(pending.queue)
            sequences.sent.remove(pending)
            sequences.unresolved |= pending.attempts > 1

    def resolve(self, queues: Iterable[Queue]) -> None:
        """Resolve the partitions of which no batch is in flight any more: numbers that were not acknowledged are a gap,
        which needs a new producer id."""
        for queue in queues:
            sequences = self._partitions.get(queue)
            if sequences is not None and sequences.unresolved and not sequences.sent:
                if sequences.next != sequences.acked + 1:
                    self._start_again()
                    return
                sequences.unresolved = False

    def _start_again(self) -> None:
        self.producer_id = NO_PRODUCER_ID
        self._partitions.clear()
        self._renumbered.clear()

    def _close_gap(self, sequences: Sequences, gone: Pending) -> None:
        """Give the numbers of ``gone`` to the batches after it."""
        count, base = gone.batch.count, _base(gone)
        assert base is not None
        sequences.next -= count
        for pending in sequences.sent:
            later = _base(pending)
            if later is not None and later > base:
                self._renumber(pending, later - count)
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
