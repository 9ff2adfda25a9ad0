"""Events about brokers, topics and ISRs."""

from typing import TYPE_CHECKING, ClassVar

from attrs import define

from controller.events.asked import Asked
from controller.events.state import ControllerState
from controller.operations import alter_isr, brokers, isr_notifications, log_dirs, topics
from controller.requests import answers
from emulator.protocol.alter_isr import AlterIsrRequest
from emulator.protocol.leader_and_isr import LeaderAndIsrResponse

if TYPE_CHECKING:
    from controller.controller import Controller


@define(eq=False)
class BrokerChange:
    """The children of /brokers/ids changed."""

    state: ClassVar = ControllerState.BROKER_CHANGE

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            await brokers.changed(controller)


@define(eq=False)
class LeaderAndIsrResponseReceived:
    """A broker has answered a LeaderAndIsr."""

    state: ClassVar = ControllerState.LEADER_AND_ISR_RESPONSE_RECEIVED

    broker: int
    response: LeaderAndIsrResponse

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            await brokers.answered(controller, self.broker, self.response)


@define(eq=False)
class TopicChange:
    """The children of /brokers/topics changed."""

    state: ClassVar = ControllerState.TOPIC_CHANGE

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            await topics.changed(controller)


@define(eq=False)
class PartitionModifications:
    """The assignment of a topic changed; also by the controller's own writes."""

    state: ClassVar = ControllerState.TOPIC_CHANGE

    topic: str

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            await topics.modified(controller, self.topic)


@define(eq=False)
class IsrChangeNotification:
    """Leaders have announced changes of ISRs."""

    state: ClassVar = ControllerState.ISR_CHANGE

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            await isr_notifications.read(controller)


@answers(AlterIsrRequest)
@define(eq=False)
class AlterIsr(Asked[AlterIsrRequest]):
    """A leader asks for other ISRs (KIP-497). Dropped from the queue, it goes unanswered."""

    state: ClassVar = ControllerState.ISR_CHANGE

    async def process(self, controller: "Controller") -> None:
        response = await alter_isr.answer(controller, self.request)
        self.answer(response)
        await alter_isr.complete_moves(controller, response)


@define(eq=False)
class LogDirEventNotification:
    """Brokers have announced failed log directories."""

    state: ClassVar = ControllerState.LOG_DIR_CHANGE

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            await log_dirs.read(controller)
