"""UnifiedLogTest (3.3.2) and ProducerStateManagerTest: transactions and producers in one log: the last stable offset,
aborted transactions, markers of coordinators that are not current, what is known after a truncation or a restart."""

from typing import Any

import pytest

from brokers.log.directory import LogDirectory
from brokers.log.log import Log
from brokers.log.log_config import LogConfig, LogRules
from brokers.log.producer_state_manager import NO_PRODUCERS, AbortedTransaction
from brokers.log.transactions import AbortedTxn
from emulator.disks import Disk
from emulator.protocol.control_batches import ControlRecords
from emulator.protocol.describe_producers import NO_TRANSACTION
from emulator.protocol.errors import Errors
from emulator.protocol.produce import IdempotentBatch
from emulator.protocol.records import TRANSACTIONAL, ProducedRecords, RecordHeader
from scenarios.profiles import PROFILES
from tests.brokers.bench import TP

RULES = LogRules(keeps_producers=True)
NOTHING = NO_TRANSACTION


class Written:
    """A log to which several producers write, each with its next sequence number."""

    def __init__(self, **config: Any) -> None:
        self.disk = Disk("disk")
        self.config = LogConfig(**config)
        self.next: dict[int, int] = {}
        self.log = self.load()

    def load(self) -> Log:
        """The log as a new process loads it."""
        self.log = Log(LogDirectory(self.disk, lambda _: self.config, rules=RULES), TP)
        return self.log

    def write(self, count: int, producer: int = -1, epoch: int = 0, *, transactional: bool = True) -> int:
        base, sequence = self.log.end_offset, self.next.get(producer, 0)
        self.next[producer] = sequence + count
        attributes = TRANSACTIONAL if transactional and producer >= 0 else 0
        header = RecordHeader(attributes, count, 0, 0)
        sequence = sequence if producer >= 0 else -1
        records = ProducedRecords(TP, count, 100, base + 1, producer, sequence, header, b"", producer_epoch=epoch)
        self.log.append(records.placed(base, 0, 0))
        return base

    def end(self, producer: int, *, committed: bool, epoch: int = 0, coordinator: int = 0) -> int:
        """Append a marker; the offset after it."""
        marker = ControlRecords.of(TP, 9, producer, epoch, coordinator, committed)
        self.log.append(marker.placed(self.log.end_offset, 0, 5_000_000))
        return self.log.end_offset

    def unstable(self, high_watermark: int) -> int | None:
        """The first offset that is not stable; None where all is."""
        stable = self.log.last_stable_offset(high_watermark)
        return None if stable == high_watermark else stable

    def roll(self) -> None:
        self.log._begin_segments((*self.log.bases, self.log.end_offset))

    def check(self, producer: int, sequence: int, count: int = 1, epoch: int = 0) -> Errors:
        produced = IdempotentBatch(TP, count, 100, 9, producer, sequence, producer_epoch=epoch)
        return self.log.producers.check(produced, admits_unknown=True)


@pytest.mark.parametrize("fully", [True, False])
def test_truncate_below_first_unstable_offset(fully: bool) -> None:
    """testTruncateBelowFirstUnstableOffset, testTruncateFullyAndStartBelowFirstUnstableOffset."""
    w = Written()
    w.write(3)
    w.write(2, 17, 10)
    assert w.load().producers.ongoing == {17: 3}  # type: ignore[attr-defined]
    if fully:
        w.log.truncate_fully_and_start_at(0)
    else:
        w.log.truncate_to(0)
    assert w.log.producers is NO_PRODUCERS or not w.log.producers.active()
    assert w.log.last_stable_offset(0) == 0


def test_active_producers() -> None:
    """testActiveProducers."""
    w = Written()
    w.write(5, 1, 5)

    def known(producer: int) -> tuple[int, int, int, int]:
        [found] = [one for one in w.log.producers.active() if one.producer_id == producer]
        return found.producer_epoch, found.last_sequence, found.transaction_start, found.coordinator_epoch

    assert known(1) == (5, 4, 0, -1)
    w.end(1, committed=True, epoch=5, coordinator=15)
    assert known(1) == (5, 4, NOTHING, 15)
    w.write(3, 2, 5, transactional=False)
    assert known(2) == (5, 2, NOTHING, -1)


def test_rebuild_transactional_state() -> None:
    """testRebuildTransactionalState."""
    w = Written()
    w.write(3, 137, 5)
    end = w.end(137, committed=False, epoch=5)
    assert w.unstable(end) is None
    w.load()
    assert w.unstable(end) is None
    assert w.log.aborted_between(0, end) == (AbortedTransaction(137, 0),)


