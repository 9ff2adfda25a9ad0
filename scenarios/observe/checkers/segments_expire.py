"""S16: retention deletes what is old or too much, soon, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import define

from brokers.memories import NewestSegment
from emulator.protocol.events import BatchesAppended, CopyStarted, Fault, LogStartMoved
from emulator.protocol.shown import RecordsTimed, Remembered, SegmentRolled
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import CONFIG_BROKERS, decode_config
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.broker_memory import is_settled
from scenarios.observe.checkers.checker import Checker, Gravity, Moment
from scenarios.observe.findings.log_facts import DeletedEarly, RolledEarly, RolledLate, SegmentKept
from scenarios.observe.history.replica_logs import BASE_OFFSET, ID, Line, ReplicaLogHistory

WEEK_MS = 604_800_000
SHORT_MS = 600_000
"""No run is longer than that: a log with a longer retention, and none by size, loses nothing."""
GIGABYTE = 1 << 30
FIRST_CHECK_US = 30_000_000
"""Time from a broker's start to its first check (log.retention.check's initial delay, 2.3)."""
SLACK_US = 5_000_000
OTHER_TIME_US = 1_000_000
"""Records that are from a time further away than this say nothing about their append."""
OWN = ("log.retention.", "log.segment.", "log.roll.")
"""The beginnings of the settings of a broker that delay or hasten a deletion."""

Replica = tuple[int, TopicPartition]
Written = tuple[int, int]
"""A batch: when its leader appended it, and its size in bytes."""


@define(eq=False)
class OldestSegment:
    """The first segment of a log, as far as it is known: it ends with ``last`` or earlier.

    Attributes:
        line, start_offset: batches and start of the log that was read.
        place: index of the next batch to read. size: bytes of the batches before it.
        newest: the last batch before ``place``.
        last: the last batch that the segment can have; None: the segment may be the active one.
        last_next_offset: end of that batch. upto: bytes of the batches up to there.
        overdue_us: time since which the segment should have been deleted; None: it need not be deleted.
    """

    line: Line
    start_offset: int
    place: int
    size: int = 0
    newest: Written | None = None
    last: Written | None = None
    last_next_offset: int = 0
    upto: int = 0
    overdue_us: int | None = None


class SegmentsExpire(Checker):
    """A log loses old segments by its retention, and nothing that is neither too old nor too much.

    Verified: when retention moves the start of a log, the newest batch that is gone is older than retention.ms, or the
        batches that are left have at least retention.bytes. A producer may state a time that is up to a second older
        than the append: that counts as the age then. Once a second: no closed segment that lies below the high
        watermark and is too old or too much stays for longer than log.retention.check.interval.ms on a broker that
        works, from 30 s after its start on. Where a segment ends is not known from events: it ends before its batches
        are more than segment.bytes. When a segment rolls, the next batch would make it larger than that, or is younger
        than its first one by more than segment.ms (LogSegment.shouldRoll, 2.3). Its own batches, if there are several,
        were neither as the last of them came; nor are those of the newest segment of a log, when the cluster is at
        rest.

    Not verified: compacted topics; topics with records of real clients from another time than their append; replicas
        that were copied to another log directory; runs in which a clock was set; the data that a topic starts with;
        logs that a broker was not asked to open since its start; brokers whose own settings state it otherwise.
    """

    ids = ("S16",)
    gravity = Gravity.REST
    statement = (
        "deleted(s) ⇔ age(s) > retention.ms or |log| - |s| ≥ retention.bytes: "
        "a log loses the segments that are too old or too many, and no others"
    )
    catches = ("KAFKA-3802", "KAFKA-16114")
    fails_when = "a log keeps old segments"

    def begin(self) -> None:
        self._logs, self._settings = self.history.logs, self.history.settings
        self.history.commits  # noqa: B018 (it keeps the high watermarks of the logs)
        self._interval_us = self._settings.start.time_us("log.retention.check.interval.ms", 300_000)
        self._watched: dict[str, bool] = {}
        self._segment_bytes: dict[str, int] = {}
        """The largest segment that a topic may have had, in bytes."""
        self._written: dict[tuple[int, int], Written] = {}
        """The batches of watched topics, by base offset and id."""
        self._earliest: dict[tuple[int, int], int] = {}
        """Time of the first append of a batch that was sent again and has the same place in another leader's log."""
        self._starts: dict[Replica, int] = {}
        self._oldest: dict[Replica, OldestSegment] = {}
        self._copied: dict[Replica, None] = {}
        self._own: dict[int, None] = {}
        """Brokers with settings of their own."""
        self._otherwise: dict[str, None] = {}
        """Topics with records from quite another time than their append."""
        self._older_us: dict[str, int] = {}
        """By topic, by how much the time of a record was older than its append, at most."""
        self._late: dict[Replica, None] = {}
        self._clocks_were_set = False
        self._logs.forgot.append(self._forget)

    def _forget(self, _topic: str, _partition: int, _offset: int, gone: Line) -> None:
        for entry in gone:
            batch = entry[BASE_OFFSET], entry[ID]
            self._written.pop(batch, None)
            self._earliest.pop(batch, None)

    # -- what there is ------------------------------------------------------------------------------------------------

    def on_fault(self, event: Fault) -> None:
        self._clocks_were_set |= event.action.startswith("broker.clock")

    def on_written(self, event: ZkWritten) -> None:
        if event.path.startswith("/config/"):
            self._watched.clear()
        parent, _, broker = event.path.rpartition("/")
        if parent != CONFIG_BROKERS or not broker.isdecimal() or event.op == "delete":
            return
        if any(name.startswith(OWN) for name in decode_config(event.data)):
            self._own[int(broker)] = None

    def on_copied(self, event: CopyStarted) -> None:
        self._copied[event.node, TopicPartition(event.topic, event.partition)] = None

    def on_timed(self, event: RecordsTimed) -> None:
        if abs(event.age_us) > OTHER_TIME_US:
            self._otherwise[event.topic] = None
        else:
            self._older_us[event.topic] = max(self._older_us.get(event.topic, 0), event.age_us)

    def on_appended(self, event: BatchesAppended) -> None:
        if event.leader and self._watches(event.topic, event.t_us):
            for base_offset, id, size in zip(event.base_offsets, event.ids, event.sizes, strict=True):
                before = self._written.get((base_offset, id))
                if before is not None:
                    self._earliest.setdefault((base_offset, id), before[0])
                self._written[base_offset, id] = event.t_us, size

    def _watches(self, topic: str, now_us: int) -> bool:
        watched = self._watched.get(topic)
        if watched is None:
            ages, sizes = self._ages_us(topic, now_us), self._sizes(topic, now_us)
            watched = any(0 <= age < SHORT_MS * 1000 for age in ages) or any(size >= 0 for size in sizes)
            watched = self._watched[topic] = watched and not self._is_compacted(topic, now_us)
        return watched

    def _is_compacted(self, topic: str, now_us: int) -> bool:
        found = self._settings.values(topic, "cleanup.policy", "delete", now_us, of_brokers="log.cleanup.policy")
        return any("compact" in str(policy) for policy in found)

    def _ages_us(self, topic: str, now_us: int) -> list[int]:
        found = self._settings.values(topic, "retention.ms", WEEK_MS, now_us, of_brokers="log.retention.ms")
        return [int(value) * 1000 for value in found]

    def _sizes(self, topic: str, now_us: int) -> list[int]:
        found = self._settings.values(topic, "retention.bytes", -1, now_us, of_brokers="log.retention.bytes")
        return [int(value) for value in found]

    # -- nothing else is deleted --------------------------------------------------------------------------------------

    def on_start_moved(self, event: LogStartMoved) -> None:
        tp = TopicPartition(event.topic, event.partition)
        before = self._starts.get((event.node, tp), -1)
        self._starts[event.node, tp] = event.log_start_offset
        log = self._logs.get(event.node, tp)
        by_retention = event.reason in ("time", "size") and event.log_start_offset != before
        if log is None or not (by_retention and log.known and self._can_say(event.node, tp)):
            return
        at = log.covered(event.log_start_offset)
        batch = log.line[at][BASE_OFFSET], log.line[at][ID]
        gone = self._written.get(batch)
        if gone is None:
            return
        age_us, left = event.t_us - self._earliest.get(batch, gone[0]), self._size(log, at + 1)
        oldest_us = age_us + self._older_us.get(tp.topic, 0)
        too_old = any(0 <= most < oldest_us for most in self._ages_us(tp.topic, event.t_us))
        too_much = left is None or any(0 <= most <= left for most in self._sizes(tp.topic, event.t_us))
        if not (too_old or too_much):
            self.violated(event, DeletedEarly(event.node, event.log_start_offset, age_us, left), tp)

    def _size(self, log: ReplicaLogHistory, place: int) -> int | None:
        """The bytes from a place on; None: not known."""
        size = 0
        for entry in log.line[place : log.size]:
            written = self._written.get((entry[BASE_OFFSET], entry[ID]))
            if written is None:
                return None
            size += written[1]
        return size

    def _can_say(self, node: int, tp: TopicPartition) -> bool:
        known = not self._clocks_were_set and tp.topic not in self._otherwise
        return known and node not in self._own and (node, tp) not in self._copied

    def on_rolled(self, event: SegmentRolled) -> None:
        if event.node in self._own or self._is_compacted(event.topic, event.t_us):
            return
        tp = TopicPartition.of(event.topic, event.partition)
        sizes, ages_us = self._limits(tp.topic, event.t_us)
        if event.size + event.batch_size <= min(sizes) and event.age_us <= min(ages_us):
            self.violated(event, RolledEarly(event.node, event.size, event.batch_size, event.age_us), tp)
        newest = NewestSegment(event.batches, event.size, event.t_us - event.age_us + event.span_us, event.span_us)
        self._look_at_newest(event, tp, newest)

    def on_remembered(self, event: Remembered) -> None:
        if event.role == "broker" and event.node not in self._own and is_settled(self, event):
            found: Mapping[TopicPartition, NewestSegment] = event.memories["newest"]  # type: ignore[assignment]
            for tp, newest in found.items():
                if not self._is_compacted(tp.topic, event.t_us):
                    self._look_at_newest(event, tp, newest)

    def _look_at_newest(self, event: SegmentRolled | Remembered, tp: TopicPartition, found: NewestSegment) -> None:
        """Whether a segment had room for its last batch."""
        if found.batches == 1 or not self._can_say(event.node, tp) or (event.node, tp) in self._late:
            return
        sizes, ages_us = self._limits(tp.topic, found.last_us)
        if found.size > max(sizes) or found.span_us > max(ages_us):
            self._late[event.node, tp] = None
            self.violated(event, RolledLate(event.node, found.batches, found.size, found.span_us), tp)

    def _limits(self, topic: str, at_us: int) -> tuple[list[int], list[int]]:
        """The values that segment.bytes and segment.ms (in us) may have had then, and since."""
        values = self._settings.values
        sizes = values(topic, "segment.bytes", GIGABYTE, at_us, of_brokers="log.segment.bytes")
        ages_ms = values(topic, "segment.ms", WEEK_MS, at_us, of_brokers="log.roll.ms")
        return [int(size) for size in sizes], [int(age) * 1000 for age in ages_ms]

    # -- all that is due is deleted -----------------------------------------------------------------------------------

    def look(self, moment: Moment) -> None:
        if self._written and not self._clocks_were_set:
            for node, tp, log in self._due(moment.t_us):
                self._look_at(moment, node, tp, log)

    def _due(self, now_us: int) -> Iterator[tuple[int, TopicPartition, ReplicaLogHistory]]:
        """The logs of which segments may be due, on brokers that work."""
        working = set(filter(self._works, self.cluster.lives))
        for node, tp in self._logs.all_replicas():
            log = self._logs.get(node, tp)
            holds = node in self.cluster.assignment(tp) and self.cluster.last_role(node, tp) is not None
            if log is None or not (node in working and holds and log.known and self._can_say(node, tp)):
                self._oldest.pop((node, tp), None)
            elif self._watches(tp.topic, now_us) and log.high_watermark is not None:
                yield node, tp, log

    def _works(self, broker: int) -> bool:
        here = self.now
        return here.works(broker) and not (here.troubled or broker in here.impaired or self.cluster.lacks_dirs(broker))

    def _look_at(self, moment: Moment, node: int, tp: TopicPartition, log: ReplicaLogHistory) -> None:
        found = self._oldest.get((node, tp))
        stale = found is None or found.line is not log.line or found.place > log.size
        if found is None or stale or found.start_offset != log.start_offset:
            first = log.covered(log.start_offset) + 1
            found = self._oldest[node, tp] = OldestSegment(log.line, log.start_offset, first)
        self._read_on(found, log, self._most_in_segment(tp.topic, moment.t_us))
        if found.last is None or found.last_next_offset > (log.high_watermark or 0):
            found.overdue_us = None
            return
        ages, sizes = self._ages_us(tp.topic, moment.t_us), self._sizes(tp.topic, moment.t_us)
        too_old = min(ages) >= 0 and moment.t_us - found.last[0] > max(ages)
        too_much = min(sizes) >= 0 and found.size - found.upto >= max(sizes)
        if not (too_old or too_much):
            found.overdue_us = None
            return
        if found.overdue_us is None:
            found.overdue_us = moment.t_us
        opened_us = self.cluster.roles[node][tp].opened_us
        since_us = max(found.overdue_us, self.cluster.lives[node].t_us + FIRST_CHECK_US, opened_us)
        if moment.t_us - since_us > self._interval_us + SLACK_US:
            found.overdue_us = moment.t_us
            self.violated(moment, SegmentKept(node, log.start_offset, found.size, too_old, self._interval_us), tp)

    def _most_in_segment(self, topic: str, now_us: int) -> int:
        values = self._settings.values(topic, "segment.bytes", GIGABYTE, now_us, of_brokers="log.segment.bytes")
        most = self._segment_bytes[topic] = max(self._segment_bytes.get(topic, 0), *map(int, values))
        return most

    def _read_on(self, found: OldestSegment, log: ReplicaLogHistory, most: int) -> None:
        """Count the batches that have come since the last look."""
        for entry in log.line[found.place : log.size]:
            written = self._written.get((entry[BASE_OFFSET], entry[ID]))
            if written is None:  # not known: begin again behind it
                found.size, found.last, found.newest = 0, None, None
            else:
                if found.last is None and found.newest is not None and found.size + written[1] > most:
                    found.last, found.last_next_offset, found.upto = found.newest, entry[BASE_OFFSET], found.size
                found.size += written[1]
                found.newest = written
            found.place += 1
