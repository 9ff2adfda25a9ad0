"""Logs, producers' states and leader epochs: cases drawn at random from LogTest, UnifiedLogTest, LogManagerTest and
LeaderEpochFileCacheTest (1.1.1 to 3.9.0)."""

import pytest

from brokers.log.cleaner.cleanable import first_dirty_offset, log_to_clean
from brokers.log.cleaner.contents import removed, without_records
from brokers.log.leader_epoch_cache import LeaderEpochFileCache
from brokers.log.log_config import LogConfig
from brokers.log.log_manager import CLEAN_SHUTDOWN
from emulator.disks import Disk, DiskFault
from emulator.protocol.delete_records import DeleteRecordsRequest
from emulator.protocol.errors import Errors
from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH, UNDEFINED_OFFSET
from emulator.protocol.types import TopicPartition
from tests.brokers.bench import BATCH_BYTES, TP, Bench, batch, config
from tests.brokers.conformance.test_log_transactions import Written
from tests.brokers.conformance.test_logs import SIZE, append, log_of
from tests.brokers.log.cleaner.compacted_logs import CompactedLog
from tests.brokers.requests.clients import at, fetch, records

OTHER = TopicPartition("t", 1)
ONE = 1


@pytest.mark.parametrize(("retention", "left"), [(3 * SIZE, 6), (0, 9)])
def test_deletable_segments_filter(retention: int, left: int) -> None:
    """UnifiedLogTest.testDeletableSegmentsFilter: an active segment is deleted, too, but not while it is empty. The
    rule is the size of nine segments with a record each."""
    log = log_of(9, segment_bytes=SIZE, retention_bytes=retention)
    log._roll(log.batches[-1])
    log.delete_old_segments(0, 9)
    assert (log.start_offset, log.end_offset) == (left, 9)
    append(log, 1)
    log.delete_old_segments(0, 10)
    assert (log.start_offset, len(log.segments)) == ((7, 3) if retention else (10, 1))


def test_rebuild_producer_state_with_empty_compacted_batch() -> None:
    """LogTest.testRebuildProducerStateWithEmptyCompactedBatch: the last sequence number is that of the batch, of which
    no record is left."""
    written = Written(segment_bytes=10_240)
    log = written.log
    log.truncate_fully_and_start_at(23)
    log.append(records(b"a", b"b", producer=(ONE, 0, 0)).placed(23, 0, 0))
    [emptied] = log.batches
    log.compacted([without_records(emptied)], log.bases, ())
    written.write(2)
    log.truncate_to(25)
    assert [(each.producer_id, each.last_sequence) for each in log.producers.active()] == [(ONE, 1)]


def test_producer_snapshots_after_rolls() -> None:
    """LogTest.testTakeSnapshotOnRollAndDeleteSnapshotOnRecoveryPointCheckpoint, by what it is for: a producer of the
    first segment is known after a restart, however many segments have rolled and were flushed."""
    written = Written(segment_bytes=100)
    for producer in (1, 2, 3):
        written.write(1, producer, transactional=False)
    written.log.flush()
    assert len(written.log.segments) == 3
    written.write(1, 4, transactional=False)
    again = written.load()
    assert [again.producers.knows(producer) for producer in (1, 2, 3, 4)] == [True] * 4


def test_handling_exceptions_during_shutdown() -> None:
    """LogManagerTest.testHandlingExceptionsDuringShutdown: a directory one of whose logs cannot be closed gets no file
    of a clean shutdown, the others do."""
    bench = Bench()
    bench.node.disks = (Disk("/data/0"), Disk("/data/1"))
    bench.restart()
    logs = [bench.manager.logs.open(tp, is_new=True) for tp in (TP, OTHER)]
    assert [log.directory.name for log in logs] == ["/data/0", "/data/1"]
    for log in logs:
        append(log, 2)
    first = bench.node.disks[0]
    first.fail(DiskFault("I/O error", report=first.report))
    bench.manager.logs.close(logs)
    first.mend()
    assert [disk.exists(CLEAN_SHUTDOWN) for disk in bench.node.disks] == [False, True]
    assert BATCH_BYTES == SIZE


