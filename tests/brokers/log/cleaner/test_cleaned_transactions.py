"""LogCleanerTest of Kafka 3.3.2 and LogCleanerManagerTest: what is left of transactions and of producers' sequence
numbers, and which part of a log is cleaned. Delete horizons are those of KIP-534 (3.1)."""

from typing import Any

import pytest
from attrs import evolve

from brokers.log.cleaner.cleanable import first_dirty_offset, log_to_clean
from brokers.log.cleaner.cleaning import clean
from brokers.log.log import Log
from brokers.log.log_config import RULES
from brokers.log.transactions import AbortedTxn
from emulator.protocol.control_batches import ControlBatch, ControlRecords
from emulator.protocol.produce import IdempotentBatch
from emulator.protocol.records import StoredBatch
from emulator.protocol.rewriting import whole_records
from tests.brokers.log.cleaner.compacted_logs import CONFIG, TP, CompactedLog

HORIZONS = evolve(RULES, sets_delete_horizons=True, compacts_stable=True, keeps_producers=True)
RETENTION_MS = CONFIG.delete_retention_us // 1000
HOUR_MS = 3_600_000
P1, P2, P3, P4 = 1, 2, 3, 4


class Cleaned(CompactedLog):
    """A log whose segments the test cleans at times of its own."""

    def __init__(self, **config: Any) -> None:
        super().__init__(evolve(CONFIG, **config), HORIZONS)
        self.sequences: dict[int, int] = {}

    def put(self, *keys: int, producer: int = -1, transactional: bool = True) -> int:
        """Append a batch with these keys; of a producer with its next sequence number."""
        pairs = [(b"%d" % key, b"value") for key in keys]
        if producer < 0:
            return self.write(*pairs)
        sequence = self.sequences.get(producer, 0)
        self.sequences[producer] = sequence + len(keys)
        return self.write(*pairs, producer=producer, sequence=sequence, transactional=transactional)

    def clean_to(self, dirty: int = 0, *, later_ms: int = 0) -> int:
        """Clean from ``dirty`` to the end, where a segment begins; returns where the next cleaning goes on."""
        self.now_ms += later_ms
        end = self.log.end_offset
        self.log._begin_segments((*(base for base in self.log.bases if base < end), end))
        return clean(self.log, dirty, end, self.now_ms).next_offset

    def clean_twice(self, dirty: int = 0) -> int:
        """The first time sets delete horizons, the second comes after them."""
        self.clean_to(dirty)
        return self.clean_to(dirty, later_ms=RETENTION_MS + 1)

    def keys(self) -> list[int]:
        return [int(one.key) for one in self.read() if one.key is not None]

    def offsets(self) -> list[int]:
        """The offsets of all records, those of markers included."""
        found = []
        for batch in self.log.batches:
            if isinstance(batch, ControlBatch):
                found += [batch.base_offset] * batch.header.count if batch.size else []
            elif isinstance(batch, StoredBatch) and batch.size:
                found += [batch.base_offset + one.offset_delta for one in whole_records(batch.records.read())]
        return found

    def lasts(self) -> list[int]:
        """The last offset of each batch that a reader finds, one without a record included."""
        return [batch.next_offset - 1 for batch in self.log.batches if batch.size]

    def aborted(self) -> list[AbortedTxn]:
        return self.log.producers.aborted_from(0, 100)


def test_basic_transaction_aware_cleaning() -> None:
    """testBasicTransactionAwareCleaning: the aborted transaction is still known."""
    log = Cleaned()
    log.put(1, 2, producer=P1)
    log.put(2, 3, producer=P2)
    log.put(3, 4, producer=P1)
    log.end(P1, committed=False)
    log.end(P2, committed=True)
    log.put(2, producer=P1)
    log.end(P1, committed=True)
    aborted = log.aborted()
    log.clean_to()
    assert (log.keys(), log.offsets()) == ([3, 2], [3, 6, 7, 8, 9])
    assert log.aborted() == aborted == [AbortedTxn(P1, 0, 6, 2)]


