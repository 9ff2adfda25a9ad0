"""Moves that are asked for in /admin/reassign_partitions (Kafka 1.1 to 2.3, KafkaController).

The protocols before KIP-455 have no other way. The tool creates the znode with all moves; the controller takes finished
ones out and deletes it with the last. Only its creation is noticed, so a batch of moves has to end before another can
begin. Kafka 0.8.0 watched every change: see ``RequestedByZnode.follows_znode``. Moves begin in the order of the
immutable map that is read from the znode; a new controller and the start of a broker go on with them in that of the
mutable map in the memory.
"""

from collections.abc import Sequence

from attrs import define

from controller.errors import StateChangeFailed
from controller.move import Move
from controller.reassignment.protocol import RequestedByZnode
from controller.reassignment.reassignments import Reassignments
from emulator.logger import get_logger
from emulator.protocol import znodes
from emulator.protocol.alter_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from emulator.protocol.assignments import Replicas
from emulator.protocol.errors import Errors
from emulator.protocol.list_reassignments import ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse
from emulator.protocol.scala_order import map_order
from emulator.protocol.types import TopicPartition

log = get_logger("controller.reassignment")


@define(eq=False, repr=False)
class ByZnode(Reassignments[RequestedByZnode]):
    """Moves by the admin znode alone.

    Attributes:
        takes_up_together: whether all moves of one request are in the memory before the first of them is begun
            (``ControllerPolicies.takes_up_moves_together``).
    """

    takes_up_together: bool = True

    async def load(self) -> None:
        requested = await self.zk_client.reassignments()
        if not self.takes_up_together:
            done = [tp for tp, target in requested.items() if self.context.replicas(tp) in ((), target)]
            for tp in done:
                await self.admin_znode.remove_moves([tp])
                self.admin_znode.finished(tp, requested[tp])
            requested = {tp: target for tp, target in requested.items() if tp not in done}
        self.context.reassignments.update({tp: self._found(tp, target) for tp, target in requested.items()})

    def _found(self, tp: TopicPartition, target: Replicas) -> Move:
        """A move that an earlier controller may have begun."""
        replicas = self.context.replicas(tp)
        widened = all(replica in replicas for replica in target)
        return Move(tp, target, tuple(r for r in replicas if r not in target) if widened else replicas)

    async def resume(self) -> None:
        await self._begin_all(map_order(self.context.reassignments))

    async def brokers_started(self, brokers: Sequence[int]) -> None:
        moves = self.context.reassignments
        waiting = [tp for tp in map_order(moves) if self.protocol.concerns(moves[tp], brokers)]
        for move in [moves[tp] for tp in map_order(waiting)]:
            await self.advance(move)

    async def znode_changed(self) -> None:
        if not await self.zk_client.exists(znodes.REASSIGN_PARTITIONS):
            return
        requested, moves = await self.zk_client.reassignments(), self.context.reassignments
        if self.protocol.follows_znode:
            requested = {tp: target for tp, target in requested.items() if tp not in moves}
        if not self.takes_up_together:
            for tp, target in requested.items():
                if tp not in moves:
                    moves[tp] = Move(tp, target, self.context.replicas(tp))
                    await self._begin_all([tp])
            return
        for tp, target in requested.items():
            before = moves.get(tp)
            current = before.current if before is not None else self.context.replicas(tp)
            moves[tp] = Move(tp, target, current)
        await self._begin_all(list(requested))

    async def _begin_all(self, partitions: Sequence[TopicPartition]) -> None:
        """Begin or resume moves; those that cannot be made, or need not be, leave the znode.

        As in Kafka 2.0 to 2.3 the znode is written even where none leaves: a request that comes while a new controller
        without moves is at failover.F8 is deleted unread. Kafka 0.8.0 and 1.1 wrote it only where some leave, 1.1
        once for each of them.
        """
        refused, together = [], self.admin_znode.removes_together
        for tp in partitions:
            move = self.context.reassignments[tp]
            reason = self.protocol.refuses(self.context, tp, move.target)
            if reason:
                log.error("move refused", partition=str(tp), reason=reason)
            if reason or not await self._begin(move):
                refused.append(tp)
                if not together:
                    await self.admin_znode.remove_moves([tp])
        if together and (refused or not self.protocol.follows_znode):
            await self.admin_znode.remove_moves(refused)

    async def _begin(self, move: Move) -> bool:
        """Begin a move. Returns whether that was possible."""
        self.watches.state(move.tp)
        try:
            await self.advance(move)
        except StateChangeFailed as error:
            log.error("cannot be moved", partition=str(move.tp), reason=str(error))
            return False
        return True

    async def alter(self, request: AlterPartitionReassignmentsRequest) -> AlterPartitionReassignmentsResponse:
        return AlterPartitionReassignmentsResponse(Errors.UNSUPPORTED_VERSION)

    def listed(self, request: ListPartitionReassignmentsRequest) -> ListPartitionReassignmentsResponse:
        return ListPartitionReassignmentsResponse(Errors.UNSUPPORTED_VERSION)
