"""The idempotent producers of one log (ProducerStateManager, 2.3.1): the last five batches of each, by which the log
recognizes duplicates and gaps.

Logs whose batches have no producer ids share ``NO_PRODUCERS``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from attrs import define, field

from emulator.disks import Disk
from emulator.protocol.errors import Errors
from emulator.protocol.extents import ExtentPart
from emulator.protocol.produce import IdempotentBatch
from emulator.protocol.records import StoredBatch
from emulator.protocol.types import Batch, SequencedBatch, TopicPartition

if TYPE_CHECKING:
    from brokers.log.transactions import AbortedTxn, TransactionalProducers
    from emulator.protocol.describe_producers import ActiveProducer

BATCHES_KEPT = 5
LAST_SEQUENCE = (1 << 31) - 1
"""The largest sequence number; after it they begin again at 0."""


class AbortedTransaction(NamedTuple):
    """An aborted transaction, as readers of committed records learn of it (FetchResponse.AbortedTransaction)."""

    producer_id: int
    first_offset: int


@define(eq=False)
class VerificationStateEntry:
    """A transaction of which a leader asks the coordinator whether a partition is in it (VerificationStateEntry, 3.6 to
    3.9). Its identity is Kafka's verification guard: it ends with the next record or marker of the producer, so that
    an answer which comes after that counts no more.

    Attributes:
        lowest_sequence: the lowest sequence number of the batches of ``epoch`` that were to be appended. A later one is
            not appended before it, also where the earlier one was not verified.
    """

    lowest_sequence: int
    epoch: int

    def maybe_update(self, sequence: int, epoch: int) -> None:
        """Take note of another batch."""
        if epoch > self.epoch or (epoch == self.epoch and sequence < self.lowest_sequence):
            self.lowest_sequence, self.epoch = sequence, epoch


@define(eq=False)
class ProducerStateManager:
    """The newest batches of each producer id, in the order of the log; only those of its newest epoch. Nothing expires
    here; Kafka forgets a producer seven days after its last batch. Before 2.4 it also forgot one whose batches are all
    before the start of the log (``retained``)."""

    _batches: dict[int, deque[SequencedBatch]] = field(factory=dict)

    has_transactions: ClassVar[bool] = False
    """Whether a batch of a transaction was ever appended, as far as the log's batches say."""

    @staticmethod
    def of(pieces: Iterable[Batch | ExtentPart], before: ProducerStateManager | None = None) -> ProducerStateManager:
        """The state of a log with these batches.

        Args:
            before: the state at the first of them. It is changed to the state after the last.
        """
        any_sequenced = before is not None and before is not NO_PRODUCERS
        states = before if before is not None and any_sequenced else ProducerStateManager()
        for piece in pieces:
            for batch in remembered(piece) if isinstance(piece, ExtentPart) else (piece,):
                if batch.sequenced:
                    any_sequenced = True
                    if batch.transactional:
                        states = states.with_transactions()
                    states.add(batch)  # type: ignore[arg-type]
        return states if any_sequenced else NO_PRODUCERS

    def with_transactions(self) -> TransactionalProducers:
        """A copy for a log that gets its first transactional batch."""
        from brokers.log.transactions import TransactionalProducers

        return TransactionalProducers(dict(self._batches))

    def copy(self) -> ProducerStateManager:
        """A copy that changes by itself."""
        return ProducerStateManager(self._copied_batches())

    def _copied_batches(self) -> dict[int, deque[SequencedBatch]]:
        return {producer_id: kept.copy() for producer_id, kept in self._batches.items()}

    def retained(self, log_start: int) -> ProducerStateManager:
        """Remove the producers that have no batch at ``log_start`` or after it (truncateHead, 2.3). Returns this state,
        or ``NO_PRODUCERS`` if it is empty then."""
        for producer_id in [id for id, kept in self._batches.items() if kept[-1].next_offset <= log_start]:
            del self._batches[producer_id]
        return self if self._batches else NO_PRODUCERS

    def add(self, batch: SequencedBatch) -> None:
        kept = self._batches.get(batch.producer_id)
        if kept is None:
            kept = self._batches[batch.producer_id] = deque(maxlen=BATCHES_KEPT)
        elif kept[-1].producer_epoch != batch.producer_epoch:
            kept.clear()
        kept.append(batch)

    def knows(self, producer_id: int) -> bool:
        return producer_id in self._batches

    def last_records(self) -> dict[int, tuple[int | None, int]]:
        """By producer id, the last offset of its records and its epoch (lastRecordsOfActiveProducers, 2.3). Compaction
        keeps the batches with them. An offset is None where only the marker of its last transaction is known."""
        return {id: (kept[-1].next_offset - 1, kept[-1].producer_epoch) for id, kept in self._batches.items()}

    def compacted(self, ended: Collection[int]) -> None:
        """Take note of the aborted transactions, by the offsets of their markers, that have no record any more."""

    def first_unstable_offset(self, _high_watermark: int) -> int | None:
        """The first offset of the oldest transaction that is open, or whose marker is not committed. None: there is
        none."""
        return None

    def aborted_from(self, _begin: int, _end: int) -> list[AbortedTxn]:
        """The aborted transactions with a record before ``end`` and their marker at ``begin`` or later."""
        return []

    def remembered_batches(self) -> tuple[tuple[int, int, int], ...]:
        """The kept batches, by producer id and in the order of the log: id, base offset and next offset."""
        return tuple(
            (producer_id, batch.base_offset, batch.next_offset)
            for producer_id, kept in sorted(self._batches.items())
            for batch in kept
        )

    def repeated(self, produced: IdempotentBatch) -> SequencedBatch | None:
        """The kept batch of which ``produced`` is a duplicate, or None (findDuplicateBatch)."""
        kept = self._batches.get(produced.producer_id)
        if kept is None or kept[-1].producer_epoch != produced.producer_epoch:
            return None
        wanted = produced.base_sequence, produced.last_sequence
        return next((batch for batch in kept if (batch.base_sequence, batch.last_sequence) == wanted), None)

    def check(self, produced: IdempotentBatch, *, admits_unknown: bool) -> Errors:
        """The error if ``produced``, which is not a duplicate, does not follow its producer's last batch
        (checkProducerEpoch, checkSequence).

        Args:
            admits_unknown: an unknown producer may begin anywhere (KIP-360, 2.5); before, with sequence number 0.
        """
        kept = self._batches.get(produced.producer_id)
        if kept is None:
            return Errors.NONE if admits_unknown or not produced.base_sequence else Errors.UNKNOWN_PRODUCER_ID
        last = kept[-1]
        if produced.producer_epoch < last.producer_epoch:
            return Errors.INVALID_PRODUCER_EPOCH
        follows = 0
        if produced.producer_epoch == last.producer_epoch and last.last_sequence != LAST_SEQUENCE:
            follows = last.last_sequence + 1
        return Errors.NONE if produced.base_sequence == follows else Errors.OUT_OF_ORDER_SEQUENCE_NUMBER

    def active(self) -> tuple[ActiveProducer, ...]:
        """All producers that are known, by id (Log.activeProducers, 2.8)."""
        from emulator.protocol.describe_producers import ActiveProducer

        found = []
        for producer_id, kept in sorted(self._batches.items()):
            last = kept[-1]
            found.append(ActiveProducer(producer_id, last.producer_epoch, last.last_sequence, _time_ms(last)))
        return tuple(found)

    def is_ongoing(self, _producer_id: int) -> bool:
        """Whether a transaction of the producer is open here."""
        return False

    # -- transactions: a log has none, unless its producers are of the class in ``brokers.log.transactions`` -----------

    def epoch_of(self, producer_id: int) -> int:
        """The producer epoch of the newest batch of that producer; -1: none is known."""
        kept = self._batches.get(producer_id)
        return -1 if kept is None else kept[-1].producer_epoch

    def coordinator_epoch_of(self, _producer_id: int) -> int:
        """The epoch of the coordinator that has ended the producer's last transaction here; -1: none has."""
        return -1

    def last_stable_offset(self, high_watermark: int, _log_start: int) -> int:
        """The offset before which every transaction has ended: no record belongs to a transaction that is open, or
        whose marker is not committed (Log.lastStableOffset)."""
        return high_watermark

    def aborted_between(self, _offset: int, _end: int, *, empty: bool) -> tuple[AbortedTransaction, ...]:
        """The aborted transactions that have records from ``offset`` on and before ``end``, or may have. ``empty``:
        also those that have only their marker."""
        return ()


