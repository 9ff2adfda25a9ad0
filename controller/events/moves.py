"""Events about reassignments."""

from typing import TYPE_CHECKING, ClassVar

from attrs import define

from controller.events.asked import Asked
from controller.events.state import ControllerState
from controller.reassignment import admin
from controller.requests import answers
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

    state: ClassVar = ControllerState.ALTER_PARTITION_REASSIGNMENT

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            await controller.policies.reassignment.requested(controller)


@define(eq=False)
class ReassignmentIsrChange:
    """The state znode of a partition that is being moved changed; also by the controller's own writes."""

    state: ClassVar = ControllerState.ALTER_PARTITION_REASSIGNMENT

    tp: TopicPartition

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            await admin.isr_changed(controller, self.tp)


@answers(AlterPartitionReassignmentsRequest)
@define(eq=False)
class AlterReassignments(Asked[AlterPartitionReassignmentsRequest]):
    """A client asks to begin, replace or cancel reassignments; it is answered when each has been begun."""

    state: ClassVar = ControllerState.ALTER_PARTITION_REASSIGNMENT

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            self.answer(await controller.policies.reassignment.alter(controller, self.request))
        else:
            self._refuse()

    def preempted(self, controller: "Controller") -> None:
        if controller.policies.answers_preempted:
            self._refuse()

    def _refuse(self) -> None:
        self.answer(AlterPartitionReassignmentsResponse(Errors.NOT_CONTROLLER))


@answers(ListPartitionReassignmentsRequest)
@define(eq=False)
class ListReassignments(Asked[ListPartitionReassignmentsRequest]):
    """A client asks which reassignments are in progress."""

    state: ClassVar = ControllerState.LIST_PARTITION_REASSIGNMENT

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            self.answer(controller.policies.reassignment.listed(controller, self.request))
        else:
            self._refuse()

    def preempted(self, controller: "Controller") -> None:
        if controller.policies.answers_preempted:
            self._refuse()

    def _refuse(self) -> None:
        self.answer(ListPartitionReassignmentsResponse(Errors.NOT_CONTROLLER))
