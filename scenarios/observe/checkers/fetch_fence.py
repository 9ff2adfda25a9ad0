"""E6: a follower's fetches count only under the leader's own epoch."""

from __future__ import annotations

from emulator.protocol.events import UNCHECKED, BecameFollower, IsrProposed
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.epoch_facts import AddedForOtherEpoch


class FetchFence(Checker):
    """A follower that a leader adds to its ISR has fetched under the leader's epoch, and follows in that epoch.

    Verified: each time a leader decides to expand its ISR, where fetches are fenced (KIP-320, 2.1; KAFKA-9338, 2.5):
        the epoch in the follower's fetch, and the epoch that the follower has adopted.

    Not verified: which fetches count for the high watermark; S5 and S6 check the result. Releases whose fetches carry
        no epoch, ``wiki-text``, and up to 2.4 what a follower fetches within a session.
    """

    ids = ("E6",)
    statement = (
        "f counts for its leader ⇒ f.le = leader.le: a follower joins the ISR by a fetch under the leader's epoch"
    )
    catches = ("KAFKA-7395", "KAFKA-15221", "KAFKA-10301")
    fails_when = "fetches are not fenced"

    def begin(self) -> None:
        self._follows: dict[int, dict[TopicPartition, int]] = {}

    def on_became_follower(self, event: BecameFollower) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._follows.setdefault(event.node, {})[tp] = event.leader_epoch

    def on_proposed(self, event: IsrProposed) -> None:
        if event.kind != "expand":
            return
        tp = TopicPartition.of(event.topic, event.partition)
        for replica, epoch in zip(event.replicas, event.epochs, strict=True):
            if epoch == UNCHECKED:
                continue
            adopted = self._follows.get(replica, {}).get(tp, UNCHECKED)
            if epoch != event.leader_epoch or adopted < event.leader_epoch:
                self.violated(event, AddedForOtherEpoch(event.node, event.leader_epoch, replica, epoch, adopted), tp)
