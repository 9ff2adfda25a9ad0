"""The content of every replica's log, from events alone.

Logs with equal content share it. The batches of one history are one *line*, a list of ``Entry`` that only grows, and a
log is the first ``size`` entries of a line: a follower that appends the batch that is next on its line moves one place
on. Where the batch is another one, the log changes to the line that has it there, or a new line begins as a copy of the
part that the log has. So an entry is one batch after one history, lines share entries exactly where their histories are
equal, and "does this log hold everything up to that batch?" is one comparison of identities, exact, and needs no
hashes.

The data that a topic starts with (ids below 0, ``Batch.id``) is the same on every replica that has it, whole or in
part: it is the *base* of a log, an offset. A log loaded at a broker's first start is base only.

Two malformed appends are reported to subscribers: a batch that is not at the log's end (``misplaced``), and a batch of
an older epoch than the one before it (``regressed``). The second is a property of the history and is found once, when
the first log appends such a batch.

A log whose start moves keeps its history here: what retention deleted was committed. A truncation to before that start
empties the log (``Log.truncateTo``, 2.3), and the next batch goes where it says, even if a batch that was deleted went
beyond: the part of that batch before it takes its place (``GONE``). After a full truncation to an
offset beyond its end, which is how a new replica begins where the leader's log does, a log is not known
(``ReplicaLogHistory.known``) until its first append; it may be truncated once more before that, to where the batch
begins that the leader's log begins within. Nor is one with another history than the leader's that goes on
right
where the leader's log begins: the leader knows no epoch from before, so nothing is truncated
(``LeaderEpochFileCache.endOffsetFor``, 2.4.1), and what differs is deleted with the leader's next answer. So it is
where the leader's log is not known itself. The append puts it on the line of the logs that have this batch at this
place, or that end where it begins, a leader's before others: it has their history, as if its own start had moved.
Checkers skip a log for which no such line is found.

What retention has deleted from every replica's disk is forgotten: one shared entry stands for all of it, so that a run
that goes on for hours remembers what its logs have. The last batch below those places stays. A log that begins later
than its first segment, since a client or its leader has said so, begins there again after a crash: its broker writes
log starts to a checkpoint once a minute (log.flush.start.offset.checkpoint.interval.ms).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterator, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING

from attrs import define

from emulator.protocol.events import (
    Appended,
    BatchesAppended,
    FetchPosition,
    LogLoaded,
    LogStartMoved,
    NodeCrashed,
    ReplicaStopped,
    Truncated,
)
from emulator.protocol.shown import SegmentsDeleted
from emulator.protocol.types import TopicPartition
from scenarios.observe.history.subscriptions import index_of

if TYPE_CHECKING:
    from scenarios.observe.history.commit import Commit


Entry = tuple[int, int, int, int, int]
"""One batch after one history: its place, which is its index in every log that holds it, and what the constants below
name. At place 0 is the base, no batch. A plain tuple: one is made for each batch, and compared for each replica."""
PLACE, BASE_OFFSET, NEXT_OFFSET, LEADER_EPOCH, ID = range(5)

NO_BATCH: Entry = (-1, -1, -1, -1, 0)
"""Equals no batch of any log."""

GONE = 0
"""The ID of the first part of a batch that is not in the log any more."""

FORGOTTEN: Entry = (-1, -1, -1, -1, 0)
"""Stands in a line for each batch that every replica's disk has deleted."""

Line = list[Entry]
Lines = dict[int, list[Line]]
"""The lines of one partition, by the offset at which their bases end."""

_base_offset = itemgetter(BASE_OFFSET)
_next_offset = itemgetter(NEXT_OFFSET)


