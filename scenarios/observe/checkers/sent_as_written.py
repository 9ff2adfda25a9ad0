"""M15: what a controller sends of a partition is what ZooKeeper has, or had, of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from emulator.protocol import znodes
from emulator.protocol.assignments import Replicas
from emulator.protocol.control_requests import ControlChannelClosed, ControlQueued, ReplicasChanged
from emulator.protocol.events import ControllerElected, LogDirFailed, MoveStarted, ReplicaOffline
from emulator.protocol.kip_352_draft import DraftLeaderAndIsrPartition, DraftPartitionMetadata
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest
from emulator.protocol.stop_replica import EPOCH_DURING_DELETE, NO_EPOCH, StopReplicaRequest
from emulator.protocol.types import LEADER_DURING_DELETE, TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest
from emulator.protocol.znodes import LeaderAndIsr
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.checkers.checker import Checker, forget
from scenarios.observe.findings.control_facts import LeadershipState
from scenarios.observe.findings.request_facts import (
    SentDead,
    SentMove,
    SentOffline,
    SentOtherwise,
    SentUnknown,
    SentUnwritten,
)
from scenarios.observe.past.changes import AssignmentWritten, StateWritten
from scenarios.observe.past.cluster_past import broker_fails

KEPT = 32
DONE_IN_MEMORY, DONE, BEGINS = "kip-455.B2", "kip-455.B6", "kip-455.U1"
"""The steps in which a controller takes a move for done, writes that to the topic's znode, and begins the next one."""
SHUTS_DOWN, STARTS = "shutdown.1", "broker-startup.1"
IDS = f"{znodes.BROKER_IDS}/"
NEW = 1
"""The state of a replica that has been added (ReplicaStateMachine)."""
Sent = LeaderAndIsrPartition | PartitionMetadata
Channel = tuple[int, int]
"""A controller and a broker."""


