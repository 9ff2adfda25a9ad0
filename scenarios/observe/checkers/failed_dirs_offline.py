"""S18: a log directory in which a log cannot be recovered, or which has failed, is not used."""

from __future__ import annotations

from emulator.protocol.events import (
    CopyAbandoned,
    CopyStarted,
    LogDirFailed,
    LogReplaced,
    NodeCrashed,
    NodeStarted,
    ReplicaOffline,
    ReplicaStopped,
)
from emulator.protocol.shown import RecoveryFailed
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Moment
from scenarios.observe.findings.log_facts import CopiedOffline, DeletedOffline, DirectoryUsed


class FailedDirsOffline(Checker):
    """A broker takes a log directory offline, or ends, where it cannot recover a log in it. It deletes no replica that
    went offline with its directory: the log is still there (KIP-112). It gives up the copies into such a directory
    (ReplicaManager.handleLogDirFailure, 1.1).

    Verified: within a second of each recovery that fails, and of each failure of a directory, while the process lives;
        each replica that a broker says it has deleted.

    Not verified: that errors of the disk take a directory offline once the broker has its logs; replicas that a broker
        had not opened when their directory failed.
    """

    ids = ("S18",)
    statement = "unrecovered(l) ⇒ offline(dir(l)): a log directory in which a log cannot be recovered is not used"
    catches = ("KIP-112",)
    fails_when = "a broker uses a log directory whose logs it could not recover"

    def begin(self) -> None:
        self._failed: dict[int, dict[str, int]] = {}
        """Directories in which a recovery has failed, and since when, by broker; not those that are offline."""
        self._offline: dict[int, dict[TopicPartition, None]] = {}
        """The replicas that went offline in the life of their broker's process."""
        self._copies: dict[int, dict[TopicPartition, str]] = {}
        """The directories into which a broker copies replicas."""
        self._gone: dict[int, dict[str, int]] = {}
        """The directories that have failed since a broker was looked at last, and when."""

    def on_recovery(self, event: RecoveryFailed) -> None:
        self._failed.setdefault(event.node, {})[event.log_dir] = event.t_us

    def on_offline(self, event: LogDirFailed) -> None:
        self._failed.get(event.node, {}).pop(event.directory, None)
        if not event.broker_halts:
            self._gone.setdefault(event.node, {})[event.directory] = event.t_us

    def on_copy(self, event: CopyStarted) -> None:
        self._copies.setdefault(event.node, {})[TopicPartition.of(event.topic, event.partition)] = event.target

    def on_copied(self, event: CopyAbandoned | LogReplaced) -> None:
        self._copies.get(event.node, {}).pop(TopicPartition.of(event.topic, event.partition), None)

    def on_replica_offline(self, event: ReplicaOffline) -> None:
        self._offline.setdefault(event.node, {})[TopicPartition.of(event.topic, event.partition)] = None

    def on_stopped(self, event: ReplicaStopped) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        if event.deleted and tp in self._offline.get(event.node, ()):
            self.violated(event, DeletedOffline(event.node), tp, (event.node,))

    def on_started(self, event: NodeStarted) -> None:
        self._offline.pop(event.node, None)

    def on_crashed(self, event: NodeCrashed) -> None:
        self._failed.pop(event.node, None)
        self._copies.pop(event.node, None)
        self._gone.pop(event.node, None)

    def look(self, moment: Moment) -> None:
        for node, directories in self._failed.items():
            for log_dir, since_us in list(directories.items()):
                if since_us < moment.t_us:
                    del directories[log_dir]
                    self.violated(moment, DirectoryUsed(node, log_dir))
        for node, gone in self._gone.items():
            for directory, since_us in list(gone.items()):
                if since_us < moment.t_us:
                    del gone[directory]
                    self._look_for_copies(moment, node, directory)

    def _look_for_copies(self, moment: Moment, node: int, directory: str) -> None:
        for tp, target in self._copies.get(node, {}).items():
            if target == directory:
                self.violated(moment, CopiedOffline(node, directory), tp, (node,))
