"""The transactional ids of one broker, and their records in ``__transaction_state``
(kafka.coordinator.transaction.TransactionStateManager, 2.7): written with acks=all, read when the broker becomes the
leader of a partition."""

from collections.abc import Callable
from typing import NamedTuple

from attrs import define, field

from brokers.coordinators.appending import Appender, BatchIds, not_written
from brokers.coordinators.internal_topic import Coordinated, InternalTopicPartitions
from brokers.coordinators.transitions import Transitions
from brokers.replica_manager import ReplicaManager
from brokers.transactions.config import TRANSACTION_STATE_TOPIC, TransactionConfig
from brokers.transactions.metadata import EXPIRING, TransactionMetadata, TransactionState, TxnTransitMetadata
from brokers.transactions.records import TransactionBatch, TransactionRecords
from emulator.nodes import Process
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.events import TransactionsLoaded, TransactionStateChanged, TransactionsUnloaded
from emulator.protocol.shown_coordination import TransactionLoaded, TransactionsRead, TransactionTimed
from emulator.protocol.types import Batch, TopicPartition

FIRST_ID = 3 << 60
"""A number below the ids of its batches, which no producer and no group coordinator has."""

Done = Callable[[Errors], object]


class CoordinatorEpochAndTxnMetadata(NamedTuple):
    """A transactional id, and the epoch of its coordinator."""

    coordinator_epoch: int
    metadata: TransactionMetadata


