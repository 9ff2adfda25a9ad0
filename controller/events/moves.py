"""Events about reassignments."""

from typing import TYPE_CHECKING

from attrs import define

from controller.reassignment import admin
from emulator.network import Channel
from emulator.protocol.alter_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from emulator.protocol.errors import Errors
from emulator.protocol.list_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from controller.controller import Controller


@define(eq=False)
class ReassignmentChange:
    """/admin/reassign_partitions was created or changed, or deleted by the controller itself, which has to watch it
    again."""

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            await controller.policies.reassignment.requested(controller)


@define(eq=False)
class ReassignmentIsrChange:
    """The state znode of a partition that is being moved changed; also by the controller's own writes."""

    tp: TopicPartition

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            await admin.isr_changed(controller, self.tp)


@define(eq=False)
class AlterReassignments:
    """A client asks to begin, replace or cancel reassignments; it is answered when each has been begun."""

    request: AlterPartitionReassignmentsRequest
    channel: Channel

    async def process(self, controller: "Controller") -> None:
        response = AlterPartitionReassignmentsResponse(Errors.NOT_CONTROLLER)
        if controller.is_active:
            response = await controller.policies.reassignment.alter(controller, self.request)
        self.channel.reply(response, response.size)

    def preempted(self, controller: "Controller") -> None:
        if controller.policies.answers_preempted:
            response = AlterPartitionReassignmentsResponse(Errors.NOT_CONTROLLER)
            self.channel.reply(response, response.size)


@define(eq=False)
class ListReassignments:
    """A client asks which reassignments are in progress."""

    request: ListPartitionReassignmentsRequest
    channel: Channel

    async def process(self, controller: "Controller") -> None:
        response = ListPartitionReassignmentsResponse(Errors.NOT_CONTROLLER)
        if controller.is_active:
            response = controller.policies.reassignment.listed(controller, self.request)
        self.channel.reply(response, response.size)

    def preempted(self, controller: "Controller") -> None:
        if controller.policies.answers_preempted:
            response = ListPartitionReassignmentsResponse(Errors.NOT_CONTROLLER)
            self.channel.reply(response, response.size)