@define(eq=False)
class ReplicaLogHistory:
    """The log of one partition on one broker.

    Attributes:
        lines: the lines of the partition.
        line, size: content: the first ``size`` entries of ``line``, the base and its batches.
        end_offset: the log end offset.
        known: whether the events have shown all of its content.
        start_offset: the log start offset. ``disk_start``: where the oldest segment begins, or before it.
        high_watermark: the last one seen, if ``Commits`` is armed; None before the first.
        fell_from: the highest that it has gone back from, as far as that is in the log; 0: it never has.
        leads, leader_epoch: the role that the replica took up last.
        learnt_epoch, learnt_adoptions: leader epoch and ``Commit.adoptions`` when it last received its high watermark
            as a follower.
        commit: the commit of the partition, for ``Commits``, which looks it up once.
    """

    lines: Lines
    line: Line
    size: int
    end_offset: int
    known: bool = True
    start_offset: int = 0
    disk_start: int = 0
    high_watermark: int | None = None
    fell_from: int = 0
    leads: bool = False
    leader_epoch: int = -1
    learnt_epoch: int = -1
    learnt_adoptions: int = -1
    commit: Commit | None = None

    @property
    def entries(self) -> Line:
        """The base and its batches: a copy."""
        return self.line[: self.size]

    @property
    def last(self) -> Entry:
        return self.line[self.size - 1]

    def holds(self, entry: Entry) -> bool:
        """Whether it holds this batch, and before it the same batches as the log where ``entry`` was appended first."""
        place = entry[PLACE]
        return place < self.size and self.line[place] is entry

    def has_forgotten(self, place: int) -> bool:
        """Whether there was a batch at this place, and all logs had deleted it. A log can have it again: where a crash
        lost the checkpoint of its start."""
        return place < self.size and self.line[place] is FORGOTTEN

    def find(self, base_offset: int, id: int) -> Entry | None:
        """The batch ``id`` at ``base_offset``, if the log has it."""
        at = bisect_left(self.line, base_offset, lo=1, hi=self.size, key=_base_offset)
        if at < self.size:
            entry = self.line[at]
            if entry[BASE_OFFSET] == base_offset and entry[ID] == id:
                return entry
        return None

    def begin_at(self, offset: int) -> None:
        """Hold nothing but a base that ends at ``offset``."""
        lines = self.lines.setdefault(offset, [])
        if not lines:
            lines.append([(0, 0, offset, -1, 0)])
        self.line, self.size, self.end_offset = lines[0], 1, offset

    def forget_before(self, offset: int) -> None:
        """Nothing is known but that the next batch begins at ``offset``. The line has an entry more than the log and no
        batch equals it, so that the next append is not taken for one that goes on along the line."""
        self.line, self.size, self.end_offset, self.known = [(0, 0, offset, -1, 0), NO_BATCH], 1, offset, False

    def recognize(self, next_offset: int, leader_epoch: int, id: int, others: list[ReplicaLogHistory]) -> None:
        """Find the history by the batch that comes next: that of the first of ``others`` that fits, the logs of now, or
        one that no log has any more. Where none fits, this log begins here and stays unknown."""
        offset, batch = self.end_offset, (next_offset, leader_epoch, id)
        histories = [(log.line, log.size) for log in others if log.known]
        histories += [(line, len(line)) for lines in self.lines.values() for line in lines]
        for line, size in histories:
            at = bisect_left(line, offset, lo=1, hi=size, key=_base_offset)
            if at < size and line[at][BASE_OFFSET:] == (offset, *batch):
                self.line, self.size, self.known = line, at, True
                return
        for line, size in histories:
            at = bisect_left(line, offset, hi=size, key=_next_offset)
            if at < size and line[at][NEXT_OFFSET] == offset:
                self.line, self.size, self.known = line, at + 1, True
                return
        self.begin_at(offset)

    def append(self, next_offset: int, leader_epoch: int, id: int) -> bool:
        """Append a batch at the end. Returns whether this is the first log that has it after this history."""
        last, size = self.last, self.size
        entry = size, self.end_offset, next_offset, leader_epoch, id
        self.size, self.end_offset = size + 1, next_offset
        lines = self.lines[self.line[0][NEXT_OFFSET]]
        for line in lines:
            if size < len(line) and line[size - 1] is last and line[size] == entry:
                self.line = line
                return False
        if size < len(self.line):
            self.line = self.line[:size]
            lines.append(self.line)
        self.line.append(entry)
        return True

    def covered(self, offset: int) -> int:
        """The index of the last entry that ends at or before ``offset``, or of the base."""
        return max(1, bisect_right(self.line, offset, hi=self.size, key=_next_offset)) - 1

    def has_dropped(self, base_offset: int, offset: int) -> bool:
        """Whether the log ends where a batch began that went beyond ``offset``, so that a truncation to ``offset`` has
        left nothing of it."""
        if self.size == len(self.line):
            return False
        following = self.line[self.size]
        return following[BASE_OFFSET] == base_offset < offset < following[NEXT_OFFSET]

    def cut(self, offset: int) -> None:
        """Drop the batches that end after ``offset``."""
        at, before_base = self.covered(offset), offset < self.line[0][NEXT_OFFSET]
        if before_base and (self.known or offset == 0):
            self.begin_at(offset)
            self.known = True
        elif before_base or self.line[at] is FORGOTTEN:
            self.forget_before(offset)
        else:
            self.size = at + 1
            self.end_offset = self.last[NEXT_OFFSET]


