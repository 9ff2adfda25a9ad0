"""When moves end.

With ``MoveFinished``, by which the controller says so. A controller can die when it has written the last of a move to
ZooKeeper and not yet said so: after KIP-455's B6 where the API asked for the move, or as the write takes effect that
takes the partition out of /admin/reassign_partitions. Nothing is left for the next one to finish then: such a move
ends with that one's election.
"""

from __future__ import annotations

from collections.abc import Callable

from emulator.protocol.events import ControllerElected, MoveFinished, MoveStarted
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import REASSIGN_PARTITIONS, decode_reassignment
from emulator.trace import Event, Trace
from emulator.trace.events import ZkWritten
from scenarios.observe.measures.topology import Topology

Ended = Callable[[Event, TopicPartition], None]


class MoveEnds:
    """Calls ``ended(event, partition)``; also for a partition of which no move is open."""

    def __init__(self, trace: Trace, topology: Topology, ended: Ended) -> None:
        self._ended = ended
        self._at_rest: dict[TopicPartition, None] = {}
        """Those that have come to rest in ZooKeeper, and of which nobody has said so yet."""
        self._in_motion: dict[TopicPartition, None] = {}
        self._by_znode: dict[TopicPartition, None] = {}
        """Those that /admin/reassign_partitions has named, and of which nobody has said that they are done."""
        self._znode = ""
        topology.subscribe_motions(self._moved)
        trace.fold(ZkWritten, self._written)
        trace.fold(MoveStarted, self._started)
        trace.fold(MoveFinished, self._finished)
        trace.fold(ControllerElected, self._elected)

    def _moved(self, _: ZkWritten, tp: TopicPartition, in_motion: bool) -> None:
        if in_motion:
            self._in_motion[tp] = None
            self._at_rest.pop(tp, None)
        else:
            self._in_motion.pop(tp, None)
            self._at_rest[tp] = None

    def _written(self, event: ZkWritten) -> None:
        """Read as it is created; afterwards kept, and read when an election asks for it."""
        if event.path != REASSIGN_PARTITIONS:
            return
        self._znode = "" if event.op == "delete" else event.data
        if event.op == "create":
            self._by_znode.update(dict.fromkeys(decode_reassignment(event.data)))

    def _started(self, event: MoveStarted) -> None:
        self._at_rest.pop(TopicPartition(event.topic, event.partition), None)

    def _finished(self, event: MoveFinished) -> None:
        tp = TopicPartition(event.topic, event.partition)
        self._at_rest.pop(tp, None)
        self._by_znode.pop(tp, None)
        self._ended(event, tp)

    def _elected(self, event: ControllerElected) -> None:
        at_rest, self._at_rest = self._at_rest, {}
        left = decode_reassignment(self._znode) if self._znode else {}
        gone = [tp for tp in self._by_znode if tp not in left and tp not in self._in_motion]
        for tp in dict.fromkeys((*at_rest, *gone)):
            self._by_znode.pop(tp, None)
            self._ended(event, tp)
