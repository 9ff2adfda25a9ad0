"""S1: below their high watermarks all replicas hold the same records."""

from __future__ import annotations

from emulator.protocol.events import HighWatermark
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.log_facts import Committed, CommittedDiffers
from scenarios.observe.history.commit import Commit
from scenarios.observe.history.replica_logs import ReplicaLogHistory


class LogMatching(Checker):
    """Any two replicas that count an offset as committed have the same batch there, after the same batches.

    Verified: whenever a high watermark moves, on leader or follower, the log below it is a prefix of what any leader
        of the partition has ever exposed, or extends it.

    After an unclean election only what the new leader still holds counts as exposed, and the high watermarks of older
    epochs are ignored (``Commits``).

    Not verified: records above the high watermarks, which may differ; whether the high watermark is right
        (S6).
    """

    ids = ("S1",)
    statement = (
        "a, b ∈ RS, o < min(hw_a, hw_b) ⇒ log_a[o] = log_b[o]: no two replicas differ below their high watermarks"
    )
    catches = ("KAFKA-6361",)
    fails_when = "followers do not truncate"

    def begin(self) -> None:
        self.history.commits.diverged.append(self._diverged)

    def _diverged(self, event: HighWatermark, commit: Commit, log: ReplicaLogHistory) -> None:
        _, base_offset, next_offset, epoch, id = log.line[log.covered(event.high_watermark)]
        facts = CommittedDiffers(
            event.node,
            event.leader_epoch,
            event.high_watermark,
            id,
            epoch,
            base_offset,
            next_offset - 1,
            Committed.of(commit),
        )
        self.violated(event, facts, commit.tp, (event.node,))
