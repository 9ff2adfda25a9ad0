"""The committed prefix of one partition's log: a path in the tree of ``replica_logs``."""

from __future__ import annotations

from bisect import bisect_left

from attrs import define

from emulator.protocol.types import TopicPartition
from scenarios.observe.history.replica_logs import NEXT_OFFSET, Entry, Line, ReplicaLog

Member = tuple[int, ReplicaLog]

NOTHING: Line = [(0, 0, 0, -1, 0)]
"""The line of every partition of which nothing is committed yet; no log is on it."""


@define(eq=False)
class Commit:
    """The committed prefix of one partition's log. Attributes:
    line, size: the first ``size`` entries of this line are committed, the base and its batches.
    offset: the highest high watermark that any leader has had.
    isr: as ZooKeeper has it, once it is ``stated``.
    assigned: the replicas as ZooKeeper has them; none where no write of the topic's znode was seen.
    target: of the move that is under way; none without one.
    arrived: the ISR has held all of the target since that move began: the other members are about to leave.
    adoptions: how often leadership was adopted: a leader that restarts in its epoch has an old high watermark.
    adopted_epoch: the highest leader epoch that a broker has adopted as leader.
    unclean_epoch: of the last unclean election; -1 without one.
    highest: the highest ``offset`` ever, from before whatever made it fall.
    reads_lost_below: records read under older leader epochs may be gone without a violation.
    deleting: the topic is being deleted, and nothing is checked any more.
    members: the logs of the candidates, as far as they are known; None: not looked up yet.
    """

    tp: TopicPartition
    line: Line = NOTHING
    size: int = 1
    offset: int = 0
    isr: tuple[int, ...] = ()
    stated: bool = False
    assigned: tuple[int, ...] = ()
    target: tuple[int, ...] = ()
    arrived: bool = False
    adoptions: int = 0
    adopted_epoch: int = -1
    unclean_epoch: int = -1
    highest: int = 0
    reads_lost_below: int = -1
    deleting: bool = False
    members: list[Member] | None = None

    @property
    def candidates(self) -> tuple[int, ...]:
        """The members of the ISR that the leader waits for: the assigned ones, as far as it knows.

        Kafka's leader drops every replica that a LeaderAndIsr does not name, in the ISR or not, and advances its high
        watermark without it (Partition.makeLeader, maybeIncrementLeaderHW, 2.3.0). This concerns the replicas that a
        move removes, from the step that takes care of the leader until the ISR is shrunk; where kafka-6794 has
        rewritten the assignment already, for longer.
        """
        isr = self.isr
        if self.assigned:
            isr = tuple(node for node in isr if node in self.assigned)
        return tuple(node for node in isr if node in self.target) if self.arrived else isr

    @property
    def settled(self) -> bool:
        """Whether what is committed is known: the topic is not being deleted, and the leader of the last unclean
        election has adopted its epoch."""
        return self.unclean_epoch <= self.adopted_epoch and not self.deleting

    @property
    def last(self) -> Entry:
        """The newest committed batch, or the base."""
        return self.line[self.size - 1]

    def __str__(self) -> str:
        place, _, _, epoch, id = self.last
        what = f"batch {id} of epoch {epoch}" if place else "what the topic began with"
        return f"committed up to offset {self.offset}, {what}"

    def held_by(self, log: ReplicaLog) -> bool:
        """Whether ``log`` has all that is committed, at the same offsets and after the same batches."""
        if not log.known:
            return True
        return log.holds(self.last) if self.size > 1 else log.line[0][NEXT_OFFSET] >= self.offset

    def agrees(self, log: ReplicaLog, at: int) -> bool:
        """Whether the entries of ``log`` up to index ``at`` are committed, or extend what is."""
        if not log.known or at == 0:
            return True
        shared = min(at, self.size - 1)
        if shared == 0:
            return log.line[0][NEXT_OFFSET] >= self.offset
        return log.line[shared] is self.line[shared]

    def extend(self, log: ReplicaLog, at: int, offset: int) -> None:
        """The entries of ``log`` up to index ``at`` are committed as well. They agree with the earlier ones."""
        if self.size == 1 or at >= self.size:
            self.line, self.size = log.line, at + 1
        self.offset = offset

    def forget(self) -> None:
        """The partition is deleted. A later one of the same name reuses this object and starts empty."""
        self.highest = max(self.highest, self.offset)
        self.line, self.size, self.offset, self.isr, self.members = NOTHING, 1, 0, (), None
        self.adopted_epoch = self.unclean_epoch = -1
        self.target, self.arrived, self.deleting, self.stated = (), False, False, False

    def restart(self, log: ReplicaLog) -> None:
        """From now on only what ``log`` holds of it is committed."""
        self.highest = max(self.highest, self.offset)
        committed, there = self.line, log.line
        most = min(self.size, log.size)
        same = bisect_left(range(most), True, key=lambda index: committed[index] is not there[index])
        self.line, self.size = there, max(1, same)
        self.offset = min(self.offset, max(self.last[NEXT_OFFSET], there[0][NEXT_OFFSET]))