def test_duplicate_appends() -> None:
    """testDuplicateAppends: the last five batches are recognized, whole ones only."""
    w = Written()
    for _ in range(6):
        w.write(1, 1, transactional=False)
    w.write(3, 1, transactional=False)

    def repeats(sequence: int, count: int) -> int | None:
        found = w.log.producers.repeated(IdempotentBatch(TP, count, 100, 9, 1, sequence))
        return None if found is None else found.base_offset

    assert repeats(6, 3) == 6
    assert (repeats(7, 2), w.check(1, 7, 2)) == (None, Errors.OUT_OF_ORDER_SEQUENCE_NUMBER)
    assert repeats(2, 1) == 2
    assert (repeats(1, 1), w.check(1, 1)) == (None, Errors.OUT_OF_ORDER_SEQUENCE_NUMBER)
    assert w.check(1, 9) is Errors.NONE


@pytest.mark.parametrize("rest", [((1, 0), (2, 0), (1, 1), (2, 1), (1, 1)), ((1, 0), (1, 0))])
def test_duplicate_append_to_follower(rest: tuple[tuple[int, int], ...]) -> None:
    """testDuplicateAppendToFollower, testMultipleProducersWithDuplicatesInSingleAppend: followers check nothing."""
    w = Written()
    for producer, sequence in rest:
        w.next[producer] = sequence
        w.write(1, producer, transactional=False)
    assert w.log.end_offset == len(rest)


def test_first_unstable_offset_with_transactional_data() -> None:
    """testFirstUnstableOffsetWithTransactionalData, testFirstUnstableOffsetNoTransactionalData."""
    w = Written()
    w.write(3)
    assert w.unstable(3) is None
    w.write(3, 137, 5)
    w.write(1, 137, 5)
    assert w.unstable(7) == 3
    end = w.end(137, committed=True, epoch=5)
    assert w.unstable(7) == 3
    assert w.unstable(end) is None


INTERLEAVED = (
    (1, 5), (-1, 3), (2, 2), (1, 4), (3, 3), (-1, 2), (1, 10), (1, False), (2, 6), (4, 3), (-1, 10), (3, 9), (3, True),
    (4, 8), (2, 7), (2, False), (-1, 10), (4, 4), (4, True),
)  # fmt: skip
"""Producers, and how many records each writes, or whether its transaction is committed."""


@pytest.mark.parametrize("reloaded", [False, True])
def test_transaction_index_updated(reloaded: bool) -> None:
    """testTransactionIndexUpdated, ...ThroughReplication."""
    w = Written()
    for producer, what in INTERLEAVED:
        if isinstance(what, bool):
            w.end(producer, committed=what)
        else:
            w.write(what, producer)
    if reloaded:
        w.load()
    assert w.log.end_offset == 90
    assert w.log.producers.aborted_from(0, 90) == [AbortedTxn(1, 0, 29, 8), AbortedTxn(2, 8, 74, 36)]
    assert [w.unstable(offset) for offset in (30, 75, 90)] == [8, 36, None]


def test_last_stable_offset_with_mixed_producer_data() -> None:
    """testLastStableOffsetWithMixedProducerData."""
    w = Written()
    w.write(3, 137, 5)
    w.write(3)
    second = w.write(3, 983, 5)
    assert w.unstable(9) == 0
    end = w.end(137, committed=False, epoch=5)
    assert w.unstable(end) == second
    end = w.end(983, committed=True, epoch=5)
    assert w.unstable(end) is None


def test_aborted_transaction_spanning_multiple_segments() -> None:
    """testAbortedTransactionSpanningMultipleSegments."""
    w = Written(segment_bytes=100)
    w.write(3, 137, 5)
    w.write(3, 137, 5)
    assert w.log.bases == (0, 3)
    end = w.end(137, committed=False, epoch=5)
    assert w.unstable(end) is None
    assert w.log.aborted_between(0, end) == (AbortedTransaction(137, 0),)


@pytest.mark.parametrize(("start", "segments"), [(5, 2), (8, 1)])
def test_last_stable_offset_does_not_exceed_log_start_offset(start: int, segments: int) -> None:
    """testLastStableOffsetDoesNotExceedLogStartOffsetMidSegment, ...AfterSegmentDeletion."""
    w = Written()
    w.write(5, 1)
    w.write(3)
    w.roll()
    w.write(5, 1)
    assert w.unstable(13) == 0
    w.log.raise_start_to(start)
    w.log.delete_old_segments(0, 13)
    assert (len(w.log.segments), w.unstable(13)) == (segments, start)


