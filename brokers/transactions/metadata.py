"""One transactional id: its producer, and the state of its transaction (kafka.coordinator.transaction
.TransactionMetadata, 2.7).

A change is prepared, then written into the log, then completed; until that is done, or has failed, no other begins.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from attrs import define, field

from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition

NO_PRODUCER_EPOCH = NO_PRODUCER_ID = -1
LAST_EPOCH = (1 << 15) - 1
NOT_STARTED_MS = -1


class TransactionState(StrEnum):
    """The states of a transactional id, with Kafka's names."""

    EMPTY = "Empty"
    """The transactional id has had no transaction with this producer epoch yet."""
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    """The transaction is decided, and its markers are being sent."""
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    """All partitions have their markers."""
    COMPLETE_ABORT = "CompleteAbort"
    DEAD = "Dead"
    """The transactional id has expired."""
    PREPARE_EPOCH_FENCE = "PrepareEpochFence"
    """The producer is about to be fenced and its transaction aborted; this state is never written."""


_S = TransactionState
CAN_FOLLOW: Mapping[TransactionState, tuple[TransactionState, ...]] = {
    _S.EMPTY: (_S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT),
    _S.ONGOING: (_S.ONGOING, _S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT),
    _S.PREPARE_COMMIT: (_S.ONGOING,),
    _S.PREPARE_ABORT: (_S.ONGOING, _S.PREPARE_EPOCH_FENCE),
    _S.COMPLETE_COMMIT: (_S.PREPARE_COMMIT,),
    _S.COMPLETE_ABORT: (_S.PREPARE_ABORT,),
    _S.DEAD: (_S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT),
    _S.PREPARE_EPOCH_FENCE: (_S.ONGOING,),
}
"""The states before each state."""
EXPIRING = _S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT
"""The states without a transaction: the transactional id can expire."""


class TxnTransitMetadata(NamedTuple):
    """The next state of a transactional id. The log has all of it except the ``last`` fields.

    Attributes:
        last_producer_id, last_producer_epoch: the values before InitProducerId raised them, for a producer that asks
            again (KIP-360); -1: none that counts.
        partitions: the partitions that the transaction has written to, or may have.
        start_ms: the time when the transaction began, by the coordinator's clock; NOT_STARTED_MS.
    """

    producer_id: int
    last_producer_id: int
    producer_epoch: int
    last_producer_epoch: int
    timeout_ms: int
    state: TransactionState
    partitions: tuple[TopicPartition, ...]
    start_ms: int
    update_ms: int

    @property
    def size(self) -> int:
        return 36 + sum(6 + len(tp.topic) for tp in self.partitions)


