"""Events about reassignments."""

from typing import TYPE_CHECKING

from attrs import define

from controller.reassignment import admin
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from controller.controller import Controller


@define(eq=False)
class ReassignmentChange:
    """/admin/reassign_partitions was created, or deleted by the controller itself, which has to watch it again."""

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            await admin.requested(controller)


@define(eq=False)
class ReassignmentIsrChange:
    """The state znode of a partition that is being moved changed; also by the controller's own writes."""

    tp: TopicPartition

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            await admin.isr_changed(controller, self.tp)
