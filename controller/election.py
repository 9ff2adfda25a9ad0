"""Who is the controller: competing, resigning, giving up (kafka-behaviour §3). How /controller and its epoch are
written is a policy, ``controller.fencing``."""

from typing import TYPE_CHECKING

import structlog

from controller import failover
from controller.context import NOBODY
from controller.errors import ControllerError, ControllerMoved
from emulator.protocol import znodes
from emulator.protocol.events import ControllerElected, ControllerResigned
from emulator.zookeeper import ZkCode, ZkError
from emulator.zookeeper.messages import GetData

if TYPE_CHECKING:
    from controller.controller import Controller

log = structlog.get_logger("controller.election")


async def start(c: "Controller") -> None:
    """Arm the watch on /controller, then compete."""
    await c.store.exists(znodes.CONTROLLER)
    await elect(c)


async def elect(c: "Controller") -> None:
    """Become the controller if there is none."""
    c.active_controller = await c.store.controller()
    if c.active_controller != NOBODY or await _leaves_it_to_another(c):
        return
    try:
        c.context.epoch, c.context.epoch_zk_version = await c.policies.fencing.register(c)
        c.active_controller = c.id
        c.process.anchor(ControllerElected, c.id, c.epoch)
        c.metrics.show_active()
        await failover.take_over(c)
    except ControllerMoved as error:
        log.info("not elected", node=c.id, reason=str(error))
        await maybe_resign(c)
    except (ControllerError, ZkError) as error:
        log.error("failover failed", node=c.id, reason=str(error))
        await c.policies.fencing.give_up(c)


async def maybe_resign(c: "Controller") -> None:
    """Look who the controller is (and arm the watch again); stop being it if it is somebody else."""
    was_active = c.is_active
    await c.store.exists(znodes.CONTROLLER)
    c.active_controller = await c.store.controller()
    if was_active and not c.is_active:
        resign(c)


def resign(c: "Controller") -> None:
    """End the term: forget everything. Requests that wait are dropped; those on the wire go on."""
    c.watches.clear()
    c.rebalance.stop()
    c.channels.clear()
    c.batch.clear()
    if c.epoch:
        c.process.anchor(ControllerResigned, c.id, c.epoch)
    c.context.reset()
    c.metrics.show_active()


async def _leaves_it_to_another(c: "Controller") -> bool:
    """The cluster's very first election can be reserved for one broker."""
    if c.policies.pinned in (None, c.id):
        return False
    response = await c.store.ask_one(GetData(znodes.CONTROLLER_EPOCH))
    return response.error is not ZkCode.OK or int(response.data) == 0
