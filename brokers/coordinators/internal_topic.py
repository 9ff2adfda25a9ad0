"""The internal topic of a kind of coordinators (``__consumer_offsets``, ``__transaction_state``), on one broker. The
broker coordinates the groups or transactional ids of the partitions that it leads, and learns about them from the logs.
(In Kafka, GroupMetadataManager and TransactionStateManager each have this code.)"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from attrs import define, field

from brokers.coordinators.appending import AppendCallback, Appender, BatchIds, Done
from brokers.coordinators.transitions import Transitions
from brokers.log.disk_work import DiskWait
from brokers.log.log import Log
from brokers.replica_manager import ReplicaManager
from emulator.disks import DiskError
from emulator.logger import get_logger
from emulator.nodes import Agenda
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.java_hash import partition_of
from emulator.protocol.produce import ProducedBatch, ProduceRequest
from emulator.protocol.shown_coordination import CoordinatorAppends, CoordinatorWrote
from emulator.protocol.types import Batch, TopicPartition

About = Callable[[], tuple[str, ...]]
"""Gives the names of records."""


class Coordinated(NamedTuple):
    """The memory of a coordinator of the partitions that it owns, and what it would have if it read them now: in words,
    by what it is about."""

    kept: dict[str, str]
    loaded: dict[str, str]


@define(eq=False)
class InternalTopicPartitions:
    """The partitions of a coordinators' topic.

    Attributes:
        appender: appends as a producer does.
        topic: the name of the topic.
        ids: the ids of the batches that are written to it.
        configured: the number of partitions with which it is created, by the broker's settings.
        read: called with an elected partition and its leader epoch, when the time of reading is over. From then on the
            partition is owned.
        owned: the leader epochs of the partitions that were read.
        loading: the partitions that are being read, with what they wait for.
    """

    manager: ReplicaManager
    appender: Appender
    transitions: Transitions
    topic: str
    ids: BatchIds
    configured: Callable[[], int]
    read: Callable[[int, int], object]
    owned: Agenda[int, int] = field(factory=Agenda)
    loading: dict[int, DiskWait] = field(factory=dict)
    _epochs: dict[int, int] = field(factory=dict)
    _count: int = 0

    # -- what belongs where -----------------------------------------------------------------------------------------

    def partition_for(self, key: str) -> int:
        """The number of the partition that ``key`` belongs to. The number of partitions is read once, when the broker
        starts; metadata may lack partitions that have no leader yet (GroupMetadataManager, TransactionStateManager;
        0.9 to 3.9). That of a topic which is made later is known with its first metadata; Kafka takes the setting."""
        if not self._count:
            manager, topic = self.manager, self.topic
            known = manager.coordinated_partitions.get(topic) or len(manager.metadata.partitions_of(topic))
            if not known:
                return partition_of(key, self.configured())
            self._count = known
        return partition_of(key, self._count)

    def home(self, key: str) -> TopicPartition:
        """The partition that ``key`` belongs to, with its topic."""
        return TopicPartition.of(self.topic, self.partition_for(key))

    def error_of(self, key: str) -> Errors:
        """Why this broker cannot answer for ``key``, or NONE."""
        partition = self.partition_for(key)
        if partition in self.loading:
            return Errors.COORDINATOR_LOAD_IN_PROGRESS
        return NO_ERROR if partition in self.owned else Errors.NOT_COORDINATOR

    # -- election and resignation -----------------------------------------------------------------------------------

    def elected(self, partition: int, leader_epoch: int) -> None:
        """Read ``partition``, which this broker leads now. That takes the disk's time; requests about its groups or ids
        are refused meanwhile."""
        if leader_epoch < self._epochs.get(partition, -1):
            return  # a later election or resignation came first (KAFKA-10614)
        self._epochs[partition] = leader_epoch
        if partition in self.owned or partition in self.loading:
            return
        log = self._log(partition)
        if log is not None:
            log.directory.was_read(log.batches)
        process, load = self.transitions.process, self.transitions.alone(self._load)
        wait = self.loading[partition] = DiskWait(process, self.manager.logs.work.take(), partial(load, partition))
        wait.start()

    def _load(self, partition: int) -> None:
        del self.loading[partition]
        epoch = self.owned[partition] = self._epochs[partition]
        self.read(partition, epoch)

    def resigned(self, partition: int, leader_epoch: int | None) -> bool:
        """Give up ``partition``, which this broker does not lead any more; ``leader_epoch``: None where its replica was
        removed. Returns whether it was owned."""
        if leader_epoch is not None:
            if leader_epoch < self._epochs.get(partition, -1):
                return False
            self._epochs[partition] = leader_epoch
        loading = self.loading.pop(partition, None)
        if loading is not None:
            loading.cancel()
        return self.owned.pop(partition, None) is not None

    # -- reading and writing ----------------------------------------------------------------------------------------

    def _log(self, partition: int) -> Log | None:
        found = self.manager.partitions.get(TopicPartition.of(self.topic, partition))
        return None if found is None else found.log

    def replay(self, partition: int, apply: Callable[[Batch], object]) -> bool:
        """Apply each batch of the log to its end, even those that are not committed yet, without those of which
        compaction has left nothing. Returns whether that was possible: a log that cannot be read is read no further
        (both managers catch every error)."""
        log = self._log(partition)
        try:
            batches = () if log is None else log.read(log.start_offset, 1 << 62)
        except DiskError as error:
            self._cannot_load(partition, str(error))
            return False
        for batch in batches:
            if batch.corrupt:
                self._cannot_load(partition, f"the batch at {batch.base_offset} is corrupt")
                return False
            if batch.size:
                apply(batch)
        return True

    def show_append(self, records: ProducedBatch) -> None:
        """Show that ``records`` are about to be appended (``CoordinatorAppends``)."""
        process = self.manager.process
        process.mark(CoordinatorAppends, process.node.id, records, process.clock_us)

    def _showing(self, done: Done, about: tuple[str, ...], records: ProducedBatch) -> Done:
        process, producer_id = self.manager.process, getattr(records, "producer_id", -1)

        def show_and_do(error: Errors, base_offset: int) -> None:
            process.mark(CoordinatorWrote, process.node.id, about, bool(error), producer_id)
            done(error, base_offset)

        return show_and_do

    def _cannot_load(self, partition: int, reason: str) -> None:
        get_logger("brokers.coordinators").error(f"{self.topic} cannot be loaded", partition=partition, reason=reason)

    def append(self, records: ProducedBatch, timeout_us: int, done: Done, about: About = tuple) -> None:
        """Append ``records``, and wait for all in-sync replicas. ``about``: gives the names of what is written, for
        those who look."""
        if self.manager.process.node.trace.shows(CoordinatorWrote):
            done = self._showing(done, about(), records)
        self.show_append(records)
        if records.tp not in self.manager.partitions:
            done(Errors.NOT_LEADER_FOR_PARTITION, -1)
            return
        request = ProduceRequest(-1, timeout_us, (records,), records.size)
        self.appender.append(request, AppendCallback(self.transitions.ending(done)), internal=True)
