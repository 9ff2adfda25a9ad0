"""The controller of one broker process (KafkaController): idle until it is elected."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from attrs import define, field

from controller import memories
from controller.channel_manager import ControllerChannelManager
from controller.context import NO_CONTROLLER, ControllerContext
from controller.errors import ControllerError, ControllerMoved, IllegalState
from controller.event_manager import ControllerEventManager
from controller.events import (
    EVENTS,
    AllocateProducerIds,
    AlterIsr,
    AlterReassignments,
    ApiReplicaLeaderElection,
    AutoPreferredReplicaLeaderElection,
    BrokerChange,
    ControlledShutdown,
    ControllerChange,
    ControllerEpochChange,
    Event,
    Expire,
    IsrChangeNotification,
    Latch,
    LeaderAndIsrResponseReceived,
    ListReassignments,
    LogDirEventNotification,
    NewSession,
    PartitionModifications,
    ReassignmentChange,
    ReassignmentIsrChange,
    Reelect,
    RegisterBrokerAndReelect,
    ReplicaLeaderElection,
    RequestReceived,
    Startup,
    TopicChange,
    TopicDeletion,
    TopicDeletionStopReplicaResponseReceived,
    TopicUncleanLeaderElectionEnable,
    UncleanLeaderElectionEnable,
)
from controller.metrics import ControllerMetrics
from controller.operations.alter_isr import AlterIsrs
from controller.operations.brokers import BrokerChanges
from controller.operations.notifications import Notifications
from controller.operations.preferred import PreferredElections
from controller.operations.producer_ids import ProducerIdBlocks
from controller.operations.rebalance import AutoLeaderRebalance
from controller.operations.shutdown import ControlledShutdowns
from controller.operations.topics import TopicChanges
from controller.policies import ControllerPolicies
from controller.reassignment.admin_znode import AdminZnode
from controller.reassignment.by_api import ByApi
from controller.reassignment.by_znode import ByZnode
from controller.reassignment.protocol import RequestedByApi, RequestedByZnode
from controller.reassignment.reassignments import Reassignments
from controller.reassignment.steps_work import StepsWork
from controller.request_batch import ControllerBrokerRequestBatch
from controller.state_machines.leader_elections import LeaderElections
from controller.state_machines.partitions import PartitionStateMachine
from controller.state_machines.replicas import ReplicaStateMachine
from controller.steps import Steps
from controller.topic_deletion import TopicDeletionManager
from controller.watches import Watches
from controller.zk_client import ANY_VERSION, KafkaZkClient, unclean_in
from emulator.gates import Gates
from emulator.kernel import Signal
from emulator.logger import get_logger
from emulator.network import Channel, Network
from emulator.nodes import Process
from emulator.protocol import znodes
from emulator.protocol.events import ControllerElected, ControllerResigned
from emulator.protocol.leader_and_isr import LeaderAndIsrResponse
from emulator.protocol.shown import Deviated
from emulator.protocol.stop_replica import StopReplicaResponse
from emulator.zookeeper import ZkClient, ZkCode, ZkError
from emulator.zookeeper.messages import Delete, EventType, GetData, WatchEvent

log = get_logger("controller")

Serve = Callable[[type, Callable[[Any, Channel], object]], None]


@define(eq=False, repr=False)
class Controller:
    """The controller of one broker. Every broker runs one; at most one at a time is active, each time with a controller
    epoch of its own.

    This class elects, takes over, resigns, and gives each event to the part that processes it. The parts are created
    here and given what they need; none of them knows the controller.

    Attributes:
        register_broker: registers the broker in /brokers/ids again after its session has expired; returns its new
            broker epoch.
        serve: makes the process's listener give every request of a class to a handler.
        active_controller: the broker that this one believes to be the controller, -1 for none.
    """

    process: Process
    network: Network
    zk: ZkClient
    gates: Gates
    policies: ControllerPolicies
    register_broker: Callable[[], Awaitable[int]]
    serve: Serve
    active_controller: int = NO_CONTROLLER
    context: ControllerContext = field(factory=ControllerContext)
    zk_client: KafkaZkClient = field(init=False)
    event_manager: ControllerEventManager = field(init=False)
    watches: Watches = field(init=False)
    channels: ControllerChannelManager = field(init=False)
    batch: ControllerBrokerRequestBatch = field(init=False)
    elections: LeaderElections = field(init=False)
    partitions: PartitionStateMachine = field(init=False)
    replicas: ReplicaStateMachine = field(init=False)
    deletion: TopicDeletionManager = field(init=False)
    reassignments: Reassignments[Any] = field(init=False)
    preferred: PreferredElections = field(init=False)
    rebalance: AutoLeaderRebalance = field(init=False)
    brokers: BrokerChanges = field(init=False)
    topics: TopicChanges = field(init=False)
    shutdowns: ControlledShutdowns = field(init=False)
    notifications: Notifications = field(init=False)
    alter_isrs: AlterIsrs = field(init=False)
    producer_ids: ProducerIdBlocks = field(init=False)
    metrics: ControllerMetrics = field(init=False)
    _step: Steps = field(init=False)

    def __attrs_post_init__(self) -> None:
        process, context, policies = self.process, self.context, self.policies
        self._step = Steps(self.gates, process)
        self.zk_client = KafkaZkClient(
            self.zk, process, context, policies.fencing, policies.broker_epochs,
            self._new_topic_id, policies.topic_version, policies.collections,
            never=Signal(process.world, "a new session, which waits") if policies.expiry_waits_for_event else None,
        )  # fmt: skip
        self.event_manager = ControllerEventManager(process, self._process_or_fail)
        self.watches = Watches(self.zk, self.event_manager)
        self.channels = ControllerChannelManager(
            process, self.network, policies.request_timeout_us, policies.retry_pause_us, policies.retries_requests
        )
        self.batch = ControllerBrokerRequestBatch(
            self.id, context, self.channels, self._answered, self._stopped, policies.sends_reassigning,
            policies.requests, policies.stops_name_epochs, policies.groups_stops,
            policies.metadata_without_partitions_holds_all, policies.counts_kept_as_deleted,
            policies.names_all_deleting, policies.metadata_needs_partitions,
        )  # fmt: skip
        self.elections = LeaderElections(
            process, context, self.zk_client, self.batch, policies.remembers_bumps, policies.unclean_leader_election,
            policies.marks_recovering,
        )  # fmt: skip
        self.partitions = PartitionStateMachine(context, self.elections, self.batch, policies.selectors)
        self.replicas = ReplicaStateMachine(
            context, self.zk_client, self.elections, self.batch, policies.replicas, policies.collections
        )
        self._create_operations()
        self.metrics = ControllerMetrics(
            process, context, policies.is_offline, keeps_offline=policies.resigned_shows_offline
        )
        for request, event in EVENTS.items():
            self.serve(request, partial(self._received, event))

    def _create_operations(self) -> None:
        context, zk_client, watches, batch = self.context, self.zk_client, self.watches, self.batch
        partitions, replicas, policies, step = self.partitions, self.replicas, self.policies, self._step
        self.deletion = TopicDeletionManager(
            context, zk_client, watches, batch, partitions, replicas, step,
            known=policies.replicas.know_topic_deletion,
            enabled=policies.delete_topics,
            keeps_leaders=policies.keeps_deleted_leaders,
            discounts_queued_again=policies.discounts_queued_again,
        )  # fmt: skip
        self.reassignments = self._create_reassignments()
        self.preferred = PreferredElections(
            context,
            zk_client,
            watches,
            partitions,
            step,
            policies.elects_preferred_again,
            policies.refuses_needless_elections,
        )
        self.rebalance = AutoLeaderRebalance(
            self.process, policies.auto_rebalance, context, zk_client, self.event_manager, self.preferred
        )
        self.brokers = BrokerChanges(
            context, zk_client, self.channels, batch, partitions, replicas, self.reassignments, self.deletion,
            policies.announces_brokers, policies.names_deleting_at_start, policies.finds_brokers_twice, step,
            policies.skips_needless_metadata,
        )  # fmt: skip
        self.topics = TopicChanges(context, zk_client, watches, partitions, replicas, policies.restores_deleting, step)
        self.shutdowns = ControlledShutdowns(
            context, batch, partitions, replicas, self.policies.shuts_down_together, step
        )
        self.notifications = Notifications(context, zk_client, batch, replicas)
        self.alter_isrs = AlterIsrs(
            context, zk_client, batch, self.reassignments, policies.fences_isrs, policies.refuses_dead_in_isr,
            policies.refuses_isrs_singly,
        )  # fmt: skip
        self.producer_ids = ProducerIdBlocks(context, zk_client)

    def _create_reassignments(self) -> Reassignments[Any]:
        protocol, context, zk_client, watches = self.policies.reassignment, self.context, self.zk_client, self.watches
        admin_znode = AdminZnode(
            self.process, context, zk_client, watches, self._follows_znode, self.policies.refuses_moves_together
        )
        work = StepsWork(
            context, zk_client, watches, self.batch, self.elections, self.partitions, self.replicas, admin_znode,
            self._step,
        )  # fmt: skip
        if isinstance(protocol, RequestedByApi):
            return ByApi(
                protocol, work, context, zk_client, watches, admin_znode, self.deletion, self.policies.collections
            )
        assert isinstance(protocol, RequestedByZnode), f"how is {protocol.procedure.name} asked for?"
        return ByZnode(
            protocol, work, context, zk_client, watches, admin_znode, self.deletion,
            self.policies.takes_up_moves_together,
        )  # fmt: skip

    @property
    def _follows_znode(self) -> bool:
        protocol = self.policies.reassignment
        return isinstance(protocol, RequestedByZnode) and protocol.follows_znode

    @property
    def id(self) -> int:
        return self.process.node.id

    @property
    def is_active(self) -> bool:
        return self.active_controller == self.id

    @property
    def deletes_topics(self) -> bool:
        """Whether topics can be deleted (delete.topic.enable)."""
        return self.policies.delete_topics

    def is_deleting(self, topic: str) -> bool:
        """Whether a topic is queued for deletion, as far as this controller knows."""
        return self.context.is_deleting(topic)

    def topic_of(self, topic_id: str) -> str:
        """The topic with an id (KIP-516, 2.8), as far as this controller knows; "" where there is none."""
        return next((topic for topic, known in self.context.topic_ids.items() if known == topic_id), "")

    @property
    def epoch(self) -> int:
        """The controller epoch, 0 while this controller is not active."""
        return self.context.epoch

    def start(self) -> None:
        """Compete to become the controller. The broker is registered; this object handles the session's expiry."""
        self.zk.on_node(znodes.CONTROLLER, self._controller_znode_changed)
        self.zk.on_expired = self._expired
        if self.policies.follows_controller_epoch:
            self.zk.on_node(znodes.CONTROLLER_EPOCH, lambda _: self.event_manager.put(ControllerEpochChange()))
            self.event_manager.put(ControllerEpochChange())
        self.event_manager.start()
        self.event_manager.put(Startup())

    def hold(self) -> Callable[[], object]:
        """Keep the event thread from events that are queued after this call. Returns a function that releases it."""
        latch = Latch(Signal(self.process.world, "the release of the controller's event thread"))
        self.event_manager.put(latch)
        return latch.released.set

    def configured(self, entity: str, config: Mapping[str, str]) -> None:
        """Take over changed settings of ``entity`` (``topics/T`` or ``brokers/<default>``)."""
        if entity == znodes.ALL_BROKERS:
            before = self.elections.unclean
            self.elections.unclean = unclean_in(config, self.policies.unclean_leader_election)
            if self.elections.unclean and not before and self.policies.follows_unclean_default:
                self.event_manager.put(UncleanLeaderElectionEnable())
        elif unclean_in(config, False) and self.policies.follows_unclean_topics:
            # As in Kafka, even if another of the topic's settings was changed.
            self.event_manager.put(TopicUncleanLeaderElectionEnable(entity.removeprefix("topics/")))

    # -- what puts events ---------------------------------------------------------------------------------------------

    def _controller_znode_changed(self, watch: WatchEvent) -> None:
        self.event_manager.put(Reelect() if watch.type is EventType.NODE_DELETED else ControllerChange())

    def _received(self, event: type[RequestReceived[Any]], request: Any, channel: Channel) -> None:
        self.event_manager.put(event(request, channel))

    def _answered(self, broker: int, response: LeaderAndIsrResponse) -> None:
        self.event_manager.put(LeaderAndIsrResponseReceived(broker, response))

    def _stopped(self, broker: int, response: StopReplicaResponse) -> None:
        """Pass a response on to topic deletion, which alone needs it: a move does not wait for it."""
        begun = self.context.deletions.begun
        outcomes = tuple((tp, error) for tp, error in response.partitions if tp.topic in begun)
        if outcomes:
            self.event_manager.put(TopicDeletionStopReplicaResponseReceived(broker, response.error, outcomes))

    def _expired(self) -> None:
        """Drop the queued events of the lost session, refusing the requests among them.

        An AlterIsr and an AllocateProducerIds go unanswered, and before KAFKA-10193 so do requests about reassignments.
        """
        if self.policies.sessions_in_turn:
            self.process.spawn(self._reopen, name="new session")
            return
        unanswered: tuple[type, ...] = (AlterIsr, AllocateProducerIds)
        if not self.policies.answers_preempted:
            unanswered = (*unanswered, AlterReassignments, ListReassignments)
        for dropped in self.event_manager.clear_and_put(Expire()):
            if isinstance(dropped, RequestReceived) and not isinstance(dropped, unanswered):
                dropped.refuse()

    async def _reopen(self) -> None:
        await self.zk.reopen()
        self.event_manager.put(NewSession())

    # -- events -------------------------------------------------------------------------------------------------------

    async def _process_or_fail(self, event: Event) -> None:
        """Process one event. The errors that Kafka expects are logged, and the work is lost; others end the run."""
        try:
            try:
                await self._process(event)
            except ControllerMoved as error:
                log.info("controller moved", node=self.id, reason=str(error))
                await self._maybe_resign()
            except IllegalState as error:
                log.error("illegal state", node=self.id, reason=str(error))
                self.batch.clear()
                await self.trigger_controller_move()
        except (ControllerError, ZkError) as error:
            log.error("event failed", node=self.id, what=type(event).__name__, reason=str(error))
        self.metrics.show(active=self.is_active)

    async def _process(self, event: Event) -> None:
        match event:
            case Startup():
                await self.zk_client.exists(znodes.CONTROLLER)
                await self._elect()
            case ControllerChange():
                await self._maybe_resign()
                if self.policies.elects_where_gone and self.active_controller == NO_CONTROLLER:
                    await self._elect()
            case Reelect():
                await self._maybe_resign()
                await self._elect()
            case Expire():
                await self._process_expire()
            case RegisterBrokerAndReelect():
                await self._process_register_broker_and_reelect()
            case NewSession():
                self.active_controller = NO_CONTROLLER
                self._on_controller_resignation()
                await self._process_register_broker_and_reelect()
            case ControllerEpochChange():
                await self._read_controller_epoch()
            case Latch(released):
                await released.wait()
            case _ if self.is_active or self._acts_although_replaced:
                await self._process_as_active(event)
            case RequestReceived():
                event.refuse()

    @property
    def _acts_although_replaced(self) -> bool:
        policies, context = self.policies, self.context
        after = policies.acts_after_resigning and bool(context.assignments)
        return after or (policies.follows_controller_epoch and context.epoch > 0)

    async def _read_controller_epoch(self) -> None:
        """Take over the epoch that ZooKeeper has (ControllerEpochListener, 0.8.1)."""
        await self.zk_client.exists(znodes.CONTROLLER_EPOCH)
        response = await self.zk_client.ask_one(GetData(znodes.CONTROLLER_EPOCH))
        if response.stat is not None and self.context.epoch:
            self.context.epoch, self.context.epoch_zk_version = int(response.data), response.stat.version

    async def _process_as_active(self, event: Event) -> None:
        match event:
            case BrokerChange():
                await self.brokers.process_broker_change()
            case LeaderAndIsrResponseReceived(broker, response):
                await self.brokers.process_leader_and_isr_response(broker, response)
            case TopicChange():
                await self.topics.process_topic_change()
            case PartitionModifications(topic):
                await self.topics.process_partition_modifications(topic)
            case TopicDeletion():
                await self.deletion.znode_changed()
            case TopicDeletionStopReplicaResponseReceived(broker, error, partitions):
                await self.deletion.process_stop_replica_response(broker, error, partitions)
            case IsrChangeNotification():
                await self.notifications.process_isr_changes()
            case LogDirEventNotification():
                await self.notifications.process_log_dir_events()
            case AlterIsr():
                await self.alter_isrs.process(event)
            case AllocateProducerIds():
                await self.producer_ids.process(event)
            case ControlledShutdown():
                await self.shutdowns.process(event)
            case _:
                await self._process_elections_and_reassignments(event)

    async def _process_elections_and_reassignments(self, event: Event) -> None:
        match event:
            case ReplicaLeaderElection():
                await self.preferred.znode_changed()
            case ApiReplicaLeaderElection():
                event.answer(await self.preferred.answer(event.request))
            case AutoPreferredReplicaLeaderElection():
                await self.rebalance.check()
                memories.show(self, self.process, "looked")
            case UncleanLeaderElectionEnable():
                await self.partitions.trigger_online_state_change()
            case TopicUncleanLeaderElectionEnable(topic):
                await self.partitions.trigger_online_state_change(topic)
            case ReassignmentChange():
                await self.reassignments.znode_changed()
            case ReassignmentIsrChange(tp):
                await self.reassignments.isr_changed(tp)
            case AlterReassignments():
                event.answer(await self.reassignments.alter(event.request))
            case ListReassignments():
                event.answer(self.reassignments.listed(event.request))
            case _:
                raise AssertionError(f"no part of the controller processes {type(event).__name__}")

    async def _process_expire(self) -> None:
        self.active_controller = NO_CONTROLLER
        self._on_controller_resignation()
        cause = self.process.node.trace.cause
        await self.zk.reopen()
        self.process.node.trace.cause = cause
        self.event_manager.put(RegisterBrokerAndReelect())

    async def _process_register_broker_and_reelect(self) -> None:
        cause = self.process.node.trace.cause
        await self.register_broker()
        self.process.node.trace.cause = cause
        await self._maybe_resign()
        await self._elect()

    # -- election (kafka-behaviour §3) --------------------------------------------------------------------------------

    async def _elect(self) -> None:
        """Become the controller if there is none."""
        self.active_controller = await self.zk_client.controller()
        if self.active_controller != NO_CONTROLLER or await self._is_reserved_for_another():
            return
        fencing = self.policies.fencing
        try:
            registered = await fencing.register(self.zk_client, self.process)
            self.context.epoch, self.context.epoch_zk_version = registered
            self.active_controller = self.id
            self.process.anchor(ControllerElected, self.id, self.epoch)
            self.metrics.show_active(active=True)
            await self._on_controller_failover()
        except ControllerMoved as error:
            log.info("not elected", node=self.id, reason=str(error))
            await self._maybe_resign()
        except (ControllerError, ZkError) as error:
            log.error("failover failed", node=self.id, reason=str(error))
            await self.trigger_controller_move()

    async def _is_reserved_for_another(self) -> bool:
        """Whether this is the cluster's first election, and the policies reserve that for another broker."""
        if self.policies.pinned in (None, self.id):
            return False
        response = await self.zk_client.ask_one(GetData(znodes.CONTROLLER_EPOCH))
        return response.error is not ZkCode.OK or int(response.data) == 0

    async def _maybe_resign(self) -> None:
        """Read which broker is the controller, which arms the watch again; resign if it is another one."""
        was_active = self.is_active
        await self.zk_client.exists(znodes.CONTROLLER)
        self.active_controller = await self.zk_client.controller()
        if was_active and not self.is_active and not self.policies.follows_controller_epoch:
            self._on_controller_resignation()

    async def trigger_controller_move(self) -> None:
        """Resign and delete /controller, so that a broker is elected, possibly this one again."""
        fencing = self.policies.fencing
        if fencing.looks_before_giving_up:
            self.active_controller = await self.zk_client.controller()
            if not self.is_active:
                self._show_term_kept()
                return
        delete = fencing.write(Delete(znodes.CONTROLLER, ANY_VERSION), self.context.epoch_zk_version)
        self.active_controller = NO_CONTROLLER
        self._on_controller_resignation()
        await self.zk_client.ask_one(delete)

    def _show_term_kept(self) -> None:
        process = self.process
        process.mark(Deviated, process.node.id, "KafkaController.triggerControllerMove", "", -1, process.node.id)

    def _on_controller_resignation(self) -> None:
        """Forget everything, as the broker is not the controller any more. Queued requests are dropped; those in flight
        are not."""
        if not self.policies.keeps_watches:
            self.watches.clear()
        self.rebalance.stop()
        self.channels.clear()
        self.batch.clear()
        if self.epoch:
            self.process.anchor(ControllerResigned, self.id, self.epoch)
        unfinished = {} if self.policies.forgets_moves else self.context.reassignments
        if not self.policies.acts_after_resigning:
            self.context.reset()
        self.context.epoch = 0
        self.context.reassignments.update(unfinished)
        self.metrics.show_active(active=self.is_active)
        memories.show(self, self.process, "resigned")

    # -- failover -----------------------------------------------------------------------------------------------------

    async def _on_controller_failover(self) -> None:
        """Steps F1 to F9, in Kafka's order (kafka-behaviour §3).

        Raises: ControllerMoved, SessionExpired, IllegalState, StateChangeFailed. After each of them ``_elect`` resigns,
        so that no half-loaded context remains. There is one exception: a fenced controller that fails by another error
        than ControllerMoved, and finds /controller to be another broker's (triggerControllerMove, 2.1 to 3.9). Its
        channels are then open, and its memory is that of the lost term, when it is elected again.
        """
        step = self._step
        async with step("failover.F1"):
            await self._watch()
        async with step("failover.F2"):
            await self.notifications.delete_all()
        async with step("failover.F3"):
            await self._initialize_context()
        async with step("failover.F4"):
            await self.deletion.load()
        async with step("failover.F5"):
            # Before the state machines: a broker refuses a leader that is not in its metadata (KAFKA-4443).
            if self.policies.announces_before_elections:
                self.batch.send_update_metadata(self.context.live_or_shutting_down)
        async with step("failover.F6"):
            await self.replicas.startup()
        async with step("failover.F7"):
            await self.partitions.startup()
        async with step("failover.F8"):
            await self.reassignments.resume()
        async with step("failover.F9"):
            if self.policies.resumes_deletions:
                await self.deletion.resume_all()
            await self.preferred.process_znode(ends=self.policies.ends_elections_at_failover)
            if not self.policies.announces_before_elections:
                self.batch.send_update_metadata(self.context.live_or_shutting_down)
            self.rebalance.start()
        memories.show(self, self.process, "failover")

    async def _watch(self) -> None:
        self.watches.cluster(every_reassignment_change=self._follows_znode)
        if self.policies.replicas.know_topic_deletion:
            self.watches.deletions()
        await self.zk_client.exists(znodes.PREFERRED_REPLICA_ELECTION)
        await self.zk_client.exists(znodes.REASSIGN_PARTITIONS)

    def _new_topic_id(self) -> str:
        return znodes.random_topic_id(self.process.world.stream(znodes.TOPIC_IDS, self.id))

    async def _initialize_context(self) -> None:
        context = self.context
        for tp in [*context.leadership_info]:
            del context.leadership_info[tp]
        context.shutting_down.clear()
        context.set_brokers(await self.zk_client.brokers())
        names = await self.zk_client.topics()
        for topic in names:
            self.watches.topic(topic)
        await self.zk_client.load_assignments(names)
        leaders = await self.zk_client.states(list(context.partitions()))
        if not self.policies.loads_every_leader:
            leaders = {tp: state for tp, state in leaders.items() if context.is_online(state.leader, tp)}
        context.leadership_info.update(leaders)
        self.channels.startup(context.brokers)
        await self.reassignments.load()
