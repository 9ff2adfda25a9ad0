"""M15: what a controller sends of a partition is what ZooKeeper has, or had, of it."""

from __future__ import annotations

from collections.abc import Iterable

from emulator.protocol.control_requests import ControlQueued
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest
from emulator.protocol.types import LEADER_DURING_DELETE, TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest
from emulator.protocol.znodes import LeaderAndIsr
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.control_facts import LeadershipState, SentUnwritten
from scenarios.observe.past.changes import StateWritten

KEPT = 32
Sent = LeaderAndIsrPartition | PartitionMetadata


class SentAsWritten(Checker):
    """Each LeaderAndIsr and UpdateMetadata of a controller names leader, leader epoch and ISR of a partition as one
    write to ZooKeeper has left them, the one whose version it names (ControllerBrokerRequestBatch, 0.8.1).

    Verified: each partition of each request, as it is queued, against the last 32 writes of the partition's state.

    A partition of a topic that is being deleted has leader -2 in UpdateMetadata alone (LeaderAndIsr.LeaderDuringDelete,
        0.8.1).

    Not verified: that it is the last write (``metadata_follows``, ``replicas_notified``); the replicas, which a
        controller knows before it writes them (KIP-455, B2).
    """

    ids = ("M15",)
    statement = (
        "sent(p, v) ⇒ (leader, epoch, isr) = Z[p] at v: what a controller sends of a partition is what ZooKeeper has, "
        "or had, of it"
    )
    fails_when = "a controller sends all assigned replicas as the ISR"

    def begin(self) -> None:
        self._written: dict[TopicPartition, dict[int, LeaderAndIsr]] = {}
        self._earlier: dict[TopicPartition, dict[int, LeaderAndIsr]] = {}
        """The writes of a partition of this name that is gone."""
        self._compared: tuple[Sent, ...] | None = None

    def on_state(self, event: StateWritten) -> None:
        if event.state is None:
            return
        if event.before is None:
            self._earlier[event.tp] = self._written.pop(event.tp, {})
        written = self._written.setdefault(event.tp, {})
        written[event.state.zk_version] = event.state
        if len(written) > KEPT:
            del written[next(iter(written))]

    def on_queued(self, event: ControlQueued) -> None:
        request = event.request
        if isinstance(request, LeaderAndIsrRequest | UpdateMetadataRequest):
            partitions: tuple[Sent, ...] = request.partitions
            if partitions is not self._compared:  # the same for all brokers
                self._compared = partitions
                self._compare(event, partitions)

    def _compare(self, event: ControlQueued, partitions: Iterable[Sent]) -> None:
        for sent in partitions:
            if sent.leader == LEADER_DURING_DELETE:
                continue
            had = [
                table[sent.tp][sent.zk_version]
                for table in (self._written, self._earlier)
                if sent.zk_version in table.get(sent.tp, ())
            ]
            said = sent.leader, sent.leader_epoch, tuple(sent.isr)
            if had and all(said != (one.leader, one.leader_epoch, tuple(one.isr)) for one in had):
                was = had[0]
                written = LeadershipState(was.leader, was.leader_epoch, tuple(was.isr))
                facts = SentUnwritten(event.node, event.broker, sent.zk_version, LeadershipState(*said), written)
                self.violated(event, facts, sent.tp)