class SentAsWritten(Checker):
    """Each LeaderAndIsr, UpdateMetadata and StopReplica of a controller has in each field what ZooKeeper has, or had:
    of a partition the state as one write has left it, the one whose version it names
    (ControllerBrokerRequestBatch, 0.8.1).

    Verified: each partition of each request, as it is queued, against the last 32 writes of the partition's state:
        leader, leader epoch, controller epoch, ISR, and whether the leader recovers (KIP-704); no later version is
        named than there is. The controller epoch may be that of the sender, which a change of the ISR that has nothing
        to write gives to the state in its memory (ReplicaStateMachine.doRemoveReplicasFromIsr, 1.1 to 3.8). The
        replicas are those of one of the last 32 assignments while no move is in hand (since 2.2: a controller
        of 0.8 appends one in its memory where it brings it online, ReplicaStateMachine.handleStateChange). A replica is
        announced as new while it is new to the controller, or added (KIP-455), or with the first state of its
        partition.

    Also verified: an UpdateMetadata has each partition of the LeaderAndIsr requests since the one before. Each request
        has the id of its controller and the epoch in which that was elected, and the epoch of a
        registration of its broker (KIP-380); the ids of topics that the topics' znodes have (KIP-516). The live brokers
        in an UpdateMetadata contain the one that it is for, each other one that was sent a request since it was
        registered, and none whose end the controller has begun to handle. The offline replicas are those on brokers
        that are not among them, or (since 2.2) shut down, and else only such of brokers with a failed log directory. A
        LeaderAndIsr names the adding and removing replicas that the topic's znode has (KIP-455), until the controller
        takes the move for done in its memory (B2). A StopReplica names a leader epoch that was written, -1 only for a
        partition of which its controller has sent no LeaderAndIsr, and -2 only for a topic that is to be deleted
        (KIP-570).

    A partition of a topic that is being deleted has leader -2 in UpdateMetadata alone (LeaderAndIsr.LeaderDuringDelete,
        0.8.1).

    Not verified: that it is the last write (``metadata_follows``, ``replicas_notified``), nor the last assignment
        (``broker_remembers``); which replicas a failed log directory has taken (``controller_remembers``).
    """

    ids = ("M15",)
    statement = (
        "sent(p, v) ⇒ (leader, epoch, isr) = Z[p] at v: what a controller sends of a partition is what ZooKeeper has, "
        "or had, of it"
    )
    fails_when = "a controller sends all assigned replicas as the ISR"

    def begin(self) -> None:
        self._bounces = self.start.detects_bounces
        self._written: dict[TopicPartition, dict[int, LeaderAndIsr]] = {}
        self._earlier: dict[TopicPartition, dict[int, LeaderAndIsr]] = {}
        """The writes of a partition of this name that is gone."""
        self._compared: tuple[Sent, ...] | None = None
        self._done: dict[TopicPartition, None] = {}
        """The partitions whose move it takes for done, and has not written so yet."""
        self._replicas: dict[TopicPartition, dict[Replicas, None]] = {}
        """The last assignments, and the targets of moves."""
        self._withdrawn = False
        """Whether an operator has deleted a request for moves: the controller goes on with those that it has read."""
        self._epochs: dict[int, int] = {}
        """By broker, the epoch in which it was elected controller last."""
        self._registered: dict[int, dict[int, None]] = {}
        """By broker, the epochs of its registrations."""
        self._topic_ids: dict[str, dict[str, None]] = {}
        self._sent_us: dict[Channel, int] = {}
        """When a request was queued last, by channel that is open."""
        self._leaving: dict[Channel, None] = {}
        """By controller, the brokers that it takes for shutting down."""
        self._lacked_dirs: dict[int, None] = {}
        """The brokers with a failed log directory, and those that the controller may still take for such."""
        self._new: dict[Channel, dict[TopicPartition, None]] = {}
        """The replicas that are new."""
        self._announced: dict[int, dict[TopicPartition, None]] = {}
        """By controller, the partitions of which it has sent a LeaderAndIsr in its term."""
        self._untold: dict[int, dict[TopicPartition, None]] = {}
        """By controller, the partitions of LeaderAndIsr requests that no UpdateMetadata has named since."""

    # -- what is known ------------------------------------------------------------------------------------------------

    def on_step(self, event: Step) -> None:
        if event.step == DONE_IN_MEMORY:
            self._done[TopicPartition.of(event.topic, event.partition)] = None
        elif event.step in (DONE, BEGINS) and event.edge == "after":
            self._done.pop(TopicPartition.of(event.topic, event.partition), None)
        elif event.step == SHUTS_DOWN and event.edge == "before":
            self._leaving[event.node, event.broker] = None
        elif event.step == STARTS and event.edge == "before" and not self.cluster.lacks_dirs(event.broker):
            self._lacked_dirs.pop(event.broker, None)
        elif broker_fails(event):
            self._leaving.pop((event.node, event.broker), None)

    def on_elected(self, event: ControllerElected) -> None:
        self._epochs[event.node] = event.controller_epoch
        self._done.clear()
        self._leaving = {channel: None for channel in self._leaving if channel[0] != event.node}
        self._lacked_dirs = {broker: None for broker in self._lacked_dirs if self.cluster.lacks_dirs(broker)}
        self._announced[event.node] = {}
        forget(event.node, self._new)
        self._untold.pop(event.node, None)

    def on_dir_failed(self, event: LogDirFailed | ReplicaOffline) -> None:
        self._lacked_dirs[event.node] = None

    def on_replicas(self, event: ReplicasChanged) -> None:
        if event.after == NEW or NEW in event.before:
            new = self._new.setdefault((event.node, event.broker), {})
            for tp in event.partitions:
                if event.after == NEW:
                    new[tp] = None
                else:
                    new.pop(tp, None)

    def on_written(self, event: ZkWritten) -> None:
        path = event.path
        if path.startswith(IDS):
            if event.op == "create":
                self._registered.setdefault(int(path[len(IDS) :]), {})[event.zxid] = None
        elif path == znodes.REASSIGN_PARTITIONS and event.op == "delete":
            self._withdrawn |= event.client != self.cluster.controller
        elif znodes.TOPIC_ID in event.data:
            self._topic_ids.setdefault(path.rpartition("/")[2], {})[znodes.decode_topic_id(event.data)] = None

    def on_move(self, event: MoveStarted) -> None:
        self._knows_replicas(TopicPartition.of(event.topic, event.partition), event.target)

    def on_assigned(self, event: AssignmentWritten) -> None:
        self._knows_replicas(event.tp, event.replicas)

    def _knows_replicas(self, tp: TopicPartition, replicas: Replicas) -> None:
        known = self._replicas.setdefault(tp, {})
        known.pop(replicas, None)
        known[replicas] = None
        if len(known) > KEPT:
            del known[next(iter(known))]

    def on_state(self, event: StateWritten) -> None:
        if event.state is None:
            return
        if event.before is None:
            self._earlier[event.tp] = self._written.pop(event.tp, {})
        written = self._written.setdefault(event.tp, {})
        written[event.state.zk_version] = event.state
        if len(written) > KEPT:
            del written[next(iter(written))]

    def on_closed(self, event: ControlChannelClosed) -> None:
        self._sent_us.pop((event.node, event.broker), None)

    # -- requests -----------------------------------------------------------------------------------------------------

    def on_queued(self, event: ControlQueued) -> None:
        request = event.request
        registered = self.cluster.registrations.get(event.broker)
        if registered is None or request.broker_epoch < 0 or request.broker_epoch >= registered.epoch:
            self._sent_us[event.node, event.broker] = event.t_us  # else it goes to the process before
        self._look_at_epochs(event)
        if isinstance(request, StopReplicaRequest):
            self._look_at_stops(event, request)
            return
        if not isinstance(request, LeaderAndIsrRequest | UpdateMetadataRequest):
            return
        partitions: tuple[Sent, ...] = request.partitions
        if partitions is not self._compared:  # the same for all brokers
            self._compared = partitions
            self._compare(event, partitions)
            self._look_at_ids(event, request.topic_ids, partitions)
            if isinstance(request, UpdateMetadataRequest):
                self._look_at_offline(event, request)
                self._look_whether_all_hear(event, request)
        if isinstance(request, UpdateMetadataRequest):
            self._look_at_living(event, request)
        else:
            named = dict.fromkeys(sent.tp for sent in request.partitions)
            self._announced.setdefault(event.node, {}).update(named)
            self._untold.setdefault(event.node, {}).update(named)
            self._look_at_new(event, request)
            if self.cluster.reassigning:
                self._look_at_moves(event, request)

    def _otherwise(
        self, event: ControlQueued, field: str, said: object, wanted: object, tp: TopicPartition | None = None
    ) -> None:
        facts = SentOtherwise(event.node, event.broker, event.request.api.name, field, str(said), str(wanted))
        self.violated(event, facts, tp, (event.broker,))

    def _look_at_epochs(self, event: ControlQueued) -> None:
        """The controller, and for which registration of the broker the request is."""
        request, epoch = event.request, self._epochs.get(event.node)
        if request.controller_id != event.node:
            self._otherwise(event, "controller_id", request.controller_id, event.node)
        if epoch is not None and request.controller_epoch != epoch:
            self._otherwise(event, "controller_epoch", request.controller_epoch, epoch)
        registered = self._registered.get(event.broker)
        if self._bounces and registered and request.broker_epoch not in registered:
            self._otherwise(event, "broker_epoch", request.broker_epoch, list(registered)[-1])

    def _look_at_ids(self, event: ControlQueued, ids: Mapping[str, str], partitions: Iterable[Sent]) -> None:
        for topic in dict.fromkeys(sent.tp.topic for sent in partitions) if self._topic_ids else ():
            written = self._topic_ids.get(topic)
            if written and ids.get(topic) not in written:
                self._otherwise(event, f"topic_ids of {topic}", ids.get(topic, "nothing"), list(written)[-1])

    def _look_at_stops(self, event: ControlQueued, request: StopReplicaRequest) -> None:
        if event.node != self.cluster.controller:
            return
        for tp, epoch in zip(request.partitions, request.leader_epochs, strict=False):
            written = self._written.get(tp, {})
            epochs = dict.fromkeys(one.leader_epoch for one in written.values())
            if epoch == EPOCH_DURING_DELETE:
                fits = self.cluster.is_deleting(tp.topic) or not self.cluster.assignment(tp)
            elif epoch == NO_EPOCH:
                fits = tp not in self._announced.get(event.node, ())
            else:
                fits = epoch in epochs
            if not fits:
                self._otherwise(event, "leader_epochs", epoch, list(epochs)[-1] if epochs else NO_EPOCH, tp)

    def _look_at_living(self, event: ControlQueued, request: UpdateMetadataRequest) -> None:
        live, cluster = request.live_brokers, self.cluster
        if event.broker not in live:
            self.violated(event, SentUnknown(event.node, event.broker, live), None, (event.broker,))
        for dead in cluster.known_dead:
            if dead in live and cluster.was_elected_last(event.node):
                self.violated(event, SentDead(event.node, event.broker, dead), None, (dead,))
        for broker, found in cluster.registrations.items():
            known = self._sent_us.get((event.node, broker), -1) >= found.t_us
            if broker not in live and broker != event.broker and known:
                self._otherwise(event, "live_brokers", list(live), f"also broker {broker}")

    def _look_at_offline(self, event: ControlQueued, request: UpdateMetadataRequest) -> None:
        live = request.live_brokers
        exactly = self._bounces  # releases before 2.2 miss brokers that come back (KAFKA-1120)
        for sent in request.partitions:
            if isinstance(sent, DraftPartitionMetadata):
                continue  # its replicas are not those whose brokers are looked at
            said = sent.offline_replicas
            for broker in sent.replicas:
                offline = broker not in live or (exactly and (event.node, broker) in self._leaving)
                wrongly = exactly and broker in said and not offline and broker not in self._lacked_dirs
                if (offline and broker not in said) or wrongly:
                    facts = SentOffline(event.node, sent.replicas, live, said)
                    self.violated(event, facts, sent.tp, (broker,))
                    return

    def _look_whether_all_hear(self, event: ControlQueued, request: UpdateMetadataRequest) -> None:
        untold = self._untold.pop(event.node, {})
        for sent in request.partitions if untold else ():
            untold.pop(sent.tp, None)
        for tp in untold:
            self._otherwise(event, "leader", "none", "in the LeaderAndIsr before", tp)

    def _look_at_new(self, event: ControlQueued, request: LeaderAndIsrRequest) -> None:
        for sent in request.partitions:
            comes = event.broker in sent.adding or sent.tp in self._new.get((event.node, event.broker), ())
            if sent.is_new and sent.zk_version and not comes:
                self._otherwise(event, "is_new", sent.is_new, "False", sent.tp)

    def _look_at_moves(self, event: ControlQueued, request: LeaderAndIsrRequest) -> None:
        """The replicas that a move adds and removes, until it is done in the controller's memory (kip-455.B2)."""
        cluster = self.cluster
        for sent in request.partitions:
            if not cluster.is_reassigning(sent.tp) or event.node != cluster.controller:
                continue
            there, said = (cluster.adding(sent.tp), cluster.removing(sent.tp)), (sent.adding, sent.removing)
            if said != there and sent.tp not in self._done:
                self.violated(event, SentMove(event.node, event.broker, said, there), sent.tp, (event.broker,))

    # -- states -------------------------------------------------------------------------------------------------------

    def _compare(self, event: ControlQueued, partitions: Iterable[Sent]) -> None:
        for sent in partitions:
            known = self._replicas.get(sent.tp)
            if self._bounces and known and sent.replicas not in known and not self._changes(sent):
                self._otherwise(event, "replicas", list(sent.replicas), list(list(known)[-1]), sent.tp)
            if sent.leader != LEADER_DURING_DELETE:
                self._compare_state(event, sent)

    def _changes(self, sent: Sent) -> bool:
        """Whether the replicas may be some that no znode has: of a move in hand, or of KIP-352's draft."""
        cluster, tp = self.cluster, sent.tp
        moves = cluster.open_move(tp) is not None or cluster.is_reassigning(tp) or tp in cluster.requested_moves()
        return moves or self._withdrawn or isinstance(sent, DraftPartitionMetadata | DraftLeaderAndIsrPartition)

    def _compare_state(self, event: ControlQueued, sent: Sent) -> None:
        had = [
            table[sent.tp][sent.zk_version]
            for table in (self._written, self._earlier)
            if sent.zk_version in table.get(sent.tp, ())
        ]
        if not had:
            newest = max(self._written.get(sent.tp, ()), default=None)
            if newest is not None and sent.zk_version > newest and event.node == self.cluster.controller:
                self._otherwise(event, "zk_version", sent.zk_version, newest, sent.tp)
            return
        said = sent.leader, sent.leader_epoch, tuple(sent.isr)
        same = [one for one in had if said == (one.leader, one.leader_epoch, tuple(one.isr))]
        if not same:
            was = had[0]
            written = LeadershipState(was.leader, was.leader_epoch, tuple(was.isr))
            facts = SentUnwritten(event.node, event.broker, sent.zk_version, LeadershipState(*said), written)
            self.violated(event, facts, sent.tp)
        elif sent.controller_epoch not in (*(one.controller_epoch for one in same), self._epochs.get(event.node)):
            epoch = same[0].controller_epoch
            self._otherwise(event, "controller_epoch of the state", sent.controller_epoch, epoch, sent.tp)
        elif isinstance(sent, LeaderAndIsrPartition) and all(sent.recovering is not one.recovering for one in same):
            self._otherwise(event, "recovering", sent.recovering, same[0].recovering, sent.tp)
