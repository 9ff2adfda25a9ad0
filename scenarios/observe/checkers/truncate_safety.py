"""S12: an in-sync replica does not truncate what is committed."""

from __future__ import annotations

from typing import ClassVar

from emulator.protocol.events import Truncated
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.findings.log_facts import Committed, CommittedTruncated, LeaderTruncates
from scenarios.observe.history.history import History


class TruncateSafety(Checker):
    """A replica in ZooKeeper's ISR that is not about to be removed never truncates below what is committed, and a
    leader never truncates.

    Verified: where the log of such a replica ends after a truncation. Between an unclean election and the adoption of
        leadership that follows it nothing is checked; from then on the new leader's log defines what is committed. The
        same holds after the machines of the whole ISR have crashed, for the members that have not caught up since. Of
        every truncation, that the broker does not lead in that leader epoch; but a leader's log may start over behind
        all that is committed, as where retention has deleted every record.

    Not verified: that the offset came from the leader of the replica's current epoch (the event does not say which
        broker answered); replicas outside the ISR, which may truncate anything.
    """

    name: ClassVar[str] = "truncate_safety"
    ids: ClassVar[tuple[str, ...]] = ("S12",)
    statement: ClassVar[str] = (
        "truncateTo(b, t), b ∈ Z.isr ⇒ t ≥ thw: an in-sync replica never cuts off what is committed"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-7786",)
    fails_when: ClassVar[str | None] = "followers truncate too much"

    def __init__(self, history: History, report: Report) -> None:
        super().__init__(history, report)
        self._commits = history.commits

    def on_truncated(self, event: Truncated) -> None:
        commit = self._commits.get(event.topic, event.partition)
        log = self._commits.logs.get(event.node, commit.tp)
        starts_over = log is not None and log.start_offset == event.log_end_offset >= commit.offset
        if log is not None and log.leads and log.leader_epoch == event.leader_epoch and not starts_over:
            self.violated(
                event, LeaderTruncates(event.node, event.leader_epoch, event.log_end_offset), commit.tp, (event.node,)
            )
            return
        if not (commit.settled and event.node in commit.candidates and event.log_end_offset < commit.offset):
            return
        if log is None or not commit.excuses(event.node, log):
            facts = CommittedTruncated(
                event.node, tuple(commit.isr), event.log_end_offset, event.leader_epoch, Committed.of(commit)
            )
            self.violated(event, facts, commit.tp, (event.node,))
