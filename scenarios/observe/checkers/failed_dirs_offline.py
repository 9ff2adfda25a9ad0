"""S18: a log directory in which a log cannot be recovered is not used."""

from __future__ import annotations

from typing import ClassVar

from emulator.protocol.events import LogDirFailed, NodeCrashed
from emulator.protocol.shown import RecoveryFailed
from scenarios.observe.checkers.checker import Checker, Moment, Report
from scenarios.observe.findings.log_facts import DirectoryUsed
from scenarios.observe.history.history import History


class FailedDirsOffline(Checker):
    """A broker takes a log directory offline, or ends, where it cannot recover a log in it.

    Verified: within a second of each recovery that fails, while the process lives.

    Not verified: errors of the disk once the broker has its logs.
    """

    name: ClassVar[str] = "failed_dirs_offline"
    ids: ClassVar[tuple[str, ...]] = ("S18",)
    statement: ClassVar[str] = (
        "unrecovered(l) ⇒ offline(dir(l)): a log directory in which a log cannot be recovered is not used"
    )
    catches: ClassVar[tuple[str, ...]] = ("KIP-112",)
    fails_when: ClassVar[str | None] = "a broker uses a log directory whose logs it could not recover"

    def __init__(self, history: History, report: Report) -> None:
        super().__init__(history, report)
        self._failed: dict[int, dict[str, int]] = {}
        """Directories in which a recovery has failed, and since when, by broker; not those that are offline."""

    def on_recovery(self, event: RecoveryFailed) -> None:
        self._failed.setdefault(event.node, {})[event.log_dir] = event.t_us

    def on_offline(self, event: LogDirFailed) -> None:
        self._failed.get(event.node, {}).pop(event.directory, None)

    def on_crashed(self, event: NodeCrashed) -> None:
        self._failed.pop(event.node, None)

    def look(self, moment: Moment) -> None:
        for node, directories in self._failed.items():
            for log_dir, since_us in list(directories.items()):
                if since_us < moment.t_us:
                    del directories[log_dir]
                    self.violated(moment, DirectoryUsed(node, log_dir))
