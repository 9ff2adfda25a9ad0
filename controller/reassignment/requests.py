"""How KIP-455 is asked: by its API or by /admin/reassign_partitions (Kafka 2.4.1; kafka-behaviour §6.2).

Whichever comes later wins, partition by partition. What is under way stands in the topics' znodes, so the admin
znode is only a letter box: a partition leaves it when its move ends where the letter says, when the API asks for
something else, or when it cannot be moved.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import structlog

from controller.errors import IllegalState, StateChangeFailed
from controller.operations import deletion
from controller.reassignment import admin
from controller.reassignment.move import Move
from emulator.protocol import znodes
from emulator.protocol.alter_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from emulator.protocol.assignments import ReplicaAssignment, Replicas
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

Outcomes = dict[TopicPartition, Errors]


class ByApiAndAdminPath:
    """See ``ReassignmentProtocol``. A protocol that is asked this way says how a move begins and how it goes on."""

    __slots__ = ()

    topic_version: ClassVar[int] = 2
    follows_znode: ClassVar[bool] = False

    async def begin(self, c: "Controller", tp: TopicPartition, wanted: ReplicaAssignment) -> None:
        """Take ``wanted`` over as what ``tp`` is to become, whatever it was becoming, and advance."""
        raise NotImplementedError

    async def advance(self, c: "Controller", move: Move) -> None:
        """See ``ReassignmentProtocol``."""
        raise NotImplementedError

    # -- failover -----------------------------------------------------------------------------------------------------

    async def load(self, c: "Controller") -> None:
        context = c.context
        moving = (TopicPartition(topic, p) for topic, motions in context.motions.items() for p in motions)
        found = {tp: context.full_assignment(tp) for tp in moving}
        context.moves = {tp: Move(tp, assignment.target, assignment.origin) for tp, assignment in found.items()}

    async def resume(self, c: "Controller") -> None:
        """The admin znode first: what it asks for replaces what was under way."""
        begun = await self._read_admin_path(c)
        for tp, move in list(c.context.moves.items()):
            if tp not in begun:
                await self.advance(c, move)
                await admin.finished(c, tp)

    # -- the admin znode ----------------------------------------------------------------------------------------------

    async def requested(self, c: "Controller") -> None:
        await self._read_admin_path(c)

    async def _read_admin_path(self, c: "Controller") -> list[TopicPartition]:
        """Begin what the znode asks for; what cannot be begun leaves it. Nothing checks who is alive, nor the lists.

        Returns the partitions that were begun.
        """
        if not await c.store.exists(znodes.REASSIGN_PARTITIONS):
            return []
        targets = await c.store.moves()
        wanted = {tp: c.context.full_assignment(tp).reassign_to(target) for tp, target in targets.items()}
        outcomes = await self._begin_all(c, wanted)
        failed = [tp for tp, error in outcomes.items() if error is not Errors.NONE]
        if failed:
            log.warning("cannot be moved", partitions=[f"{tp}: {outcomes[tp].name}" for tp in failed])
            await remove_from_admin_path(c, lambda tp, _target: tp in failed)
            for tp in failed:
                if tp not in c.context.moves:
                    c.process.emit(MoveFinished, tp.topic, tp.partition)
            await deletion.moves_refused(c, failed)
        return [tp for tp in wanted if tp not in failed]

    # -- the API ------------------------------------------------------------------------------------------------------

    async def alter(
        self, c: "Controller", request: AlterPartitionReassignmentsRequest
    ) -> AlterPartitionReassignmentsResponse:
        """Check every partition, then take those out of the admin znode that are begun, then begin them."""
        outcomes: Outcomes = {}
        wanted: dict[TopicPartition, ReplicaAssignment] = {}
        for tp, target in request.targets.items():
            now = c.context.full_assignment(tp)
            if target is None and not now.being_reassigned:
                outcomes[tp] = Errors.NO_REASSIGNMENT_IN_PROGRESS
            elif target is not None and not valid(target, now, c.context.live):
                outcomes[tp] = Errors.INVALID_REPLICA_ASSIGNMENT
            else:
                wanted[tp] = now.reassign_to(now.origin if target is None else target)
        await remove_from_admin_path(c, lambda tp, _target: tp in wanted)
        outcomes.update(await self._begin_all(c, wanted))
        return AlterPartitionReassignmentsResponse(Errors.NONE, tuple((tp, outcomes[tp]) for tp in request.targets))

    def listed(self, c: "Controller", request: ListPartitionReassignmentsRequest) -> ListPartitionReassignmentsResponse:
        context = c.context
        asked = context.moves if request.partitions is None else request.partitions
        found = tuple((tp, context.full_assignment(tp)) for tp in asked)
        moving = tuple((tp, assignment) for tp, assignment in found if assignment.being_reassigned)
        return ListPartitionReassignmentsResponse(Errors.NONE, moving)

    async def _begin_all(self, c: "Controller", wanted: Mapping[TopicPartition, ReplicaAssignment]) -> Outcomes:
        outcomes = {}
        for tp, assignment in wanted.items():
            if c.context.is_deleting(tp.topic) or not c.context.replicas(tp):
                outcomes[tp] = Errors.UNKNOWN_TOPIC_OR_PARTITION
                continue
            try:
                await self.begin(c, tp, assignment)
                await admin.finished(c, tp)
                outcomes[tp] = Errors.NONE
            except StateChangeFailed as error:
                log.error("the reassignment fails", partition=str(tp), reason=str(error))
                outcomes[tp] = Errors.UNKNOWN_SERVER_ERROR
        return outcomes


def valid(target: Replicas, now: ReplicaAssignment, live: Sequence[int]) -> bool:
    """May the API ask for ``target``: some replicas, each once, of which the new ones are alive?"""
    if not target or len(set(target)) < len(target) or min(target) < 0:
        return False
    return all(replica in live for replica in now.reassign_to(target).adding)


async def remove_from_admin_path(c: "Controller", goes: Callable[[TopicPartition, Replicas], bool]) -> None:
    """Take those entries out of the znode, if there is one, for which ``goes(partition, target)``. With none left
    delete it, and watch for the next one."""
    if not await c.store.exists(znodes.REASSIGN_PARTITIONS):
        return
    left = {tp: target for tp, target in (await c.store.moves()).items() if not goes(tp, target)}
    await c.store.write_moves(left)
    if not left:
        c.watches.look_for_moves()


async def finish(c: "Controller", move: Move) -> None:
    """The move is done: stop watching, take it out of the admin znode if that is what it asks for, forget it."""
    tp = move.tp
    if tp not in c.context.moves:
        raise IllegalState(f"{tp} is not being reassigned")
    c.watches.forget(znodes.state_path(tp))
    await remove_from_admin_path(c, lambda entry, target: entry == tp and target == move.target)
    del c.context.moves[tp]
    c.process.emit(MoveFinished, tp.topic, tp.partition)
