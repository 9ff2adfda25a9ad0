"""LogDirFailureHandler: what a broker does when a log directory fails (KIP-112, 1.0; ReplicaManager, 2.3)."""

from functools import partial
from typing import TYPE_CHECKING

import structlog

from brokers.log import LogDirectory
from emulator.protocol.events import LogDirFailed
from emulator.protocol.znodes import LOG_DIR_EVENT_NOTIFICATION, encode_log_dir_event
from emulator.zookeeper import Create, Response

if TYPE_CHECKING:
    from brokers.replicas.manager import ReplicaManager


class LogDirFailures:
    """A thread of its own in Kafka: an operation that fails is answered first, then its directory goes offline."""

    def __init__(self, manager: "ReplicaManager") -> None:
        self._manager = manager
        self._process = manager.process
        self._log = structlog.get_logger("brokers.log_dirs").bind(broker=self._process.node.id)
        for directory in manager.logs.directories:
            directory.disk.on_error = partial(self.refused, directory)
            if directory.disk.unusable:
                self.refused(directory, "it cannot be read")

    def refused(self, directory: LogDirectory, reason: str) -> None:
        """An operation on ``directory`` has failed."""
        self._process.call_later(0, self._handle, (directory, reason), background=False)

    def _handle(self, failure: tuple[LogDirectory, str]) -> None:
        directory, reason = failure
        if not directory.online:
            return
        manager, node = self._manager, self._process.node
        directory.online = False
        lost = [p for p in manager.partitions.values() if p.log is not None and p.log.directory is directory]
        halts = manager.policies.disk_errors_halt or not manager.logs.online
        self._log.error("log directory failed", directory=directory.name, reason=reason, replicas=len(lost))
        self._process.anchor(LogDirFailed, node.id, directory.name, reason, len(lost), halts)
        if halts:
            node.halt()
            return
        tps = [partition.tp for partition in lost]
        manager.fetchers.remove(tps)
        manager.moves.offline(tps, directory)
        for partition in lost:
            manager.lose(partition)
        manager.metrics.show()
        manager.zk.submit(
            Create(f"{LOG_DIR_EVENT_NOTIFICATION}/log_dir_event_", encode_log_dir_event(node.id), False, True),
            self._told,
        )
        manager.complete_woken()

    def _told(self, _response: Response) -> None:
        """Kafka does not look at the outcome either."""
