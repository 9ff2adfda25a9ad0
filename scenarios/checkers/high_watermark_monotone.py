"""S8: a high watermark does not go back."""

from __future__ import annotations

from typing import ClassVar

from attrs import define

from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    HighWatermark,
    LogLoaded,
    ReplicaStopped,
    Truncated,
)
from emulator.trace import Event
from scenarios.checkers.checker import Checker, Report
from scenarios.checkers.ghosts import Ghosts

Key = tuple[int, str, int]
Reign = tuple[int, int]
"""The leader epoch that a follower is in, and how often leadership had been adopted: a leader that restarts
within its epoch begins with the high watermark of its checkpoint."""


@define(eq=False)
class _Replica:
    """``role``: leader, follower, or none yet. ``learnt_from``: the reign it last learnt from, as
    follower.
    """

    high_watermark: int
    role: str = ""
    leader_epoch: int = -1
    learnt_from: Reign | None = None


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
        self._replicas: dict[Key, _Replica] = {}
        self._adoptions: dict[tuple[str, int], int] = {}

    def on_loaded(self, event: LogLoaded) -> None:
        self._replicas[event.node, event.topic, event.partition] = _Replica(event.high_watermark)

    def on_stopped(self, event: ReplicaStopped) -> None:
        if event.deleted:
            self._replicas.pop((event.node, event.topic, event.partition), None)

    def on_became_leader(self, event: BecameLeader) -> None:
        partition = event.topic, event.partition
        self._adoptions[partition] = self._adoptions.get(partition, 0) + 1
        self._take_role(event, (event.node, event.topic, event.partition), "leader", event)

    def on_became_follower(self, event: BecameFollower) -> None:
        self._take_role(event, (event.node, event.topic, event.partition), "follower", event)

    def _take_role(self, event: Event, key: Key, role: str, taken: BecameLeader | BecameFollower) -> None:
        replica = self._replica(key, taken.high_watermark)
        if taken.high_watermark < replica.high_watermark:
            self._went_back(event, key, replica, taken.high_watermark, f"when it became {role}")
        replica.role, replica.leader_epoch = role, taken.leader_epoch
        replica.high_watermark = taken.high_watermark

    def on_truncated(self, event: Truncated) -> None:
        key = event.node, event.topic, event.partition
        replica = self._replica(key, event.high_watermark)
        if replica.role == "leader" and event.high_watermark < replica.high_watermark:
            self._went_back(event, key, replica, event.high_watermark, "by truncation, as leader")
        replica.high_watermark = event.high_watermark

    def on_high_watermark(self, event: HighWatermark) -> None:
        # Unpacked at once: this runs for every batch on every replica.
        _, _, _, node, topic, partition, leader, leader_epoch, high_watermark = event
        key = node, topic, partition
        replica = self._replicas.get(key) or self._replica(key, high_watermark)
        went_back = high_watermark < replica.high_watermark
        if leader:
            if went_back:
                self._went_back(event, key, replica, high_watermark, "as leader")
        else:
            reign = leader_epoch, self._adoptions.get((topic, partition), 0)
            if went_back and replica.learnt_from == reign:
                self._went_back(event, key, replica, high_watermark, "as follower")
            replica.learnt_from = reign
        replica.high_watermark = high_watermark

    def _replica(self, key: Key, high_watermark: int) -> _Replica:
        found = self._replicas.get(key)
        if found is None:
            found = self._replicas[key] = _Replica(high_watermark)
        return found

    def _went_back(self, event: Event, key: Key, replica: _Replica, to: int, how: str) -> None:
        node, topic, partition = key
        self.violated(
            event,
            f"broker {node}, {topic}-{partition}, epoch {replica.leader_epoch}: "
            f"from {replica.high_watermark} back to {to} {how}",
        )
