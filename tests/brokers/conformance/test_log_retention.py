"""UnifiedLogTest (3.3.2; before 3.0 LogTest) and LogManagerTest: when segments end, which ones retention deletes."""

from typing import Any

import pytest

from brokers.log.log import Log
from brokers.log.log_config import LogRules
from scenarios.profiles import PROFILES
from tests.brokers.conformance.test_logs import SECOND, SIZE, append, held, log_of


def rules_of(profile: str) -> LogRules:
    return PROFILES[profile].policies.brokers.log_rules


def times(log: Log, *at_us: int) -> None:
    """Append one batch at each of these times."""
    for time_us in at_us:
        append(log, 1, time_us=time_us)


@pytest.mark.parametrize(("profile", "at_once"), [("kafka-2.8", 1), ("kafka-3.0", 2), ("kafka-3.9", 2)])
def test_retention_idempotency(profile: str, at_once: int) -> None:
    """testRetentionIdempotency (KAFKA-12177, 3.0): the first segment, which is not old enough, is before the log's
    start, and the second one is old: a second look finds nothing more."""
    log = log_of(segment_bytes=SIZE, retention_us=900)
    log.directory.rules = rules_of(profile)
    times(log, 100, 0, 100)
    log.raise_start_to(1)
    deleted = []
    for _ in range(3):
        before = len(log.segments)
        log.delete_old_segments(901, 3)
        deleted.append(before - len(log.segments))
    assert deleted == [at_once, 2 - at_once, 0]


@pytest.mark.parametrize(("profile", "left"), [("kafka-1.1", 3), ("kafka-2.3", 2)])
def test_logs_with_segments_to_delete(profile: str, left: int) -> None:
    """LogCleanerManagerTest.testLogsWithSegmentsToDeleteShould(Not)ConsiderCleanupPolicyCompactLogs: not in 1.1.1."""
    log = log_of(15, cleanup_policy="compact")
    log.directory.rules = rules_of(profile)
    log.raise_start_to(7)
    assert (log.expires_us() is None) is (left == 3)
    log.delete_old_segments(0, 15)
    assert len(log.segments) == left


@pytest.mark.parametrize(
    ("policy", "start", "left"),
    [
        ("compact", 0, 3),  # shouldNotDeleteSegmentsWhenPolicyDoesNotIncludeDelete
        ("compact,delete", 0, 1),  # shouldDeleteSegmentsReadyToBeDeletedWhenCleanupPolicyIsCompactAndDelete
        ("compact", 5, 2),  # shouldDeleteStartOffsetBreachedSegmentsWhenPolicyDoesNotIncludeDelete
        ("compact", 7, 2),
    ],
)
@pytest.mark.parametrize("profile", ["kafka-2.3", "kafka-3.9"])
def test_cleanup_policies(profile: str, policy: str, start: int, left: int) -> None:
    log = log_of(15, cleanup_policy=policy, retention_us=10 * SECOND, retention_bytes=0)
    log.directory.rules = rules_of(profile)
    assert len(log.segments) == 3
    log.raise_start_to(start)
    log.delete_old_segments(20 * SECOND, 15)
    assert len(log.segments) == left
    first, *others = log.bases
    assert first <= log.start_offset
    assert all(base > log.start_offset for base in others)


def test_cannot_delete_segments_at_or_above_high_watermark() -> None:
    """testCannotDeleteSegmentsAtOrAboveHighWatermark, testSegmentDeletionWithHighWatermarkInitialization."""
    log = log_of(100, retention_us=999)
    for high_watermark in range(101):
        log.delete_old_segments(SECOND, high_watermark)
        assert log.start_offset <= high_watermark
        first, *others = log.bases
        assert log.start_offset <= first <= high_watermark
        assert all(base > high_watermark for base in others)
    assert (held(log), log.bases) == ((100, 100, 0), (100,))


@pytest.mark.parametrize("messages", [0, 1, 25])
def test_that_garbage_collecting_segments_doesnt_change_offset(messages: int) -> None:
    """testThatGarbageCollectingSegmentsDoesntChangeOffset."""
    log = log_of(messages, segment_bytes=SIZE, retention_us=0)
    for _ in range(2):
        log.delete_old_segments(10, messages)
        assert (len(log.segments), log.end_offset) == (1, messages)
    append(log, 1)
    assert log.batches[-1].base_offset == messages


def test_cleanup_segments_to_maintain_size() -> None:
    """testCleanupSegmentsToMaintainSize: five segments and a little are to stay, so the sixth does."""
    log = log_of(200, segment_bytes=10 * SIZE, retention_bytes=50 * SIZE + 10)
    assert len(log.segments) == 20
    log.delete_old_segments(0, 200)
    assert len(log.segments) == 6


@pytest.mark.parametrize(
    ("config", "appended_us", "bases"),
    [
        ({"segment_bytes": 10 * (SIZE - 1)}, [0] * 10, (0, 9)),  # testSizeBasedLogRoll
        ({"roll_us": 60}, [0, 60], (0,)),
        ({"roll_us": 60}, [0, 61, 122, 183], (0, 1, 2, 3)),
        # testTimeBasedLogRollDuringAppend: it depends on the time of the segment's first batch
        ({"roll_us": 60}, [100, 161, 130, 221, 161, 222], (0, 1, 5)),
        # testLogRolls' other limit, that of a compacted topic (KIP-354)
        ({"roll_us": 60, "max_compaction_lag_us": 30, "cleanup_policy": "compact"}, [0, 30, 31], (0, 2)),
        ({"roll_us": 60, "max_compaction_lag_us": 30}, [0, 30, 31], (0,)),
    ],
)
def test_log_rolls(config: dict[str, Any], appended_us: list[int], bases: tuple[int, ...]) -> None:
    log = log_of(segment_bytes=config.pop("segment_bytes", 1 << 20), **config)
    times(log, *appended_us)
    assert log.bases == bases


def test_read_with_too_small_max_length() -> None:
    """testReadWithMinMessage, testReadWithTooSmallMaxLength, testAppendAndReadWithSequentialOffsets: at least one
    batch, from any offset on, also at the end of a segment."""
    log = log_of(200)
    for offset in range(200):
        assert [batch.base_offset for batch in log.read(offset, 1)] == [offset]
        assert log.read(offset, 1_000_000)[0].base_offset == offset
    assert log.read(200, 1_000) == ()
