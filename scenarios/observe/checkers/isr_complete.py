"""S3, S5 and S6: the in-sync replicas hold what is committed, before any of them has to lead."""

from __future__ import annotations

from typing import ClassVar

from emulator.protocol.events import HighWatermark, LogLoaded
from emulator.trace import Event
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.checkers.commit import Commit
from scenarios.observe.checkers.ghosts import Ghosts
from scenarios.observe.checkers.subscriptions import StateWritten


class IsrComplete(Checker):
    """Every replica that is in ZooKeeper's ISR, and is to stay, holds everything that any leader has exposed.

    Verified: when a leader's high watermark moves on (so the replicas that it counted include ZooKeeper's ISR), when
        the ISR in ZooKeeper changes, and when one finds its log again after a start.

    Replicas whose log no event has told of (their broker has not started) are left out, and so is everything between
    an unclean election and the adoption of leadership that it leads to.

    A controller that fails over leaves dead replicas in their ISRs before KAFKA-3143 (2.3). One that comes back from a
    crash of its machine then counts as in sync without what it had not flushed: told, under the profiles that do so.

    Not verified: truncations, which are S12's; members of the ISR that a move is about to leave behind, for whom
    Kafka's leader does not wait (``Commit.candidates``): should one of them be elected, S2 tells; the ISR in the
    leader's own memory (WeakIsr).
    """

    name: ClassVar[str] = "isr_complete"
    ids: ClassVar[tuple[str, ...]] = ("S5", "S3", "S6")
    statement: ClassVar[str] = (
        "b ∈ Z.isr, o < thw ⇒ log_b[o] = com[o]: every in-sync replica has every committed record"
    )
    catches: ClassVar[tuple[str, ...]] = (
        "KAFKA-3143", "KAFKA-7128", "KAFKA-10301", "KAFKA-14140", "KAFKA-15221",
    )  # fmt: skip

    def __init__(self, ghosts: Ghosts, report: Report) -> None:
        super().__init__(ghosts, report)
        self._commits = ghosts.commits
        self._commits.extended.append(self._extended)

    def on_state(self, event: StateWritten) -> None:
        if event.state is not None:
            self._compare(event, self._commits.get(event.tp.topic, event.tp.partition), "by its ISR in ZooKeeper")

    def on_loaded(self, event: LogLoaded) -> None:
        commit = self._commits.get(event.topic, event.partition)
        if event.node in commit.candidates:
            self._compare(event, commit, f"as broker {event.node} finds its log")

    def _extended(self, event: HighWatermark, commit: Commit) -> None:
        # This runs for every batch: no call for a member that has the newest committed one.
        last = commit.entries[-1]
        at = last.index
        for _, log in commit.members or self._commits.members(commit):
            if (at >= len(log.entries) or log.entries[at] is not last) and log.known:
                self._compare(event, commit, f"as broker {event.node} moves its high watermark")
                return

    def _compare(self, event: Event, commit: Commit, when: str) -> None:
        if not commit.settled:
            return
        for node, log in self._commits.members(commit):
            if not commit.held_by(log):
                self.violated(
                    event,
                    f"{commit.tp}, ISR {list(commit.isr)}: the log of broker {node} ends at {log.end_offset} and lacks "
                    f"what is {commit}, {when}",
                )