# -- ProducerStateManagerTest -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epoch", "first", "expected"),
    [(0, 3, Errors.NONE), (15, 0, Errors.NONE), (15, 8, Errors.NONE), (0, 0, Errors.NONE)],
)
def test_first_append_of_an_unknown_producer(epoch: int, first: int, expected: Errors) -> None:
    """UnifiedLogTest.testAllowNonZeroSequenceOnFirstAppendNonZeroEpoch; ProducerStateManagerTest
    .testSequenceNotValidatedForGroupMetadataTopic's other half: since KIP-360 (2.5) any number may be the first."""
    w = Written()
    assert w.check(1, first, epoch=epoch) is expected


def test_append_txn_marker_with_no_producer_state() -> None:
    """testAppendTxnMarkerWithNoProducerState: its epoch counts, and the producer begins at 0."""
    w = Written()
    w.end(23, committed=True, epoch=5, coordinator=27)
    assert w.check(23, 0, epoch=4) is Errors.INVALID_PRODUCER_EPOCH
    assert w.check(23, 17, epoch=5) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert w.check(23, 0, epoch=5) is Errors.NONE


def test_control_record_bumps_producer_epoch() -> None:
    """testControlRecordBumpsProducerEpoch, testOutOfSequenceAfterControlRecordEpochBump."""
    w = Written()
    w.write(1, 1)
    w.write(1, 1)
    w.end(1, committed=False, epoch=1, coordinator=1)
    assert w.log.producers.epoch_of(1) == 1
    assert w.check(1, 2, epoch=1) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert w.check(1, 2, epoch=0) is Errors.INVALID_PRODUCER_EPOCH
    assert w.check(1, 0, epoch=1) is Errors.NONE


def test_producer_sequence_with_wrap_around_batch_record() -> None:
    """testProducerSequenceWithWrapAroundBatchRecord."""
    w = Written()
    w.next[1] = (1 << 31) - 11
    w.write(10, 1, transactional=False)
    assert w.check(1, (1 << 31) - 1) is Errors.NONE


def test_wrapped_batch_ends_after_zero() -> None:
    """DefaultRecordBatch.incrementSequence: a batch that begins at the largest numbers ends at small ones."""
    w = Written()
    w.next[1] = (1 << 31) - 5
    w.write(20, 1, transactional=False)
    [known] = w.log.producers.active()
    assert known.last_sequence == 14
    assert (w.check(1, 15), w.check(1, 14)) == (Errors.NONE, Errors.OUT_OF_ORDER_SEQUENCE_NUMBER)


def test_non_transactional_append_with_ongoing_transaction() -> None:
    """testNonTransactionalAppendWithOngoingTransaction."""
    w = Written()
    w.write(1, 1)
    assert w.check(1, 1) is Errors.INVALID_TXN_STATE


def test_first_unstable_offset_after_truncation() -> None:
    """testFirstUnstableOffsetAfterTruncation."""
    w = Written()
    w.write(9)
    w.write(8, 1)
    assert w.unstable(17) == 9
    end = w.end(1, committed=True)
    assert (w.unstable(17), w.unstable(end)) == (9, None)
    w.log.truncate_to(12)
    assert w.unstable(9) is None
    w.write(4)
    assert w.log.producers.first_unstable_offset(13) is None


def test_first_unstable_offset() -> None:
    """testFirstUnstableOffset: of several open transactions, the oldest."""
    w = Written()
    w.write(1, 1)
    w.write(1, 2)
    assert w.unstable(2) == 0
    end = w.end(1, committed=True)
    assert [w.unstable(offset) for offset in (2, end)] == [0, 1]
    end = w.end(2, committed=True)
    assert [w.unstable(offset) for offset in (3, end)] == [1, None]


def test_last_stable_offset_completed_txn() -> None:
    """testLastStableOffsetCompletedTxn: what an aborted transaction remembers is the first of the others."""
    w = Written()
    w.write(1, 1)
    w.write(1, 2)
    w.write(1, 3)
    for producer in (2, 1, 3):
        w.end(producer, committed=False)
    stable = [one.last_stable_offset for one in w.log.producers.aborted_from(0, 9)]
    assert stable == [0, 2, 6]


@pytest.mark.parametrize(("profile", "told"), [("kafka-2.7", ((1, 3), (2, 1))), ("kafka-2.8", ((2, 1),))])
def test_skip_empty_transactions(profile: str, told: tuple[tuple[int, int], ...]) -> None:
    """testSkipEmptyTransactions (KAFKA-10702, 2.8): a marker without records holds nothing back, and since then readers
    of committed records are not told of it."""
    w = Written()
    w.log.directory.rules = PROFILES[profile].policies.brokers.log_rules
    w.write(1)
    w.write(2, 2)
    end = w.end(1, committed=False, coordinator=1)
    assert w.unstable(end) == 1
    end = w.end(2, committed=False, coordinator=1)
    assert w.unstable(end) is None
    assert w.log.aborted_between(0, end) == tuple(AbortedTransaction(*one) for one in told)
