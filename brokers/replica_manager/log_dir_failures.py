"""The failure of a log directory: its replicas go offline, or the broker ends (KIP-112, 1.0; LogDirFailureHandler,
2.3)."""

from functools import partial
from typing import TYPE_CHECKING

from brokers.log.directory import LogDirectory
from emulator.logger import get_logger
from emulator.protocol.events import LogDirFailed
from emulator.protocol.znodes import LOG_DIR_EVENT_NOTIFICATION, encode_log_dir_event
from emulator.zookeeper import Create, ZkResponse

if TYPE_CHECKING:
    from brokers.replica_manager.replica_manager import ReplicaManager


class LogDirFailureHandler:
    """The handler of failed log directories, a thread of its own in Kafka: an operation that fails is answered first,
    then its directory goes offline.

    ``watch`` registers it with the disks, which hold it and call it from then on.
    """

    def __init__(self, manager: "ReplicaManager") -> None:
        self._manager = manager
        self._process = manager.process
        self._log = get_logger("brokers.log_dirs").bind(broker=self._process.node.id)

    def watch(self) -> None:
        """Handle every disk error from now on. A directory that cannot be read at all, or whose logs could not be
        recovered, fails at once."""
        for directory in self._manager.logs.directories:
            directory.disk.on_error = partial(self._failed, directory)
            if directory.failed:
                self._failed(directory, directory.failed)

    def _failed(self, directory: LogDirectory, reason: str) -> None:
        """Handle the failure of an operation on ``directory``."""
        directory.failed = directory.failed or reason
        handle = self._manager.purgatory.completing(self._handle)
        self._process.call_later(0, handle, (directory, reason), background=False)

    def _handle(self, failure: tuple[LogDirectory, str]) -> None:
        """Take the directory offline (ReplicaManager.handleLogDirFailure, 2.3)."""
        directory, reason = failure
        if not directory.online:
            return
        manager, node = self._manager, self._process.node
        directory.online = False
        lost = [partition for partition in manager.partitions.values() if partition.log.directory is directory]
        halts = manager.policies.disk_errors_halt or not manager.logs.online
        self._log.error("log directory failed", directory=directory.name, reason=reason, replicas=len(lost))
        self._process.anchor(LogDirFailed, node.id, directory.name, reason, len(lost), halts)
        if halts:
            node.halt()
            return
        tps = [partition.tp for partition in lost]
        manager.fetchers.remove_fetcher_for_partitions(tps)
        manager.moves.offline(tps, directory)
        for partition in lost:
            manager.mark_partition_offline(partition)
        manager.metrics.show()
        manager.zk.submit(
            Create(f"{LOG_DIR_EVENT_NOTIFICATION}/log_dir_event_", encode_log_dir_event(node.id), False, True),
            self._announced,
        )

    def _announced(self, _response: ZkResponse) -> None:
        """Ignore the outcome, as Kafka does."""
