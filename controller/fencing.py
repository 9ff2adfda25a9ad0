"""Whether a controller that has been replaced can still change anything: Kafka's two rules.

A controller is replaced without its knowledge when its session is lost, or /controller is deleted, while it is in the
middle of an event (a long garbage collection, a cut link). Brokers never read /controller_epoch: they refuse its
requests only once they have seen one with a higher epoch (kafka-behaviour §3).
"""

from typing import ClassVar, NamedTuple, Protocol

from attrs import frozen

from controller.errors import ControllerMoved, StateChangeFailed
from controller.zk_client import Fence, KafkaZkClient
from emulator.nodes import Process
from emulator.protocol import znodes
from emulator.zookeeper import ZkCode, error_of
from emulator.zookeeper.messages import Check, Create, GetData, Multi, Op, Request, SetData, ZkResponse


class Registered(NamedTuple):
    """A controller epoch and the version of /controller_epoch that holds it."""

    epoch: int
    zk_version: int


class Fencing(Fence, Protocol):
    """A rule: how a controller epoch begins, how its writes are made, and how it is given up.

    Attributes:
        looks_before_giving_up: whether a controller that gives up first reads whether /controller is still its own.
    """

    looks_before_giving_up: ClassVar[bool]

    async def register(self, zk: KafkaZkClient, process: Process) -> Registered:
        """Write /controller, in the name of the broker ``process``, and the next controller epoch.

        Raises: ControllerMoved where another broker was faster; StateChangeFailed where the epoch cannot be raised.
        """


@frozen
class Fenced:
    """The rule since KAFKA-6082: each write is a multi that first checks the version of /controller_epoch, and the
    ephemeral /controller is written together with the next epoch."""

    looks_before_giving_up: ClassVar[bool] = True

    def write(self, op: Op, epoch_zk_version: int) -> Request:
        return Multi((Check(znodes.CONTROLLER_EPOCH, epoch_zk_version), op))

    def answer(self, response: ZkResponse) -> ZkResponse:
        if response.error is ZkCode.OK:
            return response.results[1]
        if response.path == znodes.CONTROLLER_EPOCH:
            raise ControllerMoved(f"the controller epoch has changed: {response.error.name}")
        return response

    async def register(self, zk: KafkaZkClient, process: Process) -> Registered:
        last, version = await self._epoch(zk)
        ops = (_controller(process), SetData(znodes.CONTROLLER_EPOCH, str(last + 1), version))
        response = await zk.ask_one(Multi(ops))
        if response.error is ZkCode.OK:
            return Registered(last + 1, version + 1)
        # The multi may have been applied although its first answer was lost: read whose the znodes are.
        now, version = await self._epoch(zk)
        if await zk.controller() == process.node.id and now == last + 1:
            return Registered(now, version)
        raise ControllerMoved(f"another broker was elected with epoch {now}")

    async def _epoch(self, zk: KafkaZkClient) -> Registered:
        """The last controller epoch, 0 in a new cluster."""
        response = await zk.ask_one(GetData(znodes.CONTROLLER_EPOCH))
        if response.error is ZkCode.NO_NODE:
            await zk.ask_one(Create(znodes.CONTROLLER_EPOCH, "0"))
            response = await zk.ask_one(GetData(znodes.CONTROLLER_EPOCH))
        if response.stat is None:
            raise error_of(response.error, response.path)
        return Registered(int(response.data), response.stat.version)


@frozen
class Unfenced:
    """The rule before: writes have no check, so a replaced controller writes what it wants. /controller comes first and
    the epoch is raised in a step of its own, so that a controller that pauses in between takes a later epoch than its
    successor. A controller that gives up deletes /controller, even if that is another broker's (Kafka 1.1,
    KafkaController.elect and triggerControllerMove)."""

    looks_before_giving_up: ClassVar[bool] = False

    def write(self, op: Op, epoch_zk_version: int) -> Request:
        return op

    def answer(self, response: ZkResponse) -> ZkResponse:
        return response

    async def register(self, zk: KafkaZkClient, process: Process) -> Registered:
        created = await zk.ask_one(_controller(process))
        if created.error is not ZkCode.OK:
            # It may have been applied although its first answer was lost: read whose session it belongs to.
            there = await zk.ask_one(GetData(znodes.CONTROLLER))
            if there.stat is None or there.stat.ephemeral_owner != zk.session_id:
                raise ControllerMoved("another broker was faster")
        return await self._next_epoch(zk)

    async def _next_epoch(self, zk: KafkaZkClient) -> Registered:
        found = await zk.ask_one(GetData(znodes.CONTROLLER_EPOCH))
        last, version = (0, -1) if found.stat is None else (int(found.data), found.stat.version)
        mine = str(last + 1)
        op = SetData(znodes.CONTROLLER_EPOCH, mine, version) if last else Create(znodes.CONTROLLER_EPOCH, mine)
        response = await zk.ask_one(op)
        if response.error is not ZkCode.OK:
            raise StateChangeFailed(f"cannot raise the controller epoch to {mine}: {response.error.name}")
        return Registered(last + 1, version + 1)


def _controller(process: Process) -> Create:
    return Create(znodes.CONTROLLER, znodes.encode_controller(process.node.id, process.clock_us // 1000), True)
