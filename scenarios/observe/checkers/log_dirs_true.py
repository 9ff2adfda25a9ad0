"""T7: what a broker says of its log directories is so."""

from __future__ import annotations

from emulator.protocol.shown import LogDirsDescribed
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.log_facts import DescribedUnasked, LogBehind, TwoLogs


class LogDirsTrue(Checker):
    """A description of log directories has the logs that it was asked for, and how far each is behind.

    Verified: each answer to DescribeLogDirs (KIP-113, 1.1; ReplicaManager.describeLogDirs, 2.3): it names only
        partitions that were asked for, and each current log once. A log that will replace another is no further behind
        that than the other is long; a current log is not behind its own high watermark.

    Not verified: in which directory a log is; that the answer names all that were asked for; sizes; how far exactly a
        copy has got, which no event shows.
    """

    ids = ("T7",)
    statement = (
        "described ⊆ asked, lag(future) ≤ leo: "
        "a broker describes the logs that it is asked for, and none is further behind than there is to copy"
    )
    catches = ("KAFKA-16807",)
    fails_when = "a broker says that a copy lacks more than there is to copy"

    def begin(self) -> None:
        self._logs = self.history.logs

    def on_described(self, event: LogDirsDescribed) -> None:
        asked = None if event.asked is None else dict.fromkeys(event.asked)
        current: dict[object, None] = {}
        for tp, _size, lag, future in event.replicas:
            if asked is not None and tp not in asked:
                self.violated(event, DescribedUnasked(event.node), tp)
            if not future and tp in current:
                self.violated(event, TwoLogs(event.node), tp)
            if not future:
                current[tp] = None
            log = self._logs.get(event.node, tp)
            most = 0 if not future else log.end_offset if log is not None else lag
            if lag > most:
                self.violated(event, LogBehind(event.node, bool(future), lag, most), tp)