def test_clean_with_transactions_spanning_segments() -> None:
    """testCleanWithTransactionsSpanningSegments."""
    log = Cleaned()
    log.put(1, 2, producer=P1)
    log.put(2, 3, producer=P3)
    log.put(3, 4, producer=P2)
    first = log.log.end_offset
    log.roll()
    log.put(5, 6, producer=P2)
    log.put(6, 7, producer=P3)
    log.put(7, 8, producer=P1)
    log.end(P2, committed=False)
    log.put(8, 9, producer=P3)
    log.end(P3, committed=True)
    log.put(9, 10, producer=P1)
    log.end(P1, committed=False)
    dirty = clean(log.log, 0, first, log.now_ms).next_offset
    assert log.keys() == [2, 3, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10]
    log.roll()
    active = log.put(11, producer=P2)
    log.put(12, producer=P1)
    clean(log.log, dirty, active, log.now_ms)
    assert log.keys() == [2, 3, 6, 7, 8, 9, 11, 12]


def test_commit_marker_removal() -> None:
    """testCommitMarkerRemoval: it stays while a record of its transaction does, and for delete.retention.ms then."""
    log = Cleaned()
    log.put(1, producer=P1)
    log.put(2, 3, producer=P1)
    log.end(P1, committed=True)
    log.put(2, producer=P1)
    log.end(P1, committed=True)
    dirty = log.clean_to()
    assert (log.keys(), log.offsets()) == ([1, 3, 2], [0, 2, 3, 4, 5])
    log.put(1, 3, producer=P1)
    log.end(P1, committed=True)
    for _ in range(2):
        dirty = log.clean_to(dirty)
        assert (log.keys(), log.offsets()) == ([2, 1, 3], [3, 4, 5, 6, 7, 8])
    log.clean_to(dirty, later_ms=RETENTION_MS)
    assert (log.keys(), log.offsets()) == ([2, 1, 3], [4, 5, 6, 7, 8])


def test_deleted_batches_with_no_messages_read() -> None:
    """testDeletedBatchesWithNoMessagesRead."""
    log = Cleaned()
    log.put(1, producer=P1)
    log.end(P1, committed=False)
    log.put(2, producer=P1)
    log.put(2, producer=P1)
    log.end(P1, committed=True)
    log.clean_to()
    assert (log.keys(), log.offsets()) == ([2], [1, 3, 4])
    log.clean_twice()
    assert (log.keys(), log.offsets()) == ([2], [3, 4])


def test_commit_marker_retention_with_empty_batch() -> None:
    """testCommitMarkerRetentionWithEmptyBatch: a batch stays empty while it has its producer's last sequence number."""
    log = Cleaned()
    log.put(2, 3, producer=P1)
    log.put(2, 3, producer=P2)
    log.end(P2, committed=True)
    log.put(2)
    log.put(3)
    log.end(P1, committed=True)
    dirty = 0
    for _ in range(2):
        dirty = log.clean_to(dirty)
        assert (log.keys(), log.offsets(), log.lasts()) == ([2, 3], [4, 5, 6, 7], [1, 3, 4, 5, 6, 7])
    log.put(1, producer=P2)
    log.end(P2, committed=True)
    dirty = log.clean_to(dirty)
    assert (log.keys(), log.offsets(), log.lasts()) == ([2, 3, 1], [4, 5, 6, 7, 8, 9], [1, 4, 5, 6, 7, 8, 9])
    log.clean_twice(dirty)
    assert (log.keys(), log.offsets(), log.lasts()) == ([2, 3, 1], [5, 6, 7, 8, 9], [1, 5, 6, 7, 8, 9])


def test_clean_empty_control_batch() -> None:
    """testCleanEmptyControlBatch: the marker goes, its epoch stays."""
    log = Cleaned()
    log.end(P1, committed=True)
    log.put(2)
    log.put(3)
    dirty = log.clean_twice()
    assert (log.keys(), log.offsets(), log.lasts()) == ([2, 3], [1, 2], [0, 1, 2])
    log.clean_to(dirty, later_ms=10 * RETENTION_MS)
    assert (log.keys(), log.offsets(), log.lasts()) == ([2, 3], [1, 2], [0, 1, 2])


