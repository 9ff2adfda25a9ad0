"""R1: what a move is about can be read from ZooKeeper at any moment."""

from __future__ import annotations

from collections.abc import Mapping

from emulator.protocol import znodes
from emulator.protocol.assignments import Replicas
from emulator.protocol.events import MoveReported
from emulator.protocol.shown import RequestedMovesRead
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.control_facts import FormatChanged, ReplicasChangedUnasked, RequestTakenOut
from scenarios.observe.past.changes import AssignmentWritten, ReassigningWritten

TOPIC = f"{znodes.TOPICS}/"


class MovesRecoverable(Checker):
    """A partition that is being moved, and where to, can be told from ZooKeeper alone, so that the next controller can
    go on.

    Verified: the replicas of a partition change while /admin/reassign_partitions asks for that, or while the topic's
        znode names adding or removing replicas (KIP-455), and none is added that was not asked for. A request that a
        controller takes out of /admin/reassign_partitions is done (the replicas are those that were asked for), or is
        in the topic's znode, or its partition is gone, or it was refused: the replicas are those from before it, and
        that controller has read it. Brokers keep the format that a topic's znode has, as they are of one release.

    Not verified: why a request was refused; changes of the order alone, which the API may have asked for (KIP-455);
        requests for partitions that never had a leader; requests that an operator withdraws (KAFKA-42's command, or
        by deleting the znode); that the move goes on after a failover.
    """

    ids = ("R1", "R2")
    statement = (
        "RS changes ⇒ ZooKeeper says to what, until RS = TRS: replicas change only while ZooKeeper asks for a move, "
        "which it does until the move is over"
    )
    fails_when = "a controller knows a move before the other moves that were asked for with it"

    def begin(self) -> None:
        self._asked: Mapping[TopicPartition, Replicas] = {}
        self._before: dict[TopicPartition, Replicas] = {}
        """The replicas that the partitions of ``_asked`` had when they came there."""
        self._read: dict[TopicPartition, dict[int, None]] = {}
        """The controllers that have read the request for a partition of ``_asked``."""
        self._named: dict[TopicPartition, None] = {}
        """The partitions of which a topic's znode names adding or removing replicas."""
        self._formats: dict[str, str] = {}
        """The beginning of a topic's znode, by its path."""
        self._identified: dict[str, None] = {}
        """The paths of topics that have an id."""
        self._withdrawn: dict[TopicPartition, None] = {}
        self._doubtful: dict[TopicPartition, Replicas] = {}
        """Replicas, before the current write, of partitions that it changes without naming adding or removing ones."""

    def on_reported(self, event: MoveReported) -> None:
        if event.interrupted:
            self._withdrawn[TopicPartition.of(event.topic, event.partition)] = None

    def on_read(self, event: RequestedMovesRead) -> None:
        for tp, target in event.targets.items():
            if self._asked.get(tp) == target:
                self._read.setdefault(tp, {})[event.node] = None

    def on_assigned(self, event: AssignmentWritten) -> None:
        tp, now, before = event.tp, event.replicas, event.before
        if not (before and now) or tp in self._named or tp in self._withdrawn:
            return
        target = self._asked.get(tp)
        if target is None and sorted(now) == sorted(before):
            return  # the API asked only for another order: no replica is added or removed (2.4)
        if target is None or any(replica not in before and replica not in target for replica in now):
            self._doubtful[tp] = before

    def on_reassigning(self, event: ReassigningWritten) -> None:
        if event.moves:
            self._named[event.tp] = None
        else:
            self._named.pop(event.tp, None)

    def _compare_formats(self, event: ZkWritten) -> None:
        if event.op == "delete":
            self._formats.pop(event.path, None)
            self._identified.pop(event.path, None)
            return
        now = event.data.partition(",")[0]
        before = self._formats.setdefault(event.path, now)
        if now != before and '"topic_id"' in event.data and event.path not in self._identified:
            before = self._formats[event.path] = now  # the controller gives an id to a topic of before KIP-516 (2.8)
        if '"topic_id"' in event.data:
            self._identified[event.path] = None
        if now != before and event.client < 0:
            self._formats[event.path] = now  # an operator may have a tool of another release
        elif now != before:
            self.violated(event, FormatChanged(event.client, event.path, now, before))

    def on_written(self, event: ZkWritten) -> None:
        if event.path == znodes.REASSIGN_PARTITIONS:
            self._requests(event)
            return
        if event.path.startswith(TOPIC) and "/" not in event.path[len(TOPIC) :]:
            self._compare_formats(event)
        if self._doubtful:
            for tp, before in self._doubtful.items():
                if tp not in self._named:
                    asked = self._asked.get(tp)
                    now = tuple(self.cluster.assignment(tp))
                    self.violated(event, ReplicasChangedUnasked(event.client, tuple(before), now, asked), tp)
            self._doubtful.clear()

    def _requests(self, event: ZkWritten) -> None:
        before, self._asked = self._asked, _requests_in(event)
        for tp in self._asked:
            if tp not in before:
                self._before[tp] = self.cluster.assignment(tp)
                self._withdrawn.pop(tp, None)
        for tp, target in before.items():
            if tp not in self._asked:
                begun_with, read = self._before.pop(tp), event.client in self._read.pop(tp, ())
                if event.client >= 0:
                    self._leaves(event, tp, target, begun_with, read)
                else:
                    self._withdrawn[tp] = None

    def _leaves(self, event: ZkWritten, tp: TopicPartition, target: Replicas, before: Replicas, read: bool) -> None:
        """A controller takes the request for ``tp`` out of the znode, which it has ``read`` or not."""
        now = self.cluster.assignment(tp)
        refused = read and now == before
        over = not now or now == target or refused or tp in self._named
        if not over and tp not in self._withdrawn and self.cluster.state(tp) is not None:
            facts = RequestTakenOut(
                event.client, tuple(target), read, event.path, tuple(now), tuple(before), now == before
            )
            self.violated(event, facts, tp)


def _requests_in(event: ZkWritten) -> Mapping[TopicPartition, Replicas]:
    if event.op == "delete":
        return {}
    try:
        return znodes.decode_reassignment(event.data)
    except (ValueError, KeyError, TypeError):
        return {}
