"""M15: what a controller sends of a partition is what ZooKeeper has, or had, of it."""

from __future__ import annotations

from collections.abc import Iterable

from emulator.protocol.control_requests import ControlQueued
from emulator.protocol.events import ControllerElected
from emulator.protocol.kip_352_draft import DraftPartitionMetadata
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest
from emulator.protocol.types import LEADER_DURING_DELETE, TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest
from emulator.protocol.znodes import LeaderAndIsr
from emulator.trace.events import Step
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.control_facts import (
    LeadershipState,
    SentDead,
    SentMove,
    SentOffline,
    SentUnknown,
    SentUnwritten,
)
from scenarios.observe.past.changes import StateWritten

KEPT = 32
DONE_IN_MEMORY, DONE, BEGINS = "kip-455.B2", "kip-455.B6", "kip-455.U1"
"""The steps in which a controller takes a move for done, writes that to the topic's znode, and begins the next one."""
Sent = LeaderAndIsrPartition | PartitionMetadata


class SentAsWritten(Checker):
    """Each LeaderAndIsr and UpdateMetadata of a controller names leader, leader epoch and ISR of a partition as one
    write to ZooKeeper has left them, the one whose version it names (ControllerBrokerRequestBatch, 0.8.1).

    Verified: each partition of each request, as it is queued, against the last 32 writes of the partition's state.

    Also verified: the live brokers in an UpdateMetadata contain the one that it is for, and none whose end the
        controller has begun to handle; a replica on a broker that is not among them is offline. A LeaderAndIsr names
        the adding and removing replicas that the topic's znode has (KIP-455), until the controller takes the move for
        done in its memory (B2).

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
        self._done: dict[TopicPartition, None] = {}
        """The partitions whose move it takes for done, and has not written so yet."""

    def on_step(self, event: Step) -> None:
        if event.step == DONE_IN_MEMORY:
            self._done[TopicPartition.of(event.topic, event.partition)] = None
        elif event.step in (DONE, BEGINS) and event.edge == "after":
            self._done.pop(TopicPartition.of(event.topic, event.partition), None)

    def on_elected(self, _: ControllerElected) -> None:
        self._done.clear()

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
                if isinstance(request, UpdateMetadataRequest):
                    self._look_at_offline(event, request)
        if isinstance(request, LeaderAndIsrRequest) and self.cluster.reassigning:
            self._look_at_moves(event, request)
        elif isinstance(request, UpdateMetadataRequest):
            self._look_at_living(event, request)

    def _look_at_living(self, event: ControlQueued, request: UpdateMetadataRequest) -> None:
        live, cluster = request.live_brokers, self.cluster
        if event.broker not in live:
            self.violated(event, SentUnknown(event.node, event.broker, live), None, (event.broker,))
        for dead in cluster.known_dead:
            if dead in live and cluster.was_elected_last(event.node):
                self.violated(event, SentDead(event.node, event.broker, dead), None, (dead,))

    def _look_at_offline(self, event: ControlQueued, request: UpdateMetadataRequest) -> None:
        live = request.live_brokers
        for sent in request.partitions:
            if isinstance(sent, DraftPartitionMetadata):
                continue  # its replicas are not those whose brokers are looked at
            for broker in sent.replicas:
                if broker not in live and broker not in sent.offline_replicas:
                    facts = SentOffline(event.node, sent.replicas, live, sent.offline_replicas)
                    self.violated(event, facts, sent.tp, (broker,))
                    return

    def _look_at_moves(self, event: ControlQueued, request: LeaderAndIsrRequest) -> None:
        """The replicas that a move adds and removes, until it is done in the controller's memory (kip-455.B2)."""
        cluster = self.cluster
        for sent in request.partitions:
            if not cluster.is_reassigning(sent.tp) or event.node != cluster.controller:
                continue
            there, said = (cluster.adding(sent.tp), cluster.removing(sent.tp)), (sent.adding, sent.removing)
            if said != there and sent.tp not in self._done:
                self.violated(event, SentMove(event.node, event.broker, said, there), sent.tp, (event.broker,))

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
