"""S8: a high watermark does not go back."""

from __future__ import annotations

from emulator.protocol.events import BecameFollower, BecameLeader, HighWatermark, Truncated
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.log_facts import HighWatermarkFell, HighWatermarkStayed
from scenarios.observe.history.commits import Placed
from scenarios.observe.history.replica_logs import ReplicaLogHistory


class HighWatermarkMonotone(Checker):
    """Within one incarnation of a broker and one leader epoch the high watermark grows, unless the log is truncated.

    Verified: a leader's high watermark never goes back within its epoch, not even by truncation; a follower's goes
        back by truncation only; taking up a role changes neither. After a restart the comparison starts from the
        checkpoint. What a leader says to have moved has moved: it compares first (Partition.maybeIncrementLeaderHW,
        2.3).

    The first high watermark that a follower learns from a new leader, or from one that has restarted, may be lower
    than its own: the leader may know less than the follower, and followers adopt the leader's value (KIP-207 hides the
    effect from consumers). From then on it grows again; but what a leader has sent before a restart in its epoch may
    arrive after it, and be the first.

    Not verified: that the high watermark is right (S6), that it is within the log (S7), what consumers see of it
        (S10).
    """

    ids = ("S8",)
    statement = (
        "hw_b never decreases within one (b, leader epoch), on a follower but by truncation: "
        "on one broker and in one leader epoch the high watermark never goes back"
    )
    catches = ("KAFKA-14704", "KAFKA-9491")
    fails_when = "a leader's high watermark jumps back"

    def begin(self) -> None:
        self._commits = self.history.commits
        self._commits.fell.append(self._fell)
        self._commits.stayed.append(self._stayed)
        self._epochs: dict[TopicPartition, int] = {}
        self._led_again: dict[TopicPartition, dict[int, None]] = {}
        """The followers that have gone back since the leader took up its leader epoch once more."""

    def on_became_leader(self, event: BecameLeader) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        if self._epochs.get(tp) == event.leader_epoch:
            self._led_again[tp] = {}
        else:
            self._epochs[tp] = event.leader_epoch
            self._led_again.pop(tp, None)

    def _fell(self, event: Placed, log: ReplicaLogHistory, before: int) -> None:
        if self._breaks(event, log):
            leads = event.leader if isinstance(event, HighWatermark) else log.leads
            facts = HighWatermarkFell(
                event.node, log.leader_epoch, before, event.high_watermark, type(event).__name__, leads
            )
            self.violated(event, facts, TopicPartition.of(event.topic, event.partition))

    def _stayed(self, event: HighWatermark, log: ReplicaLogHistory) -> None:
        facts = HighWatermarkStayed(event.node, log.leader_epoch, event.high_watermark)
        self.violated(event, facts, TopicPartition.of(event.topic, event.partition))

    def _breaks(self, event: Placed, log: ReplicaLogHistory) -> bool:
        """Whether the fall breaks the invariant."""
        if isinstance(event, (BecameLeader, BecameFollower)):
            return True
        if isinstance(event, Truncated):
            return log.leads
        if event.leader:
            return True
        adoptions = self._commits.get(event.topic, event.partition).adoptions
        learnt_before = (log.learnt_epoch, log.learnt_adoptions) == (event.leader_epoch, adoptions)
        if not learnt_before:
            return False
        gone_back = self._led_again.get(TopicPartition.of(event.topic, event.partition))
        if gone_back is None or event.node in gone_back:
            return True
        gone_back[event.node] = None
        return False
