"""The committed prefix of each partition's log, that is, which batches a leader's high watermark has ever covered.

The committed prefix is a path in the tree of ``replica_logs``, so "does this log hold all that is committed?" is one
comparison of identities. A leader may extend it; a high watermark that covers anything else has *diverged*.

After an unclean election it starts over with the log of the new leader. Until that leader has adopted its epoch nothing
is known (``Commit.settled``), and what leaders of older epochs still expose is ignored.

The same holds once the machines of *all* in-sync replicas have crashed since they were in sync: Kafka does not wait for
the disk, so each of them may come back with less, and whichever leads first decides (KIP-101 names this, KIP-966 ends
it). What the new leader lacks because it had not flushed it is lost and no violation (``Commit.unflushed``); the others
may come back with less than it has. One in-sync replica that was spared, or that was back in sync, is enough for
everything to count as before; and a leader that lacks what it had still found on its disk is as wrong as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from controller.procedures import STEPS
from emulator.protocol.assignments import without
from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    HighWatermark,
    HighWatermarksMoved,
    LeaderElected,
    LogLoaded,
    LogRecovered,
    MoveAnswered,
    MoveCancelled,
    MoveFinished,
    MoveStarted,
    NodeCrashed,
    ReplicaStopped,
    Truncated,
)
from emulator.protocol.types import TopicPartition
from emulator.trace import Event
from emulator.trace.events import Step
from scenarios.observe.history.commit import Commit, Member
from scenarios.observe.history.replica_logs import NEXT_OFFSET, ReplicaLogHistory, ReplicaLogs, TopicLogs
from scenarios.observe.history.subscriptions import index_of
from scenarios.observe.past.changes import AssignmentWritten, ReassigningWritten, StateWritten
from scenarios.observe.past.cluster_state import DELETED_FROM, FoldedState

Placed = BecameLeader | BecameFollower | Truncated | HighWatermark
"""The events that carry a replica's high watermark."""


WILL_BE_MOVED = ("NONE", "REQUEST_TIMED_OUT")
"""The answers of the API after which the controller carries out what was asked for, or may."""


