"""One replica's log: what it reads, what a truncation leaves, and what each kind of crash leaves on the disk."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.log.checkpoints import HIGH_WATERMARKS, OffsetCheckpointFile
from brokers.log.directory import LogDirectory
from brokers.log.log import Log, OffsetMismatch, UnexpectedAppendOffset
from brokers.log.log_config import LogConfig
from brokers.log.segments import Segment, deletable
from emulator.disks import Disk, DiskError, DiskFault
from emulator.protocol.control_batches import ControlBatch
from emulator.protocol.extents import Extent
from emulator.protocol.records import InMemory, RecordHeader, TransactionalBatch
from emulator.protocol.types import Batch, SequencedBatch, TopicPartition
from tests.brokers.bench import TP, batch


def filled(disk: Disk, *counts: int) -> Log:
    """Batches of that many records, one epoch each."""
    log = Log(LogDirectory(disk), TP)
    for epoch, count in enumerate(counts):
        log.append(batch(log.end_offset, epoch, count))
    return log


def test_an_append_has_to_begin_at_the_end() -> None:
    log = filled(Disk(), 3)
    for offset, error in ((2, UnexpectedAppendOffset), (4, OffsetMismatch)):
        with pytest.raises(OffsetMismatch, match=f"batch at {offset}, log ends at 3") as raised:
            log.append(batch(offset))
        assert raised.type is error
    assert log.end_offset == 3


@pytest.mark.parametrize(
    ("offset", "max_bytes", "bases"),
    [
        (0, 1000, [0, 2, 5]),
        (0, 200, [0, 2]),
        (0, 299, [0, 2]),
        (0, 1, [0]),  # at least one, however large
        (1, 1000, [0, 2, 5]),  # the batch that holds the offset
        (5, 1, [5]),
        (6, 1, [5]),
        (9, 1000, []),
    ],
)
def test_reads_from_an_offset_within_the_bytes(offset: int, max_bytes: int, bases: list[int]) -> None:
    assert [found.base_offset for found in filled(Disk(), 2, 3, 4).read(offset, max_bytes)] == bases


@pytest.mark.parametrize(
    ("offset", "end", "epochs"),
    [
        (0, 0, []),
        (1, 0, []),  # in the middle of a batch: it goes whole
        (2, 2, [(0, 0)]),
        (4, 2, [(0, 0)]),
        (5, 5, [(0, 0), (1, 2)]),
        (8, 5, [(0, 0), (1, 2)]),
        (9, 9, [(0, 0), (1, 2), (2, 5)]),
        (99, 9, [(0, 0), (1, 2), (2, 5)]),
    ],
)
def test_truncates_whole_batches_and_their_epochs(offset: int, end: int, epochs: list[tuple[int, int]]) -> None:
    log = filled(Disk(), 2, 3, 4)
    assert log.truncate_to(offset) == (end < 9)
    assert (log.end_offset, log.epochs.entries) == (end, tuple(epochs))
    log.append(batch(end, 3))


def test_truncating_at_the_end_drops_an_epoch_without_records() -> None:
    log = filled(Disk(), 2)
    log.begin_epoch(5, 2)
    assert not log.truncate_to(2)
    assert log.epochs.entries == ((0, 0),)


def test_truncated_fully_it_starts_at_the_given_offset() -> None:
    log = filled(Disk(), 2, 3)
    log.truncate_fully_and_start_at(40)
    log.append(batch(40, 7))
    assert (log.start_offset, log.end_offset, log.epochs.entries) == (40, 41, ((7, 40),))


def test_a_new_incarnation_finds_what_the_page_cache_holds() -> None:
    disk = Disk()
    filled(disk, 2, 3)
    log = Log(LogDirectory(disk), TP)
    assert (log.start_offset, log.end_offset, log.epochs.entries) == (0, 5, ((0, 0), (1, 2)))


def test_a_host_crash_leaves_what_was_flushed() -> None:
    disk = Disk()
    log = filled(disk, 2, 3)
    log.flush()
    log.append(batch(5, 2))
    disk.lose_unflushed()
    log = Log(LogDirectory(disk), TP)
    assert (log.end_offset, log.epochs.entries) == (5, ((0, 0), (1, 2)))


def test_a_refused_write_changes_nothing() -> None:
    log = filled(Disk(), 2)
    log.fail_disk(DiskFault("I/O error", left=2))
    with pytest.raises(DiskError):
        log.append(batch(2, 1))
    with pytest.raises(DiskError):
        log.truncate_to(0)
    assert (log.end_offset, log.epochs.entries) == (2, ((0, 0),))
    log.append(batch(2, 1))


def test_checkpoint_survives_a_host_crash_once_written() -> None:
    disk = Disk()
    checkpoint = OffsetCheckpointFile(disk, HIGH_WATERMARKS)
    other = TopicPartition("t", 1)
    checkpoint.put(TP, 5)
    checkpoint.put(other, 6)
    checkpoint.write()
    checkpoint.put(TP, 9)
    checkpoint.forget(other)
    disk.lose_unflushed()
    found = OffsetCheckpointFile(disk, HIGH_WATERMARKS)
    assert (found.get(TP), found.get(other), found.get(TopicPartition("t", 2))) == (5, 6, 0)
    checkpoint.write()
    found = OffsetCheckpointFile(disk, HIGH_WATERMARKS)
    assert (found.get(TP), found.get(other)) == (9, 0)


CHECKPOINT_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 3), st.integers(1, 9)),
        st.tuples(st.just("forget"), st.integers(0, 3), st.just(0)),
        st.tuples(st.sampled_from(("write", "crash")), st.just(0), st.just(0)),
    ),
    max_size=30,
)


@given(CHECKPOINT_STEPS)
def test_the_checkpoint_against_a_file_that_is_rewritten_whole(steps: list[tuple[str, int, int]]) -> None:
    disk = Disk()
    checkpoint = OffsetCheckpointFile(disk, HIGH_WATERMARKS)
    memory: dict[TopicPartition, int] = {}
    written: dict[TopicPartition, int] = {}
    for step, number, offset in steps:
        tp = TopicPartition("t", number)
        if step == "put":
            checkpoint.put(tp, offset)
            memory[tp] = offset
        elif step == "forget":
            checkpoint.forget(tp)
            memory.pop(tp, None)
        elif step == "write":
            checkpoint.write()
            written = dict(memory)
        else:
            disk.lose_unflushed()
            checkpoint = OffsetCheckpointFile(disk, HIGH_WATERMARKS)
            memory = dict(written)
        assert dict(disk.open("replication-offset-checkpoint").entries) == written
        assert all(checkpoint.get(tp) == memory.get(tp, 0) for tp in (TopicPartition("t", n) for n in range(5)))


def test_a_checkpoint_writes_only_what_has_changed() -> None:
    disk = Disk()
    checkpoint = OffsetCheckpointFile(disk, HIGH_WATERMARKS)
    for number in range(3):
        checkpoint.put(TopicPartition("t", number), 1)
    checkpoint.write()
    before = list(disk.open("replication-offset-checkpoint").entries)
    checkpoint.put(TopicPartition("t", 1), 2)
    checkpoint.write()
    after = disk.open("replication-offset-checkpoint").entries
    assert [old is new for old, new in zip(before, after, strict=True)] == [True, False, True]


@pytest.mark.parametrize(("after_us", "bases"), [(49, (0,)), (50, (0,)), (51, (0, 1))])
def test_a_segment_rolls_when_its_first_batch_is_older_than_it_may_be(after_us: int, bases: tuple[int, ...]) -> None:
    """LogSegment.shouldRoll, 0.8.2 to 2.7."""
    log = Log(LogDirectory(Disk(), lambda _: LogConfig(roll_us=50)), TP)
    for offset, time_us in enumerate((1_000, 1_000 + after_us)):
        log.append(Batch(offset, offset + 1, 0, 100, offset + 1, timestamp_us=time_us))
    assert log.bases == bases


def test_a_segment_whose_first_batch_is_refused_begins_with_the_next_one() -> None:
    """It has no batch yet, so all of it is left, and is as old as that batch (LogSegment.append, 2.3; seed 60352)."""
    log = Log(LogDirectory(Disk(), lambda _: LogConfig(segment_bytes=300, roll_us=50)), TP)

    def append(time_us: int) -> None:
        log.append(Batch(log.end_offset, log.end_offset + 1, 0, 100, log.end_offset + 1, timestamp_us=time_us))

    append(1_000)
    append(1_001)
    log.fail_disk(DiskFault("I/O error", ("append",), left=1))
    with pytest.raises(DiskError):
        append(1_060)
    for time_us in (1_105, 1_106, 1_155):
        append(time_us)
    before = log.bases
    append(1_156)
    assert (before, log.bases) == ((0, 2), (0, 2, 5))


def test_an_active_segment_before_the_logs_start_stays() -> None:
    """Only a segment with one after it goes for the log's start (Log.deleteLogStartOffsetBreachedSegments, 2.3)."""
    forever = LogConfig(retention_us=-1)
    first, active = Segment(0, 2, 0, 1, 100, 0), Segment(2, 4, 1, 2, 100, 0)
    assert deletable([first, active], forever, 1_000, 4, 4) == (1, "start")


def test_a_corrupt_batch_says_who_has_produced_it() -> None:
    """A log is loaded without a look at checksums (Log.loadProducersFromLog, 2.3.1); the marker of a transaction and a
    batch of an extent are no exceptions."""
    header, records = RecordHeader(0, 1, 0, 0), InMemory(b"")
    log = Log(LogDirectory(Disk()), TP)
    log.append(SequencedBatch(0, 1, 0, 100, 1, 7, 0))
    log.append(TransactionalBatch(1, 2, 0, 100, 2, 8, 0, header, records))
    log.append(ControlBatch(2, 3, 0, 100, 3, 8, -1, header, records))
    log.append_part(Extent(3, 2, 1, 100, 0, 4, producer_id=9, base_sequence=0).whole)
    remembered = log.producers.remembered_batches()
    for place in range(len(log.batches)):
        assert log.corrupt(place).corrupt
    assert [batch.corrupt for batch in log.read(0, 1 << 20)] == [True] * 5
    assert log.loaded_producers().remembered_batches() == remembered
    assert log.loaded_producers().last_stable_offset(5, 0) == log.last_stable_offset(5) == 5
