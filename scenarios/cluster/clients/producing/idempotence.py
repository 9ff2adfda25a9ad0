"""The sequence numbers of an idempotent producer (TransactionManager without transactions, 2.3.1).

Records are numbered per partition from 0. A batch keeps its numbers when it is sent again, so that the broker
recognises it. Where the client no longer knows whether a broker has a batch, it starts again with a new producer id.
"""

from collections.abc import Iterable

from attrs import define, field

from emulator.protocol.errors import Errors
from emulator.protocol.produce import IdempotentBatch, ProducedBatch
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.producing.accumulator import Queue

NO_PRODUCER_ID = -1
_SEQUENCE_LOST = (Errors.OUT_OF_ORDER_SEQUENCE_NUMBER, Errors.UNKNOWN_PRODUCER_ID)


@define(eq=False)
class Sequences:
    """The sequence numbers of one partition.

    Attributes:
        next: the number of the next record.
        acked: sequence number of the last acknowledged record.
        sent: batches that have their numbers and are not done, in order.
        unresolved: a batch that may or may not have been written has expired.
    """

    next: int = 0
    acked: int = -1
    sent: list[ProducedBatch] = field(factory=list)
    unresolved: bool = False


@define(eq=False)
class Idempotence:
    """The sequence numbers of one producer.

    Attributes:
        producer_id: NO_PRODUCER_ID until a broker has given one.
        numbered: each batch that has numbers and is not done, as it is sent.
    """

    producer_id: int = NO_PRODUCER_ID
    numbered: dict[ProducedBatch, IdempotentBatch] = field(factory=dict)
    _partitions: dict[TopicPartition, Sequences] = field(factory=dict)
    _renumbered: dict[ProducedBatch, None] = field(factory=dict)
    """The batches that were given other numbers after they were sent."""

    def may_send(self, first: ProducedBatch) -> bool:
        """Whether ``first``, the next batch of its partition, may be sent now: one that is sent again waits until all
        before it are acknowledged, a new one until no earlier batch is unresolved."""
        if self.producer_id == NO_PRODUCER_ID:
            return False
        sequences = self._of(first)
        if first not in self.numbered:
            return not sequences.unresolved
        return not sequences.sent or sequences.sent[0] is first

    def number(self, batches: Iterable[ProducedBatch]) -> tuple[IdempotentBatch, ...]:
        """Give batches that are about to be sent their numbers, if they have none. Returns them with these."""
        found = []
        renumbered, known, id = self._renumbered, self.numbered, self.producer_id
        for batch in batches:
            numbered = known.get(batch)
            if numbered is None:
                sequences = self._of(batch)
                numbered = IdempotentBatch(batch.tp, batch.count, batch.size, batch.id, id, sequences.next)
                known[batch] = numbered
                sequences.next += batch.count
                sequences.sent.append(batch)
            elif renumbered:
                renumbered.pop(batch, None)
            found.append(numbered)
        return tuple(found)

    def acknowledged(self, batches: Iterable[ProducedBatch]) -> None:
        """A broker has acknowledged the batches."""
        known, partitions = self.numbered, self._partitions
        for batch in batches:
            numbered = known.pop(batch, None)
            if numbered is not None and numbered.producer_id == self.producer_id:
                sequences = partitions[batch.tp]
                last = numbered.base_sequence + numbered.count - 1
                if last > sequences.acked:
                    sequences.acked = last
                sequences.sent.remove(batch)

    def may_retry(self, batch: ProducedBatch, error: Errors) -> bool:
        """Whether an error that is not retriable in itself is so here, because batches before this one are missing."""
        numbered = self._current(batch)
        if error is not Errors.OUT_OF_ORDER_SEQUENCE_NUMBER or numbered is None:
            return False
        sequences = self._of(batch)
        return not sequences.unresolved and (batch in self._renumbered or numbered.base_sequence != sequences.acked + 1)

    def has_old_producer_id(self, batch: ProducedBatch) -> bool:
        """Whether its numbers belong to an earlier producer id: sent again, it could be written twice."""
        return batch in self.numbered and self._current(batch) is None

    def failed(self, batch: ProducedBatch, error: Errors, *, refused: bool) -> None:
        """A batch has failed. ``refused``: no broker can have written it, so its numbers are free."""
        numbered = self._done(batch)
        if numbered is None:
            return
        if error in _SEQUENCE_LOST:
            self._start_again()
            return
        sequences = self._of(batch)
        sequences.sent.remove(batch)
        if refused:
            self._close_gap(sequences, numbered)

    def expired(self, batch: ProducedBatch, attempts: int) -> None:
        """A batch that was sent ``attempts`` times has expired; it may have been written."""
        if self._done(batch) is not None:
            sequences = self._of(batch)
            sequences.sent.remove(batch)
            sequences.unresolved |= attempts > 1

    def resolve(self, queues: Iterable[Queue]) -> None:
        """Resolve the partitions of which no batch is in flight any more: numbers that were not acknowledged are a gap,
        which needs a new producer id."""
        for queue in queues:
            sequences = self._partitions.get(queue.tp)
            if sequences is not None and sequences.unresolved and not sequences.sent:
                if sequences.next != sequences.acked + 1:
                    self._start_again()
                    return
                sequences.unresolved = False

    def _start_again(self) -> None:
        self.producer_id = NO_PRODUCER_ID
        self._partitions.clear()
        self._renumbered.clear()

    def _close_gap(self, sequences: Sequences, gone: IdempotentBatch) -> None:
        """Give the numbers of ``gone`` to the batches after it."""
        sequences.next -= gone.count
        for batch in sequences.sent:
            later = self.numbered[batch].base_sequence
            if later > gone.base_sequence:
                self.numbered[batch] = IdempotentBatch(
                    batch.tp, batch.count, batch.size, batch.id, self.producer_id, later - gone.count
                )
                self._renumbered[batch] = None

    def _current(self, batch: ProducedBatch) -> IdempotentBatch | None:
        """The batch with its numbers, if these belong to the producer id of now."""
        numbered = self.numbered.get(batch)
        return numbered if numbered is not None and numbered.producer_id == self.producer_id else None

    def _done(self, batch: ProducedBatch) -> IdempotentBatch | None:
        """The batch with its numbers, as by ``_current``, which are then forgotten."""
        numbered = self._current(batch)
        self.numbered.pop(batch, None)
        return numbered

    def _of(self, batch: ProducedBatch) -> Sequences:
        found = self._partitions.get(batch.tp)
        if found is None:
            found = self._partitions[batch.tp] = Sequences()
        return found
