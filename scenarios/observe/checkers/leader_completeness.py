"""S2: a cleanly elected leader has everything that was ever committed."""

from __future__ import annotations

from emulator.protocol.events import BecameLeader
from scenarios.observe.checkers.checker import Checker, Gravity
from scenarios.observe.findings.log_facts import Committed, LeaderLacks


class LeaderCompleteness(Checker):
    """A replica that becomes leader in a new highest epoch holds every record that an earlier leader has exposed.

    Verified: at each adoption of leadership in a higher epoch than any before, the log holds the committed prefix,
        acknowledged or not: a consumer may have read it.

    Exempt are unclean elections, after which the leader's log defines what is committed, and a leader that has lost
    unflushed records in a crash of its machine, where those of all other in-sync replicas have crashed too since they
    were in sync (``Commits``; KIP-966).

    Not verified: a late adoption of an epoch that is over; that what the leader exposes later is right (S1).
    """

    ids = ("S2",)
    gravity = Gravity.LOSS
    statement = "at clean BecomeLeader(b, e): o < thw ⇒ log_b[o] = com[o]: a clean leader has every committed record"
    catches = ("KAFKA-6361", "KAFKA-7164")
    fails_when = "a leader exposes what its followers lack"

    def begin(self) -> None:
        self._commits = self.history.commits

    def on_became_leader(self, event: BecameLeader) -> None:
        commit = self._commits.get(event.topic, event.partition)
        log = self._commits.logs.get(event.node, commit.tp)
        # The history has seen this event already: an epoch that is not the highest was adopted late.
        late = event.leader_epoch < commit.adopted_epoch
        if log is None or late or not commit.settled or commit.held_by(log):
            return
        facts = LeaderLacks(event.node, event.leader_epoch, log.end_offset, Committed.of(commit))
        self.violated(event, facts, commit.tp, (event.node,))
