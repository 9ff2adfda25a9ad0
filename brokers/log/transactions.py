"""The transactions in one log (ProducerStateManager and TransactionIndex, 2.7): the open ones, the last stable offset,
and the aborted ones.

A log that has never seen a transaction has a plain ``ProducerStateManager``, and does not import this.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Collection
from typing import Any, ClassVar, NamedTuple

from attrs import define, field

from brokers.log.producer_state_manager import AbortedTransaction, ProducerStateManager
from emulator.protocol.control_batches import ControlBatch
from emulator.protocol.describe_producers import NO_TRANSACTION, ActiveProducer
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.produce import IdempotentBatch
from emulator.protocol.records import HEADER_BYTES, NO_SEQUENCE


class AbortedTxn(NamedTuple):
    """An aborted transaction (kafka.log.AbortedTxn).

    Attributes:
        last_offset: the offset of its marker.
        last_stable_offset: the last stable offset when the marker came: no transaction that was aborted later has
            records before it.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class CompletedTxn(NamedTuple):
    """A transaction whose marker may not be on all replicas yet. ``last_offset``: the offset of its marker."""

    first_offset: int
    last_offset: int


def _last_offset(aborted: AbortedTxn) -> int:
    return aborted.last_offset


@define(eq=False)
class TransactionalProducers(ProducerStateManager):
    """The producers of a log that has transactions.

    Attributes:
        ongoing: by producer id, the first offset of the transaction that has no marker yet.
        completed: the ended transactions that count as open until the high watermark has passed their marker.
        aborted: the aborted transactions in the order of their markers.
    """

    ongoing: dict[int, int] = field(factory=dict)
    completed: deque[CompletedTxn] = field(factory=deque)
    aborted: list[AbortedTxn] = field(factory=list)
    _epochs: dict[int, int] = field(factory=dict)
    """The producer epoch of the newest marker or transactional batch, by producer id."""
    _markers: dict[int, ControlBatch] = field(factory=dict)
    """The newest marker by producer id."""

    has_transactions: ClassVar[bool] = True

    def with_transactions(self) -> "TransactionalProducers":
        return self

    def copy(self) -> "TransactionalProducers":
        return TransactionalProducers(
            self._copied_batches(), dict(self.ongoing), self.completed.copy(), list(self.aborted), dict(self._epochs),
            dict(self._markers),
        )  # fmt: skip

    def retained(self, log_start: int) -> ProducerStateManager:
        """Remove producers as ``ProducerStateManager.retained`` does, and those of which the log has only a marker.
        The open transaction of a removed producer is removed with it. Aborted transactions are kept while the log has
        their records."""
        super().retained(log_start)
        known: dict[int, Any]
        for known in (self.ongoing, self._epochs, self._markers):
            for producer_id in [id for id in known if id not in self._batches]:
                del known[producer_id]
        self.completed = deque(each for each in self.completed if each.last_offset >= log_start)
        self.aborted = [each for each in self.aborted if each.last_offset >= log_start]
        return self

    # -- what is appended -------------------------------------------------------------------------------------------

    def add(self, batch: Any) -> None:
        """Add ``batch``, which was appended. Replicas check nothing: their leader has.

        What compaction has removed opens no transaction, and a marker that it has removed or emptied ends none
        (ProducerAppendInfo.append, 2.0.1 to 3.9).
        """
        if isinstance(batch, ControlBatch):
            self._begin_epoch(batch.producer_id, batch.producer_epoch)
            self._markers[batch.producer_id] = batch
            if batch.size > HEADER_BYTES:
                self._end(batch)
            return
        if batch.transactional:
            if batch.size:
                self.ongoing.setdefault(batch.producer_id, batch.base_offset)
            self._begin_epoch(batch.producer_id, batch.producer_epoch)
        if batch.base_sequence >= 0:
            super().add(batch)

    def _begin_epoch(self, producer_id: int, epoch: int) -> None:
        """Forget the producer's batches of other epochs."""
        self._epochs[producer_id] = epoch
        kept = self._batches.get(producer_id)
        if kept is not None and kept[-1].producer_epoch != epoch:
            del self._batches[producer_id]

    def _end(self, marker: ControlBatch) -> None:
        producer_id, last = marker.producer_id, marker.base_offset
        first = self.ongoing.pop(producer_id, last)
        self.completed.append(CompletedTxn(first, last))
        if not marker.committed:
            stable = min(self.ongoing.values(), default=last + 1)
            self.aborted.append(AbortedTxn(producer_id, first, last, stable))

    # -- what the log cleaner asks ------------------------------------------------------------------------------------

    def last_records(self) -> dict[int, tuple[int | None, int]]:
        markers: dict[int, tuple[int | None, int]] = {id: (None, epoch) for id, epoch in self._epochs.items()}
        return markers | super().last_records()

    def compacted(self, ended: Collection[int]) -> None:
        self.aborted = [one for one in self.aborted if one.last_offset not in ended]

    def first_unstable_offset(self, high_watermark: int) -> int | None:
        waiting = (one.first_offset for one in self.completed if one.last_offset >= high_watermark)
        return min((*waiting, *self.ongoing.values()), default=None)

    def aborted_from(self, begin: int, end: int) -> list[AbortedTxn]:
        return [one for one in self.aborted if one.first_offset < end and one.last_offset >= begin]

    # -- what a leader checks ---------------------------------------------------------------------------------------

    def epoch_of(self, producer_id: int) -> int:
        return max(self._epochs.get(producer_id, -1), super().epoch_of(producer_id))

    def coordinator_epoch_of(self, producer_id: int) -> int:
        marker = self._markers.get(producer_id)
        return -1 if marker is None else marker.coordinator_epoch

    def active(self) -> tuple[ActiveProducer, ...]:
        known = {producer.producer_id: producer for producer in super().active()}
        for producer_id, marker in self._markers.items():
            last = known.get(producer_id)
            is_last = last is None or self._batches[producer_id][-1].base_offset < marker.base_offset
            known[producer_id] = ActiveProducer(
                producer_id, self.epoch_of(producer_id), NO_SEQUENCE if last is None else last.last_sequence,
                marker.max_timestamp_ms if last is None or is_last else last.last_timestamp_ms,
                marker.coordinator_epoch,
            )  # fmt: skip
        return tuple(
            producer._replace(transaction_start=self.ongoing.get(producer_id, NO_TRANSACTION))
            for producer_id, producer in sorted(known.items())
        )

    def is_ongoing(self, producer_id: int) -> bool:
        return producer_id in self.ongoing

    def knows(self, producer_id: int) -> bool:
        return producer_id in self._epochs or super().knows(producer_id)

    def check(self, produced: IdempotentBatch, *, admits_unknown: bool) -> Errors:
        producer_id = produced.producer_id
        if producer_id in self._batches:
            error = super().check(produced, admits_unknown=admits_unknown)
        elif producer_id in self._epochs:  # its newest batch here is a marker, or was of an earlier epoch
            error = self._check_first(produced, self._epochs[producer_id], admits_unknown=admits_unknown)
        else:
            error = super().check(produced, admits_unknown=admits_unknown)
        if not error and producer_id in self.ongoing and not produced.transactional:
            return Errors.INVALID_TXN_STATE
        return error

    def _check_first(self, produced: IdempotentBatch, epoch: int, *, admits_unknown: bool) -> Errors:
        """Check the first batch of a producer of which the log knows only the ``epoch``: its newest batch is a marker,
        or was of an earlier epoch. Before KIP-360 (2.5) such a producer had to begin with sequence number 0, like an
        unknown one."""
        if produced.producer_epoch < epoch:
            return Errors.INVALID_PRODUCER_EPOCH
        if not produced.base_sequence:
            return NO_ERROR
        unknown = produced.producer_epoch == epoch and not admits_unknown
        return Errors.UNKNOWN_PRODUCER_ID if unknown else Errors.OUT_OF_ORDER_SEQUENCE_NUMBER

    # -- what readers of committed records may see ------------------------------------------------------------------

    def last_stable_offset(self, high_watermark: int, log_start: int) -> int:
        completed = self.completed
        while completed and completed[0].last_offset < high_watermark:
            completed.popleft()
        firsts = min((each.first_offset for each in completed), default=high_watermark)
        first = min(self.ongoing.values(), default=high_watermark)
        return min(max(min(firsts, first), log_start), high_watermark)

    def aborted_between(self, offset: int, end: int, *, empty: bool) -> tuple[AbortedTransaction, ...]:
        found = []
        for place in range(bisect_left(self.aborted, offset, key=_last_offset), len(self.aborted)):
            aborted = self.aborted[place]
            if aborted.first_offset < end and (empty or aborted.first_offset < aborted.last_offset):
                found.append(AbortedTransaction(aborted.producer_id, aborted.first_offset))
            if aborted.last_stable_offset >= end:
                break
        return tuple(found)
