"""Events about topics that are to be deleted."""

from typing import TYPE_CHECKING, ClassVar

from attrs import define

from controller.events.state import ControllerState
from controller.operations import deletion
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from controller.controller import Controller


@define(eq=False)
class TopicDeletion:
    """The children of /admin/delete_topics changed; also by the controller's own writes."""

    state: ClassVar = ControllerState.TOPIC_DELETION

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            await deletion.requested(controller)


@define(eq=False)
class ReplicasDeleted:
    """A broker has answered a StopReplica with deletion (Kafka's TopicDeletionStopReplicaResponseReceived).

    Attributes:
        partitions: of topics that are being deleted, each with what became of the broker's replica.
    """

    state: ClassVar = ControllerState.TOPIC_DELETION

    broker: int
    error: Errors
    partitions: tuple[tuple[TopicPartition, Errors], ...]

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            await deletion.answered(controller, self.broker, self.error, self.partitions)
