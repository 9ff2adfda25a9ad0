"""Events that begin or end a term. They concern every broker's controller, active or not."""

from typing import TYPE_CHECKING, ClassVar

from attrs import define

from controller import election
from controller.context import NOBODY
from controller.events.state import ControllerState

if TYPE_CHECKING:
    from controller.controller import Controller


@define(eq=False)
class Startup:
    """The broker has started."""

    state: ClassVar = ControllerState.CONTROLLER_CHANGE

    async def process(self, controller: "Controller") -> None:
        await election.start(controller)


@define(eq=False)
class ControllerChange:
    """/controller was created or changed."""

    state: ClassVar = ControllerState.CONTROLLER_CHANGE

    async def process(self, controller: "Controller") -> None:
        await election.maybe_resign(controller)


@define(eq=False)
class Reelect:
    """/controller is gone."""

    state: ClassVar = ControllerState.CONTROLLER_CHANGE

    async def process(self, controller: "Controller") -> None:
        await election.maybe_resign(controller)
        await election.elect(controller)


@define(eq=False)
class Expire:
    """The ZooKeeper session has expired, and with it /controller and the broker's registration.

    It takes precedence over all events that wait: they belong to the lost session. Kafka opens the new session beside
    the queue; nothing in the queue could do anything before, so here it waits in it.
    """

    state: ClassVar = ControllerState.CONTROLLER_CHANGE

    async def process(self, controller: "Controller") -> None:
        controller.active_controller = NOBODY
        election.resign(controller)
        cause = controller.process.node.trace.cause
        await controller.zk.reopen()
        controller.process.node.trace.cause = cause
        controller.queue.put(RegisterBrokerAndReelect())


@define(eq=False)
class RegisterBrokerAndReelect:
    """There is a new session."""

    state: ClassVar = ControllerState.CONTROLLER_CHANGE

    async def process(self, controller: "Controller") -> None:
        cause = controller.process.node.trace.cause
        await controller.register_broker()
        controller.process.node.trace.cause = cause
        await election.maybe_resign(controller)
        await election.elect(controller)
