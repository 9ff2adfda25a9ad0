"""shutdownBroker: the leaders of a broker that is shutting down are moved first (kafka-behaviour §4; the page)."""

from typing import NamedTuple

from attrs import define

from controller.context import ControllerContext
from controller.errors import ControllerError, ControllerMoved
from controller.events import ControlledShutdown
from controller.request_batch import ControllerBrokerRequestBatch
from controller.state_machines.partitions import PartitionStateMachine
from controller.state_machines.replicas import ReplicaStateMachine
from controller.states import PartitionState, ReplicaState
from controller.steps import Label, Procedure, Steps
from emulator.logger import get_logger
from emulator.protocol.controlled_shutdown import ControlledShutdownRequest, ControlledShutdownResponse
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import ZkError

SHUTDOWN = Procedure.numbered(
    "shutdown",
    "partitions that the broker leads elect another leader",
    "send StopReplica for those that it follows",
    "its replicas of those become OfflineReplica",
)

log = get_logger("controller.shutdown")

UNKNOWN_BROKER_EPOCH = -1


class LedAndFollowed(NamedTuple):
    """The partitions with several replicas that a broker leads, and those that it follows."""

    led: list[TopicPartition]
    followed: list[TopicPartition]


@define(eq=False, repr=False)
class ControlledShutdowns:
    """Carries out the brokers' requests to shut down.

    Attributes:
        together: one change for all partitions (``ControllerPolicies.shuts_down_together``).
    """

    context: ControllerContext
    batch: ControllerBrokerRequestBatch
    partitions: PartitionStateMachine
    replicas: ReplicaStateMachine
    together: bool
    _step: Steps

    async def process(self, event: ControlledShutdown) -> None:
        """Answer the request in every case. As in Kafka, a controller that finds here that it has been replaced does
        not resign now; the watch on /controller makes it resign."""
        try:
            response = await self._answer(event.request)
        except ControllerMoved:
            event.refuse()
        except (ControllerError, ZkError):
            event.answer(ControlledShutdownResponse(Errors.UNKNOWN_SERVER_ERROR))
            raise
        else:
            event.answer(response)

    async def _answer(self, request: ControlledShutdownRequest) -> ControlledShutdownResponse:
        error = self._refusal(request)
        if error is not Errors.NONE:
            log.info("controlled shutdown refused", broker=request.broker, error=error.name)
            return ControlledShutdownResponse(error)
        await self._shut_down(request.broker)
        return ControlledShutdownResponse(Errors.NONE, tuple(self._led_and_followed(request.broker).led))

    def _refusal(self, request: ControlledShutdownRequest) -> Errors:
        """Kafka 2.3's error for a request that does not fit the registered broker; an unknown broker gets its own error
        only where the request has no epoch."""
        registered = self.context.brokers.get(request.broker)
        if registered is None:
            stated = request.broker_epoch != UNKNOWN_BROKER_EPOCH
            return Errors.UNKNOWN_SERVER_ERROR if stated else Errors.BROKER_NOT_AVAILABLE
        stale = request.broker_epoch != UNKNOWN_BROKER_EPOCH and request.broker_epoch < registered
        return Errors.STALE_BROKER_EPOCH if stale else Errors.NONE

    async def _shut_down(self, broker: int) -> None:
        """Move the leaders of a broker away, in three steps. Partitions with only one replica are left alone: they go
        offline with the broker."""
        self.context.shutting_down[broker] = None
        led, followed = self._led_and_followed(broker)
        label = Label(broker=broker)
        async with self._step("shutdown.1", label):
            selector = self.partitions.selectors.controlled_shutdown
            for some in self._changes(led):
                await self.partitions.handle_state_changes(some, PartitionState.ONLINE, selector)
        async with self._step("shutdown.2", label):
            for some in self._changes(followed):
                self.batch.new_batch()
                for tp in some:
                    self.batch.add_stop_replica(broker, tp, delete=False)
                self.batch.send_to_brokers()
        async with self._step("shutdown.3", label):
            for some in self._changes(followed):
                await self.replicas.handle_state_changes([(tp, broker) for tp in some], ReplicaState.OFFLINE)

    def _changes(self, partitions: list[TopicPartition]) -> list[list[TopicPartition]]:
        """The partitions of each state change, which has requests of its own."""
        return [partitions] if self.together else [[tp] for tp in partitions]

    def _led_and_followed(self, broker: int) -> LedAndFollowed:
        """The partitions of a broker, without those of topics that are being deleted."""
        found = LedAndFollowed([], [])
        for tp, state in self.context.leadership_info.items():
            replicas = self.context.replicas(tp)
            if broker in replicas and len(replicas) > 1 and not self.context.is_deleting(tp.topic):
                (found.led if state.leader == broker else found.followed).append(tp)
        return found
