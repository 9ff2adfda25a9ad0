"""/admin/reassign_partitions: taking entries out of it, and the end of a move."""

from collections.abc import Callable, Sequence

from attrs import define

from controller.context import ControllerContext
from controller.errors import IllegalState
from controller.move import Move
from controller.watches import Watches
from controller.zk_client import KafkaZkClient
from emulator.nodes import Process
from emulator.protocol import znodes
from emulator.protocol.assignments import Replicas
from emulator.protocol.events import MoveFinished
from emulator.protocol.scala_order import map_order
from emulator.protocol.types import TopicPartition


@define(eq=False, repr=False)
class AdminZnode:
    """The znode as one controller keeps it.

    Attributes:
        follows_changes: whether the znode is read again before an entry is removed from it, so that others may edit it
            (Kafka 0.8.0); else the memory says what is left in it.
        removes_together: whether the moves that are not begun leave it in one write, made even where none leaves.
    """

    process: Process
    context: ControllerContext
    zk_client: KafkaZkClient
    watches: Watches
    follows_changes: bool
    removes_together: bool

    async def remove_moves(self, partitions: Sequence[TopicPartition]) -> None:
        """End the moves of ``partitions`` and write the others to the znode; without others, delete it and watch for
        the next one (Kafka 1.1 to 2.3, removePartitionsFromReassignedPartitions)."""
        for tp in partitions:
            self.watches.forget(znodes.state_path(tp))
        if self.follows_changes:
            requested = await self.zk_client.reassignments()
        else:
            moves = self.context.reassignments
            requested = {tp: moves[tp].target for tp in map_order(map_order(moves))}  # of a copy of the map
        await self._write({tp: target for tp, target in requested.items() if tp not in partitions})
        for tp in partitions:
            self._forget(tp)

    async def complete(self, move: Move) -> None:
        """End a move, and remove it from the znode if that asks for the same target (Kafka 2.4.1).

        Raises: IllegalState where the partition is not being reassigned.
        """
        tp = move.tp
        if tp not in self.context.reassignments:
            raise IllegalState(f"{tp} is not being reassigned")
        self.watches.forget(znodes.state_path(tp))
        await self.remove_entries(lambda entry, target: entry == tp and target == move.target)
        self._forget(tp)

    async def remove_entries(self, remove: Callable[[TopicPartition, Replicas], bool]) -> None:
        """Remove the entries for which ``remove(partition, target)`` from the znode, if there is one; without others,
        delete it and watch for the next one."""
        if not await self.zk_client.exists(znodes.REASSIGN_PARTITIONS):
            return
        requested = await self.zk_client.reassignments()
        await self._write({tp: target for tp, target in requested.items() if not remove(tp, target)})

    def finished(self, tp: TopicPartition, target: Replicas) -> None:
        """Record that a requested move is over."""
        self.process.emit(MoveFinished, tp.topic, tp.partition, target)

    async def _write(self, left: dict[TopicPartition, Replicas]) -> None:
        await self.zk_client.write_reassignments(left)
        if not left:
            self.watches.read_reassignments()

    def _forget(self, tp: TopicPartition) -> None:
        move = self.context.reassignments.pop(tp, None)
        if move is not None:
            self.finished(tp, move.target)
