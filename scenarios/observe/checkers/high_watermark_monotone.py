"""S8: a high watermark does not go back."""

from __future__ import annotations

from typing import ClassVar

from emulator.protocol.events import BecameFollower, BecameLeader, Truncated
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.checkers.commits import Stands
from scenarios.observe.checkers.ghosts import Ghosts
from scenarios.observe.checkers.replica_logs import ReplicaLog


class HighWatermarkMonotone(Checker):
    """In one incarnation of a broker and one leader epoch the high watermark grows, or the log was truncated.

    Verified: a leader's high watermark never goes back within its epoch, by truncation neither; a follower's
    only by truncation; taking up a role changes none. A restart begins anew with what the checkpoint had.

    The first high watermark that a follower learns from a new leader, or from one that has restarted, may
    lie behind the one it had: the leader may know less than the follower, and followers take the leader's
    word (KIP-207 hides from consumers what comes of that). From then on it grows again.

    Not verified: that the high watermark is right (S6), that it is within the log (S7), what consumers
    see of it (S10).
    """

    name: ClassVar[str] = "high_watermark_monotone"
    ids: ClassVar[tuple[str, ...]] = ("S8",)
    statement: ClassVar[str] = (
        "hw_b never decreases within one (b, leader epoch), on a follower but by truncation: "
        "on one broker and in one leader epoch the high watermark never goes back"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-14704", "KAFKA-9491")

    def __init__(self, ghosts: Ghosts, report: Report) -> None:
        super().__init__(ghosts, report)
        self._commits = ghosts.commits
        self._commits.fell.append(self._fell)

    def _fell(self, event: Stands, log: ReplicaLog, before: int) -> None:
        how = self._broken_by(event, log)
        if how:
            self.violated(
                event,
                f"broker {event.node}, {event.topic}-{event.partition}, epoch {log.leader_epoch}: "
                f"from {before} back to {event.high_watermark} {how}",
            )

    def _broken_by(self, event: Stands, log: ReplicaLog) -> str:
        """How it must not go back; "" where it may."""
        if isinstance(event, BecameLeader):
            return "when it became leader"
        if isinstance(event, BecameFollower):
            return "when it became follower"
        if isinstance(event, Truncated):
            return "by truncation, as leader" if log.leads else ""
        if event.leader:
            return "as leader"
        adoptions = self._commits.get(event.topic, event.partition).adoptions
        learnt_before = (log.learnt_epoch, log.learnt_adoptions) == (event.leader_epoch, adoptions)
        return "as follower" if learnt_before else ""
