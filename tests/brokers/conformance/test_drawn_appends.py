"""Appends, checkpoints and what is known of producers: cases drawn at random from UnifiedLogTest, LogTest,
LogManagerTest and HighwatermarkPersistenceTest (1.1.1 to 3.9.0)."""

import pytest

from brokers.log.log import OffsetMismatch, UnexpectedAppendOffset
from brokers.log.log_config import LogConfig
from emulator.disks import Disk
from emulator.protocol.errors import Errors
from emulator.protocol.records import NO_TIMESTAMP, write_records
from emulator.protocol.types import TopicPartition
from tests.brokers.bench import BATCH_BYTES, TP, Bench, batch, config
from tests.brokers.conformance.test_log_transactions import Written
from tests.brokers.conformance.test_logs import SIZE, append, log_of
from tests.brokers.conformance.test_timestamps import led
from tests.brokers.log.cleaner.compacted_logs import CompactedLog
from tests.brokers.requests.clients import NOW_MS, produce, records

ONE, TWO = 1, 2


def test_append_with_no_timestamp() -> None:
    """UnifiedLogTest.testAppendWithNoTimestamp."""
    bench = Bench()
    bench.lead()
    [found] = produce(bench, records(b"value", timestamp_ms=NO_TIMESTAMP)).last.partitions
    assert (found[1:], bench.partition.log_end_offset) == ((Errors.NONE, 0), 1)


@pytest.mark.parametrize("base", [0, 1])
def test_append_below_expected_offset(base: int) -> None:
    """UnifiedLogTest.testAppendBelowExpectedOffsetThrowsException."""
    log = log_of(2)
    with pytest.raises(UnexpectedAppendOffset):
        log.append(batch(base))
    assert log.end_offset == 2


def test_append_empty_log_below_log_start_offset() -> None:
    """UnifiedLogTest.testAppendEmptyLogBelowLogStartOffsetThrowsException."""
    log = log_of()
    log.truncate_fully_and_start_at(7)
    assert (log.start_offset, log.end_offset) == (7, 7)
    with pytest.raises(UnexpectedAppendOffset):
        log.append(batch(4, count=3))


def test_append_with_out_of_order_offsets() -> None:
    """UnifiedLogTest.testAppendWithOutOfOrderOffsetsThrowsException. (Kafka refuses all five batches; here there is a
    gap first, which a log does not take.)"""
    bench = Bench()
    partition = bench.follow()
    with pytest.raises(OffsetMismatch):
        partition.append_as_follower(tuple(batch(offset) for offset in (0, 1, 3, 2, 4)), 0)


def test_message_size_check() -> None:
    """UnifiedLogTest.testMessageSizeCheck, ProducerFailureHandlingTest.testTooLargeRecordWithAckOne: a batch of a byte
    more than max.message.bytes."""
    first, second = records(b"You", b"bethe"), records(b"change (I need more bytes)", b"More padding boo hoo")
    bench = Bench(config(log=LogConfig(max_message_bytes=second.size - 1)))
    bench.lead()
    found = [produce(bench, each).last.partitions[0][1] for each in (first, second)]
    assert found == [Errors.NONE, Errors.MESSAGE_TOO_LARGE]


@pytest.mark.parametrize(
    ("release", "error", "places"),
    [("kafka-2.3", Errors.CORRUPT_MESSAGE, []), ("kafka-2.4", Errors.INVALID_RECORD, [0]),
     ("kafka-3.9", Errors.INVALID_RECORD, [0])],
)  # fmt: skip
def test_compacted_topic_constraints(release: str, error: Errors, places: list[int]) -> None:
    """LogTest.testCompactedTopicConstraints: a record without a key is refused, and named since 2.4."""
    bench = led(release, **{"cleanup.policy": "compact"})
    line = produce(bench, records(b"unkeyed"))
    assert line.last.partitions[0][1] is error
    assert [place for info in line.last.infos for place, _why in info.record_errors] == places
    assert bench.partition.log_end_offset == 0
    keyed = write_records([(b"key", b"and here it is")], NOW_MS)
    batch = records(b"unkeyed", data=keyed, size=len(keyed))
    assert produce(bench, batch).last.partitions[0][1] is Errors.NONE


def test_update_producer_id_map_with_compacted_data() -> None:
    """UnifiedLogTest.testUpdateProducerIdMapWithCompactedData: the last sequence number is that of the batch as it was
    written, though the last record is gone."""
    log = CompactedLog()
    log.write((b"a", b"1"), (b"key", b"b"), (b"c", b"2"), (b"key", b"d"), producer=ONE, sequence=0)
    log.write((b"key", b"later"))
    log.roll()
    log.write((b"other", b"later"))
    log.clean()
    assert [one.offset for one in log.read()] == [0, 2, 4, 5]
    compacted = next(iter(log.log.read(0, 1 << 20)))
    assert compacted.next_offset == 4
    follower = Written(segment_bytes=1 << 20)
    follower.log.append(compacted)
    [known] = follower.log.producers.active()
    assert (known.producer_id, known.last_sequence) == (ONE, 3)


