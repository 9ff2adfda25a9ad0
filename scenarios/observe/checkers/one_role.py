"""F1: a replica leads, or is fetched, or has failed: never two of them."""

from __future__ import annotations

from emulator.protocol.events import BecameLeader, FetchPosition, PartitionFailed
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Gravity
from scenarios.observe.findings.epoch_facts import FailedIsFetched, FetchesFromTwo, LeaderFetches


class OneRole(Checker):
    """On one broker a replica is led, or fetched from one leader, or failed: never two of these.

    Verified: each position from which a fetcher starts to fetch, each adoption of leadership, each failure.

    Not verified: that a replica has a role at all (``roles_adopted``, ``followed_in_time``);
        partitions that wait for truncation, which no event shows; copies between log directories.
    """

    ids = ("F1",)
    gravity = Gravity.SAFETY
    statement = (
        "leads(b, p), fetches(b, p), failed(b, p) exclude each other: "
        "a replica is led, fetched from one leader or failed"
    )
    catches = ("KAFKA-13772", "KAFKA-13266")
    fails_when = "fetchers keep partitions that were removed from them"

    def on_position(self, event: FetchPosition) -> None:
        if event.offset < 0:
            return
        tp, before = TopicPartition.of(event.topic, event.partition), self.history.past.replaced(event)
        if before is not None and before.leader != event.leader:
            self.violated(event, FetchesFromTwo(event.node, event.leader, before.leader), tp)
        role = self.cluster.last_role(event.node, tp)
        # A leader that is stopped without being deleted goes on leading in its own view.
        if role is not None and type(role.event) is BecameLeader and role.stopped != "deleted":
            epoch = role.event.leader_epoch
            self.violated(event, LeaderFetches(event.node, epoch, event.leader, before=False), tp)

    def on_leader(self, event: BecameLeader) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        fetched = self.cluster.fetches_from(event.node, tp)
        if fetched is not None:
            self.violated(event, LeaderFetches(event.node, event.leader_epoch, fetched, before=True), tp)

    def on_failed(self, event: PartitionFailed) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        if self.cluster.fetches_from(event.node, tp) is not None:
            self.violated(event, FailedIsFetched(event.node), tp)
