"""The content of every replica's log, from events alone.

Equal prefixes are one and the same object. Per partition there is a tree of batches: a log that appends the batch that
another log has appended at the same place, after the same batches, arrives at the same ``Entry``. So "does this log
hold everything up to that batch?" is one comparison of identities, exact, and needs no hashes.

The data that a topic starts with (ids below 0, ``Batch.id``) is the same on every replica that has it, whole or in
part: it is the *base* of a log, an offset. A log loaded at a broker's first start is base only.

Two malformed appends are reported to subscribers: a batch that is not at the log's end (``misplaced``), and a batch of
an older epoch than the one before it (``regressed``). The second is a property of the tree and is found once, when the
first log appends such a batch.

A log whose start moves keeps its history here: what retention deleted was committed. After a full truncation to an
offset beyond its end the content of a log is not known (``ReplicaLog.known``), and checkers skip it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import define

from emulator.protocol.events import Appended, LogLoaded, LogStartMoved, ReplicaStopped, Truncated
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from scenarios.observe.history.commit import Commit


@define(eq=False)
class Entry:
    """One batch after one history. ``index``: its place in every log that holds it; 0 is the base, no batch."""

    index: int
    base_offset: int
    next_offset: int
    leader_epoch: int
    id: int
    child: Entry | None = None
    sibling: Entry | None = None

    def followed_by(self, next_offset: int, leader_epoch: int, id: int) -> Entry:
        """The entry for this batch after this history. Divergent ones are few: the newest is compared first."""
        child = self.child
        while child is not None:
            if child.id == id and child.next_offset == next_offset and child.leader_epoch == leader_epoch:
                return child
            child = child.sibling
        child = Entry(self.index + 1, self.next_offset, next_offset, leader_epoch, id, None, self.child)
        self.child = child
        return child


def _base_offset(entry: Entry) -> int:
    return entry.base_offset


def _next_offset(entry: Entry) -> int:
    return entry.next_offset


@define(eq=False)
class ReplicaLog:
    """The log of one partition on one broker.

    Attributes:
        entries: the base, then its batches.
        known: whether the events have shown all of its content.
        start_offset: the log start offset.
        high_watermark: the last one seen, if ``Commits`` is armed; None before the first.
        covered: the index of the last entry that a high watermark has covered; a truncation leaves it as it is.
        leads, leader_epoch: the role that the replica took up last.
        learnt_epoch, learnt_adoptions: its leader epoch and ``Commit.adoptions`` when it last learnt its high watermark
            as a follower.
        commit: what is committed of its partition, for ``Commits``, which looks it up once.
    """

    roots: dict[int, Entry]
    entries: list[Entry]
    known: bool = True
    start_offset: int = 0
    high_watermark: int | None = None
    covered: int = 0
    leads: bool = False
    leader_epoch: int = -1
    learnt_epoch: int = -1
    learnt_adoptions: int = -1
    commit: Commit | None = None

    @property
    def end_offset(self) -> int:
        return self.entries[-1].next_offset

    def holds(self, entry: Entry) -> bool:
        """Whether it holds this batch, and before it the same batches as the log where ``entry`` was appended first."""
        return entry.index < len(self.entries) and self.entries[entry.index] is entry

    def find(self, base_offset: int, id: int) -> Entry | None:
        """The batch ``id`` at ``base_offset``, if the log has it."""
        last = self.entries[-1]
        if last.base_offset == base_offset and last.id == id and last.index:
            return last
        at = bisect_left(self.entries, base_offset, lo=1, key=_base_offset)
        if at < len(self.entries):
            entry = self.entries[at]
            if entry.base_offset == base_offset and entry.id == id:
                return entry
        return None

    def begin_at(self, offset: int) -> None:
        """Hold nothing but a base that ends at ``offset``."""
        root = self.roots.get(offset)
        if root is None:
            root = self.roots[offset] = Entry(0, 0, offset, -1, 0)
        self.entries = [root]

    def cover(self, offset: int) -> int:
        """Move ``covered`` to the last entry that ends at or before ``offset``, or to the base. Amortized O(1)."""
        entries = self.entries
        last = len(entries) - 1
        at = self.covered if self.covered <= last else last
        while at < last and entries[at + 1].next_offset <= offset:
            at += 1
        while at and entries[at].next_offset > offset:
            at -= 1
        self.covered = at
        return at

    def cut(self, offset: int) -> None:
        """Drop the batches that end after ``offset``."""
        if offset < self.entries[0].next_offset:
            self.begin_at(offset)
        else:
            del self.entries[max(1, bisect_right(self.entries, offset, key=_next_offset)) :]


class ReplicaLogs:
    """The logs of all replicas.

    Attributes:
        misplaced: called with an append that is not at the log's end, and with that end.
        regressed: called with an append and the epoch of the batch before it, which is newer.
    """

    def __init__(self) -> None:
        self.misplaced: list[Callable[[Appended, int], None]] = []
        self.regressed: list[Callable[[Appended, int], None]] = []
        self._roots: dict[tuple[str, int], dict[int, Entry]] = {}
        self.by_replica: dict[tuple[int, str, int], ReplicaLog] = {}

    def get(self, node: int, tp: TopicPartition) -> ReplicaLog | None:
        return self.by_replica.get((node, tp.topic, tp.partition))

    def made(self, key: tuple[int, str, int]) -> ReplicaLog:
        """The log of a (broker, topic, partition); a new, empty one if no event was about it yet."""
        log = self.by_replica.get(key)
        if log is None:
            log = self.by_replica[key] = ReplicaLog(self._roots.setdefault(key[1:], {}), [])
            log.begin_at(0)
        return log

    def on_appended(self, event: Appended) -> None:
        # Unpacked at once: this runs for every batch on every replica.
        _, _, _, node, topic, partition, _, leader_epoch, base_offset, next_offset, id, _ = event
        key = node, topic, partition
        log = self.by_replica.get(key) or self.made(key)
        last = log.entries[-1]
        if base_offset != last.next_offset:
            for report in self.misplaced:
                report(event, last.next_offset)
            # A log with a hole is broken; what came before the hole counts as not in it.
            log.begin_at(base_offset)
            last = log.entries[0]
        if id < 0 and last.index == 0:
            log.begin_at(next_offset)
            return
        child = last.child
        if child is None or child.id != id or child.next_offset != next_offset or child.leader_epoch != leader_epoch:
            if leader_epoch < last.leader_epoch:
                for report in self.regressed:
                    report(event, last.leader_epoch)
            child = last.followed_by(next_offset, leader_epoch, id)
        log.entries.append(child)

    def on_loaded(self, event: LogLoaded) -> None:
        """At a first start, the data put on the disk before the run; later, what a crash has left."""
        key = event.node, event.topic, event.partition
        known = key in self.by_replica
        log = self.made(key)
        if known and event.log_end_offset <= log.end_offset:
            log.cut(event.log_end_offset)
        else:
            log.begin_at(event.log_end_offset)
        log.start_offset = event.log_start_offset
        log.high_watermark = event.high_watermark
        log.leads, log.learnt_epoch = False, -1

    def on_truncated(self, event: Truncated) -> None:
        log = self.made((event.node, event.topic, event.partition))
        if event.log_end_offset > log.end_offset:
            log.begin_at(event.log_end_offset)
            log.known = False
            log.start_offset = event.log_end_offset
        else:
            log.cut(event.log_end_offset)

    def on_start_moved(self, event: LogStartMoved) -> None:
        self.made((event.node, event.topic, event.partition)).start_offset = event.log_start_offset

    def on_stopped(self, event: ReplicaStopped) -> None:
        if event.deleted:
            self.by_replica.pop((event.node, event.topic, event.partition), None)
