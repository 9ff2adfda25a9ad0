"""Moves of replicas between the log directories of one broker (KIP-113; ReplicaManager.alterReplicaLogDirs, 2.3).

A future log in the other directory is filled from the current one by an alter-log-dirs fetcher, on leaders and
followers alike, and replaces it once it holds as much.
"""

from collections.abc import Callable, Iterable, Mapping

from attrs import define

from brokers.log.directory import LogDirectory
from brokers.log.disk_work import DiskWork
from brokers.log.log import Log
from brokers.log.log_manager import LogManager
from brokers.partition.local_replica import begins_with, refuse
from brokers.partition.partition import Partition
from emulator.disks import DiskError
from emulator.logger import get_logger
from emulator.nodes import Process
from emulator.protocol.errors import Errors
from emulator.protocol.events import CopyAbandoned, CopyStarted, LogReplaced
from emulator.protocol.fetch import FetchedPartition, FetchPartition
from emulator.protocol.offsets_for_leader_epoch import (
    UNDEFINED_EPOCH,
    UNDEFINED_OFFSET,
    EpochEndOffset,
    EpochQuery,
    ListOffsetsResponse,
)
from emulator.protocol.types import Batch, TopicPartition
from fetchers.failures import StorageError
from fetchers.manager import ReplicaAlterLogDirsManager
from fetchers.policies import FetcherPolicies
from fetchers.ports import InitialFetchState
from fetchers.quota import Throttle

READ_US = 1_000
"""The least time that a read takes, also on a disk without a speed: a loop has to take time."""

IDLE_SWEEP_US = 10_000_000
"""The period in which threads without anything left to copy are ended (shutdown-idle-replica-alter-log-dirs-thread)."""


@define(eq=False)
class FutureReplica:
    """A replica's future log (a ``fetchers.ports.FollowerLog``): a copy in another log directory. Only its fetcher
    reads it until it replaces the current log."""

    log: Log
    high_watermark: int = 0

    @property
    def log_end_offset(self) -> int:
        return self.log.end_offset

    @property
    def log_start_offset(self) -> int:
        return self.log.start_offset

    @property
    def latest_epoch(self) -> int:
        return self.log.epochs.latest

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """The largest local epoch that is at most ``epoch``, and its end offset (Kafka's ``LeaderEpochFileCache``)."""
        return self.log.epochs.end_offset_for(epoch, self.log.end_offset)

    def append_as_follower(
        self, batches: tuple[Batch, ...], leader_high_watermark: int, leader_log_start: int = 0
    ) -> int:
        """Append batches of the current log; return the new end. Raises: CorruptBatch, DiskError, OffsetMismatch."""
        if batches and begins_with(self.log, batches[0]):
            self.log.truncate_fully_and_start_at(batches[0].base_offset)
        for batch in batches:
            if batch.corrupt:
                refuse(batch, self.log)
            self.log.append(batch)
        self.high_watermark = min(leader_high_watermark, self.log.end_offset)
        if leader_log_start > self.log.start_offset:
            self.log.raise_start_to(min(leader_log_start, self.log.end_offset))
        return self.log.end_offset

    def truncate_to(self, offset: int) -> None:
        """Drop everything from ``offset`` on. Raises: DiskError."""
        self.log.truncate_to(offset)

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Drop everything; the next batch begins at ``offset``. Raises: DiskError."""
        self.log.truncate_fully_and_start_at(offset)


class CurrentLogs:
    """A broker's own current logs, as its alter-log-dirs fetchers read them (``fetchers.ports.CurrentLogs``): up to
    their end, on leaders and followers alike.

    Attributes:
        work: the work of the broker's disks: a copy waits for its own reads and writes.
        replace: ends a copy, see ``FutureReplicas.replace``.
    """

    def __init__(
        self,
        process: Process,
        work: DiskWork,
        partitions: Mapping[TopicPartition, Partition],
        offline: Mapping[TopicPartition, None],
        replace: Callable[[TopicPartition], bool],
    ) -> None:
        self._process = process
        self._work = work
        self._partitions = partitions
        self._offline = offline
        self.replace = replace

    async def read(self, wanted: FetchPartition, max_bytes: int) -> FetchedPartition:
        """The records from the wanted offset on, once the disks have written what the copy appended before, and have
        read them: Kafka's ReplicaAlterLogDirsThread reads and appends in its own thread (2.3)."""
        disks = self._work.take_signal()
        await self._process.world.sleep(READ_US)
        if disks is not None:
            await disks.wait()
        error, partition = self._find(wanted.tp, wanted.leader_epoch)
        if partition is None:
            return FetchedPartition(wanted.tp, error, -1, -1, ())
        log = partition.log
        if not log.start_offset <= wanted.fetch_offset <= log.end_offset:
            return FetchedPartition(wanted.tp, Errors.OFFSET_OUT_OF_RANGE, -1, -1, ())
        try:
            batches = log.read(wanted.fetch_offset, max_bytes)
        except DiskError:
            return FetchedPartition(wanted.tp, Errors.KAFKA_STORAGE_ERROR, -1, -1, ())
        log.directory.was_read(batches)
        answer = FetchedPartition(wanted.tp, Errors.NONE, partition.high_watermark, log.start_offset, batches)
        disks = self._work.take_signal()
        if disks is not None:
            await disks.wait()
        return answer

    def epoch_end(self, query: EpochQuery) -> EpochEndOffset:
        """The end of the epoch in the current log."""
        error, partition = self._find(query.tp, query.current_leader_epoch)
        if partition is None:
            return EpochEndOffset(query.tp, error, UNDEFINED_EPOCH, UNDEFINED_OFFSET)
        epoch, offset = partition.end_offset_for_epoch(query.leader_epoch)
        return EpochEndOffset(query.tp, Errors.NONE, epoch, offset)

    def offsets(self, tp: TopicPartition, leader_epoch: int) -> ListOffsetsResponse:
        """The start and the end of the current log."""
        error, partition = self._find(tp, leader_epoch)
        start, end = (-1, -1) if partition is None else (partition.log_start_offset, partition.log_end_offset)
        return ListOffsetsResponse(tp, error, start, end)

    def _find(self, tp: TopicPartition, epoch: int) -> tuple[Errors, Partition | None]:
        partition = self._partitions.get(tp)
        if partition is None:
            return Errors.KAFKA_STORAGE_ERROR if tp in self._offline else Errors.REPLICA_NOT_AVAILABLE, None
        refused = partition.check_current_leader_epoch(epoch, require_leader=False)
        return refused, None if refused else partition