class TopicLogs(dict[int, ReplicaLogHistory]):
    """The logs of one topic on one broker, by partition. A log that no event was about yet is made when it is looked
    up; ``get`` makes none."""

    def __init__(self, lines: dict[int, Lines]) -> None:
        super().__init__()
        self._lines = lines

    def __missing__(self, partition: int) -> ReplicaLogHistory:
        log = self[partition] = ReplicaLogHistory(self._lines.setdefault(partition, {}), [], 0, 0)
        log.begin_at(0)
        return log


class ReplicaLogs:
    """The logs of all replicas.

    Attributes:
        misplaced: called with an append that is not at the log's end, and with that end.
        regressed: called with an append and the epoch of the batch before it, which is newer. A batch that retention
            has deleted is not before it.
        forgot: called with a topic, a partition, an offset, and the batches that were before it and are forgotten now.
    """

    def __init__(self) -> None:
        self.misplaced: list[Callable[[Appended, int], None]] = []
        self.regressed: list[Callable[[Appended, int], None]] = []
        self.forgot: list[Callable[[str, int, int, Line], None]] = []
        self._lines: dict[str, dict[int, Lines]] = {}
        self._by_broker: dict[tuple[int, str], TopicLogs] = {}
        self._nodes: dict[int, None] = {}

    def on(self, node: int, topic: str) -> TopicLogs:
        """The logs of ``topic`` on one broker."""
        logs = self._by_broker.get((node, topic))
        if logs is None:
            logs = self._by_broker[node, topic] = TopicLogs(self._lines.setdefault(topic, {}))
            self._nodes[node] = None
        return logs

    def get(self, node: int, tp: TopicPartition) -> ReplicaLogHistory | None:
        """The log of a partition on one broker; None if no event was about it yet."""
        logs = self._by_broker.get((node, tp.topic))
        return None if logs is None else logs.get(tp.partition)

    def all_replicas(self) -> Iterator[tuple[int, TopicPartition]]:
        """Every replica that has a log, by broker and partition."""
        return self.beyond({})

    def beyond(self, topics: Mapping[str, Mapping[int, Container[int]]]) -> Iterator[tuple[int, TopicPartition]]:
        """The replicas that have a log and are not among ``topics``, the brokers of each partition."""
        for (node, topic), logs in self._by_broker.items():
            assigned = topics.get(topic, {})
            for partition in logs:
                if node not in assigned.get(partition, ()):
                    yield node, TopicPartition.of(topic, partition)

    def _by_role(self, topic: str, partition: int) -> list[ReplicaLogHistory]:
        """The logs of one partition: those of leaders first, the latest of them at the head."""
        found = (logs.get(partition) for (_, of), logs in self._by_broker.items() if of == topic)
        logs = [log for log in found if log is not None]
        return sorted(logs, key=lambda log: (not log.leads, -log.leader_epoch))

    def made(self, node: int, topic: str, partition: int) -> ReplicaLogHistory:
        """The log of a partition on one broker; a new, empty one if no event was about it yet."""
        return self.on(node, topic)[partition]

    def on_appended(self, event: BatchesAppended) -> None:
        """This runs for every batch on every replica. A follower that appends what is next on its line costs one
        comparison, the first log that appends a batch one entry; neither costs a call."""
        _, _, _, node, topic, _, partitions, epochs, base_offsets, next_offsets, ids, _ = event
        logs, taken = self._by_broker.get((node, topic)) or self.on(node, topic), iter(partitions)
        for partition, epoch, base_offset, next_offset, id in zip(
            taken, epochs, base_offsets, next_offsets, ids, strict=True
        ):
            log = logs[partition]
            line, size = log.line, log.size
            if size < len(line):
                if line[size] != (size, base_offset, next_offset, epoch, id):
                    self._append(event, taken, log, base_offset, next_offset, epoch, id)
                    continue
            elif base_offset == log.end_offset and id > 0 and epoch >= line[-1][LEADER_EPOCH]:
                line.append((size, base_offset, next_offset, epoch, id))
            else:
                self._append(event, taken, log, base_offset, next_offset, epoch, id)
                continue
            log.size = size + 1
            log.end_offset = next_offset

    def _append(
        self,
        event: BatchesAppended,
        taken: Iterator[int],
        log: ReplicaLogHistory,
        base_offset: int,
        next_offset: int,
        epoch: int,
        id: int,
    ) -> None:
        """Any append: it may be malformed, begin another history, or be of the base."""
        if base_offset != log.end_offset:
            for report in self.misplaced:
                report(event.rows()[index_of(event, taken)], log.end_offset)
            # A log with a hole is broken; what came before the hole counts as not in it.
            log.begin_at(base_offset)
        if not log.known and log.line[-1] is NO_BATCH and id > 0:
            log.recognize(next_offset, epoch, id, self._by_role(event.topic, event.partitions[index_of(event, taken)]))
        last = log.last
        if id < 0 and last[PLACE] == 0:
            log.begin_at(next_offset)
            log.known = True
        elif log.append(next_offset, epoch, id) and epoch < last[LEADER_EPOCH] and log.start_offset < base_offset:
            for report in self.regressed:
                report(event.rows()[index_of(event, taken)], last[LEADER_EPOCH])

    def on_loaded(self, event: LogLoaded) -> None:
        """At a first start, the data put on the disk before the run; later, what a crash has left."""
        logs = self.on(event.node, event.topic)
        known = event.partition in logs
        log = logs[event.partition]
        if known and event.log_end_offset <= log.end_offset:
            log.cut(event.log_end_offset)
        else:
            log.begin_at(event.log_end_offset)
        log.start_offset = event.log_start_offset
        log.disk_start = min(log.disk_start, event.log_start_offset) if known else event.log_start_offset
        log.high_watermark, log.fell_from = event.high_watermark, 0
        log.leads, log.learnt_epoch = False, -1

    def on_crashed(self, event: NodeCrashed) -> None:
        """A process that is started again has no role before a request gives it one."""
        for (node, _topic), logs in self._by_broker.items():
            if node == event.node:
                for log in logs.values():
                    log.leads = False

    def on_truncated(self, event: Truncated) -> None:
        log = self.made(event.node, event.topic, event.partition)
        log.fell_from = min(log.fell_from, event.log_end_offset)
        if event.log_end_offset > log.end_offset:
            log.forget_before(event.log_end_offset)
            log.start_offset = log.disk_start = event.log_end_offset
        else:
            log.cut(event.log_end_offset)
            if log.end_offset < event.log_end_offset:
                log.append(event.log_end_offset, log.last[LEADER_EPOCH], GONE)
            log.start_offset = min(log.start_offset, event.log_end_offset)  # Log.truncateTo, 2.3
            log.disk_start = min(log.disk_start, event.log_end_offset)

    def on_start_moved(self, event: LogStartMoved) -> None:
        self.made(event.node, event.topic, event.partition).start_offset = event.log_start_offset

    def on_segments_deleted(self, event: SegmentsDeleted) -> None:
        self.made(event.node, event.topic, event.partition).disk_start = event.offset
        self._forget(event.topic, event.partition)

    def _forget(self, topic: str, partition: int) -> None:
        """Forget the batches before the first segments of all logs of a partition, but for the last one."""
        tp = TopicPartition.of(topic, partition)
        found = (self.get(node, tp) for node in self._nodes)
        starts = [log.disk_start for log in found if log is not None and log.size > 1]
        offset, gone = min(starts, default=0), list[Entry]()
        for lines in self._lines[topic].get(partition, {}).values():
            for line in lines:
                place = bisect_right(line, offset, lo=1, key=_next_offset) - 2
                while place > 0 and line[place] is not FORGOTTEN:
                    gone.append(line[place])
                    line[place] = FORGOTTEN
                    place -= 1
        if gone:
            for forgot in self.forgot:
                forgot(topic, partition, max(entry[NEXT_OFFSET] for entry in gone), gone)

    def on_position(self, event: FetchPosition) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        log, leads = self.get(event.node, tp), self.get(event.leader, tp)
        if log is None or leads is None or event.offset <= 0:
            return
        if event.offset == leads.start_offset == log.end_offset and not leads.holds(log.last):
            log.forget_before(event.offset)

    def on_stopped(self, event: ReplicaStopped) -> None:
        if event.deleted:
            self.on(event.node, event.topic).pop(event.partition, None)
