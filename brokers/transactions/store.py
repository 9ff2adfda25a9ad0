"""The transactional ids of one broker, and their records in ``__transaction_state``
(kafka.coordinator.transaction.TransactionStateManager, 2.7): written with acks=all, read when the broker becomes the
leader of a partition."""

from collections.abc import Callable
from typing import NamedTuple

from attrs import define, field

from brokers.groups.store import AppendCallback, Appender, not_written, partition_of
from brokers.groups.transitions import Transitions
from brokers.log.log import Log
from brokers.replica_manager import ReplicaManager
from brokers.transactions.config import TRANSACTION_STATE_TOPIC, TransactionConfig
from brokers.transactions.metadata import EXPIRING, TransactionMetadata, TransactionState, TxnTransitMetadata
from brokers.transactions.records import TransactionBatch, TransactionRecords
from emulator.disks import DiskError
from emulator.kernel import Timer
from emulator.logger import get_logger
from emulator.nodes import Process
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.events import TransactionsLoaded, TransactionStateChanged, TransactionsUnloaded
from emulator.protocol.produce import ProduceRequest
from emulator.protocol.types import TopicPartition

FIRST_ID, IDS_PER_BROKER, IDS_PER_PROCESS = 3 << 60, 1 << 44, 1 << 32
"""The ids of a coordinator's batches: no producer, no coordinator of groups and no other incarnation has them."""

Done = Callable[[Errors], object]


class Found(NamedTuple):
    """A transactional id, and the epoch of the coordinator that has it."""

    coordinator_epoch: int
    metadata: TransactionMetadata


@define(eq=False)
class Owned:
    """A partition that was read.

    Attributes:
        epoch: the leader epoch under which it was.
    """

    epoch: int
    transactions: dict[str, TransactionMetadata]