def test_no_epoch_recorded_and_undefined_epoch_requested() -> None:
    """LeaderEpochFileCacheTest.shouldReturnUnsupportedIfNoEpochRecordedAndUndefinedEpochRequested."""
    assert LeaderEpochFileCache().end_offset_for(UNDEFINED_EPOCH, 73) == (UNDEFINED_EPOCH, UNDEFINED_OFFSET)


@pytest.mark.parametrize(("epoch", "start"), [(2, 100), (3, 500), (5, 1000)])
def test_get_epoch_entry(epoch: int, start: int) -> None:
    """LeaderEpochFileCacheTest.testGetEpochEntry."""
    cache = LeaderEpochFileCache()
    for entry in ((2, 100), (3, 500), (5, 1000)):
        cache = cache.assigned(*entry)
    assert dict(cache.entries)[epoch] == start


def test_epochs_as_leaders_change_many_times() -> None:
    """LeaderEpochFileCacheTest.shouldIncreaseAndTrackEpochsAsLeadersChangeManyTimes."""
    cache = LeaderEpochFileCache().assigned(0, 0).assigned(1, 0)
    assert cache.latest == 1
    assert [cache.end_offset_for(epoch, 0) for epoch in (1, 0)] == [(1, 0), (0, 0)]
    assert [cache.end_offset_for(epoch, 5) for epoch in (1, 0)] == [(1, 5), (0, 0)]
    cache = cache.assigned(2, 5)
    assert [cache.end_offset_for(epoch, 10) for epoch in (2, 1, 0)] == [(2, 10), (1, 5), (0, 0)]


def test_message_size_check_in_append_as_follower() -> None:
    """LogTest.testMessageSizeCheckInAppendAsFollower: a follower appends what its settings would refuse. (Here
    without the gap between the two batches: logs have none, see limits.md.)"""
    bench = Bench(config(log=LogConfig(max_message_bytes=BATCH_BYTES)))
    partition = bench.follow()
    partition.append_as_follower((batch(0, count=2), batch(2, count=2, size=BATCH_BYTES + 1)), 0)
    assert partition.log_end_offset == 4


def test_load_empty_log() -> None:
    """LogTest.testLoadEmptyLog."""
    disk = Disk()
    log_of(0, disk)
    log = log_of(0, disk)
    append(log, 1)
    assert (log.start_offset, log.end_offset) == (0, 1)


HOUR = 3_600


def test_time_based_log_roll() -> None:
    """LogTest.testTimeBasedLogRoll, its records with a time: a segment ends by the time of its first record, and the
    time of the next one, whatever the clock says."""
    log = log_of(0, segment_bytes=10**6, roll_us=HOUR)
    found = []
    for time_us in (HOUR + 1, HOUR + 1, 2 * (HOUR + 1) + 1, 2 * (HOUR + 1) + 1, 10 * HOUR, HOUR):
        append(log, 1, time_us=time_us)
        found.append(len(log.segments))
    assert found == [1, 1, 2, 2, 3, 3]


def test_append_empty_control_batch() -> None:
    """ProducerStateManagerTest.testAppendEmptyControlBatch: a marker of which compaction has left nothing begins no
    transaction."""
    w = Written()
    w.write(1, ONE)
    w.end(ONE, committed=True)
    log = w.log
    log.compacted([removed(log.batches[0]), without_records(log.batches[1])], log.bases, ())
    w.load()
    assert [each.transaction_start for each in w.log.producers.active()] in ([], [-1])
    assert w.unstable(w.log.end_offset) is None


def test_high_watermark_and_segments() -> None:
    """LogTest.testHighWatermarkMetadataUpdatedAfterSegmentRoll: a consumer reads up to the high watermark, whatever has
    rolled."""
    bench = Bench(config(log=LogConfig(segment_bytes=BATCH_BYTES)))
    bench.lead(isr=(0, 1), replicas=(0, 1))

    def read(offset: int) -> list[int]:
        [found] = fetch(bench, at(offset), max_wait_us=0).last.partitions
        return [batch.base_offset for batch in found.batches]

    bench.produce(count=3)
    assert read(0) == []
    bench.follower(1).at(0)
    bench.follower(1).at(3)
    assert read(0) == [0]
    bench.produce(count=3)
    assert len(bench.partition.log.segments) == 2
    assert (read(0), read(3)) == ([0], [])