@pytest.mark.parametrize("committed", [True, False])
def test_a_replica_that_copies_an_emptied_marker_goes_on_with_its_transaction(committed: bool) -> None:
    """ProducerAppendInfo.append, 2.0.1 to 3.9: an empty control batch is ignored. A replica that has none of the
    records has no transaction; one that had copied them before the marker was emptied has it until the next marker, and
    does not compact it. What each knows is what it knows once it is loaded again."""
    leader, early, late = Cleaned(), Cleaned(), Cleaned()
    leader.put(1, producer=P1)
    early.log.append(leader.log.batches[0])
    fences = ControlRecords.of(TP, 9, P1, 1, 0, committed)
    leader.log.append(fences.placed(1, 0, leader.now_ms * 1000))
    leader.put(1)
    dirty = leader.clean_to()
    leader.clean_to(leader.clean_to(dirty, later_ms=RETENTION_MS + 1), later_ms=RETENTION_MS + 1)
    assert (leader.offsets(), leader.lasts()) == ([2], [1, 2])
    for batch in leader.log.batches:
        late.log.append(batch)
    for batch in leader.log.batches[1:]:
        early.log.append(batch)
    for log, open in ((leader, {}), (late, {}), (early, {P1: 0})):
        for loaded in (log.log, log.reload()):
            assert loaded.producers.ongoing == open  # type: ignore[attr-defined]
            assert loaded.producers.epoch_of(P1) == 1
            assert loaded.last_stable_offset(3) == (0 if open else 3)
            assert loaded.aborted_between(0, 3) == ()
    assert log_to_clean(early.log, 3, early.now_ms).first_uncleanable == 0
    early.end(P1, committed=False)
    assert early.aborted() == [AbortedTxn(P1, 0, 3, 4)]


@pytest.mark.parametrize("committed", [True, False])
def test_transaction_spanning_segments(committed: bool) -> None:
    """testCommittedTransactionSpanningSegments, testAbortedTransactionSpanningSegments: the aborted batch is its
    producer's last, and empty; so the marker stays too."""
    log = Cleaned()
    log.put(1, producer=P1)
    log.roll()
    log.end(P1, committed=committed)
    for _ in range(2):
        log.clean_to(later_ms=10 * RETENTION_MS)
        assert (log.offsets(), log.lasts()) == ([0, 1] if committed else [1], [0, 1])


def test_abort_marker_removal() -> None:
    """testAbortMarkerRemoval."""
    log = Cleaned()
    log.put(1, producer=P1)
    log.put(2, 3, producer=P1)
    log.end(P1, committed=False)
    log.put(3, producer=P1)
    log.end(P1, committed=True)
    dirty = log.clean_to()
    assert (log.keys(), log.offsets()) == ([3], [3, 4, 5])
    log.clean_twice(dirty)
    assert (log.keys(), log.offsets()) == ([3], [4, 5])


def test_empty_batch_removal_with_sequence_reuse() -> None:
    """testEmptyBatchRemovalWithSequenceReuse: coordinators begin at sequence number 0 each time."""
    log = Cleaned()
    for key in (1, 2):
        log.sequences.clear()
        log.put(key, producer=P1)
        log.end(P1, committed=True)
    log.put(1)
    log.put(2)
    log.clean_to()
    assert (log.offsets(), log.lasts()) == ([1, 3, 4, 5], [1, 2, 3, 4, 5])
    log.clean_twice()
    assert (log.offsets(), log.lasts()) == ([3, 4, 5], [2, 3, 4, 5])


def test_abort_marker_retention_with_empty_batch() -> None:
    """testAbortMarkerRetentionWithEmptyBatch."""
    log = Cleaned()
    log.put(2, 3, producer=P1)
    log.end(P1, committed=False)
    indexed = [AbortedTxn(P1, 0, 2, 3)]
    assert log.aborted() == indexed
    dirty = log.clean_to()
    assert (log.keys(), log.offsets(), log.lasts(), log.aborted()) == ([], [2], [1, 2], indexed)
    dirty = log.clean_twice(dirty)
    assert (log.keys(), log.offsets(), log.lasts(), log.aborted()) == ([], [2], [1, 2], indexed)
    log.put(1, producer=P1)
    dirty = log.clean_to(dirty)
    assert (log.keys(), log.offsets(), log.lasts(), log.aborted()) == ([1], [2, 3], [2, 3], indexed)
    log.clean_twice(dirty)
    assert (log.keys(), log.offsets(), log.lasts(), log.aborted()) == ([1], [3], [3], [])