@define(eq=False)
class TransactionStateManager:
    """The transactional ids of the partitions that this broker leads.

    Attributes:
        appender: appends as a producer does.
        decided: called with each id that was loaded with a transaction whose markers may be missing.
        owned: the partitions that were read.
        loading: those that are being read, with the timer at whose end they have been.
    """

    process: Process
    manager: ReplicaManager
    appender: Appender
    transitions: Transitions
    decided: Callable[[Found], object]
    owned: dict[int, Owned] = field(factory=dict)
    loading: dict[int, Timer] = field(factory=dict)
    _epochs: dict[int, int] = field(factory=dict)
    _partitions: int = 0
    _appended: int = 0

    @property
    def config(self) -> TransactionConfig:
        return self.manager.policies.config.transactions

    @property
    def clock_ms(self) -> int:
        return self.process.clock_us // 1000

    @property
    def topic(self) -> str:
        """Where it keeps them."""
        return TRANSACTION_STATE_TOPIC

    @property
    def topic_settings(self) -> dict[str, str]:
        """Those that the topic is created with (transactionTopicConfigs)."""
        config = self.config
        return {
            "unclean.leader.election.enable": "false", "compression.type": "uncompressed", "cleanup.policy": "compact",
            "min.insync.replicas": str(config.min_isr), "segment.bytes": str(config.segment_bytes),
        }  # fmt: skip

    # -- where ids belong -------------------------------------------------------------------------------------------

    def partition_for(self, transactional_id: str) -> int:
        """The partition that ``transactional_id`` belongs to. Kafka reads the number of partitions once, when the
        broker starts; here it is known with the first metadata of the topic."""
        if not self._partitions:
            known = len(self.manager.metadata.partitions_of(TRANSACTION_STATE_TOPIC))
            if not known:
                return partition_of(transactional_id, self.config.num_partitions)
            self._partitions = known
        return partition_of(transactional_id, self._partitions)

    def find(self, transactional_id: str) -> Found | Errors:
        """The id, or why this broker cannot answer for it: NONE, where it could and does not know the id
        (getTransactionState)."""
        partition = self.partition_for(transactional_id)
        if partition in self.loading:
            return Errors.COORDINATOR_LOAD_IN_PROGRESS
        owned = self.owned.get(partition)
        if owned is None:
            return Errors.NOT_COORDINATOR
        metadata = owned.transactions.get(transactional_id)
        return NO_ERROR if metadata is None else Found(owned.epoch, metadata)

    def put_if_absent(self, created: TransactionMetadata) -> Found | Errors:
        """``created``, or the one that is there already."""
        found = self.find(created.id)
        if isinstance(found, Found) or found:
            return found
        owned = self.owned[self.partition_for(created.id)]
        owned.transactions[created.id] = created
        return Found(owned.epoch, created)

    def late(self) -> list[TransactionMetadata]:
        """Those whose transactions have lasted too long."""
        now_ms = self.clock_ms
        return [each for owned in self.owned.values() for each in owned.transactions.values() if each.is_late(now_ms)]

    # -- election and resignation -----------------------------------------------------------------------------------

    def elected(self, partition: int, leader_epoch: int) -> None:
        """This broker leads ``partition`` now: read it. That takes the disk's time; requests about its ids are refused
        meanwhile."""
        if leader_epoch < self._epochs.get(partition, -1):
            return
        self._epochs[partition] = leader_epoch
        if partition in self.owned or partition in self.loading:
            return
        log = self._log(partition)
        if log is not None:
            log.directory.was_read(log.batches)
        took_us = self.manager.logs.work.take_us()
        self.loading[partition] = self.transitions.later(took_us, self._load, partition, background=False)

    def _log(self, partition: int) -> Log | None:
        found = self.manager.partitions.get(TopicPartition.of(TRANSACTION_STATE_TOPIC, partition))
        return None if found is None else found.log

    def _load(self, partition: int) -> None:
        del self.loading[partition]
        epoch = self._epochs[partition]
        owned = self.owned[partition] = Owned(epoch, self._read(partition))
        self.process.emit(
            TransactionsLoaded, self.process.node.id, TRANSACTION_STATE_TOPIC, partition, epoch,
            len(owned.transactions),
        )  # fmt: skip
        for metadata in list(owned.transactions.values()):
            if metadata.state in (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT):
                self.decided(Found(epoch, metadata))

    def _read(self, partition: int) -> dict[str, TransactionMetadata]:
        """What the log says, to its end: also what is not committed yet. A log that cannot be read says nothing more
        from there on (loadTransactionMetadata catches everything)."""
        found: dict[str, TransactionMetadata] = {}
        log = self._log(partition)
        try:
            batches = () if log is None else log.read(log.start_offset, 1 << 62)
        except DiskError as error:
            get_logger("brokers.transactions").error("cannot be loaded", partition=partition, reason=str(error))
            return found
        for batch in batches:
            if batch.corrupt:
                reason = f"the batch at {batch.base_offset} is corrupt"
                get_logger("brokers.transactions").error("cannot be loaded", partition=partition, reason=reason)
                break
            if isinstance(batch, TransactionBatch):
                id, value = batch.transactional_id, batch.value
                if value is None:
                    found.pop(id, None)
                else:
                    found[id] = TransactionMetadata.restored(id, value)
        return found

    def resigned(self, partition: int, leader_epoch: int | None) -> bool:
        """This broker does not lead ``partition`` any more; ``leader_epoch``: None where its replica was removed.
        Returns whether it had its ids."""
        if leader_epoch is not None:
            if leader_epoch < self._epochs.get(partition, -1):
                return False
            self._epochs[partition] = leader_epoch
        loading = self.loading.pop(partition, None)
        if loading is not None:
            loading.cancel()
        owned = self.owned.pop(partition, None)
        if owned is None:
            return False
        self.process.emit(
            TransactionsUnloaded, self.process.node.id, TRANSACTION_STATE_TOPIC, partition, len(owned.transactions)
        )
        return True

    # -- writing ----------------------------------------------------------------------------------------------------

    def append(
        self, id: str, coordinator_epoch: int, to: TxnTransitMetadata, done: Done, *, try_again: bool = False
    ) -> None:  # fmt: skip
        """Write what ``id`` becomes; it has become that when all replicas in sync have it (appendTransactionToLog).

        Args:
            try_again: after COORDINATOR_NOT_AVAILABLE the caller will: the change stays pending.
        """
        found = self.find(id)
        if not isinstance(found, Found) or found.coordinator_epoch != coordinator_epoch:
            done((found if isinstance(found, Errors) else NO_ERROR) or Errors.NOT_COORDINATOR)
            return

        def written_or_not(error: Errors) -> None:
            error = _answered(error)
            current = self.find(id)
            if not isinstance(current, Found) or current.coordinator_epoch != coordinator_epoch:
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

    def _write(self, id: str, value: TxnTransitMetadata | None, timeout_us: int, done: Done) -> None:
        tp = TopicPartition.of(TRANSACTION_STATE_TOPIC, self.partition_for(id))
        if tp not in self.manager.partitions:
            done(Errors.NOT_LEADER_FOR_PARTITION)
            return
        self._appended += 1
        process = self.process
        batch_id = FIRST_ID + process.node.id * IDS_PER_BROKER + process.number * IDS_PER_PROCESS + self._appended
        records = TransactionRecords.of(tp, batch_id, id, value)
        request = ProduceRequest(-1, timeout_us, (records,), records.size)
        callback = AppendCallback(self.transitions.ending(lambda error, _base_offset: done(error)))
        self.appender.produce(request, callback)

    # -- expiry -----------------------------------------------------------------------------------------------------

    def expire(self) -> None:
        """Forget the ids that were not used for long, and write tombstones (transactionalId-expiration)."""
        until_ms = self.clock_ms - self.config.id_expiration_us // 1000
        for partition, owned in list(self.owned.items()):
            for metadata in list(owned.transactions.values()):
                if metadata.state in EXPIRING and metadata.pending is None and metadata.update_ms <= until_ms:
                    metadata.prepare_dead()
                    self._bury(partition, owned, metadata)

    def _bury(self, partition: int, owned: Owned, metadata: TransactionMetadata) -> None:
        def buried_or_not(error: Errors) -> None:
            if error or self.owned.get(partition) is not owned:
                metadata.pending = None
                return
            metadata.pending, metadata.state = None, TransactionState.DEAD
            del owned.transactions[metadata.id]
            self._emit(metadata)

        self._write(metadata.id, None, self.manager.policies.config.request_timeout_us, buried_or_not)


def _answered(error: Errors) -> Errors:
    """What a client is answered where a change could not be written."""
    return Errors.COORDINATOR_NOT_AVAILABLE if error is Errors.REQUEST_TIMED_OUT else not_written(error)
