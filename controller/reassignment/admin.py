"""/admin/reassign_partitions: what is asked for, what is done (Kafka 1.1 to 2.3, KafkaController).

The protocols before KIP-455 know no other way to be asked. The tool creates the znode with all moves; the
controller takes finished ones out and deletes it with the last. Its creation is the only change that is noticed,
so a batch of moves has to end before another can begin. Kafka 0.8.0 listened to every change: see
``ReassignmentProtocol.follows_znode``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import structlog

from controller.errors import StateChangeFailed
from controller.operations import deletion
from controller.reassignment.move import Move
from emulator.protocol import znodes
from emulator.protocol.alter_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from emulator.protocol.errors import Errors
from emulator.protocol.events import MoveFinished
from emulator.protocol.list_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from controller.controller import Controller

log = structlog.get_logger("controller.reassignment")


class ByAdminPath:
    """How a protocol without an API is asked: see ``ReassignmentProtocol``."""

    __slots__ = ()

    topic_version: ClassVar[int] = 1
    follows_znode: ClassVar[bool] = False

    def refuses(self, c: "Controller", tp: TopicPartition, target: tuple[int, ...]) -> str:
        """Why a requested move is not made, in words for the log; empty where it is."""
        replicas = c.context.replicas(tp)
        if c.context.is_deleting(tp.topic):
            return "the topic is being deleted"
        if not replicas:
            return "no such partition"
        return "assigned already" if replicas == target else ""

    async def load(self, c: "Controller") -> None:
        c.context.moves = {tp: _found(c, tp, target) for tp, target in (await c.store.moves()).items()}

    async def resume(self, c: "Controller") -> None:
        await self._take_up(c, list(c.context.moves))

    async def requested(self, c: "Controller") -> None:
        if not await c.store.exists(znodes.REASSIGN_PARTITIONS):
            return
        moves = await c.store.moves()
        if self.follows_znode:
            moves = {tp: target for tp, target in moves.items() if tp not in c.context.moves}
        for tp, target in moves.items():
            before = c.context.moves.get(tp)
            current = before.current if before is not None else c.context.replicas(tp)
            c.context.moves[tp] = Move(tp, target, current)
        await self._take_up(c, list(moves))

    async def _take_up(self, c: "Controller", partitions: Sequence[TopicPartition]) -> None:
        """Begin or resume moves; those that cannot be made, or need not, leave the znode.

        As in Kafka 2.3 the znode is written even where none leaves: a request that comes while a new controller
        without moves is at failover.F8 is deleted unread. Kafka 0.8.0 wrote it for those that leave.
        """
        refused = []
        for tp in partitions:
            move = c.context.moves[tp]
            reason = self.refuses(c, tp, move.target)
            if reason:
                log.error("move refused", partition=str(tp), reason=reason)
            if reason or not await _begin(c, move):
                refused.append(tp)
        if refused or not self.follows_znode:
            await remove(c, refused)
        await deletion.moves_refused(c, refused)

    async def alter(
        self, c: "Controller", request: AlterPartitionReassignmentsRequest
    ) -> AlterPartitionReassignmentsResponse:
        return AlterPartitionReassignmentsResponse(Errors.UNSUPPORTED_VERSION)

    def listed(self, c: "Controller", request: ListPartitionReassignmentsRequest) -> ListPartitionReassignmentsResponse:
        return ListPartitionReassignmentsResponse(Errors.UNSUPPORTED_VERSION)


def _found(c: "Controller", tp: TopicPartition, target: tuple[int, ...]) -> Move:
    """A move that an earlier controller may have begun."""
    replicas = c.context.replicas(tp)
    widened = all(replica in replicas for replica in target)
    return Move(tp, target, tuple(r for r in replicas if r not in target) if widened else replicas)


async def _begin(c: "Controller", move: Move) -> bool:
    """Returns whether the move could be begun."""
    c.watches.state(move.tp)
    try:
        await c.policies.reassignment.advance(c, move)
        await finished(c, move.tp)
    except StateChangeFailed as error:
        log.error("cannot be moved", partition=str(move.tp), reason=str(error))
        return False
    return True


async def isr_changed(c: "Controller", tp: TopicPartition) -> None:
    """The state znode of ``tp`` changed."""
    move = c.context.moves.get(tp)
    if move is not None:
        await c.policies.reassignment.isr_changed(c, move)
        await finished(c, tp)


async def brokers_started(c: "Controller", brokers: Sequence[int]) -> None:
    """Go on with the moves that wait for brokers which have come up."""
    protocol = c.policies.reassignment
    for move in [move for move in c.context.moves.values() if protocol.concerns(move, brokers)]:
        await protocol.advance(c, move)
        await finished(c, move.tp)


async def finished(c: "Controller", tp: TopicPartition) -> None:
    """If the move of ``tp`` is, its topic may be waiting to be deleted."""
    if tp not in c.context.moves:
        await deletion.moved(c, tp)


async def remove(c: "Controller", partitions: Sequence[TopicPartition]) -> None:
    """Take ``partitions`` out of the znode; without any left, delete it and watch for the next one."""
    for tp in partitions:
        c.watches.forget(znodes.state_path(tp))
    asked = {tp: move.target for tp, move in c.context.moves.items()}
    if c.policies.reassignment.follows_znode:
        asked = await c.store.moves()
    left = {tp: target for tp, target in asked.items() if tp not in partitions}
    await c.store.write_moves(left)
    if not left:
        c.watches.look_for_moves()
    for tp in partitions:
        del c.context.moves[tp]
        c.process.emit(MoveFinished, tp.topic, tp.partition)
