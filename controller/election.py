"""Who is the controller: competing, resigning, giving up (kafka-behaviour, 3).

Since KAFKA-6082 (2.1) the ephemeral /controller and the next /controller_epoch are written in one multi.
"""

from typing import TYPE_CHECKING

import structlog

from controller import failover
from controller.errors import ControllerError, ControllerMoved
from emulator.protocol import znodes
from emulator.protocol.events import ControllerElected, ControllerResigned
from emulator.zookeeper import ZkCode, ZkError, error_of
from emulator.zookeeper.messages import Check, Create, Delete, GetData, Multi, SetData

if TYPE_CHECKING:
    from controller.controller import Controller

log = structlog.get_logger("controller.election")

NOBODY = -1


async def start(c: "Controller") -> None:
    """Arm the watch on /controller, then compete."""
    await c.store.exists(znodes.CONTROLLER)
    await elect(c)


async def elect(c: "Controller") -> None:
    """Become the controller if there is none."""
    c.active_controller = await _controller_id(c)
    if c.active_controller != NOBODY or await _leaves_it_to_another(c):
        return
    try:
        c.context.epoch, c.context.epoch_zk_version = await _register(c)
        c.active_controller = c.id
        c.process.anchor(ControllerElected, c.id, c.epoch)
        await failover.take_over(c)
    except ControllerMoved as error:
        log.info("not elected", node=c.id, reason=str(error))
        await maybe_resign(c)
    except (ControllerError, ZkError) as error:
        log.error("failover failed", node=c.id, reason=str(error))
        await give_up(c)


async def maybe_resign(c: "Controller") -> None:
    """Look who the controller is (and arm the watch again); stop being it if it is somebody else."""
    was_active = c.is_active
    await c.store.exists(znodes.CONTROLLER)
    c.active_controller = await _controller_id(c)
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


async def give_up(c: "Controller") -> None:
    """Resign and delete /controller, so that somebody is elected, maybe this one again."""
    c.active_controller = await _controller_id(c)
    if not c.is_active:
        return
    fence = Check(znodes.CONTROLLER_EPOCH, c.context.epoch_zk_version)
    c.active_controller = NOBODY
    resign(c)
    await c.store.ask_one(Multi((fence, Delete(znodes.CONTROLLER))))


async def _controller_id(c: "Controller") -> int:
    response = await c.store.ask_one(GetData(znodes.CONTROLLER))
    return znodes.decode_controller(response.data) if response.error is ZkCode.OK else NOBODY


async def _leaves_it_to_another(c: "Controller") -> bool:
    """The cluster's very first election can be reserved for one broker."""
    if c.policies.pinned in (None, c.id):
        return False
    response = await c.store.ask_one(GetData(znodes.CONTROLLER_EPOCH))
    return response.error is not ZkCode.OK or int(response.data) == 0


async def _epoch(c: "Controller") -> tuple[int, int]:
    """The last controller epoch, and the version of its znode; 0 in a new cluster."""
    response = await c.store.ask_one(GetData(znodes.CONTROLLER_EPOCH))
    if response.error is ZkCode.NO_NODE:
        await c.store.ask_one(Create(znodes.CONTROLLER_EPOCH, "0"))
        response = await c.store.ask_one(GetData(znodes.CONTROLLER_EPOCH))
    if response.stat is None:
        raise error_of(response.error, response.path)
    return int(response.data), response.stat.version


async def _register(c: "Controller") -> tuple[int, int]:
    """Write /controller and the next epoch at once; returns the epoch and the version that fences the term.

    Raises: ControllerMoved where another broker was faster.
    """
    last, version = await _epoch(c)
    mine = znodes.encode_controller(c.id, c.process.clock_us // 1000)
    ops = (Create(znodes.CONTROLLER, mine, True), SetData(znodes.CONTROLLER_EPOCH, str(last + 1), version))
    response = await c.store.ask_one(Multi(ops))
    if response.error is ZkCode.OK:
        return last + 1, version + 1
    # The multi may have been applied although its first answer was lost: look whose names stand there.
    now, version = await _epoch(c)
    if await _controller_id(c) == c.id and now == last + 1:
        return now, version
    raise ControllerMoved(f"another broker was elected with epoch {now}")