def test_load_producers_after_delete_records_mid_segment() -> None:
    """LogTest.testLoadProducersAfterDeleteRecordsMidSegment: a deletion forgets no producer while the segment is there,
    neither at once nor after a restart."""
    w = Written()
    for producer in (ONE, TWO):
        w.write(1, producer, transactional=False)
    w.log.raise_start_to(1)

    def known() -> dict[int, int]:
        return {each.producer_id: each.last_sequence for each in w.log.producers.active()}

    assert known() == {ONE: 0, TWO: 0}
    w.log.directory.log_starts.write()
    w.load()
    assert known() == {ONE: 0, TWO: 0}


def test_checkpoint_log_start_offset_for_normal_topic() -> None:
    """LogManagerTest.testCheckpointLogStartOffsetForNormalTopic: of a start within a segment. Kafka leaves a start out
    that is where the first segment begins; it is the same after a restart."""
    disk = Disk()
    log = log_of(50, disk, segment_bytes=10 * SIZE)
    log.raise_start_to(31)
    log.directory.log_starts.write()
    assert log.directory.log_starts.get(TP) == 31
    assert len(log.segments) == 5
    log.delete_old_segments(0, 49)
    assert (len(log.segments), log.start_offset) == (2, 31)
    assert log_of(0, disk, segment_bytes=10 * SIZE).start_offset == 31


def test_checkpoint_for_only_affected_logs() -> None:
    """LogManagerTest.testCheckpointForOnlyAffectedLogs: recovery points of five logs, each of which was flushed."""
    bench = Bench()
    tps = [TopicPartition(topic, number) for topic, number in (("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1))]
    logs = [bench.manager.logs.open(tp, is_new=True) for tp in tps]
    for log in logs:
        append(log, 50)
        log.flush()
    bench.manager.logs.write_offsets()
    assert [log.directory.recovery_points.get(log.tp) for log in logs] == [50] * 5


def test_high_watermark_persistence_multiple_partitions() -> None:
    """HighwatermarkPersistenceTest.testHighWatermarkPersistenceMultiplePartitions."""
    bench, found = Bench(), []
    first, second = TopicPartition("foo1", 0), TopicPartition("foo2", 0)

    def checkpointed() -> None:
        bench.manager.logs.write_high_watermarks()
        file = bench.manager.logs.online[0].high_watermarks
        found.append((file.get(first), file.get(second)))

    checkpointed()
    bench.lead(isr=(0,), replicas=(0,), tp=first)
    checkpointed()
    bench.produce(first, count=5)
    checkpointed()
    bench.lead(isr=(0,), replicas=(0,), tp=second)
    bench.produce(second, count=15)
    bench.produce(first, count=5)
    checkpointed()
    assert found == [(0, 0), (0, 0), (5, 0), (10, 15)]
    bench.restart()
    file = bench.manager.logs.online[0].high_watermarks
    assert (file.get(first), file.get(second)) == (10, 15)


def test_create_log() -> None:
    """LogManagerTest.testCreateLog."""
    bench = Bench()
    log = bench.manager.logs.open(TP, is_new=True)
    assert len(bench.manager.logs.online) == 1
    assert log.directory.has_log(TP)
    append(log, 1)
    assert (log.end_offset, log.size) == (1, BATCH_BYTES)


def test_maybe_truncate_checkpoint_should_truncate_data() -> None:
    """LogCleanerManagerTest.testMaybeTruncateCheckpointShouldTruncateData: what the cleaner has compacted ends no later
    than the log, once that is cut."""
    bench = Bench()
    bench.lead(isr=(0,), replicas=(0,))
    bench.produce()
    bench.produce(count=9)
    cleaned = bench.partition.log.directory.cleaned
    cleaned.put(TP, 10)
    bench.partition.truncate_to(10)
    assert cleaned.get(TP) == 10
    bench.partition.truncate_to(1)
    assert cleaned.get(TP) == 1


def test_logs_with_segments_to_delete_consider_compact_delete_logs() -> None:
    """LogCleanerManagerTest.testLogsWithSegmentsToDeleteShouldConsiderCleanupPolicyCompactDeleteLogs."""
    bench = Bench(config(log=LogConfig(cleanup_policy="compact,delete")))
    log = bench.lead().log
    assert bench.manager.logs.may_expire(log)