@pytest.mark.parametrize("offset", [26, 25])
def test_cannot_increment_log_start_offset_past_high_watermark(offset: int) -> None:
    """UnifiedLogTest.testCannotIncrementLogStartOffsetPastHighWatermark."""
    bench = Bench()
    bench.lead(isr=(0, 1), replicas=(0, 1))
    for _ in range(100):
        bench.produce()
    bench.follower(1).at(25)
    line = bench.send(DeleteRecordsRequest(((TP, offset),), 0))
    refused = [each.error for reply in line.replies for each in reply.partitions]  # else it waits for its followers
    assert (refused, bench.partition.log_start_offset) == (
        ([Errors.OFFSET_OUT_OF_RANGE], 0) if offset > 25 else ([], 25)
    )


def test_checkpoint_outside_of_the_log() -> None:
    """LogCleanerManagerTest.testCheckpointUpdatedForInvalidOffsetNoCleaning: what is deleted meanwhile is not cleaned,
    and not counted as dirty."""
    log = log_of(20, cleanup_policy="compact", min_cleanable_ratio=0.5)
    log.directory.cleaned.put(TP, 15)
    log.raise_start_to(20)
    assert first_dirty_offset(log) == 20
    assert not log_to_clean(log, 20, 0).is_due


@pytest.mark.parametrize("offset", range(5))
def test_fetch_up_to_log_end_offset(offset: int) -> None:
    """UnifiedLogTest.testFetchUpToLogEndOffset: from each offset there is something to read, for a follower."""
    bench = Bench()
    bench.lead(isr=(0, 1), replicas=(0, 1))
    for count in (3, 2):
        bench.produce(count=count)
    answer = bench.follower(1).at(offset)
    assert answer is not None
    assert answer.partitions[0].batches


def test_control_record_bumps_epoch() -> None:
    """ProducerStateManagerTest.testControlRecordBumpsEpoch: an abort with a higher epoch, after which the producer
    begins with sequence number 0 again."""
    w = Written()
    w.write(1, ONE, transactional=False)
    w.end(ONE, committed=False, epoch=1)
    assert w.unstable(2) is None
    [known] = w.log.producers.active()
    assert (known.producer_epoch, known.last_sequence, known.transaction_start) == (1, -1, -1)
    assert w.check(ONE, 0, epoch=1) is Errors.NONE
    w.next[ONE] = 0
    w.write(1, ONE, epoch=1, transactional=False)
    [known] = w.log.producers.active()
    assert (known.producer_epoch, known.last_sequence) == (1, 0)


def test_uncommitted_data_not_consumed_where_segments_roll() -> None:
    """LogConcurrencyTest.testUncommittedDataNotConsumed(FrequentSegmentRolls): a consumer that reads after each append
    never gets what is not committed."""
    bench = Bench(config(log=LogConfig(segment_bytes=2 * BATCH_BYTES)))
    bench.lead(isr=(0, 1), replicas=(0, 1))
    follower, read = bench.follower(1), 0
    for number in range(200):
        bench.produce()
        if number % 3 == 0:
            follower.at(number - number % 2)
        [found] = fetch(bench, at(read), max_wait_us=0).last.partitions
        for one in found.batches:
            assert one.next_offset <= bench.partition.high_watermark
            read = one.next_offset
    assert (read, len(bench.partition.log.segments)) == (bench.partition.high_watermark, 100)


def test_cleaning_with_unkeyed_messages() -> None:
    """LogCleanerTest.testCleaningWithUnkeyedMessages: records without a key go, which are from before the
    topic was compacted."""
    log = CompactedLog()
    for _ in range(5):
        log.write((None, b"unkeyed"))
    log.roll()
    for number in range(5):
        log.write((str(number).encode(), b"keyed"))
    log.roll()
    log.clean()
    assert [(one.key, one.value) for one in log.read()] == [(str(n).encode(), b"keyed") for n in range(5)]
