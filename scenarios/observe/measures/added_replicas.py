"""The bytes that replicas received which moves add, and how many of them were wasted.

A replica is added if it did not have the partition when the move began; where the topic is made during the move (again,
or for the first time), if that did not give it the partition. The bytes that it fetches until the move ends are moved.
Of these, the bytes that it loses meanwhile, by a truncation or with its log, are wasted. All of them are if the replica
is not in the assignment when the move ends: its move was cancelled, or replaced by another.
"""

from __future__ import annotations

from typing import NamedTuple

from attrs import Factory, define

from emulator.protocol.events import BatchesAppended, LogLoaded, ReplicaStopped, Truncated
from emulator.protocol.types import TopicPartition
from emulator.trace import Trace


class AddedReplicaRow(NamedTuple):
    """The bytes of batches that one added replica received in one move.

    Attributes:
        t_us, w_us: times of the move, see ``moves``.
        bytes: the bytes that it fetched.
        lost_bytes: the bytes of these that it lost before the move ended.
        assigned: whether it was in the assignment when the move ended, or the run.
    """

    t_us: int
    w_us: int
    topic: str
    partition: int
    node: int
    bytes: int
    lost_bytes: int
    assigned: bool


@define(eq=False)
class _Fetched:
    """Batches of equal size and number of records, one after the other.

    Attributes:
        next_offset: of the last one.
        step: the distance from the next offset of one to that of the following; 0 while there is only one.
    """

    next_offset: int
    size: int
    step: int = 0
    count: int = 1


@define(eq=False)
class _Replica:
    """One added replica.

    Attributes:
        batches: those that it fetched and still has: a move of a terabyte brings a million of them.
    """

    bytes: int = 0
    lost_bytes: int = 0
    batches: list[_Fetched] = Factory(list)

    def fetched(self, next_offset: int, size: int) -> None:
        self.bytes += size
        last = self.batches[-1] if self.batches else None
        if last is not None and size == last.size:
            step = next_offset - last.next_offset
            if step == last.step or (last.count == 1 and step > 0):
                last.next_offset, last.step = next_offset, step
                last.count += 1
                return
        self.batches.append(_Fetched(next_offset, size))

    def cut(self, end: int) -> None:
        """Take note that its log ends at ``end`` now."""
        batches = self.batches
        while batches and batches[-1].next_offset > end:
            last = batches[-1]
            gone = min(last.count, -((end - last.next_offset) // last.step)) if last.count > 1 else 1
            self.lost_bytes += gone * last.size
            last.count -= gone
            last.next_offset -= gone * last.step
            if not last.count:
                batches.pop()


@define(eq=False)
class _AddingMove:
    t_us: int
    original: tuple[int, ...]
    added: dict[int, _Replica] = Factory(dict)


@define(eq=False)
class AddedReplicas:
    """Follows the replicas of open moves. Batches are followed from the first move on only."""

    _trace: Trace
    _moves: dict[str, dict[int, _AddingMove]] = Factory(dict)
    _follows: bool = False

    def begin(self, tp: TopicPartition, t_us: int, original: tuple[int, ...]) -> None:
        self._moves.setdefault(tp.topic, {})[tp.partition] = _AddingMove(t_us, original)
        if not self._follows:
            self._follows = True
            self._trace.fold(BatchesAppended, self._appended)
            self._trace.fold(Truncated, self._cut)
            self._trace.fold(LogLoaded, self._cut)
            self._trace.fold(ReplicaStopped, self._stopped)

    def made(self, tp: TopicPartition, replicas: tuple[int, ...]) -> None:
        """Take note that the topic of a move was made, with these replicas of the partition: what they fetch from now
        on is no move's."""
        self._moves[tp.topic][tp.partition].original = replicas

    def end(self, tp: TopicPartition, t_us: int, assignment: tuple[int, ...]) -> list[AddedReplicaRow]:
        """End a move. Returns a row for each of its added replicas."""
        move = self._moves[tp.topic].pop(tp.partition)
        if not self._moves[tp.topic]:
            del self._moves[tp.topic]
        return [
            AddedReplicaRow(
                move.t_us, t_us - move.t_us, tp.topic, tp.partition, node, found.bytes, found.lost_bytes,
                node in assignment,
            )
            for node, found in move.added.items()
        ]  # fmt: skip

    def _appended(self, event: BatchesAppended) -> None:
        moves = self._moves.get(event.topic)
        if moves is None or event.leader:
            return
        node = event.node
        for partition, next_offset, size in zip(event.partitions, event.next_offsets, event.sizes, strict=True):
            move = moves.get(partition)
            if move is not None and node not in move.original:
                replica = move.added.get(node)
                if replica is None:
                    replica = move.added[node] = _Replica()
                replica.fetched(next_offset, size)

    def _replica(self, topic: str, partition: int, node: int) -> _Replica | None:
        move = self._moves.get(topic, {}).get(partition)
        return None if move is None else move.added.get(node)

    def _cut(self, event: Truncated | LogLoaded) -> None:
        replica = self._replica(event.topic, event.partition, event.node)
        if replica is not None:
            replica.cut(event.log_end_offset)

    def _stopped(self, event: ReplicaStopped) -> None:
        replica = self._replica(event.topic, event.partition, event.node) if event.deleted else None
        if replica is not None:
            replica.cut(-1)
