"""The controller of one broker process: idle until it is elected."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog
from attrs import define, field

from controller import election, requests
from controller.channels import Channels, RequestBatch
from controller.context import NOBODY, Context
from controller.errors import ControllerError, ControllerMoved, IllegalState
from controller.events import Event, EventQueue, Preemptable
from controller.events.cluster import LeaderAndIsrResponseReceived
from controller.events.deletions import ReplicasDeleted
from controller.events.elections import TopicUncleanLeaderElectionEnable, UncleanLeaderElectionEnable
from controller.events.term import ControllerChange, Expire, Reelect, Startup
from controller.metrics import ControllerMetrics
from controller.operations.rebalance import RebalanceTimer
from controller.policies import ControllerPolicies
from controller.states.elections import Elections
from controller.states.partitions import PartitionStateMachine
from controller.states.replicas import ReplicaStateMachine
from controller.steps import NOTHING, Label, Step
from controller.store import Store, unclean_in
from controller.watches import Watches
from emulator.gates import Gates
from emulator.network import Channel, Network
from emulator.nodes import Process
from emulator.protocol import znodes
from emulator.protocol.leader_and_isr import LeaderAndIsrResponse
from emulator.protocol.stop_replica import StopReplicaResponse
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import ZkClient, ZkError
from emulator.zookeeper.messages import EventType

log = structlog.get_logger("controller")

Serve = Callable[[type, Callable[[Any, Channel], object]], None]


@define(eq=False, repr=False)
class Controller:
    """Every broker runs one; at most one at a time is active, and each of its terms has an epoch of its own.

    Attributes:
        register_broker: puts the broker back into /brokers/ids after its session expired; answers its new
            epoch.
        serve: has the process's listener give every request of a class to a handler.
        active_controller: the broker that this one believes to be the controller, -1 for none.
    """

    process: Process
    network: Network
    zk: ZkClient
    gates: Gates
    policies: ControllerPolicies
    register_broker: Callable[[], Awaitable[int]]
    serve: Serve
    active_controller: int = NOBODY
    context: Context = field(factory=Context)
    rebalance: RebalanceTimer = field(factory=RebalanceTimer)
    store: Store = field(init=False)
    queue: EventQueue = field(init=False)
    watches: Watches = field(init=False)
    channels: Channels = field(init=False)
    batch: RequestBatch = field(init=False)
    elections: Elections = field(init=False)
    partitions: PartitionStateMachine = field(init=False)
    replicas: ReplicaStateMachine = field(init=False)
    metrics: ControllerMetrics = field(init=False)

    def __attrs_post_init__(self) -> None:
        process, context, policies = self.process, self.context, self.policies
        self.store = Store(
            self.zk, process.node.trace, context, policies.fencing, policies.broker_epochs,
            policies.reassignment.topic_version,
        )  # fmt: skip
        self.queue = EventQueue(process, self._handle)
        self.watches = Watches(self.zk, self.queue)
        self.channels = Channels(process, self.network, policies.request_timeout_us, policies.retry_pause_us)
        self.batch = RequestBatch(
            self.id, context, self.channels, self._answered, self._stopped, policies.tells_motions, policies.requests,
            policies.stops_name_epochs,
        )  # fmt: skip
        self.elections = Elections(process, context, self.store, self.batch, policies.unclean_leader_election)
        self.partitions = PartitionStateMachine(context, self.elections, self.batch, policies.selectors)
        self.replicas = ReplicaStateMachine(context, self.store, self.elections, self.batch, policies.replicas)
        self.metrics = ControllerMetrics(self, policies.is_offline)
        requests.serve(self)

    @property
    def id(self) -> int:
        return self.process.node.id

    @property
    def is_active(self) -> bool:
        return self.active_controller == self.id

    @property
    def epoch(self) -> int:
        """The controller epoch of this term, 0 outside one."""
        return self.context.epoch

    def start(self) -> None:
        """Compete for the controllership from now on. The broker is registered; the session's expiry is ours
        to handle."""
        change, reelect = ControllerChange, Reelect
        self.zk.on_node(
            znodes.CONTROLLER,
            lambda watch: self.queue.put(reelect() if watch.type is EventType.NODE_DELETED else change()),
        )
        self.zk.on_expired = self._expired
        self.queue.start()
        self.queue.put(Startup())

    def configured(self, entity: str, config: Mapping[str, str]) -> None:
        """The settings of ``entity`` (``topics/T`` or ``brokers/<default>``) were changed while the process runs."""
        if entity == znodes.ALL_BROKERS:
            before = self.elections.unclean
            self.elections.unclean = unclean_in(config, self.policies.unclean_leader_election)
            if self.elections.unclean and not before:
                self.queue.put(UncleanLeaderElectionEnable())
        elif unclean_in(config, False):
            # As in Kafka whichever of the topic's settings was changed.
            self.queue.put(TopicUncleanLeaderElectionEnable(entity.removeprefix("topics/")))

    # -- for the rooms of this floor ----------------------------------------------------------------------------------

    def step(self, name: str, *labels: Label, detail: str = "") -> Step:
        return Step(self.gates, self.process, name, labels or NOTHING, detail)

    def send_update_metadata(self, brokers: tuple[int, ...], partitions: tuple[TopicPartition, ...] = ()) -> None:
        """Tell ``brokers`` who is alive and about ``partitions``, in a batch of its own."""
        self.batch.begin()
        self.batch.update_metadata(brokers, partitions)
        self.batch.send()

    # -- events -------------------------------------------------------------------------------------------------------

    async def _handle(self, event: Event) -> None:
        """One event. What Kafka expects to go wrong is logged, and the work lost; anything else ends the run."""
        try:
            try:
                await event.process(self)
            except ControllerMoved as error:
                log.info("controller moved", node=self.id, reason=str(error))
                await election.maybe_resign(self)
            except IllegalState as error:
                log.error("illegal state", node=self.id, reason=str(error))
                self.batch.clear()
                await self.policies.fencing.give_up(self)
        except (ControllerError, ZkError) as error:
            log.error("event failed", node=self.id, what=type(event).__name__, reason=str(error))
        self.metrics.show()

    def _expired(self) -> None:
        for dropped in self.queue.preempt(Expire()):
            if isinstance(dropped, Preemptable):
                dropped.preempted(self)

    def _answered(self, broker: int, response: LeaderAndIsrResponse) -> None:
        self.queue.put(LeaderAndIsrResponseReceived(broker, response))

    def _stopped(self, broker: int, response: StopReplicaResponse) -> None:
        """Of interest where topics are being deleted; a move does not wait for it."""
        begun = self.context.deletions.begun
        outcomes = tuple((tp, error) for tp, error in response.partitions if tp.topic in begun)
        if outcomes:
            self.queue.put(ReplicasDeleted(broker, response.error, outcomes))