def test_log_cleaner_retains_producer_last_sequence() -> None:
    """testLogCleanerRetainsProducerLastSequence."""
    log = Cleaned()
    log.put(0)
    for producer in (P1, P2, P3):
        log.put(0, producer=producer, transactional=False)
    log.put(1, producer=P2, transactional=False)
    log.clean_to()
    assert (log.lasts(), log.keys(), log.offsets()) == ([1, 3, 4], [0, 1], [3, 4])
    known = {one.producer_id: one.last_sequence for one in log.reload().producers.active()}
    assert known == {P1: 0, P2: 1, P3: 0}


def test_log_cleaner_retains_last_sequence_even_if_transaction_aborted() -> None:
    """testLogCleanerRetainsLastSequenceEvenIfTransactionAborted."""
    log = Cleaned()
    log.put(1, producer=P1)
    log.put(2, 3, producer=P1)
    log.end(P1, committed=False)
    log.clean_to()
    assert (log.lasts(), log.keys(), log.offsets()) == ([2, 3], [], [3])
    log.put(1, 5, producer=P1)
    log.clean_to()
    assert (log.lasts(), log.keys(), log.offsets()) == ([3, 5], [1, 5], [3, 4, 5])


def test_duplicate_check_after_cleaning() -> None:
    """testDuplicateCheckAfterCleaning: also by a log that has been loaded."""
    log = Cleaned()

    def repeated(producer: int, count: int) -> tuple[int, int] | None:
        found = log.reload().producers.repeated(IdempotentBatch(TP, count, 100, 9, producer, 0))
        return None if found is None else (found.base_offset, found.next_offset - 1)

    for producer, keys in ((P1, (1, 2, 3)), (P2, (3, 1, 4)), (P3, (1, 4))):
        log.put(*keys, producer=producer, transactional=False)
    log.clean_to()
    assert (log.lasts(), log.keys(), log.offsets()) == ([2, 5, 7], [2, 3, 1, 4], [1, 3, 6, 7])
    assert [repeated(P1, 3), repeated(P3, 2), repeated(P2, 3)] == [(0, 2), (6, 7), (3, 5)]
    log.put(2, producer=P4, transactional=False)
    log.clean_to()
    assert (log.lasts(), log.keys(), log.offsets()) == ([2, 5, 7, 8], [3, 1, 4, 2], [3, 6, 7, 8])
    assert repeated(P1, 3) == (0, 2)


def test_multi_pass_segment_cleaning_with_aborted_transactions() -> None:
    """testMultiPassSegmentCleaningWithAbortedTransactions, its last two passes in one: once no record of an aborted
    transaction is left the log does not know it any more; its marker goes after the retention."""
    log = Cleaned()
    log.put(1, 2, producer=P1)
    log.put(2, 3, producer=P2)
    log.put(3, 4, producer=P1)
    log.end(P1, committed=True)
    log.end(P2, committed=True)
    log.put(2, 3, producer=P1)
    log.end(P1, committed=False)
    log.put(4, 5, producer=P2)
    log.put(5, 6, producer=P1)
    log.end(P1, committed=True)
    log.end(P2, committed=False)
    log.put(6, 7, producer=P2)
    log.end(P2, committed=True)
    assert log.aborted() == [AbortedTxn(P1, 8, 10, 11), AbortedTxn(P2, 11, 16, 17)]
    log.clean_to()
    assert log.offsets() == [0, 2, 4, 5, 6, 7, 10, 13, 15, 16, 17, 18, 19]
    assert len(log.aborted()) == 2
    log.clean_to()
    assert log.offsets() == [0, 2, 4, 5, 6, 7, 10, 13, 15, 16, 17, 18, 19]
    assert log.aborted() == []
    log.clean_to(later_ms=RETENTION_MS)
    assert log.offsets() == [0, 2, 4, 5, 6, 7, 13, 15, 17, 18, 19]


# -- LogCleanerManagerTest --------------------------------------------------------------------------------------------


def cleanable(log: Log, high_watermark: int, now_ms: int) -> tuple[int, int]:
    found = log_to_clean(log, high_watermark, now_ms)
    return found.first_dirty, found.first_uncleanable


def segments_of(count: int, **config: Any) -> Cleaned:
    """Segments of two records each."""
    log = Cleaned(**config)
    for number in range(count):
        log.roll()
        log.put(number)
        log.put(number)
    return log