@define(eq=False)
class TransactionStateManager:
    """The transactional ids of the partitions that this broker leads.

    Attributes:
        appender: appends as a producer does.
        decided: called with each loaded id whose transaction is decided but may lack markers.
        partitions: the partitions of ``__transaction_state``.
        transactions: the ids of the partitions that this broker owns, by partition and id.
    """

    process: Process
    manager: ReplicaManager
    appender: Appender
    transitions: Transitions
    decided: Callable[[CoordinatorEpochAndTxnMetadata], object]
    partitions: InternalTopicPartitions = field(init=False)
    transactions: dict[int, dict[str, TransactionMetadata]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.partitions = InternalTopicPartitions(
            self.manager, self.appender, self.transitions, TRANSACTION_STATE_TOPIC, BatchIds(self.process, FIRST_ID),
            lambda: self.config.num_partitions, self._load,
        )  # fmt: skip

    @property
    def config(self) -> TransactionConfig:
        return self.manager.policies.config.transactions

    @property
    def clock_ms(self) -> int:
        return self.process.clock_us // 1000

    @property
    def topic_settings(self) -> dict[str, str]:
        """The settings with which the topic is created (transactionTopicConfigs)."""
        config = self.config
        return {
            "unclean.leader.election.enable": "false", "compression.type": "uncompressed", "cleanup.policy": "compact",
            "min.insync.replicas": str(config.min_isr), "segment.bytes": str(config.segment_bytes),
        }  # fmt: skip

    # -- ids --------------------------------------------------------------------------------------------------------

    def find(self, transactional_id: str) -> CoordinatorEpochAndTxnMetadata | Errors:
        """The id, or why this broker cannot answer for it; NONE: it can, but does not know the id
        (getTransactionState)."""
        error = self.partitions.error_of(transactional_id)
        if error:
            return error
        partition = self.partitions.partition_for(transactional_id)
        metadata = self.transactions[partition].get(transactional_id)
        return (
            NO_ERROR if metadata is None else CoordinatorEpochAndTxnMetadata(self.partitions.owned[partition], metadata)
        )

    def put_if_absent(self, created: TransactionMetadata) -> CoordinatorEpochAndTxnMetadata | Errors:
        """``created``, or the one that is there already."""
        found = self.find(created.id)
        if isinstance(found, CoordinatorEpochAndTxnMetadata) or found:
            return found
        partition = self.partitions.partition_for(created.id)
        self.transactions[partition][created.id] = created
        return CoordinatorEpochAndTxnMetadata(self.partitions.owned[partition], created)

    def late(self) -> list[TransactionMetadata]:
        """The ids whose transactions have lasted too long."""
        now_ms = self.clock_ms
        return [each for ids in self.transactions.values() for each in ids.values() if each.is_late(now_ms)]

    # -- election and resignation -----------------------------------------------------------------------------------

    def _load(self, partition: int, leader_epoch: int) -> None:
        """Load a partition. A log that cannot be read is read no further (loadTransactionMetadata)."""
        loaded: dict[str, TransactionMetadata] = {}
        self.transactions[partition] = loaded

        def apply(batch: Batch) -> None:
            if isinstance(batch, TransactionBatch):
                id, value = batch.transactional_id, batch.value
                if value is None:
                    loaded.pop(id, None)
                else:
                    loaded[id] = TransactionMetadata.restored(id, value)

        if self.partitions.replay(partition, apply):
            self._show_read(partition, loaded)
        self.process.emit(
            TransactionsLoaded, self.process.node.id, TRANSACTION_STATE_TOPIC, partition, leader_epoch, len(loaded)
        )
        for metadata in list(loaded.values()):
            self._show_loaded(metadata)
            if metadata.state in (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT):
                self.decided(CoordinatorEpochAndTxnMetadata(leader_epoch, metadata))

    def _show_read(self, partition: int, loaded: dict[str, TransactionMetadata]) -> None:
        process = self.process
        if process.node.trace.shows(TransactionsRead):
            home, ids = TopicPartition.of(TRANSACTION_STATE_TOPIC, partition), {}
            for id, each in loaded.items():
                ids[id] = each.as_stored()
            process.mark(TransactionsRead, process.node.id, home, ids)

    def _show_loaded(self, metadata: TransactionMetadata) -> None:
        process = self.process
        process.mark(TransactionLoaded, process.node.id, metadata.id, metadata.producer_id, str(metadata.state))

    def resigned(self, partition: int, leader_epoch: int | None) -> bool:
        """This broker does not lead ``partition`` any more; ``leader_epoch``: None where its replica was removed.
        Returns whether it had its ids."""
        if not self.partitions.resigned(partition, leader_epoch):
            return False
        gone = len(self.transactions.pop(partition))
        self.process.emit(TransactionsUnloaded, self.process.node.id, TRANSACTION_STATE_TOPIC, partition, gone)
        return True

    def remembered(self) -> Coordinated:
        """The transactional ids with their states."""
        loaded: dict[str, TxnTransitMetadata | None] = {}

        def apply(batch: Batch) -> None:
            if isinstance(batch, TransactionBatch):
                loaded[batch.transactional_id] = batch.value

        for partition in self.partitions.owned:
            self.partitions.replay(partition, apply)
        kept = {id: each for ids in self.transactions.values() for id, each in ids.items()}
        return Coordinated(
            {f"transactional id {id}": each.in_words() for id, each in kept.items()},
            {
                f"transactional id {id}": TransactionMetadata.restored(id, value).in_words()
                for id, value in loaded.items()
                if value is not None
            },
        )

    # -- writing ----------------------------------------------------------------------------------------------------

    def append(
        self, id: str, coordinator_epoch: int, to: TxnTransitMetadata, done: Done, *, try_again: bool = False
    ) -> None:  # fmt: skip
        """Write the next state of ``id``, which takes effect when all in-sync replicas have it
        (appendTransactionToLog).

        Args:
            try_again: the caller will try again after COORDINATOR_NOT_AVAILABLE, so the change stays pending.
        """
        found = self.find(id)
        if not isinstance(found, CoordinatorEpochAndTxnMetadata) or found.coordinator_epoch != coordinator_epoch:
            done((found if isinstance(found, Errors) else NO_ERROR) or Errors.NOT_COORDINATOR)
            return

        def written_or_not(error: Errors) -> None:
            error = _answered(error)
            current = self.find(id)
            if (
                not isinstance(current, CoordinatorEpochAndTxnMetadata)
                or current.coordinator_epoch != coordinator_epoch
            ):
                lost = current if isinstance(current, Errors) and current else Errors.NOT_COORDINATOR
                done(error or lost)
                return
            metadata = current.metadata
            if not error:
                metadata.complete(to)
                self._emit(metadata)
            elif not (try_again and error is Errors.COORDINATOR_NOT_AVAILABLE):
                metadata.pending = None
            done(error)

        self._write(id, to, to.timeout_ms * 1000, written_or_not)

    def _emit(self, metadata: TransactionMetadata) -> None:
        self.process.emit(
            TransactionStateChanged, self.process.node.id, metadata.id, metadata.producer_id, metadata.producer_epoch,
            str(metadata.state), tuple([tp.topic for tp in metadata.partitions]),
            tuple([tp.partition for tp in metadata.partitions]),
        )  # fmt: skip
        self.process.mark(TransactionTimed, self.process.node.id, metadata.id, metadata.timeout_ms * 1000)

    def _write(self, id: str, value: TxnTransitMetadata | None, timeout_us: int, done: Done) -> None:
        partitions = self.partitions
        records = TransactionRecords.of(partitions.home(id), partitions.ids.next(), id, value)
        about = (f"transactional id {id}",)
        partitions.append(records, timeout_us, lambda error, _base_offset: done(error), lambda: about)

    # -- expiry -----------------------------------------------------------------------------------------------------

    def expire(self) -> None:
        """Forget the ids that were not used for long, and write tombstones (transactionalId-expiration)."""
        until_ms = self.clock_ms - self.config.id_expiration_us // 1000
        for partition, ids in list(self.transactions.items()):
            for metadata in list(ids.values()):
                if metadata.state in EXPIRING and metadata.pending is None and metadata.update_ms <= until_ms:
                    metadata.prepare_dead()
                    self._bury(partition, ids, metadata)

    def _bury(self, partition: int, ids: dict[str, TransactionMetadata], metadata: TransactionMetadata) -> None:
        def buried_or_not(error: Errors) -> None:
            if error or self.transactions.get(partition) is not ids:
                metadata.pending = None
                return
            metadata.pending, metadata.state = None, TransactionState.DEAD
            del ids[metadata.id]
            self._emit(metadata)

        self._write(metadata.id, None, self.manager.policies.config.request_timeout_us, buried_or_not)


def _answered(error: Errors) -> Errors:
    """The error for a client where a change could not be written."""
    return Errors.COORDINATOR_NOT_AVAILABLE if error is Errors.REQUEST_TIMED_OUT else not_written(error)
