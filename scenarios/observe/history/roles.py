"""Whom each broker takes for the leader of each of its partitions: the last roles that it took."""

from __future__ import annotations

from emulator.protocol.events import BecameFollower, BecameLeader, NodeCrashed, ReplicaStopped
from emulator.protocol.types import TopicPartition


class Roles:
    """The fold.

    Attributes:
        leaders: by broker, the leader of each partition in which it has taken a role since it started, and in which it
            has not been stopped: itself, where it leads.
        followed: by broker, of how many of these partitions each other broker is the leader.
    """

    def __init__(self) -> None:
        self.leaders: dict[int, dict[TopicPartition, int]] = {}
        self.followed: dict[int, dict[int, int]] = {}

    def leader(self, broker: int, tp: TopicPartition) -> int | None:
        """The leader that ``broker`` knows; None: it has no role in the partition."""
        return self.leaders.get(broker, {}).get(tp)

    def on_leader(self, event: BecameLeader) -> None:
        self._takes(event.node, TopicPartition.of(event.topic, event.partition), event.node)

    def on_follower(self, event: BecameFollower) -> None:
        self._takes(event.node, TopicPartition.of(event.topic, event.partition), event.leader)

    def on_stopped(self, event: ReplicaStopped) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._count(event.node, self.leaders.get(event.node, {}).pop(tp, event.node), -1)

    def on_crashed(self, event: NodeCrashed) -> None:
        self.leaders.pop(event.node, None)
        self.followed.pop(event.node, None)

    def _takes(self, node: int, tp: TopicPartition, leader: int) -> None:
        leaders = self.leaders.setdefault(node, {})
        self._count(node, leaders.get(tp, node), -1)
        leaders[tp] = leader
        self._count(node, leader, 1)

    def _count(self, node: int, leader: int, change: int) -> None:
        if leader != node:
            followed = self.followed.setdefault(node, {})
            followed[leader] = followed.get(leader, 0) + change
