"""A ghost: what of each partition is committed, that is, which batches a leader's high watermark has ever covered.

The committed prefix is a path in the tree of ``replica_logs``, so "does this log hold all that is committed?" is one
comparison of identities. Whoever leads may extend it; a high watermark that covers anything else has *diverged*.

An unclean election begins it anew from the log of the leader that it brings; until that one has adopted its epoch
nothing can be asked (``Commit.settled``), and what leaders of older epochs go on exposing counts for nothing. So does
a crash of the machine of the only candidate that loses what was not flushed: no protocol can help there, and
that a record which was *acknowledged* is gone is still told by S14.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from attrs import define, field

from emulator.protocol.events import (
    BecameLeader,
    HighWatermark,
    LeaderElected,
    LogLoaded,
    MoveFinished,
    MoveStarted,
    NodeCrashed,
    ReplicaStopped,
)
from emulator.protocol.types import TopicPartition
from emulator.trace.events import Step
from scenarios.checkers.replica_logs import Entry, ReplicaLog, ReplicaLogs
from scenarios.checkers.subscriptions import AssignmentWritten, StateWritten
from scenarios.measures.topology import DELETED_FROM, Topology

Member = tuple[int, ReplicaLog]


def _nothing() -> list[Entry]:
    return [Entry(0, 0, 0, -1, 0)]


@define(eq=False)
class Commit:
    """What is committed of one partition.

    Attributes:
        entries: the base, then the committed batches, as in the logs that hold them.
        offset: the highest high watermark that any leader has had.
        isr: as ZooKeeper has it.
        assigned: the replicas as ZooKeeper has them; none where no write of the topic's znode was seen.
        target: of the move that is under way; none without one.
        arrived: the ISR has held all of the target since that move began: the others are about to leave.
        adopted_epoch: the highest leader epoch that a broker has adopted as leader.
        unclean_epoch: of the last unclean election; -1 without one.
        deleting: the topic is being deleted and owes nothing any more.
        members: the logs of the candidates, those that are known; None: to be looked up.
    """

    tp: TopicPartition
    entries: list[Entry] = field(factory=_nothing)
    offset: int = 0
    isr: tuple[int, ...] = ()
    assigned: tuple[int, ...] = ()
    target: tuple[int, ...] = ()
    arrived: bool = False
    adopted_epoch: int = -1
    unclean_epoch: int = -1
    deleting: bool = False
    members: list[Member] | None = None

    @property
    def candidates(self) -> tuple[int, ...]:
        """The members of the ISR that a leader waits for: those assigned, as far as it was told.

        Kafka's leader drops whoever is not among the replicas that a LeaderAndIsr names, in the ISR or not, and moves
        its high watermark without them (Partition.makeLeader, maybeIncrementLeaderHW, 2.3.0). That befalls those whom
        a move leaves behind between the step that looks after the leader and the shrinking of the ISR, and, where
        kafka-6794 has rewritten the assignment already, longer.
        """
        isr = self.isr
        if self.assigned:
            isr = tuple(node for node in isr if node in self.assigned)
        return tuple(node for node in isr if node in self.target) if self.arrived else isr

    @property
    def settled(self) -> bool:
        """Whether what is committed can be asked for: the topic stays, and no unclean election has yet to bring its
        leader."""
        return self.unclean_epoch <= self.adopted_epoch and not self.deleting

    def __str__(self) -> str:
        last = self.entries[-1]
        what = f"batch {last.id} of epoch {last.leader_epoch}" if last.index else "what the topic began with"
        return f"committed up to offset {self.offset}, {what}"

    def held_by(self, log: ReplicaLog) -> bool:
        """Whether ``log`` has all that is committed, at the same offsets and after the same batches."""
        last = self.entries[-1]
        if not log.known:
            return True
        return log.holds(last) if last.index else log.entries[0].next_offset >= self.offset

    def agrees(self, log: ReplicaLog, at: int) -> bool:
        """Whether the entries of ``log`` up to index ``at`` are committed, or go on where the committed ones end."""
        committed = self.entries
        if not log.known or at == 0:
            return True
        shared = min(at, len(committed) - 1)
        if shared == 0:
            return log.entries[0].next_offset >= self.offset
        return log.entries[shared] is committed[shared]

    def extend(self, log: ReplicaLog, at: int, offset: int) -> None:
        """The entries of ``log`` up to index ``at`` are committed as well. They agree with those before."""
        committed = self.entries
        if len(committed) == 1:
            committed[0] = log.entries[0]
        committed += log.entries[len(committed) : at + 1]
        self.offset = max(self.offset, offset)

    def restart(self, log: ReplicaLog) -> None:
        """Only what ``log`` holds of it is committed from now on."""
        committed, there = self.entries, log.entries
        most = min(len(committed), len(there))
        same = bisect_left(range(most), True, key=lambda index: committed[index] is not there[index])
        del committed[max(1, same) :]
        if not same:
            committed[0] = there[0]
        self.offset = min(self.offset, max(committed[-1].next_offset, there[0].next_offset))


class Commits:
    """All of them, by partition.

    Attributes:
        diverged: called with the high watermark that covers what is not committed, and the log where it does.
        extended: called with a leader's high watermark that has moved on and made more committed.
        beyond: called with a high watermark that is outside its log.
    """

    def __init__(self, logs: ReplicaLogs, topology: Topology) -> None:
        self.logs = logs
        self._topology = topology
        self.diverged: list[Callable[[HighWatermark, Commit, ReplicaLog], None]] = []
        self.extended: list[Callable[[HighWatermark, Commit], None]] = []
        self.beyond: list[Callable[[HighWatermark, ReplicaLog], None]] = []
        self._commits: dict[tuple[str, int], Commit] = {}
        self._found_since: dict[int, dict[TopicPartition, None]] = {}
        """Brokers whose machine has crashed, and which logs they have found on its disk since."""

    def get(self, topic: str, partition: int) -> Commit:
        """What is committed of a partition; nothing, at first."""
        found = self._commits.get((topic, partition))
        if found is None:
            found = self._commits[topic, partition] = Commit(TopicPartition(topic, partition))
        return found

    def members(self, commit: Commit) -> list[Member]:
        """The candidates whose logs are known, with these."""
        if commit.members is None:
            logs = ((node, self.logs.get(node, commit.tp)) for node in commit.candidates)
            commit.members = [(node, log) for node, log in logs if log is not None]
        return commit.members

    # -- the course of a partition ------------------------------------------------------------------------------------

    def on_state(self, event: StateWritten) -> None:
        state = event.state
        commit = self.get(event.tp.topic, event.tp.partition)
        if state is None:
            self._commits[commit.tp] = Commit(commit.tp, assigned=commit.assigned)
            return
        if commit.isr and state.leader >= 0 and state.leader not in commit.isr:
            commit.unclean_epoch = max(commit.unclean_epoch, state.leader_epoch)
        commit.isr = state.isr
        commit.arrived |= bool(commit.target) and all(node in state.isr for node in commit.target)
        commit.members = None

    def on_step(self, event: Step) -> None:
        if event.step == DELETED_FROM and event.edge == "after":
            for tp in self._topology.partitions(event.topic):
                self.get(tp.topic, tp.partition).deleting = True

    def on_assigned(self, event: AssignmentWritten) -> None:
        commit = self.get(event.tp.topic, event.tp.partition)
        commit.assigned = event.replicas
        commit.members = None

    def on_move_started(self, event: MoveStarted) -> None:
        commit = self.get(event.topic, event.partition)
        commit.target = event.target
        commit.arrived = all(node in commit.isr for node in event.target)
        commit.members = None

    def on_move_finished(self, event: MoveFinished) -> None:
        commit = self.get(event.topic, event.partition)
        commit.target, commit.arrived = (), False
        commit.members = None

    def on_elected(self, event: LeaderElected) -> None:
        if event.unclean:
            commit = self.get(event.topic, event.partition)
            commit.unclean_epoch = max(commit.unclean_epoch, event.leader_epoch)

    def on_became_leader(self, event: BecameLeader) -> None:
        commit = self.get(event.topic, event.partition)
        if event.leader_epoch <= commit.adopted_epoch:
            return
        unclean = commit.adopted_epoch < commit.unclean_epoch <= event.leader_epoch
        commit.adopted_epoch = event.leader_epoch
        log = self.logs.get(event.node, commit.tp)
        if unclean and log is not None:
            commit.restart(log)

    def on_crashed(self, event: NodeCrashed) -> None:
        if event.kind == "host":
            self._found_since[event.node] = {}

    def on_loaded(self, event: LogLoaded) -> None:
        commit = self.get(event.topic, event.partition)
        commit.members = None
        found = self._found_since.get(event.node)
        if found is None or commit.tp in found:
            return
        found[commit.tp] = None
        log = self.logs.get(event.node, commit.tp)
        if commit.settled and commit.candidates == (event.node,) and log is not None and not commit.held_by(log):
            commit.restart(log)

    def on_stopped(self, event: ReplicaStopped) -> None:
        self.get(event.topic, event.partition).members = None

    def on_high_watermark(self, event: HighWatermark) -> None:
        # Unpacked at once: this runs for every batch on every replica.
        _, _, _, node, topic, partition, leader, leader_epoch, high_watermark = event
        log = self.logs.by_replica.get((node, topic, partition))
        if log is None:
            return
        entries = log.entries
        if high_watermark > entries[-1].next_offset or high_watermark < log.start_offset:
            for beyond in self.beyond:
                beyond(event, log)
        commit = self._commits.get((topic, partition)) or self.get(topic, partition)
        if leader_epoch < commit.unclean_epoch or commit.deleting:
            return
        at = log.cover(high_watermark)
        committed = commit.entries
        if high_watermark <= commit.offset and at < len(committed) and entries[at] is committed[at]:
            return
        if not commit.agrees(log, at):
            for diverged in self.diverged:
                diverged(event, commit, log)
            if leader:
                commit.restart(log)
        if leader and high_watermark > commit.offset:
            commit.extend(log, at, high_watermark)
            for extended in self.extended:
                extended(event, commit)