class Commits:
    """The commits of all partitions.

    Attributes:
        diverged: called with a high watermark that covers uncommitted entries, and the log that holds them.
        extended: called with the event of a leader's high watermark that has advanced and committed more: for every
            batch, so only what has to see each of them is in here.
        lacking: called with such an event where a candidate does not hold the newest committed batch.
        beyond: called with a high watermark that is outside its log.
        fell: called with an event by which a replica's high watermark goes back, the replica's log (already truncated,
            if the event is a truncation), and the high watermark before the event.
        stayed: called with an event by which a leader's high watermark is said to move, and stays where it is.
    """

    def __init__(self, logs: ReplicaLogs, cluster: FoldedState) -> None:
        self.logs = logs
        self._cluster = cluster
        self.diverged: list[Callable[[HighWatermark, Commit, ReplicaLogHistory], None]] = []
        self.extended: list[Callable[[Event, Commit], None]] = []
        self.lacking: list[Callable[[HighWatermark, Commit], None]] = []
        self.beyond: list[Callable[[HighWatermark, ReplicaLogHistory], None]] = []
        self.fell: list[Callable[[Placed, ReplicaLogHistory, int], None]] = []
        self.stayed: list[Callable[[HighWatermark, ReplicaLogHistory], None]] = []
        self._commits: dict[tuple[str, int], Commit] = {}
        self._found_since: dict[int, dict[TopicPartition, None]] = {}
        """Logs that a broker whose machine has crashed has loaded from its disk since, by broker."""

    def get(self, topic: str, partition: int) -> Commit:
        """The committed prefix of a partition's log; empty at first."""
        found = self._commits.get((topic, partition))
        if found is None:
            found = self._commits[topic, partition] = Commit(TopicPartition.of(topic, partition))
        return found

    def members(self, commit: Commit) -> list[Member]:
        """The candidates whose logs are known, with their logs."""
        if commit.members is None:
            logs = ((node, self.logs.get(node, commit.tp)) for node in commit.candidates)
            commit.members = [(node, log) for node, log in logs if log is not None]
        return commit.members

    # -- leadership, assignment and moves -----------------------------------------------------------------------------

    def on_state(self, event: StateWritten) -> None:
        state = event.state
        commit = self.get(event.tp.topic, event.tp.partition)
        if state is None:
            commit.forget()
            return
        if commit.stated and state.leader >= 0 and state.leader not in commit.isr:
            commit.unclean_epoch = max(commit.unclean_epoch, state.leader_epoch)
        commit.isr, commit.stated = state.isr, True
        if commit.crashed or commit.excused:
            commit.crashed, commit.lost_on, commit.excused = (
                tuple(node for node in nodes if node in state.isr)
                for nodes in (commit.crashed, commit.lost_on, commit.excused)
            )
        commit.members = None
        if commit.targets:
            commit.arrive()

    def on_step(self, event: Step) -> None:
        if event.step == DELETED_FROM and event.edge == "after":
            for tp in self._cluster.partitions(event.topic):
                self.get(tp.topic, tp.partition).deleting = True
        elif event.edge == "before" and _is_wait(event.step):
            self.get(event.topic, event.partition).wait()

    def on_assigned(self, event: AssignmentWritten) -> None:
        self.get(event.tp.topic, event.tp.partition).assign(event.replicas, self._begun(event.tp))

    def _begun(self, tp: TopicPartition) -> tuple[int, ...] | None:
        """The target of the partition's move according to the topic's znode (KIP-455); None: no move."""
        cluster = self._cluster
        return without(cluster.assignment(tp), cluster.removing(tp)) if cluster.is_reassigning(tp) else None

    def on_reassigning(self, event: ReassigningWritten) -> None:
        """Take the target of a move that begins or changes from the topic's znode (KIP-455). Requests through the API
        can reach the controller in another order, so the newest request need not be this move."""
        if not event.moves:
            return
        tp = event.tp
        commit, target = self.get(tp.topic, tp.partition), self._begun(tp)
        if target is not None and target not in commit.targets:
            commit.ask((*commit.targets, target))
        commit.assign(self._cluster.assignment(tp), target)

    def on_move_started(self, event: MoveStarted) -> None:
        commit = self.get(event.topic, event.partition)
        commit.ask((*commit.targets, event.target))

    def on_move_answered(self, event: MoveAnswered) -> None:
        commit = self.get(event.topic, event.partition)
        if event.error in WILL_BE_MOVED or len(commit.targets) <= commit.withdrawn:
            return
        *others, last = commit.targets
        # A request that is sent again can be refused after the first one has begun its move.
        if last in others or last != self._begun(commit.tp):
            commit.ask(tuple(others))

    def on_move_cancelled(self, event: MoveCancelled) -> None:
        commit = self.get(event.topic, event.partition)
        commit.withdrawn = len(commit.targets)

    def on_move_finished(self, event: MoveFinished) -> None:
        self.get(event.topic, event.partition).finish(event.target)

    def on_elected(self, event: LeaderElected) -> None:
        if event.unclean:
            commit = self.get(event.topic, event.partition)
            commit.unclean_epoch = max(commit.unclean_epoch, event.leader_epoch)

    def on_became_leader(self, event: BecameLeader) -> None:
        commit = self.get(event.topic, event.partition)
        commit.adoptions += 1
        self._take_role(event, True)
        log = self.logs.get(event.node, commit.tp)
        if commit.crashed and log is not None and event.leader_epoch >= commit.adopted_epoch:
            commit.survive(event.node, log)
        if event.leader_epoch <= commit.adopted_epoch:
            return
        unclean = commit.adopted_epoch < commit.unclean_epoch <= event.leader_epoch
        commit.adopted_epoch = event.leader_epoch
        if unclean and log is not None:
            commit.restart(log)

    def on_crashed(self, event: NodeCrashed) -> None:
        if event.kind != "host":
            return
        self._found_since[event.node] = {}
        for commit in self._commits.values():
            if event.node in commit.isr:
                commit.crash(event.node, partial(self._found, commit.tp))

    def on_recovered(self, event: LogRecovered) -> None:
        """Count records that a recovery cut off as not flushed, though the machine may have stayed up."""
        commit = self.get(event.topic, event.partition)
        self._found_since.setdefault(event.node, {}).pop(commit.tp, None)
        if event.node in commit.isr:
            commit.crash(event.node, partial(self._found, commit.tp))

    def _found(self, tp: TopicPartition, node: int) -> ReplicaLogHistory | None:
        """The log of a broker that has crashed, if it has loaded it since."""
        return self.logs.get(node, tp) if tp in self._found_since[node] else None

    def on_loaded(self, event: LogLoaded) -> None:
        commit = self.get(event.topic, event.partition)
        commit.members = None
        found = self._found_since.get(event.node)
        if found is None or commit.tp in found:
            return
        found[commit.tp] = None
        log = self.logs.get(event.node, commit.tp)
        if event.node in commit.crashed and log is not None and not commit.held_by(log):
            commit.lost_on = (*commit.lost_on, event.node)

    def on_stopped(self, event: ReplicaStopped) -> None:
        self.get(event.topic, event.partition).members = None

    # -- high watermarks ----------------------------------------------------------------------------------------------

    def on_became_follower(self, event: BecameFollower) -> None:
        self._take_role(event, False)

    def _take_role(self, event: BecameLeader | BecameFollower, leads: bool) -> None:
        log = self.logs.made(event.node, event.topic, event.partition)
        self._place(event, log)
        log.leads, log.leader_epoch = leads, event.leader_epoch

    def on_truncated(self, event: Truncated) -> None:
        self._place(event, self.logs.made(event.node, event.topic, event.partition))

    def _place(self, event: BecameLeader | BecameFollower | Truncated, log: ReplicaLogHistory) -> None:
        before, log.high_watermark = log.high_watermark, event.high_watermark
        if before is not None and event.high_watermark < before:
            log.fell_from = max(log.fell_from, before)
            for fell in self.fell:
                fell(event, log, before)

    def on_high_watermarks(self, event: HighWatermarksMoved) -> None:
        logs = self.logs.on(event.node, event.topic)
        if event.leader:
            self._on_leader(event, logs)
        else:
            self._on_follower(event, logs)

    def _on_leader(self, event: HighWatermarksMoved, logs: TopicLogs) -> None:
        """This runs for every batch, without a call for one that extends what is committed and that all candidates
        hold."""
        extended, taken = self.extended, iter(event.partitions)
        for partition, epoch, high_watermark in zip(taken, event.leader_epochs, event.high_watermarks, strict=True):
            log = logs[partition]
            commit, line = log.commit, log.line
            # On the line of what is committed, so it cannot diverge; forward, and within its log.
            if (
                commit is None
                or line is not commit.line
                or not log.start_offset <= log.high_watermark < high_watermark <= log.end_offset  # type: ignore[operator]
                or (size := commit.size) == 1
            ):
                self._move(event, taken, log, partition, epoch, high_watermark)
                continue
            log.high_watermark = high_watermark
            if high_watermark <= commit.offset or epoch < commit.counts_from or commit.deleting:
                continue
            most = log.size
            while size < most and line[size][NEXT_OFFSET] <= high_watermark:
                size += 1
            commit.size, commit.offset = size, high_watermark
            for _, member in commit.members or self.members(commit):
                if member.size < size or member.line is not line:
                    self._find_lacking(_row(event, taken, partition, epoch, high_watermark), commit)
                    break
            for extend in extended:
                extend(_row(event, taken, partition, epoch, high_watermark), commit)

    def _on_follower(self, event: HighWatermarksMoved, logs: TopicLogs) -> None:
        """This runs for every batch on every follower."""
        taken = iter(event.partitions)
        for partition, epoch, high_watermark in zip(taken, event.leader_epochs, event.high_watermarks, strict=True):
            log = logs[partition]
            commit = log.commit
            if (
                commit is None
                or log.line is not commit.line
                or not log.start_offset <= log.high_watermark <= high_watermark <= log.end_offset  # type: ignore[operator]
                or commit.size == 1
            ):
                self._move(event, taken, log, partition, epoch, high_watermark)
                continue
            log.high_watermark = high_watermark
            log.learnt_epoch, log.learnt_adoptions = epoch, commit.adoptions

    def _move(
        self,
        columns: HighWatermarksMoved,
        taken: Iterator[int],
        log: ReplicaLogHistory,
        partition: int,
        epoch: int,
        high_watermark: int,
    ) -> None:
        """Any change of a high watermark, whatever it does and shows."""
        event = _row(columns, taken, partition, epoch, high_watermark)
        commit = log.commit
        if commit is None:
            commit = log.commit = self.get(event.topic, partition)
        before, log.high_watermark = log.high_watermark, high_watermark
        if before is not None and high_watermark < before:
            log.fell_from = max(log.fell_from, before)
            for fell in self.fell:
                fell(event, log, before)
        if not event.leader:
            log.learnt_epoch, log.learnt_adoptions = epoch, commit.adoptions
        elif high_watermark == before:
            for stayed in self.stayed:
                stayed(event, log)
        if not log.start_offset <= high_watermark <= log.end_offset:
            for beyond in self.beyond:
                beyond(event, log)
        at = log.covered(high_watermark)
        news = high_watermark > commit.offset or at >= commit.size or log.line[at] is not commit.line[at]
        if news and epoch >= commit.counts_from and not commit.deleting:
            self._compare(event, commit, log, at)

    def _compare(self, event: HighWatermark, commit: Commit, log: ReplicaLogHistory, at: int) -> None:
        """The high watermark covers the entries of ``log`` up to ``at``, which are not all known to be committed.

        A log that is not known shows nothing: neither that it differs, nor with what the committed path goes on.
        """
        if not log.known:
            return
        if not commit.agrees(log, at):
            for diverged in self.diverged:
                diverged(event, commit, log)
            if event.leader:
                commit.restart(log)
        if not event.leader or event.high_watermark <= commit.offset:
            return
        commit.extend(log, at, event.high_watermark)
        self._find_lacking(event, commit)
        for extended in self.extended:
            extended(event, commit)

    def _find_lacking(self, event: HighWatermark, commit: Commit) -> None:
        last = commit.last
        if any(log.known and not log.holds(last) for _, log in self.members(commit)):
            for lacking in self.lacking:
                lacking(event, commit)


def _is_wait(step: str) -> bool:
    """Whether a protocol waits in a step until replicas are in sync."""
    phases = STEPS[step].phases
    return bool(phases) and step == phases["move.wait"].last


def _row(
    event: HighWatermarksMoved, taken: Iterator[int], partition: int, epoch: int, high_watermark: int
) -> HighWatermark:
    seq = event.seq + index_of(event, taken)
    at = event.t_us, seq, event.cause, event.node, event.topic
    return HighWatermark(*at, partition, event.leader, epoch, high_watermark)