def test_cleanable_offsets() -> None:
    """testCleanableOffsetsForNone, testCleanableOffsetsActiveSegment: the last stable offset, or the active segment."""
    log = segments_of(8)
    assert cleanable(log.log, 4, log.now_ms) == (0, 4)
    assert cleanable(log.log, 5, log.now_ms) == (0, 4)
    assert cleanable(log.log, 16, log.now_ms) == (0, 14)


def test_cleanable_offsets_for_time() -> None:
    """testCleanableOffsetsForTime, testCleanableOffsetsForShortTime."""
    log = segments_of(3, min_compaction_lag_us=HOUR_MS * 1000)
    log.now_ms += HOUR_MS + 1
    assert cleanable(log.log, 6, log.now_ms) == (0, 4)
    for number in range(3):
        log.roll()
        log.put(number)
    assert cleanable(log.log, 9, log.now_ms) == (0, 6)


@pytest.mark.parametrize(
    ("checkpoint", "start", "dirty"), [(15, 10, 15), (15, 20, 20), (200, 0, 0), (0, 10, 10), (25, 20, 20)],
)  # fmt: skip
def test_dirty_offset_reset(checkpoint: int, start: int, dirty: int) -> None:
    """testDirtyOffsetResetIfLargerThanEndOffset, ...IfSmallerThanStartOffset, testCleanableOffsetsNeedsCheckpointReset:
    a checkpoint outside the log counts for nothing."""
    log = segments_of(11)
    log.log.raise_start_to(start)
    log.log.directory.cleaned.put(TP, checkpoint)
    assert first_dirty_offset(log.log) == dirty


@pytest.mark.parametrize(("start", "checkpoint"), [(2, 0), (0, 3)])
def test_active_segment_is_not_filthy(start: int, checkpoint: int) -> None:
    """testLogStartOffsetLargerThanActiveSegmentBaseOffset, testDirtyOffsetLargerThanActiveSegmentBaseOffset."""
    log = Cleaned()
    for _ in range(6):
        log.put(1)
    log.log.raise_start_to(start)
    log.log.directory.cleaned.put(TP, checkpoint)
    found = log_to_clean(log.log, 6, log.now_ms)
    assert (found.cleanable_bytes, found.is_due) == (0, False)


def test_undecided_transactional_data_not_cleanable() -> None:
    """testUndecidedTransactionalDataNotCleanable."""
    log = Cleaned(min_compaction_lag_us=HOUR_MS * 1000)
    log.put(1, 2, producer=15)
    log.put(3, producer=15)
    log.roll()
    log.now_ms += HOUR_MS + 1
    log.log._begin_segments((0, 3))
    assert cleanable(log.log, 3, log.now_ms) == (0, 0)
    log.end(15, committed=False)
    log.log._begin_segments((0, 3, 4))
    assert cleanable(log.log, 4, log.now_ms) == (0, 3)
    log.now_ms += HOUR_MS + 1
    assert cleanable(log.log, 4, log.now_ms) == (0, 4)


def test_log_to_clean_with_uncleanable_section() -> None:
    """LogCleanerTest.testLogToClean, testLogToCleanWithUncleanableSection: two segments each are clean, dirty, and
    uncleanable."""
    log = segments_of(6)
    log.log.directory.cleaned.put(TP, 4)
    sizes = [one.size for one in log.log.segments]
    found = log_to_clean(log.log, 8, log.now_ms)
    assert (found.clean_bytes, found.cleanable_bytes) == (sum(sizes[:2]), sum(sizes[2:4]))
    assert found.ratio == pytest.approx(sum(sizes[2:4]) / sum(sizes[:4]))


def test_clean_tombstone() -> None:
    """testCleanTombstone: how long a tombstone stays counts from when it was first compacted, and not from its own
    time, which may be long ago."""
    log = Cleaned()
    log.now_ms += 2 * RETENTION_MS
    log.write((b"0", b"0"))
    log.clean_to()
    log.now_ms -= 2 * RETENTION_MS
    log.write((b"0", None))
    log.now_ms += RETENTION_MS
    dirty = log.clean_to(1)
    assert log.offsets() == [1]
    log.put(1)
    log.clean_to(dirty)
    assert log.offsets() == [1, 2]
