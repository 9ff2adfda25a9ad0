"""LogTest and ProducerStateManagerTest (2.3.1 and 2.7.2): where logs are cut, which segments go, what is left of leader
epochs and producers. A record is a batch here."""

from typing import Any

import pytest

from brokers.log.directory import LogDirectory
from brokers.log.log import Log
from brokers.log.log_config import LogConfig
from brokers.log.producer_state_manager import ProducerStateManager
from emulator.disks import Disk
from emulator.protocol.errors import Errors
from emulator.protocol.produce import IdempotentBatch
from emulator.protocol.types import Batch, SequencedBatch
from tests.brokers.bench import TP

SIZE = 100
SECOND = 1_000_000


def log_of(batches: int = 0, disk: Disk | None = None, **config: Any) -> Log:
    """Segments of five batches, unless ``config`` says otherwise."""
    settings = LogConfig(**{"segment_bytes": 5 * SIZE, "retention_us": -1, **config})
    log = Log(LogDirectory(disk or Disk(), lambda _: settings), TP)
    append(log, batches)
    return log


def append(log: Log, count: int, epoch: int = 0, time_us: int = 0) -> None:
    for _ in range(count):
        end = log.end_offset
        log.append(Batch(end, end + 1, epoch, SIZE, end + 1, timestamp_us=time_us))


def held(log: Log) -> tuple[int, int, int]:
    """Where the log starts and ends, and how many batches it has."""
    return log.start_offset, log.end_offset, len(log.batches)


# -- truncation -------------------------------------------------------------------------------------------------------


def test_truncate_to() -> None:
    """testTruncateTo: also before the first offset of a log that begins later."""
    log = log_of(10, segment_bytes=10 * SIZE)
    for offset in (10, 11):
        assert not log.truncate_to(offset)
        assert held(log) == (0, 10, 10)
    log.truncate_to(5)
    assert held(log) == (0, 5, 5)
    log.truncate_to(0)
    assert held(log) == (0, 0, 0)
    append(log, 10)
    assert held(log) == (0, 10, 10)
    log.truncate_fully_and_start_at(1)
    assert held(log) == (1, 1, 0)
    append(log, 10)
    assert held(log) == (1, 11, 10)
    log.truncate_to(0)
    assert held(log) == (0, 0, 0)


def test_reopen_then_truncate() -> None:
    """testReopenThenTruncate: the segments are those of before."""
    disk = Disk()
    log_of(100, disk)
    log = log_of(0, disk)
    assert (len(log.segments), held(log)) == (20, (0, 100, 100))
    log.truncate_to(3)
    assert (len(log.segments), held(log)) == (1, (0, 3, 3))
    append(log, 2)
    assert len(log.segments) == 1
    append(log, 1)
    assert log.bases == (0, 5)


@pytest.mark.parametrize("beyond", [0, 1])
def test_truncate_to_end_offset_clears_epoch_cache(beyond: int) -> None:
    """testTruncateToEndOffsetClearsEpochCache."""
    log = log_of()
    log.truncate_fully_and_start_at(27)
    append(log, 2, epoch=19)
    log.begin_epoch(20, log.end_offset)
    assert log.epochs.entries[-1] == (20, 29)
    assert not log.truncate_to(29 + beyond)
    assert (log.epochs.entries, log.end_offset) == (((19, 27),), 29)


def test_truncate_leader_epoch_checkpoint_file_when_truncating_log() -> None:
    """shouldTruncateLeaderEpochCheckpointFileWhenTruncatingLog."""
    log = log_of(10, segment_bytes=10 * SIZE)
    append(log, 6, epoch=1)
    append(log, 4, epoch=2)
    assert len(log.segments) == 2
    found = []
    for offset in (20, 11, 10, 0):
        log.truncate_to(offset)
        found.append(len(log.epochs.entries))
    assert found == [3, 2, 1, 0]


def test_log_recovers_for_leader_epoch() -> None:
    """testLogRecoversForLeaderEpoch: the epochs of a log that is opened again are those of its batches."""
    disk = Disk()
    log = log_of(0, disk)
    for epoch in (1, 2, 2, 3):
        append(log, 1, epoch)
    log.epochs = log.epochs.truncated_from(2)
    assert log_of(0, disk).epochs.entries == ((1, 0), (2, 1), (3, 3))


# -- retention --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "newest_us", "left"),
    [
        ({"retention_bytes": 10 * SIZE}, 0, 2),  # shouldDeleteSizeBasedSegments
        ({"retention_bytes": 15 * SIZE}, 0, 3),  # shouldNotDeleteSizeBasedSegmentsWhenUnderRetentionSize
        ({"retention_us": 10 * SECOND}, 10, 1),  # shouldDeleteTimeBasedSegmentsReadyToBeDeleted
        ({"retention_us": 10_000 * SECOND}, 60 * SECOND, 3),  # shouldNotDeleteTimeBasedSegmentsWhenNoneReadyToBeDeleted
    ],
)
def test_delete_old_segments(config: dict[str, Any], newest_us: int, left: int) -> None:
    log = log_of(0, **config)
    append(log, 15, time_us=newest_us)
    assert len(log.segments) == 3
    log.delete_old_segments(60 * SECOND, log.end_offset)
    assert (len(log.segments), log.end_offset) == (left, 15)


