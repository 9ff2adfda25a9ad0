"""The committed prefix of one partition's log: a path in the tree of ``replica_logs``."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from operator import itemgetter

from attrs import define

from emulator.protocol.types import TopicPartition
from scenarios.observe.history.replica_logs import (
    BASE_OFFSET,
    FORGOTTEN,
    ID,
    NEXT_OFFSET,
    Entry,
    Line,
    ReplicaLogHistory,
)

Member = tuple[int, ReplicaLogHistory]

_base_offset = itemgetter(BASE_OFFSET)

NOTHING: Line = [(0, 0, 0, -1, 0)]
"""The line of every partition of which nothing is committed yet; no log is on it."""


@define(eq=False)
class Commit:
    """The committed prefix of one partition's log. Attributes:
    line, size: the first ``size`` entries of this line are committed, the base and its batches.
    offset: the highest high watermark that any leader has had.
    unknown_below: nothing but ``offset`` is known of what is committed: an unclean election has made a log the leader's
        of which retention had deleted everything (``ReplicaLogHistory.known``), or everything that was committed.
    isr: as ZooKeeper has it, once it is ``stated``.
    assigned: the replicas as ZooKeeper has them; none where no write of the topic's znode was seen.
    targets: of the move that is under way, and of those that were asked for since, oldest first.
    withdrawn: so many of the oldest ``targets`` were cancelled.
    arrived: those of ``targets`` that the ISR has held since they were asked for, or since the controller began to wait
        for them: a replica of the ISR that is not in one of them is about to leave.
    adoptions: how often leadership was adopted: a leader that restarts in its epoch has an old high watermark.
    adopted_epoch: the highest leader epoch that a broker has adopted as leader.
    unclean_epoch: of the last unclean election; -1 without one.
    crashed: the members of the ISR whose machines have crashed since they were in sync, oldest first.
    lost_on: those of them that came back without something committed, which they had not flushed.
    excused: those of them that may lack something, since the whole ISR had crashed and another one leads.
    unflushed: the ids of the batches that were committed and went with the whole ISR (KIP-966).
    highest: the highest ``offset`` ever, from before whatever made it fall.
    reads_lost_below: records read under older leader epochs may be gone without a violation.
    deleting: the topic is being deleted, and nothing is checked any more.
    members: the logs of the candidates, as far as they are known; None: not looked up yet.
    """

    tp: TopicPartition
    line: Line = NOTHING
    size: int = 1
    offset: int = 0
    unknown_below: bool = False
    isr: tuple[int, ...] = ()
    stated: bool = False
    assigned: tuple[int, ...] = ()
    targets: tuple[tuple[int, ...], ...] = ()
    withdrawn: int = 0
    arrived: tuple[tuple[int, ...], ...] = ()
    adoptions: int = 0
    adopted_epoch: int = -1
    unclean_epoch: int = -1
    crashed: tuple[int, ...] = ()
    lost_on: tuple[int, ...] = ()
    excused: tuple[int, ...] = ()
    unflushed: dict[int, None] | None = None
    highest: int = 0
    reads_lost_below: int = -1
    deleting: bool = False
    members: list[Member] | None = None

    @property
    def target(self) -> tuple[int, ...]:
        """Target of the newest move that is not over; empty where there is none."""
        return self.targets[-1] if self.targets else ()

    def ask(self, targets: tuple[tuple[int, ...], ...]) -> None:
        """Take ``targets`` as those of the moves that are not over."""
        self.targets = targets
        self.arrived = tuple(target for target in self.arrived if target in targets)
        self.arrive()

    def arrive(self) -> None:
        """Note which targets are in sync now: the ISR has changed, or the targets have."""
        isr, before = self.isr, self.arrived
        self.arrived = tuple(
            target for target in self.targets if target in before or all(node in isr for node in target)
        )
        self.members = None

    def wait(self) -> None:
        """Note again which targets are in sync, as the controller waits for one: a target that was in sync when it was
        requested may have lost a replica since."""
        self.arrived = ()
        self.arrive()

    def assign(self, replicas: tuple[int, ...], target: tuple[int, ...] | None = None) -> None:
        """Take the assignment and the move's target from a topic's znode (KIP-455). Without a target there, the newest
        requested move has begun if ``replicas`` hold its target. Moves that were requested before one that has begun
        were replaced by it or are done."""
        self.assigned, self.members = replicas, None
        begun = len(self.targets) - 1
        if target in self.targets:
            begun = self.targets.index(target)
        elif target is not None or not all(node in replicas for node in self.target):
            return
        if begun > 0:
            self.withdrawn = max(0, self.withdrawn - begun)
            self.ask(self.targets[begun:])

    def finish(self, target: tuple[int, ...]) -> None:
        """End the move to ``target`` that the controller has finished, and those that were requested before it. A
        cancelled move ends with the replicas that it began with."""
        left = self.targets
        done = left.index(target) + 1 if target in left else self.withdrawn or len(left)
        self.withdrawn = max(0, self.withdrawn - done)
        self.ask(left[done:])

    @property
    def candidates(self) -> tuple[int, ...]:
        """The members of the ISR that the leader waits for: those that are assigned, by the last LeaderAndIsr it got.

        Kafka's leader drops every replica that a LeaderAndIsr does not name, in the ISR or not, and advances its high
        watermark without it (Partition.makeLeader, maybeIncrementLeaderHW, 2.3.0). This concerns the replicas that a
        move removes, from the step that takes care of the leader until the ISR is shrunk; where kafka-6794 has
        rewritten the assignment already, for longer.
        """
        isr = self.isr
        if self.assigned:
            isr = tuple(node for node in isr if node in self.assigned)
        for target in self.arrived:
            isr = tuple(node for node in isr if node in target)
        return isr

    @property
    def nothing(self) -> bool:
        """Whether nothing is committed, which every log has."""
        return not self.offset and self.size == 1

    @property
    def settled(self) -> bool:
        """Whether it is known which records are committed: the topic is not being deleted, the leader of the last
        unclean election has adopted its epoch, and ``none_spared`` is false."""
        return self.unclean_epoch <= self.adopted_epoch and not self.deleting and not self.none_spared

    @property
    def none_spared(self) -> bool:
        """Whether the machines of all replicas that the leader waits for have crashed since these were in sync, and
        none of the replicas has become leader since. Each has what its disk kept, and any may lead (KIP-966)."""
        return bool(self.crashed) and all(node in self.crashed for node in self.candidates)

    @property
    def last(self) -> Entry:
        """The newest committed batch, or the base."""
        return self.line[self.size - 1]

    def __str__(self) -> str:
        place, _, _, epoch, id = self.last
        what = f"batch {id} of epoch {epoch}" if place else "what the topic began with"
        if self.unknown_below:
            what = "which no log shows"
        return f"committed up to offset {self.offset}, {what}"

    def lacks(self, base_offset: int, id: int) -> bool:
        """Whether a batch that a leader has appended is not committed, or not any more. One that is before the known
        batches counts as committed."""
        line = self.line
        place = bisect_left(line, base_offset, lo=1, hi=self.size, key=_base_offset)
        if place < self.size and (line[place][BASE_OFFSET], line[place][ID]) == (base_offset, id):
            return False
        before = line[place - 1]
        begins = line[0][NEXT_OFFSET] <= base_offset and not (before is FORGOTTEN or self.unknown_below)
        return begins or base_offset >= self.offset

    def held_by(self, log: ReplicaLogHistory) -> bool:
        """Whether ``log`` has all that is committed, at the same offsets and after the same batches."""
        if not log.known:
            return True
        return log.holds(self.last) if self.size > 1 else self._reached_by(log)

    def _reached_by(self, log: ReplicaLogHistory) -> bool:
        """Whether ``log`` reaches the end of the base, where only the base is committed. Where the base is not known,
        the log may have any batches below that end."""
        return (log.end_offset if self.unknown_below else log.line[0][NEXT_OFFSET]) >= self.offset

    def agrees(self, log: ReplicaLogHistory, at: int) -> bool:
        """Whether the entries of ``log`` up to index ``at`` are committed, or extend what is."""
        if not log.known or at == 0:
            return True
        shared = min(at, self.size - 1)
        if shared == 0:
            return self._reached_by(log)
        return log.line[shared] is self.line[shared]

    def extend(self, log: ReplicaLogHistory, at: int, offset: int) -> None:
        """Count the entries of ``log`` up to index ``at`` as committed. They agree with the earlier ones."""
        if self.size == 1 or at >= self.size:
            self.line, self.size = log.line, at + 1
            self.unknown_below = self.unknown_below and at == 0
        self.offset = offset

    def forget(self) -> None:
        """Forget the deleted partition. A later one of the same name reuses this object and starts empty."""
        self.highest = max(self.highest, self.offset)
        self.line, self.size, self.offset, self.isr, self.members = NOTHING, 1, 0, (), None
        self.unknown_below = False
        self.adopted_epoch = self.unclean_epoch = -1
        self.crashed = self.lost_on = self.excused = ()
        self.targets, self.withdrawn, self.arrived, self.deleting, self.stated = (), 0, (), False, False

    def crash(self, node: int, back: Callable[[int], ReplicaLogHistory | None]) -> None:
        """Note that the machine of ``node``, a member of the ISR, has crashed. ``back(broker)``: the log of a broker
        that has found it since its own crash, else None."""
        spared = [other for other in self.crashed if (log := back(other)) is not None and self.held_by(log)]
        self.crashed = (*(other for other in self.crashed if other != node and other not in spared), node)
        self.lost_on = tuple(other for other in self.lost_on if other in self.crashed and other != node)

    def survive(self, node: int, log: ReplicaLogHistory) -> None:
        """``node`` leads in a new epoch, or again after a crash: with what it has, if no in-sync replica was spared."""
        if self.none_spared:
            self.excused = tuple(other for other in self.crashed if other != node)
            if node in self.lost_on and not self.held_by(log):
                committed, size = self.line, self.size
                self.restart(log)
                self.reads_lost_below = self.adopted_epoch + 1
                self.unflushed = {
                    **(self.unflushed or {}),
                    **dict.fromkeys(entry[ID] for entry in committed[self.size : size]),
                }
        self.crashed = tuple(other for other in self.crashed if other != node)
        self.lost_on = tuple(other for other in self.lost_on if other != node)

    def excuses(self, node: int, log: ReplicaLogHistory) -> bool:
        """Whether ``node`` may lack something: it crashed with the whole ISR, and has not caught up since."""
        if node not in self.excused:
            return False
        if not self.held_by(log):
            return True
        self.excused = tuple(other for other in self.excused if other != node)
        return False

    @property
    def counts_from(self) -> int:
        """The leader epoch from which on a high watermark shows what is committed. What an earlier leader has sent
        may arrive late."""
        return max(self.unclean_epoch, min(self.reads_lost_below, self.adopted_epoch))

    def restart(self, log: ReplicaLogHistory) -> None:
        """From now on only what ``log`` holds of it is committed."""
        self.highest = max(self.highest, self.offset)
        committed, there = self.line, log.line
        most = min(self.size, log.size)
        same = max(1, bisect_left(range(most), True, key=lambda index: committed[index] is not there[index]))
        ends, forgotten = there[same - 1][NEXT_OFFSET], there[same - 1] is FORGOTTEN
        if forgotten:
            ends = there[same][BASE_OFFSET] if same < log.size else log.end_offset
        self.line, self.size = there, 1 if forgotten else same
        self.unknown_below = self.size == 1 and (forgotten or not log.known)
        self.offset = min(self.offset, max(ends, there[0][NEXT_OFFSET]))
