"""shutdownBroker: a broker that is going down is relieved of its leaderships first (kafka-behaviour §4; the page)."""

from typing import TYPE_CHECKING

import structlog

from controller.states.names import PartitionState, ReplicaState
from controller.steps import Label, Procedure
from emulator.protocol.controlled_shutdown import ControlledShutdownRequest, ControlledShutdownResponse
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from controller.controller import Controller

SHUTDOWN = Procedure.numbered(
    "shutdown",
    "partitions that the broker leads elect another leader",
    "send StopReplica for those that it follows",
    "its replicas of those become OfflineReplica",
)

log = structlog.get_logger("controller.shutdown")

UNKNOWN_BROKER_EPOCH = -1


async def answer(c: "Controller", request: ControlledShutdownRequest) -> ControlledShutdownResponse:
    """Do what ``request`` asks for, unless it is of another time."""
    error = _refusal(c, request)
    if error is not Errors.NONE:
        log.info("controlled shutdown refused", broker=request.broker, error=error.name)
        return ControlledShutdownResponse(error)
    await _shut_down(c, request.broker)
    still_led, _followed = _led_and_followed(c, request.broker)
    return ControlledShutdownResponse(Errors.NONE, tuple(still_led))


def _refusal(c: "Controller", request: ControlledShutdownRequest) -> Errors:
    """What Kafka 2.3 answers; a broker that is not there is only recognised as such where no epoch is stated."""
    if not c.is_active:
        return Errors.STALE_CONTROLLER_EPOCH
    registered = c.context.brokers.get(request.broker)
    if registered is None:
        stated = request.broker_epoch != UNKNOWN_BROKER_EPOCH
        return Errors.UNKNOWN_SERVER_ERROR if stated else Errors.BROKER_NOT_AVAILABLE
    stale = request.broker_epoch != UNKNOWN_BROKER_EPOCH and request.broker_epoch < registered
    return Errors.STALE_BROKER_EPOCH if stale else Errors.NONE


async def _shut_down(c: "Controller", broker: int) -> None:
    """Three steps; partitions with one replica only are left alone: they go offline with the broker."""
    c.context.shutting_down[broker] = None
    led, followed = _led_and_followed(c, broker)
    label = Label(broker=broker)
    async with c.step("shutdown.1", label):
        await c.partitions.handle(led, PartitionState.ONLINE, c.policies.selectors.controlled_shutdown)
    async with c.step("shutdown.2", label):
        c.batch.begin()
        for tp in followed:
            c.batch.stop_replica(broker, tp, delete=False)
        c.batch.send()
    async with c.step("shutdown.3", label):
        await c.replicas.handle([(tp, broker) for tp in followed], ReplicaState.OFFLINE)


def _led_and_followed(c: "Controller", broker: int) -> tuple[list[TopicPartition], list[TopicPartition]]:
    """The partitions with several replicas that ``broker`` leads, and those that it follows; not those to be
    deleted."""
    led: list[TopicPartition] = []
    followed: list[TopicPartition] = []
    for tp, state in c.context.leadership.items():
        replicas = c.context.replicas(tp)
        if broker in replicas and len(replicas) > 1 and not c.context.is_deleting(tp.topic):
            (led if state.leader == broker else followed).append(tp)
    return led, followed