@pytest.mark.parametrize(("start", "segments"), [(1, 3), (6, 2), (15, 1)])
def test_log_deletion_after_delete_records(start: int, segments: int) -> None:
    """testLogDeletionAfterDeleteRecords: the log's start may be in the middle of a segment, which stays."""
    log = log_of(15)
    log.raise_start_to(start)
    log.delete_old_segments(0, 15)
    assert (len(log.segments), log.start_offset, log.end_offset) == (segments, start, 15)


@pytest.mark.parametrize(
    ("second", "epochs"), [(5, ((1, 5), (2, 10))), (7, ((0, 5), (1, 7), (2, 10)))],
)  # fmt: skip
def test_truncate_leader_epochs_when_deleting_segments(second: int, epochs: tuple[tuple[int, int], ...]) -> None:
    """shouldTruncateLeaderEpochsWhenDeletingSegments, shouldUpdateOffsetForLeaderEpochsWhenDeletingSegments."""
    log = log_of(0, retention_bytes=10 * SIZE)
    for epoch, until in ((0, second), (1, 10), (2, 15)):
        append(log, until - log.end_offset, epoch)
    log.delete_old_segments(0, 15)
    assert (log.epochs.entries, len(log.segments)) == (epochs, 2)


def test_log_end_less_than_start_after_reopen() -> None:
    """testLogEndLessThanStartAfterReopen: what is left ends before the log's start, so nothing of it is left."""
    disk = Disk()
    log = log_of(5, disk, segment_bytes=SIZE)
    log.raise_start_to(4)
    log.directory.log_starts.write()
    log._file.truncate(1)
    log = log_of(0, disk, segment_bytes=SIZE)
    assert (len(log.segments), *held(log)) == (1, 4, 4, 0)


# -- producers --------------------------------------------------------------------------------------------------------

LAST = (1 << 31) - 1


def known(*batches: tuple[int, int]) -> ProducerStateManager:
    """A producer's batches: epoch and sequence number, one record each."""
    placed = [
        SequencedBatch(offset, offset + 1, 0, SIZE, offset + 1, 7, sequence, producer_epoch=epoch)
        if epoch
        else SequencedBatch(offset, offset + 1, 0, SIZE, offset + 1, 7, sequence)
        for offset, (epoch, sequence) in enumerate(batches)
    ]
    return ProducerStateManager.of(placed)


def follows(state: ProducerStateManager, sequence: int, *, unknown: bool = False) -> Errors:
    return state.check(IdempotentBatch(TP, 1, SIZE, 9, 7, sequence), admits_unknown=unknown)


OUT = Errors.OUT_OF_ORDER_SEQUENCE_NUMBER


@pytest.mark.parametrize(
    ("last", "sequence", "error"),
    [
        (0, 1, Errors.NONE), (1, 1, OUT), (1, 5, OUT),  # testBasicIdMapping
        (LAST, 0, Errors.NONE), (LAST, 1, OUT),  # testProducerSequenceWrapAround, testProducerSequenceInvalidWrapAround
        (16, 17, Errors.NONE), (16, 0, OUT),  # testNoValidationOnFirstEntryWhenLoadingLog
    ],
)  # fmt: skip
def test_sequences(last: int, sequence: int, error: Errors) -> None:
    assert follows(known((0, last)), sequence) is error


def test_producers_after_a_truncation() -> None:
    """testProducerIdMapTruncateTo, testProducerIdMapTruncateFullyAndStartAt."""
    log = log_of()
    for sequence in range(5):
        log.append(SequencedBatch(sequence, sequence + 1, 0, SIZE, sequence + 1, 7, sequence))
    log.truncate_to(2)
    assert [follows(log.producers, sequence) for sequence in (2, 5)] == [Errors.NONE, OUT]
    log.truncate_fully_and_start_at(2)
    assert not log.producers.knows(7)


def test_producer_id_expiration_on_segment_deletion() -> None:
    """testProducerIdExpirationOnSegmentDeletion (2.7.2): a producer outlives its batches."""
    log = log_of(0, segment_bytes=SIZE, retention_bytes=2 * SIZE)
    for offset, producer in enumerate((1, 2, 2)):
        log.append(SequencedBatch(offset, offset + 1, 0, SIZE, offset + 1, producer, max(0, offset - 1)))
    log.delete_old_segments(0, 3)
    assert (len(log.segments), log.start_offset) == (2, 1)
    assert [log.producers.knows(producer) for producer in (1, 2)] == [log.directory.rules.keeps_producers, True]
