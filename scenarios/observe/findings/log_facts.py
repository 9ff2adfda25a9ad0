"""Facts about logs: what they lack, where they differ, what is truncated, deleted or read."""

from typing import TYPE_CHECKING, NamedTuple

from emulator.protocol.types import TopicPartition
from scenarios.units import counted

if TYPE_CHECKING:
    from scenarios.observe.history.commit import Commit

SEEN = {
    "LogLoaded": "finds its log",
    "BecameLeader": "becomes leader",
    "BecameFollower": "becomes follower",
    "Truncated": "truncates",
}
"""Kind of an event to what the broker does with the replica."""


class Committed(NamedTuple):
    """The end of what is committed in a partition.

    Attributes:
        offset: the offset up to which records are committed.
        batch, epoch: the last committed batch and its leader epoch. ``batch`` is None for what the topic began with.
        shown: whether any log shows that batch.
    """

    offset: int
    batch: int | None
    epoch: int
    shown: bool

    @classmethod
    def of(cls, commit: "Commit") -> "Committed":
        place, _, _, epoch, batch = commit.last
        return cls(commit.offset, batch if place else None, epoch, not commit.unknown_below)

    def __str__(self) -> str:
        what = "what the topic began with" if self.batch is None else f"batch {self.batch} of epoch {self.epoch}"
        return f"committed up to offset {self.offset}, {what if self.shown else 'which no log shows'}"


ENDED = {"stop": "a clean stop", "process": "the end of its process", "host": "a crash of its machine"}


class LogFoundOtherwise(NamedTuple):
    """A log that a broker opens again, of which ``part`` is not between ``least`` and ``most``, after its last process
    has ended in the way ``kind``."""

    broker: int
    kind: str
    part: str
    found: int
    least: int
    most: int

    def in_words(self, tp: TopicPartition | None) -> str:
        wanted = str(self.most) if self.least == self.most else f"{self.least} to {self.most}"
        return (
            f"{tp}: broker {self.broker} opens the log after {ENDED[self.kind]} with the {self.part} {self.found}; it "
            f"has to be {wanted}"
        )


class CopiedOffline(NamedTuple):
    """A copy of a replica into a log directory that has failed."""

    broker: int
    directory: str

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}: broker {self.broker} goes on copying the replica into {self.directory}, which has failed"


class HighWatermarkStands(NamedTuple):
    """A high watermark that stands still, and is before what all of the ISR has."""

    leader: int
    high_watermark: int
    committable: int
    isr: tuple[int, ...]
    held_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: leader {self.leader} has the high watermark {self.high_watermark}, and its ISR {list(self.isr)} "
            f"has the log up to {self.committable}, for {self.held_us / 1e6:.1f} s"
        )


class BatchMisplaced(NamedTuple):
    """A batch that is not appended at the end of its log."""

    broker: int
    batch: int
    base_offset: int
    log_end: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"broker {self.broker}, {tp}: batch {self.batch} goes to offset {self.base_offset} of a log that ends at "
            f"{self.log_end}"
        )


class BatchOfEarlierEpoch(NamedTuple):
    """A batch after one of a later leader epoch."""

    broker: int
    batch: int
    epoch: int
    last_epoch: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"broker {self.broker}, {tp}: batch {self.batch} of epoch {self.epoch} follows a batch of epoch "
            f"{self.last_epoch}"
        )


class EpochEndWrong(NamedTuple):
    """A leader epoch whose end a broker finds at another offset than it is at; ``found``: None: it finds none."""

    broker: int
    epoch: int
    found: int | None
    end: int

    def in_words(self, tp: TopicPartition | None) -> str:
        found = "not found, and is that of the last batch"
        if self.found is not None:
            found = f"found to end at {self.found}, and ends at {self.end}"
        return f"broker {self.broker}, {tp}: leader epoch {self.epoch} is {found}"


class LeaderLacks(NamedTuple):
    """A leader without all that is committed."""

    broker: int
    leader_epoch: int
    log_end: int
    committed: Committed

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.broker}, leader of epoch {self.leader_epoch}, has a log that ends at {self.log_end} "
            f"and lacks what is {self.committed}"
        )


class MemberLacks(NamedTuple):
    """A member of the ISR without all that is committed. ``event``, ``seen_at``: the kind of event that showed it, and
    at which broker; None: a write to ZooKeeper."""

    broker: int
    isr: tuple[int, ...]
    log_end: int
    committed: Committed
    event: str
    seen_at: int | None

    def in_words(self, tp: TopicPartition | None) -> str:
        when = "by its ISR in ZooKeeper"
        if self.seen_at is not None:
            when = f"as broker {self.seen_at} {SEEN.get(self.event, 'moves its high watermark')}"
        return (
            f"{tp}, ISR {list(self.isr)}: the log of broker {self.broker} ends at {self.log_end} and lacks what is "
            f"{self.committed}, {when}"
        )


