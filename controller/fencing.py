"""What keeps a controller that has been replaced from changing anything: the two answers that Kafka has had.

A controller is replaced without its knowledge when its session is lost, or /controller deleted, while it is in the
middle of an event (a long collection of garbage, a cut link). Brokers never read /controller_epoch: they refuse its
requests only once they have seen one with a higher epoch (kafka-behaviour §3).
"""

from typing import TYPE_CHECKING, Protocol

from attrs import frozen

from controller import election
from controller.context import NOBODY
from controller.errors import ControllerMoved, StateChangeFailed
from emulator.protocol import znodes
from emulator.zookeeper import ZkCode, error_of
from emulator.zookeeper.messages import Check, Create, Delete, GetData, Multi, Op, Request, Response, SetData

if TYPE_CHECKING:
    from controller.controller import Controller

ANY_VERSION = -1


class Fencing(Protocol):
    """How a term begins, how its writes are made, and how it is given up."""

    def write(self, op: Op, epoch_zk_version: int) -> Request:
        """The request that makes ``op`` a write of the term whose /controller_epoch has that version."""

    def answer(self, response: Response) -> Response:
        """The answer to the op itself. Raises: ControllerMoved where the term is over."""

    async def register(self, c: "Controller") -> tuple[int, int]:
        """Write /controller and the next epoch; returns the epoch and the version of its znode.

        Raises: ControllerMoved where another broker was faster; StateChangeFailed where the term ends with that.
        """

    async def give_up(self, c: "Controller") -> None:
        """Resign and delete /controller, so that somebody is elected, maybe this one again."""


@frozen
class Fenced:
    """Each write is a multi that first checks the version of /controller_epoch, and the ephemeral /controller is
    written together with the next epoch (KAFKA-6082)."""

    def write(self, op: Op, epoch_zk_version: int) -> Request:
        return Multi((Check(znodes.CONTROLLER_EPOCH, epoch_zk_version), op))

    def answer(self, response: Response) -> Response:
        if response.error is ZkCode.OK:
            return response.results[1]
        if response.path == znodes.CONTROLLER_EPOCH:
            raise ControllerMoved(f"the controller epoch is another: {response.error.name}")
        return response

    async def register(self, c: "Controller") -> tuple[int, int]:
        last, version = await self._epoch(c)
        ops = (_controller(c), SetData(znodes.CONTROLLER_EPOCH, str(last + 1), version))
        response = await c.store.ask_one(Multi(ops))
        if response.error is ZkCode.OK:
            return last + 1, version + 1
        # The multi may have been applied although its first answer was lost: look whose names stand there.
        now, version = await self._epoch(c)
        if await c.store.controller() == c.id and now == last + 1:
            return now, version
        raise ControllerMoved(f"another broker was elected with epoch {now}")

    async def _epoch(self, c: "Controller") -> tuple[int, int]:
        """The last controller epoch, and the version of its znode; 0 in a new cluster."""
        response = await c.store.ask_one(GetData(znodes.CONTROLLER_EPOCH))
        if response.error is ZkCode.NO_NODE:
            await c.store.ask_one(Create(znodes.CONTROLLER_EPOCH, "0"))
            response = await c.store.ask_one(GetData(znodes.CONTROLLER_EPOCH))
        if response.stat is None:
            raise error_of(response.error, response.path)
        return int(response.data), response.stat.version

    async def give_up(self, c: "Controller") -> None:
        c.active_controller = await c.store.controller()
        if not c.is_active:
            return
        delete = self.write(Delete(znodes.CONTROLLER), c.context.epoch_zk_version)
        c.active_controller = NOBODY
        election.resign(c)
        await c.store.ask_one(delete)


@frozen
class Unfenced:
    """Writes are bare: a replaced controller writes what it wants. /controller comes first and the epoch is raised
    in a step of its own, so that one who pauses in between takes a later epoch than its successor; and who gives up
    deletes /controller whosoever's it is (Kafka 1.1, KafkaController.elect and triggerControllerMove)."""

    def write(self, op: Op, epoch_zk_version: int) -> Request:
        return op

    def answer(self, response: Response) -> Response:
        return response

    async def register(self, c: "Controller") -> tuple[int, int]:
        created = await c.store.ask_one(_controller(c))
        if created.error is not ZkCode.OK:
            # It may have been applied although its first answer was lost: look whose session it belongs to.
            there = await c.store.ask_one(GetData(znodes.CONTROLLER))
            if there.stat is None or there.stat.ephemeral_owner != c.zk.session_id:
                raise ControllerMoved("another broker was faster")
        c.active_controller = c.id
        return await self._next_epoch(c)

    async def _next_epoch(self, c: "Controller") -> tuple[int, int]:
        found = await c.store.ask_one(GetData(znodes.CONTROLLER_EPOCH))
        last, version = (0, -1) if found.stat is None else (int(found.data), found.stat.version)
        mine = str(last + 1)
        op = SetData(znodes.CONTROLLER_EPOCH, mine, version) if last else Create(znodes.CONTROLLER_EPOCH, mine)
        response = await c.store.ask_one(op)
        if response.error is not ZkCode.OK:
            raise StateChangeFailed(f"cannot raise the controller epoch to {mine}: {response.error.name}")
        return last + 1, version + 1

    async def give_up(self, c: "Controller") -> None:
        c.active_controller = NOBODY
        election.resign(c)
        await c.store.ask_one(Delete(znodes.CONTROLLER, ANY_VERSION))


def _controller(c: "Controller") -> Create:
    return Create(znodes.CONTROLLER, znodes.encode_controller(c.id, c.process.clock_us // 1000), True)