class FutureReplicas:
    """The future logs of one broker and their fetchers.

    Attributes:
        futures: the future logs by partition; a move that will never be completed may be among them (see ``stopped``).
        orphans: the future logs whose current logs are in a directory that has failed: none is copied until the broker
            starts again.
    """

    def __init__(
        self,
        process: Process,
        logs: LogManager,
        partitions: Mapping[TopicPartition, Partition],
        offline: Mapping[TopicPartition, None],
        policies: FetcherPolicies,
        throttle: Throttle | None,
        follows_epochs: bool,
    ) -> None:
        self._process = process
        self._logs = logs
        self._partitions = partitions
        self._offline = offline
        self._follows_epochs = follows_epochs
        self.futures: dict[TopicPartition, FutureReplica] = {}
        self.orphans: dict[TopicPartition, Log] = {}
        reader = CurrentLogs(process, logs.work, partitions, offline, self.replace)
        threads = len(self._logs.directories)
        self.fetchers = ReplicaAlterLogDirsManager(self._process, policies, reader, threads, throttle)
        self._log = get_logger("brokers.log_dirs").bind(broker=self._process.node.id)

    def start(self) -> None:
        """Begin the periodic work, where there can be any."""
        if len(self._logs.directories) > 1:
            self._process.every(IDLE_SWEEP_US, self.fetchers.shutdown_idle_fetcher_threads)

    # -- what an administrator asks for -------------------------------------------------------------------------------

    def alter(self, tp: TopicPartition, name: str) -> Errors:
        """Move the log of ``tp`` to the directory ``name``.

        A copy to a third directory is abandoned. A copy to ``name``, running or not, is left as it is.
        """
        directory = self._logs.directory(name)
        if directory is None:
            return Errors.LOG_DIR_NOT_FOUND
        if not directory.online or tp in self._offline:
            return Errors.KAFKA_STORAGE_ERROR
        future = self.futures.get(tp)
        if future is not None and future.log.directory is not directory:
            self.fetchers.remove_fetcher_for_partitions([tp])
            self._give_up(tp, "altered")
        partition = self._partitions.get(tp)
        if partition is None:
            self._logs.preferred[tp] = directory
            return Errors.REPLICA_NOT_AVAILABLE
        if partition.log.directory is directory or tp in self.futures:
            return Errors.NONE
        return self._begin(partition, partition.log, directory)

    def _begin(self, partition: Partition, current: Log, directory: LogDirectory) -> Errors:
        try:
            future = self._logs.begin_future(partition.tp, directory)
        except StorageError as error:
            self._log.error("no copy is begun", partition=str(partition.tp), reason=str(error))
            return Errors.KAFKA_STORAGE_ERROR
        self._copy(partition, current, future)
        return Errors.NONE

    def _copy(self, partition: Partition, current: Log, future: Log) -> None:
        tp, me = partition.tp, self._process.node.id
        replica = self.futures[tp] = FutureReplica(future)
        self._logs.pause_cleaning(tp)
        self._process.anchor(
            CopyStarted, me, tp.topic, tp.partition, current.directory.name, future.directory.name, future.end_offset
        )
        offset = min(partition.high_watermark, future.end_offset)
        self.fetchers.add_fetcher_for_partitions([InitialFetchState(tp, me, partition.leader_epoch, offset, replica)])

    # -- what happens to the replica meanwhile ------------------------------------------------------------------------

    def leader_and_isr(self, partitions: Iterable[Partition]) -> None:
        """Continue the copies of ``partitions`` after a LeaderAndIsr. A copy that an earlier incarnation began goes on;
        a copy that is under way is read under the new epoch, where the release does that (KAFKA-9654): else it is
        fenced."""
        self.fetchers.shutdown_idle_fetcher_threads()
        if not (self.futures or self._logs.any_left):
            return
        for partition in partitions:
            tp = partition.tp
            left = self._logs.left_future(tp)
            if left is not None:
                self._copy(partition, partition.log, left)
            elif tp in self.futures and self._follows_epochs:
                self._read_on(partition, self.futures[tp])

    def _read_on(self, partition: Partition, future: FutureReplica) -> None:
        if not future.log.directory.rules.pauses_once:
            self._logs.pause_cleaning(partition.tp)
        start = InitialFetchState(
            partition.tp, self._process.node.id, partition.leader_epoch, future.high_watermark, future
        )
        self.fetchers.add_fetcher_for_partitions([start])

    def truncated(self, tp: TopicPartition, offset: int) -> None:
        """Truncate the copy of ``tp``, because the current log was truncated to ``offset``."""
        if tp in self.futures:
            self.fetchers.truncated(tp, offset)

    def stopped(self, tps: list[TopicPartition], deleted: bool) -> None:
        """Stop copying, because of a StopReplica. A replica that is not deleted keeps its future log. As in Kafka 2.3
        that is completed only if the broker restarts or another directory is requested."""
        self.fetchers.remove_fetcher_for_partitions(tps, stopped=True)
        for tp in tps if deleted else ():
            left = self._logs.left_future(tp)
            if left is not None:
                self.futures[tp] = FutureReplica(left)
            if tp in self.futures:
                self._give_up(tp, "stopped")
        self.fetchers.shutdown_idle_fetcher_threads()

    def offline(self, tps: Iterable[TopicPartition], directory: LogDirectory) -> None:
        """Handle the failure of ``directory``, with the current logs of ``tps``. The future logs in it are lost; those
        of ``tps`` in other directories stay there (LogManager.handleLogDirFailure, 1.1.1 to 3.9.0)."""
        gone = dict.fromkeys(tp for tp in tps if tp in self.futures)
        gone |= dict.fromkeys(tp for tp, future in self.futures.items() if future.log.directory is directory)
        self.fetchers.remove_fetcher_for_partitions(gone)
        for tp in gone:
            future = self.futures.pop(tp)
            self.orphans[tp] = future.log
            self._emit_given_up(tp, future, "offline")
        self.orphans = {tp: log for tp, log in self.orphans.items() if log.directory is not directory}

    def _give_up(self, tp: TopicPartition, reason: str) -> None:
        future = self.futures.pop(tp)
        self._logs.delete_future(future.log)
        self._emit_given_up(tp, future, reason)

    def _emit_given_up(self, tp: TopicPartition, future: FutureReplica, reason: str) -> None:
        target = future.log.directory.name
        self._process.emit(CopyAbandoned, self._process.node.id, tp.topic, tp.partition, target, reason)

    # -- the end ------------------------------------------------------------------------------------------------------

    def replace(self, tp: TopicPartition) -> bool:
        """Replace the current log by the future log, if there is one that holds as much. Returns whether it did
        (Partition.maybeReplaceCurrentWithFutureReplica). Raises: StorageError."""
        if tp not in self.futures:
            return False
        partition, future = self._partitions[tp], self.futures[tp].log
        current = partition.log
        if current.end_offset != future.end_offset:
            return False
        if not current.directory.online:
            raise StorageError(f"the current log of {tp} is offline")
        self._logs.swap(current, future)
        partition.log = future
        del self.futures[tp]
        self._process.emit(
            LogReplaced, self._process.node.id, tp.topic, tp.partition, current.directory.name, future.directory.name,
            future.end_offset,
        )  # fmt: skip
        high_watermark = partition.bounded(partition.high_watermark)
        if high_watermark > partition.high_watermark:  # a crash had moved it back
            partition.set_high_watermark(high_watermark, partition.is_leader)
        if future.start_offset != current.start_offset:
            partition.log_start_moved("copy")
        return True