class BoundsBroken(NamedTuple):
    """Offsets of a log that are not in order, after an event of the kind ``event``."""

    broker: int
    event: str
    log_start: int
    high_watermark: int
    log_end: int

    def in_words(self, tp: TopicPartition | None) -> str:
        when = f"it {SEEN[self.event]}" if self.event in SEEN else "its high watermark moves"
        return (
            f"broker {self.broker}, {tp}, when {when}: log start {self.log_start}, high watermark "
            f"{self.high_watermark}, log end {self.log_end}"
        )


class CopyBeginsLater(NamedTuple):
    """A copy in another log directory that begins after the log that it replaces."""

    broker: int
    log_start: int
    replaced_start: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"broker {self.broker}, {tp}: the copy begins at {self.log_start}, the log that it replaces at "
            f"{self.replaced_start}"
        )


class LogBeginsUncommitted(NamedTuple):
    """A log that begins after its high watermark."""

    broker: int
    log_start: int
    high_watermark: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"broker {self.broker}, {tp}: the log begins at {self.log_start}, after its high watermark "
            f"{self.high_watermark}"
        )


class HighWatermarkFell(NamedTuple):
    """A high watermark that falls, by an event of the kind ``event``; ``leads``: at the leader."""

    broker: int
    leader_epoch: int
    before: int
    after: int
    event: str
    leads: bool

    def in_words(self, tp: TopicPartition | None) -> str:
        how = {
            "BecameLeader": "when it became leader",
            "BecameFollower": "when it became follower",
            "Truncated": "by truncation, as leader",
        }.get(self.event, "as leader" if self.leads else "as follower")
        return f"broker {self.broker}, {tp}, epoch {self.leader_epoch}: from {self.before} back to {self.after} {how}"


class HighWatermarkStayed(NamedTuple):
    """A high watermark that is moved to where it was."""

    broker: int
    leader_epoch: int
    offset: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"broker {self.broker}, {tp}, epoch {self.leader_epoch}: moved to {self.offset}, where it was"


class CommittedDiffers(NamedTuple):
    """A batch below the high watermark of a log that is not what is committed there."""

    broker: int
    leader_epoch: int
    high_watermark: int
    batch: int
    epoch: int
    base_offset: int
    last_offset: int
    committed: Committed

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}, broker {self.broker}, epoch {self.leader_epoch}: below its high watermark {self.high_watermark} "
            f"its log has batch {self.batch} of epoch {self.epoch}, offsets {self.base_offset} to {self.last_offset}; "
            f"{self.committed}"
        )


class LeaderTruncates(NamedTuple):
    """A leader that truncates its log."""

    broker: int
    leader_epoch: int
    offset: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}: broker {self.broker} leads in epoch {self.leader_epoch} and truncates to {self.offset}"


class CommittedTruncated(NamedTuple):
    """A member of the ISR that truncates what is committed."""

    broker: int
    isr: tuple[int, ...]
    offset: int
    leader_epoch: int
    committed: Committed

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.broker}, in the ISR {list(self.isr)}, truncates to {self.offset} in epoch "
            f"{self.leader_epoch}; {self.committed}"
        )


class SharedTruncated(NamedTuple):
    """A follower that truncates a batch that its leader has in the same place."""

    broker: int
    offset: int
    leader_epoch: int
    leader: int
    batch: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.broker} truncates to {self.offset} in epoch {self.leader_epoch}, and leader "
            f"{self.leader} has batch {self.batch}, which was there"
        )


class LogsDiffer(NamedTuple):
    """The log of a member of the ISR that is not its leader's."""

    broker: int
    log_end: int
    leader: int
    leader_end: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.broker}, in sync, has a log that ends at {self.log_end} and is not that of the "
            f"leader, broker {self.leader}, which ends at {self.leader_end}"
        )


class AckedRecordsLost(NamedTuple):
    """Acknowledged batches that a leader's log lacks; ``batch``, ``base_offset``: the first of them."""

    leader: int
    leader_epoch: int
    log_end: int
    batches: int
    records: int
    batch: int
    base_offset: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: {counted(self.batches, 'acknowledged batches')} not in the log of broker {self.leader}, leader of "
            f"epoch {self.leader_epoch}, which ends at {self.log_end}; the first is batch {self.batch}, from offset "
            f"{self.base_offset} on, {counted(self.records, 'records')} in all"
        )


class BatchRefused(NamedTuple):
    """A batch that is refused for its sequence number, and that its leader has."""

    batch: int
    leader: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}: batch {self.batch} is refused for its number, and leader {self.leader} has it"


class BatchTwice(NamedTuple):
    """A batch that is committed again, or after a later one of its producer. ``first``, ``newest``, ``end``: the
    producer's batches before it, and the offset after them."""

    batch: int
    offset: int
    epoch: int
    first: int
    newest: int
    end: int

    def in_words(self, tp: TopicPartition | None) -> str:
        what = "again" if self.batch == self.newest else f"after batch {self.newest}"
        return (
            f"{tp}: batch {self.batch} is committed {what}, at offset {self.offset} in epoch {self.epoch}; before it "
            f"its producer has batches {self.first} to {self.newest}, up to offset {self.end}"
        )


