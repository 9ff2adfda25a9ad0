"""F3: a partition that has failed on a broker stays failed until the next leader epoch, or until it is stopped."""

from __future__ import annotations

from collections import defaultdict

from emulator.protocol.events import BecameLeader, FetchPosition, NodeCrashed, PartitionFailed, PartitionFailureCleared
from emulator.protocol.shown import FetchFenced
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Gravity, Moment
from scenarios.observe.findings.epoch_facts import FailedComesBack, FencedGoesOn


class FailedUntilEpoch(Checker):
    """A partition on which a fetcher gave up is fetched again, or led, under a later leader epoch only (KIP-461).

    Verified: the leader epoch of the fetch or the leadership that follows a failure on the same broker, unless a
        StopReplica came between. From KIP-461 on (2.3): a partition has failed at once where its leader answers that
        it leads in a later epoch.

    Not verified: that the partition is fetched again at all; copies between log directories.
    """

    ids = ("F3",)
    gravity = Gravity.SAFETY
    statement = (
        "failed(b, p) in epoch e ⇒ not fetched again before epoch e+1 or StopReplica: "
        "only a later leader epoch or StopReplica takes a partition out of failedPartitions"
    )
    catches = ("KAFKA-9654",)
    fails_when = "a fetcher takes up a partition again on which it has given up"

    def begin(self) -> None:
        self._failed: dict[int, dict[TopicPartition, int]] = defaultdict(dict)
        """Leader epoch under which each partition failed, by broker."""
        self._isolates = self.start.isolates_failures
        self._fenced: list[FetchFenced] = []
        """Since the last look, of those that have not failed since."""

    def on_failed(self, event: PartitionFailed) -> None:
        self._failed[event.node][TopicPartition(event.topic, event.partition)] = event.leader_epoch
        replica = event.node, event.topic, event.partition
        self._fenced = [one for one in self._fenced if (one.node, one.topic, one.partition) != replica]

    def on_fenced(self, event: FetchFenced) -> None:
        if self._isolates and event.leader != event.node:
            self._fenced.append(event)

    def look(self, moment: Moment) -> None:
        for event in self._fenced:
            facts = FencedGoesOn(event.leader, event.leader_epoch, event.node)
            self.violated(moment, facts, TopicPartition(event.topic, event.partition))
        self._fenced.clear()

    def on_unfailed(self, event: PartitionFailureCleared) -> None:
        """Ignored: a partition that a new epoch removes is judged by the role that follows under that epoch."""
        if event.reason != "epoch":
            self._failed[event.node].pop(TopicPartition(event.topic, event.partition), None)

    def on_position(self, event: FetchPosition) -> None:
        if event.offset >= 0:
            self._back(event)

    def on_leader(self, event: BecameLeader) -> None:
        self._back(event)

    def _back(self, event: FetchPosition | BecameLeader) -> None:
        tp = TopicPartition(event.topic, event.partition)
        failed = self._failed[event.node].pop(tp, None)
        if failed is not None and event.leader_epoch <= failed:
            self.violated(
                event, FailedComesBack(event.node, failed, type(event) is BecameLeader, event.leader_epoch), tp
            )

    def on_crashed(self, event: NodeCrashed) -> None:
        self._failed.pop(event.node, None)
