"""A leader asks for other ISRs (KafkaController.processAlterIsr, 2.7.2; KIP-497)."""

from typing import TYPE_CHECKING

from controller.errors import ControllerError
from controller.reassignment import admin
from emulator.protocol.alter_isr import AlterIsrPartition, AlterIsrRequest, AlterIsrResponse
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from emulator.zookeeper import ZkError

if TYPE_CHECKING:
    from controller.controller import Controller

Outcomes = dict[TopicPartition, tuple[Errors, LeaderAndIsr | None]]


async def answer(c: "Controller", request: AlterIsrRequest) -> AlterIsrResponse:
    """Write what may be written, and tell all brokers. What goes wrong on the way is the asker's answer."""
    if not c.is_active:
        return AlterIsrResponse(Errors.NOT_CONTROLLER)
    if c.context.brokers.get(request.broker) != request.broker_epoch:
        return AlterIsrResponse(Errors.STALE_BROKER_EPOCH)
    try:
        outcomes = await _altered(c, request)
    except (ControllerError, ZkError):
        return AlterIsrResponse(Errors.UNKNOWN_SERVER_ERROR)
    return AlterIsrResponse(Errors.NONE, tuple((p.tp, *outcomes[p.tp]) for p in request.partitions))


async def complete_moves(c: "Controller", response: AlterIsrResponse) -> None:
    """Once the leader has its answer: go on with the moves that have waited for these ISRs."""
    for tp, error, _state in response.partitions:
        if error is Errors.NONE:
            await admin.isr_changed(c, tp)


async def _altered(c: "Controller", request: AlterIsrRequest) -> Outcomes:
    outcomes: Outcomes = {}
    wanted: dict[TopicPartition, LeaderAndIsr] = {}
    for asked in request.partitions:
        state = LeaderAndIsr(request.broker, asked.leader_epoch, asked.isr, c.epoch, asked.zk_version)
        outcome = _without_a_write(c.context.leadership.get(asked.tp), request.broker, asked)
        if outcome is None:
            wanted[asked.tp] = state
        else:
            outcomes[asked.tp] = outcome
    written, beaten = await c.store.write_states(wanted)
    for tp in wanted:
        error = Errors.INVALID_UPDATE_VERSION if tp in beaten else Errors.UNKNOWN_SERVER_ERROR
        outcomes[tp] = (Errors.NONE, written[tp]) if tp in written else (error, None)
    c.context.leadership.update(await c.store.states(list(written)))
    c.send_update_metadata(c.context.live_or_shutting_down, tuple(asked.tp for asked in request.partitions))
    return outcomes


def _without_a_write(
    now: LeaderAndIsr | None, leader: int, asked: AlterIsrPartition
) -> tuple[Errors, LeaderAndIsr | None] | None:
    """What becomes of a request that is late, or of what is so already; None: it has to be written."""
    if now is None:
        return Errors.UNKNOWN_TOPIC_OR_PARTITION, None
    if asked.leader_epoch < now.leader_epoch:
        return Errors.FENCED_LEADER_EPOCH, None
    if (now.leader, now.leader_epoch, now.isr) == (leader, asked.leader_epoch, asked.isr):
        return Errors.NONE, now
    return None