class DeletedEarly(NamedTuple):
    """A segment that retention deletes too early. ``offset``: where the log begins then; ``age_us``: of the newest
    batch that is deleted; ``kept_bytes``: None: not known."""

    broker: int
    offset: int
    age_us: int
    kept_bytes: int | None

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.broker} deletes what is before {self.offset}, of which the newest batch is "
            f"{self.age_us / 1e6:.1f} s old, and keeps {self.kept_bytes} bytes"
        )


class RolledEarly(NamedTuple):
    """A segment that is rolled too early, before a batch that is ``age_us`` younger than its first one."""

    broker: int
    size: int
    batch_size: int
    age_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.broker} rolls a segment of {self.size} bytes before a batch of {self.batch_size}, "
            f"which is {self.age_us / 1e6:g} s younger than its first one"
        )


class RolledLate(NamedTuple):
    """A segment that is rolled too late: its own ``batches`` are too many bytes, or the last of them is ``span_us``
    younger than the first."""

    broker: int
    batches: int
    size: int
    span_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.broker} rolls a segment only after {self.batches} batches of {self.size} bytes; the "
            f"last is {self.span_us / 1e6:g} s younger than the first"
        )


class SegmentKept(NamedTuple):
    """A log whose first segment is past its retention by time (``too_old``) or by size."""

    broker: int
    log_start: int
    size: int
    too_old: bool
    interval_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: the log of broker {self.broker} begins at {self.log_start} and has {self.size} bytes; its first "
            f"segment has been {'too old' if self.too_old else 'too much'} for {self.interval_us / 1e6:.1f} s and more"
        )


class DescribedUnasked(NamedTuple):
    """A log that a broker describes and was not asked for."""

    broker: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"broker {self.broker} describes {tp}, which it was not asked for"


class TwoLogs(NamedTuple):
    """Two current logs of one partition on a broker."""

    broker: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"broker {self.broker} has two current logs of {tp}"


class LogBehind(NamedTuple):
    """How far a log, or a copy of it, is described to be behind, and how far it may be."""

    broker: int
    copy: bool
    behind: int
    most: int

    def in_words(self, tp: TopicPartition | None) -> str:
        what = "a copy" if self.copy else "the log"
        return f"{what} of {tp} on broker {self.broker} is {self.behind} behind {self.most}"


class DirectoryUsed(NamedTuple):
    """A log directory that a broker uses though it could not recover a log there."""

    broker: int
    log_dir: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker} uses {self.log_dir}, and could not recover a log there"


class DeletedOffline(NamedTuple):
    """A replica in a log directory that has failed, of which its broker says that it has deleted it."""

    broker: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}: broker {self.broker} says that it has deleted the replica, whose log directory has failed"


class DeletionNotSeen(NamedTuple):
    """A deletion on request that every live replica has followed, and whose leader still waits for one, or says that it
    has timed out.

    Attributes:
        begun_us: for how long the last of them has begun there.
    """

    broker: int
    offset: int
    counted: tuple[int, ...]
    begun_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.broker} does not say that the records before {self.offset} are deleted; "
            f"the logs of {list(self.counted)} have begun there for {self.begun_us / 1e6:.1f} s"
        )


class DeletionMisanswered(NamedTuple):
    """An answer about records that were to be deleted before ``offset`` (-1: before the high watermark), which what the
    leader has found does not bear out."""

    broker: int
    offset: int
    low_watermark: int
    error: str
    waited_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.broker}, asked to delete before {self.offset}, answers after "
            f"{self.waited_us / 1e6:g} s with {self.error} and the low watermark {self.low_watermark}"
        )


class BeginsBehind(NamedTuple):
    """A follower that keeps records which a client had its leader delete, up to ``offset``."""

    leader: int
    offset: int
    broker: int
    start: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: the log of leader {self.leader} begins at {self.offset}, and that of broker {self.broker}, which "
            f"follows, at {self.start}"
        )


class DeletedInPart(NamedTuple):
    """A deletion that is answered before all live replicas have deleted.

    Attributes:
        broker: the leader.
        offset, low_watermark: the offset that was asked for, and the low watermark of the answer.
        late: the replicas that begin earlier, with where they begin.
    """

    broker: int
    offset: int
    low_watermark: int
    late: tuple[tuple[int, int], ...]

    def in_words(self, tp: TopicPartition | None) -> str:
        begins = ", ".join(f"that of broker {broker} begins at {start}" for broker, start in self.late)
        return (
            f"{tp}: broker {self.broker} says that all replicas begin at {self.low_watermark}, asked for "
            f"{self.offset}" + (f"; {begins}" if begins else "")
        )
