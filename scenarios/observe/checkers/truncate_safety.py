"""S12: an in-sync replica does not truncate what is committed."""

from __future__ import annotations

from emulator.protocol.events import Truncated
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.log_facts import Committed, CommittedTruncated, LeaderTruncates, SharedTruncated
from scenarios.observe.history.commit import Commit
from scenarios.observe.history.replica_logs import BASE_OFFSET, ID, LEADER_EPOCH, ReplicaLogHistory


class TruncateSafety(Checker):
    """A replica in ZooKeeper's ISR that is not about to be removed never truncates below what is committed, and a
    leader never truncates. No follower truncates what its leader has (KIP-279, 2.0): it would fetch that again, or lead
    without it.

    Verified: where the log of such a replica ends after a truncation. Between an unclean election and the adoption of
        leadership that follows it nothing is checked; from then on the new leader's log defines what is committed. The
        same holds after the machines of the whole ISR have crashed, for the members that have not caught up since. Of
        every truncation, that the broker does not lead in that leader epoch; but a leader's log may start over behind
        all that is committed, as where retention has deleted every record. Of a follower, in the ISR or not: that the
        first batch that it cuts off is not in the log of the leader that it follows.

    Not verified: that the offset came from the leader of the replica's current epoch (the event does not say which
        broker answered); of replicas outside the ISR what is cut off where a release does not compare epochs, or where
        the batch has epoch 0, which a log that was recovered may not know.
    """

    ids = ("S12",)
    statement = "truncateTo(b, t), b ∈ Z.isr ⇒ t ≥ thw: an in-sync replica never cuts off what is committed"
    catches = ("KAFKA-7786",)
    fails_when = "followers truncate too much"

    def begin(self) -> None:
        self._commits = self.history.commits
        self._by_epochs = self.start.truncates_by_epochs

    def on_truncated(self, event: Truncated) -> None:
        commit = self._commits.get(event.topic, event.partition)
        log = self._commits.logs.get(event.node, commit.tp)
        starts_over = log is not None and log.start_offset == event.log_end_offset >= commit.offset
        if log is not None and log.leads and log.leader_epoch == event.leader_epoch and not starts_over:
            self.violated(
                event, LeaderTruncates(event.node, event.leader_epoch, event.log_end_offset), commit.tp, (event.node,)
            )
            return
        if not self._cuts_committed(event, commit, log) and log is not None and self._by_epochs:
            self._look_at_leader(event, commit.tp, log)

    def _cuts_committed(self, event: Truncated, commit: Commit, log: ReplicaLogHistory | None) -> bool:
        """Report a member of the ISR that cuts off what is committed. Returns whether it does."""
        if not (commit.settled and event.node in commit.candidates and event.log_end_offset < commit.offset):
            return False
        if log is not None and commit.excuses(event.node, log):
            return False
        facts = CommittedTruncated(
            event.node, tuple(commit.isr), event.log_end_offset, event.leader_epoch, Committed.of(commit)
        )
        self.violated(event, facts, commit.tp, (event.node,))
        return True

    def _look_at_leader(self, event: Truncated, tp: TopicPartition, log: ReplicaLogHistory) -> None:
        """Report a follower that cuts off what the leader that it follows has."""
        role = self.cluster.follows(event.node, tp)
        if role is None or role.leader_epoch != event.leader_epoch or not log.known or log.size >= len(log.line):
            return
        cut, leader = log.line[log.size], self._commits.logs.get(role.leader, tp)
        if leader is None or not leader.known or leader.leader_epoch != event.leader_epoch or not leader.leads:
            return
        begins_anew = cut[BASE_OFFSET] != event.log_end_offset or log.size == 1
        if begins_anew or cut[LEADER_EPOCH] <= 0 or cut[BASE_OFFSET] < leader.start_offset or not leader.holds(cut):
            return
        facts = SharedTruncated(event.node, event.log_end_offset, event.leader_epoch, role.leader, cut[ID])
        self.violated(event, facts, tp, (event.node, role.leader))
