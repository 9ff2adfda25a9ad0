"""S21: nothing is committed while the ISR is below min.insync.replicas."""

from __future__ import annotations

from emulator.trace import Event
from scenarios.observe.checkers.below_min_isr import BelowMinIsr
from scenarios.observe.findings.isr_facts import CommittedByFew
from scenarios.observe.history.commit import Commit


class HeldByMinIsr(BelowMinIsr):
    """The high watermark of a leader stays where it is while its ISR has fewer members than min.insync.replicas.

    Verified: in releases that hold it (3.7 and later), each high watermark by which a leader commits more than was
        committed.

    Not verified: that it goes on once there are enough (S11 sees followers, R1 the end of a run); high watermarks of
        followers, which learn them.
    """

    ids = ("S21",)
    statement = (
        "|isr_b| < min.insync.replicas ⇒ hw_b stays: "
        "with fewer replicas in the ISR than min.insync.replicas nothing is committed (3.7 and later)"
    )
    fails_when = "a leader looks at the members of its ISR alone"

    def begin(self) -> None:
        super().begin()
        if self.start.holds_high_watermark:
            self.history.commits.extended.append(self._extended)

    def _extended(self, event: Event, commit: Commit) -> None:
        by_leader = self.few.get(commit.tp)
        few = by_leader.get(event.node) if by_leader else None  # type: ignore[attr-defined]
        if few is None:
            return
        least = self.least(commit.tp, event.node, event.t_us)  # type: ignore[attr-defined]
        if few.size < least:
            self.violated(event, CommittedByFew(event.node, commit.offset, few.size, least, few.since_us), commit.tp)  # type: ignore[attr-defined]
