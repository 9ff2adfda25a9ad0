"""The moves that the controller carries out, and the events that make them go on."""

from collections.abc import Sequence
from typing import Generic, TypeVar

from attrs import define

from controller.context import ControllerContext
from controller.move import Move
from controller.reassignment.admin_znode import AdminZnode
from controller.reassignment.protocol import ReassignmentProtocol
from controller.reassignment.steps_work import StepsWork
from controller.topic_deletion import TopicDeletionManager
from controller.watches import Watches
from controller.zk_client import KafkaZkClient
from emulator.protocol.alter_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from emulator.protocol.list_reassignments import ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse
from emulator.protocol.types import TopicPartition

P = TypeVar("P", bound=ReassignmentProtocol)


@define(eq=False, repr=False)
class Reassignments(Generic[P]):
    """The moves of one controller. Subclasses say how moves are requested; ``protocol`` carries them out."""

    protocol: P
    work: StepsWork
    context: ControllerContext
    zk_client: KafkaZkClient
    watches: Watches
    admin_znode: AdminZnode
    deletion: TopicDeletionManager

    # -- how moves are requested --------------------------------------------------------------------------------------

    async def load(self) -> None:
        """Failover F3: find the moves that are in progress."""
        raise NotImplementedError

    async def resume(self) -> None:
        """Failover F8: continue the moves in progress."""
        raise NotImplementedError

    async def znode_changed(self) -> None:
        """Read /admin/reassign_partitions, which was created, or whose watch has to be armed."""
        raise NotImplementedError

    async def alter(self, request: AlterPartitionReassignmentsRequest) -> AlterPartitionReassignmentsResponse:
        """Begin, replace or cancel moves."""
        raise NotImplementedError

    def listed(self, request: ListPartitionReassignmentsRequest) -> ListPartitionReassignmentsResponse:
        raise NotImplementedError

    # -- how moves advance --------------------------------------------------------------------------------------------

    async def isr_changed(self, tp: TopicPartition) -> None:
        """Advance the move of ``tp``, whose ISR may have changed."""
        move = self.context.reassignments.get(tp)
        if move is not None:
            await self.protocol.isr_changed(self.work, move)
            await self.finished(tp)

    async def brokers_started(self, brokers: Sequence[int]) -> None:
        """Advance the moves that wait for ``brokers``."""
        raise NotImplementedError

    async def advance(self, move: Move) -> None:
        """Take a move as far as possible."""
        await self.protocol.advance(self.work, move)
        await self.finished(move.tp)

    async def finished(self, tp: TopicPartition) -> None:
        """If the move of ``tp`` is over, a deletion of its topic may go on."""
        if tp not in self.context.reassignments:
            await self.deletion.move_finished(tp)
