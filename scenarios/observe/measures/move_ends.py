"""The ends of moves, whether they are done or not.

A move ends with the controller's ``MoveFinished``. A controller can die after the last write of a move to ZooKeeper and
before that event. That can happen after KIP-455's B6 for a move requested by the API, anywhere in a move that adds and
removes no replica, or just as the write takes effect that removes the partition from /admin/reassign_partitions. A
controller also deletes requests there that it has not read. In these cases nothing is left for the next controller to
finish, and the move ends with that controller's election. The assignment says whether it is done.
"""

from __future__ import annotations

from collections.abc import Callable

from emulator.protocol.events import ControllerElected, MoveFinished, MoveStarted
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import REASSIGN_PARTITIONS, decode_reassignment
from emulator.trace import Event, Trace
from emulator.trace.events import ZkWritten
from scenarios.observe.history.subscriptions import arm
from scenarios.observe.past.changes import ReassigningWritten
from scenarios.observe.past.cluster_past import Past

Ended = Callable[[Event, TopicPartition], None]


class MoveEnds:
    """Calls ``ended(event, partition)``, even for a partition without an open move."""

    def __init__(self, trace: Trace, past: Past, ended: Ended) -> None:
        self._ended = ended
        self._cluster = past.now
        self._targets: dict[TopicPartition, tuple[int, ...]] = {}
        """The targets of the moves without ``MoveFinished`` yet."""
        self._settled: dict[TopicPartition, None] = {}
        """Partitions without adding or removing replicas in ZooKeeper any more, and without ``MoveFinished`` yet."""
        self._by_znode: dict[TopicPartition, None] = {}
        """Partitions that /admin/reassign_partitions has named, without ``MoveFinished`` yet."""
        self._unannounced: dict[TopicPartition, None] = {}
        """Partitions that the znode names since its tool created it, and whose ``MoveStarted`` that tool has still to
        record. Any other request for one of them came by the API."""
        self._znode = ""
        arm(self, trace, past)

    def announces_znode(self, tp: TopicPartition) -> bool:
        """Whether a ``MoveStarted`` that comes now is about /admin/reassign_partitions: its tool records it as soon as
        it has created the znode. The API may be asked for a partition that the znode names."""
        return tp in self._unannounced

    def on_moved(self, event: ReassigningWritten) -> None:
        if event.moves:
            self._settled.pop(event.tp, None)
        else:
            self._settled[event.tp] = None

    def on_written(self, event: ZkWritten) -> None:
        """Take in a topic's znode. It is decoded when it is created; later ones are kept as text, and decoded at an
        election."""
        if event.path != REASSIGN_PARTITIONS:
            return
        self._znode = "" if event.op == "delete" else event.data
        if event.op == "create":
            self._unannounced = dict.fromkeys(decode_reassignment(event.data))
            self._by_znode.update(self._unannounced)

    def on_started(self, event: MoveStarted) -> None:
        tp = TopicPartition(event.topic, event.partition)
        self._settled.pop(tp, None)
        self._unannounced.pop(tp, None)
        self._targets[tp] = event.target

    def on_finished(self, event: MoveFinished) -> None:
        tp = TopicPartition(event.topic, event.partition)
        self._settled.pop(tp, None)
        self._by_znode.pop(tp, None)
        self._targets.pop(tp, None)
        self._ended(event, tp)

    def on_elected(self, event: ControllerElected) -> None:
        settled, self._settled = self._settled, {}
        moves = self._cluster.is_reassigning
        left = decode_reassignment(self._znode) if self._znode else {}
        gone = [tp for tp in self._by_znode if tp not in left and not moves(tp)]
        same = [
            tp
            for tp, target in self._targets.items()
            if tp not in left and not moves(tp) and self._cluster.assignment(tp) == target
        ]
        for tp in dict.fromkeys((*settled, *gone, *same)):
            self._by_znode.pop(tp, None)
            self._targets.pop(tp, None)
            self._ended(event, tp)
