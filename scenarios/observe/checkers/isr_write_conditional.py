"""E5: a leader's ISR is what its own conditional write has put into ZooKeeper."""

from __future__ import annotations

from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    IsrChanged,
    IsrProposed,
    IsrUpdateFailed,
    NodeCrashed,
    ReplicaOffline,
    ReplicaStopped,
)
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.epoch_facts import IsrEndsUnasked, IsrNotWritten, WrittenStateFact
from scenarios.observe.past.changes import StateWritten

OfReplica = BecameLeader | BecameFollower | ReplicaOffline | ReplicaStopped | IsrChanged | IsrUpdateFailed


class IsrWriteConditional(Checker):
    """A leader adopts a new ISR only as the state znode had it, at the version that the write created.

    Verified: each change of its ISR that a leader makes itself: at the version that the leader continues with, the
        znode had this ISR, this leader and this leader epoch. Each change, and each that fails, was proposed under the
        role that the broker has: what was on its way when a LeaderAndIsr came is over.

    Not verified: that a write that fails leaves the leader's memory as it was (no event shows it); the ISR that a
        LeaderAndIsr brings; that what is proposed has an outcome.
    """

    ids = ("E5",)
    statement = (
        "isr_b changes only with a successful conditional write at zkv: "
        "a leader's ISR is what it has written over the version it knew"
    )
    catches = ("KAFKA-2729",)
    fails_when = "a leader does not wait for ZooKeeper"

    def begin(self) -> None:
        self._written: dict[int, dict[TopicPartition, LeaderAndIsr]] = {}
        """States by version, and not by partition first: there are few versions and many partitions."""
        self._proposed: dict[int, dict[TopicPartition, None]] = {}
        """Partitions of which a broker has proposed a change, and knows no outcome yet, by broker."""

    def on_state(self, event: StateWritten) -> None:
        if event.state is None:
            for written in self._written.values():
                written.pop(event.tp, None)
        else:
            self._written.setdefault(event.state.zk_version, {})[event.tp] = event.state

    def on_proposed(self, event: IsrProposed) -> None:
        self._proposed.setdefault(event.node, {})[TopicPartition.of(event.topic, event.partition)] = None

    def on_role(self, event: BecameLeader | BecameFollower | ReplicaOffline) -> None:
        self._end(event)

    def on_stopped(self, event: ReplicaStopped) -> None:
        if event.deleted:
            self._end(event)

    def on_crashed(self, event: NodeCrashed) -> None:
        self._proposed.pop(event.node, None)

    def _end(self, event: OfReplica) -> bool:
        """End the proposal that is open in the partition. Returns whether there was one."""
        tp, of_broker = TopicPartition.of(event.topic, event.partition), self._proposed.get(event.node, {})
        if tp not in of_broker:
            return False
        del of_broker[tp]
        return True

    def on_failed(self, event: IsrUpdateFailed) -> None:
        self._check_proposed(event)

    def _check_proposed(self, event: IsrChanged | IsrUpdateFailed) -> None:
        if not self._end(event):
            facts = IsrEndsUnasked(event.node, type(event) is IsrUpdateFailed, event.leader_epoch)
            self.violated(event, facts, TopicPartition.of(event.topic, event.partition))

    def on_changed(self, event: IsrChanged) -> None:
        self._check_proposed(event)
        tp = TopicPartition(event.topic, event.partition)
        state = self._written.get(event.zk_version, {}).get(tp)
        written = None if state is None else WrittenStateFact(state.leader, state.leader_epoch, state.isr)
        if written == (event.node, event.leader_epoch, event.isr):
            return
        self.violated(event, IsrNotWritten(event.node, event.leader_epoch, event.isr, event.zk_version, written), tp)
