"""Moves that are asked for by KIP-455's API or in /admin/reassign_partitions (Kafka 2.4.1; kafka-behaviour §6.2).

The later request wins, partition by partition. The moves in progress are stored in the topics' znodes, so the admin
znode only carries requests: a partition leaves it when its move ends at the target that the znode names, when the API
asks for something else, or when it cannot be moved. The moves of one request begin in the order of a mutable map; a new
controller and the start of a broker go on with those in progress in that of a mutable set.
"""

from collections.abc import Mapping, Sequence

from attrs import define

from controller.errors import StateChangeFailed
from controller.move import Move
from controller.reassignment.protocol import RequestedByApi
from controller.reassignment.reassignments import Reassignments
from emulator.logger import get_logger
from emulator.protocol import znodes
from emulator.protocol.alter_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from emulator.protocol.assignments import ReplicaAssignment, Replicas
from emulator.protocol.errors import Errors
from emulator.protocol.list_reassignments import ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse
from emulator.protocol.scala_order import ScalaCollections
from emulator.protocol.types import TopicPartition

log = get_logger("controller.reassignment")

Outcomes = dict[TopicPartition, Errors]


@define(eq=False, repr=False)
class ByApi(Reassignments[RequestedByApi]):
    """Moves by the API and by the admin znode, in the orders of the ``collections`` of the controller's build."""

    collections: ScalaCollections

    # -- failover -----------------------------------------------------------------------------------------------------

    async def load(self) -> None:
        context = self.context
        moving = (TopicPartition(topic, p) for topic, found in context.reassigning.items() for p in found)
        assignments = {tp: context.full_assignment(tp) for tp in moving}
        context.reassignments.update({tp: Move(tp, f.target, f.origin) for tp, f in assignments.items()})

    async def resume(self) -> None:
        """Resume the moves of the admin znode first: its requests replace the moves in progress."""
        begun = await self._read_admin_znode()
        moves = self.context.reassignments
        for move in [moves[tp] for tp in self.collections.mutable_set_order(moves) if tp not in begun]:
            await self.advance(move)

    async def brokers_started(self, brokers: Sequence[int]) -> None:
        moves = self.context.reassignments
        for move in [
            moves[tp] for tp in self.collections.mutable_set_order(moves) if self.protocol.concerns(moves[tp], brokers)
        ]:
            await self.advance(move)

    # -- the admin znode ----------------------------------------------------------------------------------------------

    async def znode_changed(self) -> None:
        await self._read_admin_znode()

    async def _read_admin_znode(self) -> list[TopicPartition]:
        """Begin the moves that the znode asks for; those that cannot be begun leave it. Neither the lists nor the
        liveness of brokers is checked.

        Returns the partitions whose moves were begun.
        """
        if not await self.zk_client.exists(znodes.REASSIGN_PARTITIONS):
            return []
        targets = await self.zk_client.reassignments()
        wanted = {tp: self.context.full_assignment(tp).reassign_to(target) for tp, target in targets.items()}
        outcomes = await self._begin_all(wanted)
        failed = [tp for tp, error in outcomes.items() if error is not Errors.NONE]
        if failed:
            log.warning("cannot be moved", partitions=[f"{tp}: {outcomes[tp].name}" for tp in failed])
            await self.admin_znode.remove_entries(lambda tp, _target: tp in failed)
            for tp in failed:
                if tp not in self.context.reassignments:
                    self.admin_znode.finished(tp, targets[tp])
        return [tp for tp in wanted if tp not in failed]

    # -- the API ------------------------------------------------------------------------------------------------------

    async def alter(self, request: AlterPartitionReassignmentsRequest) -> AlterPartitionReassignmentsResponse:
        """Check every partition, then take those that pass out of the admin znode, then begin their moves."""
        outcomes: Outcomes = {}
        wanted: dict[TopicPartition, ReplicaAssignment] = {}
        for tp, target in request.targets.items():
            now = self.context.full_assignment(tp)
            if target is None and not now.being_reassigned:
                outcomes[tp] = Errors.NO_REASSIGNMENT_IN_PROGRESS
            elif target is not None and not valid(target, now, self.context.live):
                outcomes[tp] = Errors.INVALID_REPLICA_ASSIGNMENT
            else:
                wanted[tp] = now.reassign_to(now.origin if target is None else target)
        await self.admin_znode.remove_entries(lambda tp, _target: tp in wanted)
        outcomes.update(await self._begin_all(wanted))
        return AlterPartitionReassignmentsResponse(Errors.NONE, tuple((tp, outcomes[tp]) for tp in request.targets))

    def listed(self, request: ListPartitionReassignmentsRequest) -> ListPartitionReassignmentsResponse:
        """A partition that is asked for twice is listed once (KafkaApis.handleListPartitionReassignmentsRequest, 2.4: a
        set)."""
        context = self.context
        named = context.reassignments if request.partitions is None else dict.fromkeys(request.partitions)
        found = tuple((tp, context.full_assignment(tp)) for tp in named)
        moving = tuple((tp, assignment) for tp, assignment in found if assignment.being_reassigned)
        return ListPartitionReassignmentsResponse(Errors.NONE, moving)

    async def _begin_all(self, wanted: Mapping[TopicPartition, ReplicaAssignment]) -> Outcomes:
        outcomes = {}
        for tp in self.collections.map_order(self.collections.set_order(tuple(wanted))):
            if self.context.is_deleting(tp.topic) or not self.context.replicas(tp):
                outcomes[tp] = Errors.UNKNOWN_TOPIC_OR_PARTITION
                continue
            try:
                await self.protocol.begin(self.work, tp, wanted[tp])
                await self.finished(tp)
                outcomes[tp] = Errors.NONE
            except StateChangeFailed as error:
                log.error("the reassignment fails", partition=str(tp), reason=str(error))
                outcomes[tp] = Errors.UNKNOWN_SERVER_ERROR
        return outcomes


def valid(target: Replicas, now: ReplicaAssignment, live: Sequence[int]) -> bool:
    """Whether the API may ask for ``target``: some replicas, each once, of which the new ones are live."""
    if not target or len(set(target)) < len(target) or min(target) < 0:
        return False
    return all(replica in live for replica in now.reassign_to(target).adding)
