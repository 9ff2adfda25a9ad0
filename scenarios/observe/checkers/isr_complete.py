"""S3, S5 and S6: in-sync replicas hold what is committed, before any of them has to lead."""

from __future__ import annotations

from emulator.protocol.events import HighWatermark, LogLoaded
from emulator.trace import Event
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.log_facts import Committed, MemberLacks
from scenarios.observe.history.commit import Commit
from scenarios.observe.past.changes import StateWritten


class IsrComplete(Checker):
    """Every replica in ZooKeeper's ISR that is not about to be removed holds every record that any leader has exposed.

    Verified: at three times: when a leader's high watermark advances (which shows whether the leader waited for every
        member of ZooKeeper's ISR), when the ISR in ZooKeeper changes, and when a member of the ISR loads its log after
        a start.

    Replicas whose broker has not started yet, so that no event has described their log, are left out; so is the time
    between an unclean election and the adoption of leadership that follows it, and that between a crash of the last
    machine in the ISR and the next adoption. Where the whole ISR has crashed, its members may come back with less than
    the one that leads, until they have caught up (KIP-966).

    Before KAFKA-3143 (2.3) a controller that fails over leaves dead replicas in their ISRs. A replica that comes back
    from a crash of its machine then counts as in sync without what it had not flushed; under those profiles this is
    reported.

    Not verified: truncations (S12 checks them); members of the ISR that a move is about to remove, for which Kafka's
        leader does not wait (``Commit.candidates``), but S2 checks one that is elected; the ISR in the leader's own
        memory (WeakIsr).
    """

    ids = ("S5", "S3", "S6")
    statement = "b ∈ Z.isr, o < thw ⇒ log_b[o] = com[o]: every in-sync replica has every committed record"
    catches = (
        "KAFKA-14140", "KAFKA-15221",
    )  # fmt: skip
    fails_when = "a follower joins the ISR while it is behind"

    def begin(self) -> None:
        self._commits = self.history.commits
        self._commits.lacking.append(self._lacking)

    def on_state(self, event: StateWritten) -> None:
        if event.state is not None:
            self._compare(event, self._commits.get(event.tp.topic, event.tp.partition), None)

    def on_loaded(self, event: LogLoaded) -> None:
        commit = self._commits.get(event.topic, event.partition)
        if not commit.nothing and event.node in commit.candidates:
            self._compare(event, commit, event.node)

    def _lacking(self, event: HighWatermark, commit: Commit) -> None:
        """The leader has counted all of them, so none is excused any more."""
        commit.excused = ()
        self._compare(event, commit, event.node)

    def _compare(self, event: Event, commit: Commit, seen_at: int | None) -> None:
        if commit.nothing or not commit.settled:
            return
        for node, log in self._commits.members(commit):
            if not commit.held_by(log) and not commit.excuses(node, log):
                facts = MemberLacks(
                    node, tuple(commit.isr), log.end_offset, Committed.of(commit), type(event).__name__, seen_at
                )
                self.violated(event, facts, commit.tp, (node,))
