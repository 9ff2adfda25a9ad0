"""S12: an in-sync replica does not cut off what is committed."""

from __future__ import annotations

from typing import ClassVar

from emulator.protocol.events import Truncated
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.checkers.ghosts import Ghosts


class TruncateSafety(Checker):
    """A replica that is in ZooKeeper's ISR, and is to stay, truncates behind what is committed, never before.

    Verified: where the log of such a replica ends after a truncation. Between an unclean election and the adoption
        of leadership that it leads to nothing is asked; from then on its leader's log says what is committed.

    Not verified: that the offset came from the leader of the epoch in which the replica is (the event does not say
    who answered); replicas outside the ISR, which may lose what they like.
    """

    name: ClassVar[str] = "truncate_safety"
    ids: ClassVar[tuple[str, ...]] = ("S12",)
    statement: ClassVar[str] = (
        "truncateTo(b, t), b ∈ Z.isr ⇒ t ≥ thw: an in-sync replica never cuts off what is committed"
    )
    catches: ClassVar[tuple[str, ...]] = ("KIP-101", "KAFKA-2143", "KAFKA-7786", "KAFKA-13207")

    def __init__(self, ghosts: Ghosts, report: Report) -> None:
        super().__init__(ghosts, report)
        self._commits = ghosts.commits

    def on_truncated(self, event: Truncated) -> None:
        commit = self._commits.get(event.topic, event.partition)
        if commit.settled and event.node in commit.candidates and event.log_end_offset < commit.offset:
            self.violated(
                event,
                f"{commit.tp}: broker {event.node}, in the ISR {list(commit.isr)}, truncates to "
                f"{event.log_end_offset} in epoch {event.leader_epoch}; {commit}",
            )