def _time_ms(batch: SequencedBatch) -> int:
    """The latest time of a batch's records; those of emulated producers have the time of the append."""
    return batch.max_timestamp_ms if isinstance(batch, StoredBatch) else batch.timestamp_us // 1000


def remembered(part: ExtentPart) -> list[SequencedBatch]:
    """The batches of ``part`` that a log's producers remember."""
    kept = part.between(max(0, part.count - BATCHES_KEPT), part.count) if part.extent.sequenced else None
    return [] if kept is None else kept.batches()  # type: ignore[return-value]


NO_PRODUCERS = ProducerStateManager()
"""Shared by the logs to which no idempotent producer has written. Do not change it."""


# -- snapshots --------------------------------------------------------------------------------------------------------

SNAPSHOTS = "snapshots/"


class ProducerSnapshots:
    """The snapshots in one directory (ProducerStateManager.takeSnapshot, 2.4). A log that has lost batches of producers
    has one: their states at its start. It is durable when the batches are gone; Kafka writes it when the segment after
    them begins."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def get(self, tp: TopicPartition) -> ProducerStateManager | None:
        """The snapshot of a log; None: no producer is known from before the log's start."""
        path = self._path(tp)
        written = self._disk.open(path).entries if self._disk.exists(path) else ()
        return next(iter(written), None)  # a disk that has failed leaves an empty file

    def put(self, tp: TopicPartition, state: ProducerStateManager) -> None:
        """Write the snapshot of a log. Raises: DiskError."""
        self._disk.open(self._path(tp)).replace(state)

    def forget(self, tp: TopicPartition) -> None:
        self._disk.delete(self._path(tp))

    def _path(self, tp: TopicPartition) -> str:
        return f"{SNAPSHOTS}{tp}"
