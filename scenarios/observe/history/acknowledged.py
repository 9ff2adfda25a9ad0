"""Acknowledged batches, and which of them are lost: those that a later leader lacks."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile
from operator import itemgetter

from attrs import define, field

from emulator.protocol.events import (
    AckedLost,
    BatchesProduced,
    BecameFollower,
    BecameLeader,
    LeaderElected,
    LogLoaded,
    Produced,
    ReplicaStopped,
)
from emulator.protocol.types import TopicPartition
from emulator.trace import Event, Trace
from emulator.trace.events import Step
from scenarios.observe.history.commits import Commits
from scenarios.observe.history.replica_logs import (
    BASE_OFFSET,
    ID,
    LEADER_EPOCH,
    NEXT_OFFSET,
    PLACE,
    Entry,
    ReplicaLogHistory,
    ReplicaLogs,
)
from scenarios.observe.history.subscriptions import index_of
from scenarios.observe.past.changes import StateWritten
from scenarios.observe.past.cluster_state import DELETED_FROM, FoldedState

ALL, ONE = -1, 1
"""``acks``, as requests have it."""


@define(eq=False)
class _Partition:
    """The state of one partition.

    Attributes:
        election: the adoption of leadership in the highest epoch so far; ``leader``: the broker that it is of.
        vacant: whether that leader has restarted, been deposed or deleted its log: until the next election its log
            proves nothing.
        isr: the ISR in ZooKeeper; None before the first state znode.
        unclean_epoch: the leader epoch of the last unclean election; -1 without one.
        forgiven_below: batches of older epochs may be missing at the next election. An unclean election sets it, and
            the first leader in that epoch or a later one clears it: what has survived has to stay.
        deleting: the topic is being deleted: a missing record is not a loss.
        acked_by_all, acked_by_one: what was acknowledged with acks=all and acks=1 and has not been found lost, in the
            order of the log.
        forgotten_below: what ends up to this offset was deleted from every log, and is forgotten.
    """

    tp: TopicPartition
    election: BecameLeader | None = None
    leader: int | None = None
    vacant: bool = False
    isr: tuple[int, ...] | None = None
    unclean_epoch: int = -1
    forgiven_below: int = -1
    deleting: bool = False
    acked_by_all: list[Entry] = field(factory=list)
    acked_by_one: list[Entry] = field(factory=list)
    forgotten_below: int = 0


class Acknowledged:
    """Emits an ``AckedLost`` for the acknowledged batches that are found to be lost.

    Looked for: at the adoption of leadership in a new highest epoch, and at the end of the run, what the leader's log
    lacks of every batch acknowledged before, at its offset and after the same batches; and when a producer receives an
    acknowledgement, whether the leader of that moment has the batch.

    Leaders may change while the acknowledgement is in flight, and the last check is still sound for acks=all. The batch
    was acknowledged when the high watermark passed it, so the whole ISR in ZooKeeper had it, and every clean leader
    since comes from there; the leader in the highest epoch is the one that acknowledged, or one of those. Only when
    that leader has restarted or been deposed since, and no other has been elected, does its log prove nothing: then a
    copy in the log of any member of the ISR is enough, and the next election decides.

    An election is unclean if ZooKeeper's ISR before it lacks the leader, or if its ``LeaderElected`` says so (a
    controller can die between the write and the event).

    A deleted topic takes its records with it, which is no loss; a topic created again under its name is a new one.
    """

    def __init__(self, trace: Trace, logs: ReplicaLogs, cluster: FoldedState, commits: Commits) -> None:
        self._trace = trace
        self._logs = logs
        self._commits = commits
        self._cluster = cluster
        self._finished = False
        self._topics: dict[str, dict[int, _Partition]] = defaultdict(dict)
        logs.forgot.append(self._forget)

    def _forget(self, topic: str, number: int, offset: int, _: list[Entry]) -> None:
        partition = self._partition(topic, number)
        partition.forgotten_below = max(partition.forgotten_below, offset)
        for acked in (partition.acked_by_all, partition.acked_by_one):
            del acked[: bisect_right(acked, offset, key=itemgetter(NEXT_OFFSET))]

    def on_state(self, event: StateWritten) -> None:
        state = event.state
        if state is None:
            self._topics[event.tp.topic].pop(event.tp.partition, None)
            return
        partition = self._partition(event.tp.topic, event.tp.partition)
        if partition.isr is not None and state.leader >= 0 and state.leader not in partition.isr:
            self._unclean(partition, state.leader_epoch)
        partition.isr = state.isr

    def on_step(self, event: Step) -> None:
        if event.step == DELETED_FROM and event.edge == "after":
            for tp in self._cluster.partitions(event.topic):
                self._partition(tp.topic, tp.partition).deleting = True

    def on_elected(self, event: LeaderElected) -> None:
        if event.unclean:
            partition = self._partition(event.topic, event.partition)
            if event.leader_epoch > partition.unclean_epoch:
                self._unclean(partition, event.leader_epoch)

    def _unclean(self, partition: _Partition, leader_epoch: int) -> None:
        partition.unclean_epoch = partition.forgiven_below = leader_epoch

    def on_became_leader(self, event: BecameLeader) -> None:
        partition = self._partition(event.topic, event.partition)
        election = partition.election
        if election is not None and event.leader_epoch <= election.leader_epoch:
            if partition.vacant and (event.node, event.leader_epoch) == (election.node, election.leader_epoch):
                partition.vacant = False  # it leads again after a restart that no controller has seen
                self._compare(partition, event)
            return
        partition.election, partition.leader = event, event.node
        partition.vacant = False
        self._compare(partition, event)
        if event.leader_epoch >= partition.forgiven_below:
            partition.forgiven_below = -1

    def on_became_follower(self, event: BecameFollower) -> None:
        election = self._partition(event.topic, event.partition).election
        if election is not None and event.leader_epoch > election.leader_epoch:
            self._vacated(event.node, event.topic, event.partition)

    def on_loaded(self, event: LogLoaded) -> None:
        self._vacated(event.node, event.topic, event.partition)

    def on_stopped(self, event: ReplicaStopped) -> None:
        if event.deleted:
            self._vacated(event.node, event.topic, event.partition)

    def _vacated(self, node: int, topic: str, number: int) -> None:
        partition = self._partition(topic, number)
        if partition.election is not None and partition.election.node == node:
            partition.vacant = True

    def on_produced(self, event: BatchesProduced) -> None:
        """This runs for every batch, without a call where the leader has it straight after the one that was
        acknowledged before."""
        acks, leader, topic = event.acks, event.leader, event.topic
        if event.error != "NONE" or acks not in (ALL, ONE):
            return
        partitions, logs, by_all = self._topics[topic], self._logs.on(leader, topic), acks == ALL
        taken = iter(event.partitions)
        for number, id, base_offset in zip(taken, event.ids, event.base_offsets, strict=True):
            partition = partitions.get(number)
            if partition is None:
                continue
            log = logs.get(number)
            acked = partition.acked_by_all if by_all else partition.acked_by_one
            if log is not None and acked and partition.leader == leader:
                at = acked[-1][PLACE] + 1
                if at < log.size:
                    entry = log.line[at]
                    if entry[ID] == id and entry[BASE_OFFSET] == base_offset:
                        acked.append(entry)
                        continue
            if partition.election is not None:
                self._produced(partition, event.rows()[index_of(event, taken)])

    def _produced(self, partition: _Partition, event: Produced) -> None:
        if event.next_offset <= partition.forgotten_below:
            return  # it was deleted before its producer got the answer
        entry = self._find(partition, event)
        if entry is not None:
            acked = partition.acked_by_all if event.acks == ALL else partition.acked_by_one
            if acked and acked[-1][PLACE] > entry[PLACE]:
                insort(acked, entry, key=itemgetter(PLACE))
            else:
                acked.append(entry)
        elif event.acks == ONE:
            if not partition.deleting:
                self._lost(partition, event, ONE, [_as_entry(event)])
        elif event.id in self._unflushed(partition):
            self._lost(partition, event, ALL, [_as_entry(event)], unflushed=True)
        elif self._lost_uncleanly(partition, event):
            self._lost(partition, event, ALL, [_as_entry(event)], unclean=True)
        elif self._leaders_log_is_known(partition):
            self._lost(partition, event, ALL, [_as_entry(event)])

    def _find(self, partition: _Partition, event: Produced) -> Entry | None:
        election = partition.election
        assert election is not None
        log = self._logs.get(election.node, partition.tp)
        found = None if log is None else log.find(event.base_offset, event.id)
        if found is not None or not partition.vacant:
            return found
        logs = (self._logs.get(node, partition.tp) for node in partition.isr or ())
        return next((found for log in logs if log and (found := log.find(event.base_offset, event.id))), None)

    def _lost_uncleanly(self, partition: _Partition, event: Produced) -> bool:
        if partition.unclean_epoch < 0:
            return False
        log = self._logs.get(event.leader, partition.tp)
        entry = log.find(event.base_offset, event.id) if log is not None else None
        return entry is None or entry[LEADER_EPOCH] < partition.unclean_epoch

    def _leaders_log_is_known(self, partition: _Partition) -> bool:
        return (log := self._leaders_log(partition)) is not None and log.known

    def _leaders_log(self, partition: _Partition) -> ReplicaLogHistory | None:
        return None if partition.election is None else self._logs.get(partition.election.node, partition.tp)

    def finish(self) -> None:
        """The run is over: look at the logs of the last leaders, once."""
        if self._finished:
            return
        self._finished = True
        for partitions in self._topics.values():
            for partition in partitions.values():
                if partition.election is not None and not partition.vacant:
                    self._compare(partition, partition.election)

    def _compare(self, partition: _Partition, event: Event) -> None:
        """Remove from the acknowledged batches those that the leader's log lacks, and report them.

        The leader's log holds a prefix of what was acknowledged, so lost batches are at the end.
        """
        log = self._leaders_log(partition)
        if log is None or not log.known:
            return
        self._lost(partition, event, ONE, _take_lost(partition.acked_by_one, log))
        lost = _take_lost(partition.acked_by_all, log)
        if not lost:
            return
        gone = self._unflushed(partition)
        unflushed = [entry for entry in lost if entry[ID] in gone]
        others = [entry for entry in lost if entry[ID] not in gone]
        forgiven = [entry for entry in others if entry[LEADER_EPOCH] < partition.forgiven_below]
        broken = [entry for entry in others if entry[LEADER_EPOCH] >= partition.forgiven_below]
        self._lost(partition, event, ALL, unflushed, unflushed=True)
        self._lost(partition, event, ALL, forgiven, unclean=True)
        self._lost(partition, event, ALL, broken)

    def _unflushed(self, partition: _Partition) -> Mapping[int, None]:
        """The ids of the batches that went with the machines of the whole ISR."""
        return self._commits.get(*partition.tp).unflushed or {}

    def _lost(
        self,
        partition: _Partition,
        event: Event,
        acks: int,
        lost: Sequence[Entry],
        *,
        unclean: bool = False,
        unflushed: bool = False,
    ) -> None:
        """``event`` shows that ``lost``, in the order of the log, are not in the log of the present leader."""
        if not lost:
            return
        election, log = partition.election, self._leaders_log(partition)
        assert election is not None
        first, trace = lost[0], self._trace
        cause, trace.cause = trace.cause, event.seq
        trace.emit(
            AckedLost, partition.tp.topic, partition.tp.partition, acks, unclean, unflushed, len(lost),
            sum(entry[NEXT_OFFSET] - entry[BASE_OFFSET] for entry in lost),
            first[ID], first[BASE_OFFSET], lost[-1][NEXT_OFFSET],
            election.node, election.leader_epoch, -1 if log is None else log.end_offset,
        )  # fmt: skip
        trace.cause = cause

    def _partition(self, topic: str, number: int) -> _Partition:
        partitions = self._topics[topic]
        found = partitions.get(number)
        if found is None:
            found = partitions[number] = _Partition(TopicPartition.of(topic, number))
        return found


def _as_entry(event: Produced) -> Entry:
    """A batch that is in no log."""
    return -1, event.base_offset, event.next_offset, -1, event.id


def _take_lost(acked: list[Entry], log: ReplicaLogHistory) -> list[Entry]:
    lost = list(takewhile(lambda entry: not log.holds(entry), reversed(acked)))
    del acked[len(acked) - len(lost) :]
    return lost[::-1]