@define(eq=False)
class TransactionMetadata:
    """A transactional id.

    Attributes:
        partitions: the partitions of the transaction; once it is decided, those that have no marker yet.
        pending: the state that is being written; None: none is.
        failed_fence: whether the epoch that was raised to fence the producer could not be written. It need not be
            raised again.
    """

    id: str
    producer_id: int
    timeout_ms: int
    update_ms: int
    producer_epoch: int = NO_PRODUCER_EPOCH
    last_producer_id: int = NO_PRODUCER_ID
    last_producer_epoch: int = NO_PRODUCER_EPOCH
    state: TransactionState = TransactionState.EMPTY
    partitions: dict[TopicPartition, None] = field(factory=dict)
    start_ms: int = NOT_STARTED_MS
    pending: TransactionState | None = None
    failed_fence: bool = False

    @classmethod
    def restored(cls, id: str, stored: TxnTransitMetadata) -> "TransactionMetadata":
        """The transactional id that a new coordinator finds in the log."""
        return cls(
            id, stored.producer_id, stored.timeout_ms, stored.update_ms, stored.producer_epoch, state=stored.state,
            partitions=dict.fromkeys(stored.partitions), start_ms=stored.start_ms,
        )  # fmt: skip

    def as_stored(self) -> TxnTransitMetadata:
        """The record of its state."""
        return TxnTransitMetadata(
            self.producer_id, self.last_producer_id, self.producer_epoch, self.last_producer_epoch, self.timeout_ms,
            self.state, tuple(self.partitions), self.start_ms, self.update_ms,
        )  # fmt: skip

    @property
    def is_epoch_exhausted(self) -> bool:
        """Whether the next producer needs another producer id: the last epoch is reserved for fencing."""
        return self.producer_epoch >= LAST_EPOCH - 1

    @property
    def can_be_fenced(self) -> bool:
        """Whether another producer epoch is left to fence with. The last epoch is reserved for a fence whose write
        failed."""
        return self.failed_fence or self.producer_epoch < LAST_EPOCH

    def fenced(self, producer_epoch: int, *, remembers: bool) -> None:
        """Take over the producer's new epoch. ``remembers``: a producer that asks with the old epoch gets this one."""
        self.last_producer_epoch = self.producer_epoch if remembers else NO_PRODUCER_EPOCH
        self.producer_epoch = producer_epoch

    def is_late(self, now_ms: int) -> bool:
        """Whether its transaction has lasted too long."""
        ongoing = self.state is TransactionState.ONGOING and self.pending is None
        return ongoing and self.start_ms + self.timeout_ms < now_ms

    def in_words(self) -> str:
        """The producer and the state. Its epoch is left out: one that is fenced may have a later one in memory alone.
        A transaction that is decided has forgotten the partitions that have their markers, and its end waits for the
        others."""
        ongoing = self.state is TransactionState.ONGOING
        partitions = f" in {', '.join(map(str, self.partitions))}" if ongoing else ""
        ends = self.state in (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)
        waits = "" if self.pending is None or ends else f", and {self.pending} that is being written"
        return f"producer {self.producer_id}, {self.state}{partitions}{waits}"

    # -- changes ----------------------------------------------------------------------------------------------------

    def _prepare(self, state: TransactionState, **changes: object) -> TxnTransitMetadata:
        assert self.pending is None, f"{self.id}: {self.pending} is being written"
        assert self.state in CAN_FOLLOW[state], f"{self.id}: {self.state} -> {state}"
        self.pending = state
        return TxnTransitMetadata(
            self.producer_id, self.producer_id, self.producer_epoch, self.last_producer_epoch, self.timeout_ms, state,
            tuple(self.partitions), self.start_ms, self.update_ms,
        )._replace(**changes)  # type: ignore[arg-type]  # fmt: skip

    def prepare_fence(self) -> TxnTransitMetadata:
        assert self.can_be_fenced, f"{self.id}: no epoch is left"
        epoch = self.producer_epoch if self.failed_fence else self.producer_epoch + 1
        return self._prepare(
            TransactionState.PREPARE_EPOCH_FENCE, producer_epoch=epoch, last_producer_epoch=NO_PRODUCER_EPOCH
        )

    def prepare_increment(
        self, timeout_ms: int, expected_epoch: int | None, now_ms: int
    ) -> TxnTransitMetadata | Errors:
        """Prepare the next epoch for a producer. One that gives the ``expected_epoch`` it had before gets the same
        answer again, which it did not receive (KIP-360)."""
        epoch, last = self.producer_epoch + 1, NO_PRODUCER_EPOCH
        if expected_epoch is not None:
            if self.producer_epoch in (NO_PRODUCER_EPOCH, expected_epoch):
                last = self.producer_epoch
            elif expected_epoch == self.last_producer_epoch:
                epoch, last = self.producer_epoch, self.last_producer_epoch
            else:
                return Errors.PRODUCER_FENCED
        return self._prepare(
            TransactionState.EMPTY, producer_epoch=epoch, last_producer_epoch=last, timeout_ms=timeout_ms,
            partitions=(), start_ms=NOT_STARTED_MS, update_ms=now_ms,
        )  # fmt: skip

    def prepare_rotation(
        self, producer_id: int, timeout_ms: int, now_ms: int, *, records_last: bool
    ) -> TxnTransitMetadata:
        """Prepare another producer id for a producer, because the epochs of the present one are used up."""
        return self._prepare(
            TransactionState.EMPTY, producer_id=producer_id, producer_epoch=0,
            last_producer_epoch=self.producer_epoch if records_last else NO_PRODUCER_EPOCH, timeout_ms=timeout_ms,
            partitions=(), start_ms=NOT_STARTED_MS, update_ms=now_ms,
        )  # fmt: skip

    def prepare_add(self, added: Iterable[TopicPartition], now_ms: int) -> TxnTransitMetadata:
        """Prepare more partitions for the transaction. The first partitions added begin the transaction."""
        start_ms = self.start_ms if self.state is TransactionState.ONGOING else now_ms
        partitions = tuple(dict.fromkeys((*self.partitions, *added)))
        return self._prepare(TransactionState.ONGOING, partitions=partitions, start_ms=start_ms, update_ms=now_ms)

    def prepare_decision(self, *, committed: bool, now_ms: int) -> TxnTransitMetadata:
        """Prepare the decision to commit or abort."""
        state = TransactionState.PREPARE_COMMIT if committed else TransactionState.PREPARE_ABORT
        return self._prepare(state, update_ms=now_ms)

    def prepare_complete(self, now_ms: int) -> TxnTransitMetadata:
        """Prepare the end: all partitions have their markers, or will have them before this is written."""
        committed = self.state is TransactionState.PREPARE_COMMIT
        state = TransactionState.COMPLETE_COMMIT if committed else TransactionState.COMPLETE_ABORT
        return self._prepare(state, partitions=(), update_ms=now_ms)

    def prepare_dead(self) -> TxnTransitMetadata:
        """Prepare the expiry of the transactional id."""
        return self._prepare(TransactionState.DEAD, partitions=())

    def complete(self, to: TxnTransitMetadata) -> None:
        """Take over ``to``, which is in the log."""
        assert self.pending is to.state, f"{self.id}: {to.state} is written, {self.pending} was prepared"
        self.producer_id, self.producer_epoch = to.producer_id, to.producer_epoch
        self.last_producer_epoch, self.timeout_ms = to.last_producer_epoch, to.timeout_ms
        if to.state is TransactionState.EMPTY:
            self.last_producer_id = to.last_producer_id  # and the last transaction's start stays, as in Kafka
        else:
            self.start_ms = to.start_ms
        self.state, self.update_ms = to.state, to.update_ms
        self.partitions = dict.fromkeys(to.partitions)
        self.pending, self.failed_fence = None, False
