"""F5: a fetcher thread that has nothing to fetch ends."""

from __future__ import annotations

from collections import defaultdict

from emulator.protocol.control_requests import ControlHandled
from emulator.protocol.errors import Errors
from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    FetcherStarted,
    FetcherStopped,
    NodeCrashed,
    PartitionFailed,
    PartitionFailureCleared,
    ReplicaStopped,
)
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from emulator.trace import Event
from scenarios.observe.checkers.checker import Checker, Moment
from scenarios.observe.findings.fetch_facts import ThreadGoesOn


class IdleFetchersEnd(Checker):
    """A replica fetcher thread whose partitions have all been taken from it, or have all failed, ends: once its broker
    has carried out a LeaderAndIsr or a StopReplica. By KIP-461's text (profile ``kip-461``) it ends at once when the
    last one fails; no release does that.

    Verified: after each of these requests, and once a second after a partition has failed, each thread that runs,
        against the partitions that its broker follows.

    Not verified: threads of a broker with several for each leader, while one of them has a partition; threads that copy
        between log directories; those that have died, which Kafka does not notice.
    """

    ids = ("F5",)
    statement = (
        "partitions(thread) = ∅ after a request ⇒ the thread ends: a fetcher thread that has nothing to fetch ends"
    )
    catches = ("KIP-461",)
    fails_when = "threads without partitions are kept"

    def begin(self) -> None:
        self._ends_at_once = self.start.ends_failed_threads
        self._threads: dict[int, dict[str, int]] = defaultdict(dict)
        """Threads that run, each with its leader, by broker."""
        self._failed: dict[int, dict[TopicPartition, int]] = defaultdict(dict)
        """Failed partitions, each with the leader from which it was fetched, by broker."""
        self._just_failed: dict[int, None] = {}
        """The brokers on which a partition has failed since the last look."""

    def on_started(self, event: FetcherStarted) -> None:
        if event.leader != event.node:
            self._threads[event.node][event.fetcher] = event.leader

    def on_ended(self, event: FetcherStopped) -> None:
        self._threads[event.node].pop(event.fetcher, None)

    def on_crashed(self, event: NodeCrashed) -> None:
        self._threads.pop(event.node, None)
        self._failed.pop(event.node, None)
        self._just_failed.pop(event.node, None)

    def on_failed(self, event: PartitionFailed) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        leader = self.cluster.known_leader(event.node, tp)
        if leader is not None:
            self._failed[event.node][tp] = leader
            self._just_failed[event.node] = None

    def on_not_failed(self, event: BecameLeader | BecameFollower | ReplicaStopped | PartitionFailureCleared) -> None:
        failed = self._failed.get(event.node)
        if failed:
            failed.pop(TopicPartition.of(event.topic, event.partition), None)

    def on_handled(self, event: ControlHandled) -> None:
        if event.error is Errors.NONE and isinstance(event.request, LeaderAndIsrRequest | StopReplicaRequest):
            self._look_at(event, event.node)

    def look(self, moment: Moment) -> None:
        if self._ends_at_once:
            for broker in self._just_failed:
                self._look_at(moment, broker)
        self._just_failed.clear()

    def _look_at(self, event: Event, broker: int) -> None:
        followed, failed = self.cluster.followed.get(broker, {}), list(self._failed.get(broker, {}).values())
        for thread, leader in self._threads.get(broker, {}).items():
            if followed.get(leader, 0) <= failed.count(leader):
                self.violated(event, ThreadGoesOn(broker, thread, leader, leader in failed))
