"""F1: a replica leads, or is fetched, or has failed: never two of them."""

from __future__ import annotations

from collections import defaultdict
from typing import ClassVar

from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    FetchPosition,
    NodeCrashed,
    PartitionFailed,
    ReplicaStopped,
)
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Gravity, Report
from scenarios.observe.findings.epoch_facts import FailedIsFetched, FetchesFromTwo, LeaderFetches
from scenarios.observe.history.history import History


class OneRole(Checker):
    """On one broker a replica is led, or fetched from one leader, or failed: never two of these.

    Verified: each position from which a fetcher starts to fetch, each adoption of leadership, each failure.

    Not verified: that a replica has a role at all (``roles_adopted``, ``followed_in_time``);
        partitions that wait for truncation, which no event shows; copies between log directories.
    """

    name: ClassVar[str] = "one_role"
    ids: ClassVar[tuple[str, ...]] = ("F1",)
    gravity: ClassVar[Gravity] = Gravity.SAFETY
    statement: ClassVar[str] = (
        "leads(b, p), fetches(b, p), failed(b, p) exclude each other: "
        "a replica is led, fetched from one leader or failed"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-13772", "KAFKA-13266")
    fails_when: ClassVar[str | None] = "fetchers keep partitions that were removed from them"

    def __init__(self, history: History, report: Report) -> None:
        super().__init__(history, report)
        self._leads: dict[int, dict[TopicPartition, int]] = defaultdict(dict)
        """By broker, the leader epoch of each partition that it leads."""
        self._fetches: dict[int, dict[TopicPartition, int]] = defaultdict(dict)
        """By broker, the leader from which it fetches each partition."""

    def on_position(self, event: FetchPosition) -> None:
        tp, fetches = TopicPartition.of(event.topic, event.partition), self._fetches[event.node]
        if event.offset < 0:
            fetches.pop(tp, None)
            return
        before = fetches.get(tp, event.leader)
        fetches[tp] = event.leader
        if before != event.leader:
            self.violated(event, FetchesFromTwo(event.node, event.leader, before), tp)
        epoch = self._leads[event.node].get(tp)
        if epoch is not None:
            self.violated(event, LeaderFetches(event.node, epoch, event.leader, before=False), tp)

    def on_leader(self, event: BecameLeader) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._leads[event.node][tp] = event.leader_epoch
        fetched = self._fetches[event.node].get(tp)
        if fetched is not None:
            self.violated(event, LeaderFetches(event.node, event.leader_epoch, fetched, before=True), tp)

    def on_follower(self, event: BecameFollower) -> None:
        self._leads[event.node].pop(TopicPartition.of(event.topic, event.partition), None)

    def on_stopped(self, event: ReplicaStopped) -> None:
        """A leader that is stopped without being deleted goes on leading in its own view."""
        if event.deleted:
            self._leads[event.node].pop(TopicPartition.of(event.topic, event.partition), None)

    def on_failed(self, event: PartitionFailed) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        if tp in self._fetches[event.node]:
            self.violated(event, FailedIsFetched(event.node), tp)

    def on_crashed(self, event: NodeCrashed) -> None:
        self._leads.pop(event.node, None)
        self._fetches.pop(event.node, None)
