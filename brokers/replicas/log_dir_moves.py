"""Moves of replicas between the log directories of one broker (KIP-113; ReplicaManager.alterReplicaLogDirs, 2.3).

A future log in the other directory is filled from the current one by an alter-log-dirs fetcher, leader or follower
alike, and takes its place once it holds as much.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import structlog

from brokers.log import Log, LogDirectory, StorageError
from brokers.partition import Partition
from brokers.replicas.current_logs import CurrentLogs
from brokers.replicas.future import FutureReplica
from emulator.protocol.errors import Errors
from emulator.protocol.events import CopyBegun, CopyGivenUp, LogReplaced
from emulator.protocol.types import TopicPartition
from fetchers import FetcherPolicies, InitialFetchState, ReplicaAlterLogDirsManager, Throttle

if TYPE_CHECKING:
    from brokers.replicas.manager import ReplicaManager

IDLE_SWEEP_US = 10_000_000
"""How often threads that have nothing left to copy are ended (shutdown-idle-replica-alter-log-dirs-thread)."""


class LogDirMoves:
    """The future logs of one broker and their fetchers.

    Attributes:
        futures: by partition; a move that nobody will complete may be among them (see ``stopped``).
    """

    def __init__(self, manager: "ReplicaManager", policies: FetcherPolicies, throttle: Throttle | None) -> None:
        self._manager = manager
        self._process = manager.process
        self._logs = manager.logs
        self.futures: dict[TopicPartition, FutureReplica] = {}
        reader = CurrentLogs(manager, self.replace)
        threads = len(self._logs.directories)
        self.fetchers = ReplicaAlterLogDirsManager(self._process, policies, reader, threads, throttle)
        self._log = structlog.get_logger("brokers.log_dirs").bind(broker=self._process.node.id)

    def start(self) -> None:
        """Begin the periodic work, where there can be any."""
        if len(self._logs.directories) > 1:
            self._process.every(IDLE_SWEEP_US, self.fetchers.end_idle_threads)

    # -- what an administrator asks for -------------------------------------------------------------------------------

    def alter(self, tp: TopicPartition, name: str) -> Errors:
        """Let the replica of ``tp`` have its log in the directory ``name``.

        A copy to yet another directory is given up. One that is on its way there, running or not, is left as it is.
        """
        directory = self._logs.directory(name)
        if directory is None:
            return Errors.LOG_DIR_NOT_FOUND
        if not directory.online or tp in self._manager.offline:
            return Errors.KAFKA_STORAGE_ERROR
        future = self.futures.get(tp)
        if future is not None and future.log.directory is not directory:
            self.fetchers.remove([tp])
            self._give_up(tp, "altered")
        partition = self._manager.partitions.get(tp)
        if partition is None or partition.log is None:
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
        self._process.anchor(
            CopyBegun, me, tp.topic, tp.partition, current.directory.name, future.directory.name, future.end_offset
        )
        offset = min(partition.high_watermark, future.end_offset)
        self.fetchers.add([InitialFetchState(tp, me, partition.leader_epoch, offset, replica)])

    # -- what happens to the replica meanwhile ------------------------------------------------------------------------

    def told(self, partitions: Iterable[Partition]) -> None:
        """A LeaderAndIsr has taken effect: what an earlier incarnation was about to copy goes on, and what is being
        copied is read under the new epoch, if the release knows better than to be fenced by it."""
        self.fetchers.end_idle_threads()
        if not (self.futures or self._logs.any_left):
            return
        for partition in partitions:
            tp, log = partition.tp, partition.log
            assert log is not None
            left = self._logs.left_future(tp)
            if left is not None:
                self._copy(partition, log, left)
            elif tp in self.futures and self._manager.policies.copies_follow_epochs:
                self._read_on(partition, self.futures[tp])

    def _read_on(self, partition: Partition, future: FutureReplica) -> None:
        start = InitialFetchState(
            partition.tp, self._process.node.id, partition.leader_epoch, future.high_watermark, future
        )
        self.fetchers.add([start])

    def truncated(self, tp: TopicPartition, offset: int) -> None:
        """The current log has been cut at ``offset``."""
        if tp in self.futures:
            self.fetchers.truncated(tp, offset)

    def stopped(self, tps: list[TopicPartition], deleted: bool) -> None:
        """StopReplica: copying ends. A replica that is not deleted keeps its future log, which nobody completes unless
        the broker is started anew or another directory is asked for, as in Kafka 2.3."""
        self.fetchers.remove(tps, stopped=True)
        for tp in tps if deleted else ():
            left = self._logs.left_future(tp)
            if left is not None:
                self.futures[tp] = FutureReplica(left)
            if tp in self.futures:
                self._give_up(tp, "stopped")
        self.fetchers.end_idle_threads()

    def offline(self, tps: Iterable[TopicPartition], directory: LogDirectory) -> None:
        """``directory`` has failed, with the current logs of ``tps``. The future logs in it are lost; those of ``tps``
        in other directories stay on their disks."""
        gone = dict.fromkeys(tp for tp in tps if tp in self.futures)
        gone |= dict.fromkeys(tp for tp, future in self.futures.items() if future.log.directory is directory)
        self.fetchers.remove(gone)
        for tp in gone:
            self._tell_given_up(tp, self.futures.pop(tp), "offline")

    def _give_up(self, tp: TopicPartition, reason: str) -> None:
        future = self.futures.pop(tp)
        self._logs.delete_future(future.log)
        self._tell_given_up(tp, future, reason)

    def _tell_given_up(self, tp: TopicPartition, future: FutureReplica, reason: str) -> None:
        target = future.log.directory.name
        self._process.emit(CopyGivenUp, self._process.node.id, tp.topic, tp.partition, target, reason)

    # -- the end ------------------------------------------------------------------------------------------------------

    def replace(self, tp: TopicPartition) -> bool:
        """Let the future log be the replica's log, if it holds as much
        (Partition.maybeReplaceCurrentWithFutureReplica). Raises: StorageError."""
        partition, future = self._manager.partitions[tp], self.futures[tp].log
        current = partition.log
        assert current is not None
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
        return True
