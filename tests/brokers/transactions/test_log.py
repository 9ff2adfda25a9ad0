"""Transactions as a log knows them: up to where all are decided, which were aborted, which producers may write."""

from typing import Any

import pytest

from brokers.log.directory import LogDirectory
from brokers.log.log import Log
from brokers.log.log_config import LogConfig, LogRules
from brokers.log.producer_state_manager import NO_PRODUCERS, AbortedTransaction
from brokers.log.transactions import TransactionalProducers
from emulator.disks import Disk
from emulator.protocol.control_batches import ControlRecords
from emulator.protocol.errors import Errors
from emulator.protocol.records import TRANSACTIONAL, ProducedRecords, RecordHeader, read_records
from emulator.protocol.types import TopicPartition

TP = TopicPartition("orders", 0)
ANNE, BERT = 7, 8


def data(producer: int, sequence: int, *, epoch: int = 0, attributes: int = TRANSACTIONAL) -> ProducedRecords:
    """Two records."""
    header = RecordHeader(attributes, 2, 0, 0)
    return ProducedRecords(TP, 2, 100, 1, producer, sequence, header, b"", producer_epoch=epoch)


class Bench:
    def __init__(self) -> None:
        self.log = Log(LogDirectory(Disk("disk")), TP)

    def write(self, producer: int, sequence: int, **more: int) -> None:
        self.log.append(data(producer, sequence, **more).placed(self.log.end_offset, 0, 0))

    def mark(self, producer: int, *, committed: bool, epoch: int = 0, coordinator: int = 3) -> None:
        marker = ControlRecords.of(TP, 9, producer, epoch, coordinator, committed)
        self.log.append(marker.placed(self.log.end_offset, 0, 5_000_000))

    def stable(self, high_watermark: int | None = None) -> int:
        return self.log.last_stable_offset(self.log.end_offset if high_watermark is None else high_watermark)

    def check(self, producer: int, sequence: int, *, admits_unknown: bool = False, **more: Any) -> Errors:
        return self.log.producers.check(data(producer, sequence, **more), admits_unknown=admits_unknown)


def test_a_log_without_transactions_is_stable_up_to_its_high_watermark() -> None:
    bench = Bench()
    bench.write(ANNE, 0, attributes=0)
    assert not bench.log.producers.has_transactions
    assert bench.stable(1) == 1
    assert bench.log.aborted_between(0, 9) == ()


def test_it_is_stable_up_to_the_first_open_transaction() -> None:
    bench = Bench()
    bench.write(ANNE, 0)
    bench.write(BERT, 0)
    bench.mark(BERT, committed=True)
    assert bench.stable() == 0
    bench.mark(ANNE, committed=True)
    assert bench.log.end_offset == 6, "a marker takes an offset"
    assert bench.stable() == 6


def test_a_transaction_counts_as_open_until_its_marker_is_committed() -> None:
    bench = Bench()
    bench.write(ANNE, 0)
    bench.mark(ANNE, committed=True)
    assert [bench.stable(high_watermark) for high_watermark in (1, 2, 3)] == [0, 0, 3]


def test_aborted_transactions_are_listed_where_they_have_records() -> None:
    bench = Bench()
    bench.write(ANNE, 0)
    bench.write(BERT, 0)
    bench.mark(ANNE, committed=False)
    bench.mark(BERT, committed=True)
    bench.write(ANNE, 2)
    bench.mark(ANNE, committed=False)
    log = bench.log
    first, second = AbortedTransaction(ANNE, 0), AbortedTransaction(ANNE, 6)
    assert log.aborted_between(0, 9) == (first, second)
    assert log.aborted_between(0, 6) == (first,)
    assert log.aborted_between(5, 9) == (second,)


def test_a_restart_and_a_truncation_know_the_same() -> None:
    bench = Bench()
    bench.write(ANNE, 0)
    bench.mark(ANNE, committed=False)
    bench.write(BERT, 0)
    reloaded = Log(bench.log.directory, TP)
    assert isinstance(reloaded.producers, TransactionalProducers)
    assert reloaded.producers.ongoing == {BERT: 3}
    assert reloaded.aborted_between(0, 9) == (AbortedTransaction(ANNE, 0),)
    reloaded.truncate_to(2)
    assert reloaded.producers.ongoing == {ANNE: 0}
    assert reloaded.aborted_between(0, 9) == ()
    reloaded.truncate_to(0)
    assert reloaded.producers is NO_PRODUCERS


@pytest.mark.parametrize(
    ("sequence", "more", "expected"),
    [
        (2, {}, Errors.NONE),
        (3, {}, Errors.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (2, {"attributes": 0}, Errors.INVALID_TXN_STATE),
        (0, {"epoch": 1}, Errors.NONE),
    ],
)
def test_what_a_producer_with_an_open_transaction_may_write(
    sequence: int, more: dict[str, Any], expected: Errors
) -> None:
    bench = Bench()
    bench.write(ANNE, 0)
    assert bench.check(ANNE, sequence, **more) is expected


def test_a_marker_with_a_higher_epoch_fences_the_producer() -> None:
    bench = Bench()
    bench.write(ANNE, 0)
    bench.mark(ANNE, committed=False, epoch=1)
    assert bench.check(ANNE, 2) is Errors.INVALID_PRODUCER_EPOCH
    assert bench.check(ANNE, 2, epoch=1) is Errors.UNKNOWN_PRODUCER_ID, "before KIP-360"
    assert bench.check(ANNE, 2, epoch=1, admits_unknown=True) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert bench.check(ANNE, 2, epoch=2) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert bench.check(ANNE, 0, epoch=1) is Errors.NONE
    assert bench.check(ANNE, 0, epoch=2) is Errors.NONE
    assert (bench.log.producers.epoch_of(ANNE), bench.log.producers.coordinator_epoch_of(ANNE)) == (1, 3)


def test_a_marker_has_the_bytes_of_a_control_batch() -> None:
    bench = Bench()
    bench.mark(ANNE, committed=True, epoch=4)
    (marker,) = bench.log.batches
    records = marker.records.read()  # type: ignore[attr-defined]
    (record,) = read_records(records)
    assert (record.key, record.value, record.timestamp_ms) == (b"\0\0\0\1", b"\0\0\0\0\0\3", 5000)
    assert len(records) == marker.size


# -- producers whose batches retention has deleted --------------------------------------------------------------------


def old_bench(*, keeps: bool) -> Bench:
    """A log with a segment for each batch, whose first two are deleted: the only one of Anne, in a transaction that she
    has left open, and a marker of Bert, who has written after it."""
    bench = Bench()
    config = LogConfig(segment_bytes=100, retention_bytes=250, retention_us=-1)
    bench.log = Log(LogDirectory(Disk("disk"), lambda _topic: config, rules=LogRules(keeps_producers=keeps)), TP)
    bench.write(ANNE, 0)
    bench.mark(BERT, committed=False)
    for sequence in (0, 2, 4):
        bench.write(BERT, sequence)
    assert bench.log.delete_old_segments(0, bench.log.end_offset)
    assert bench.log.start_offset == 3
    return bench


@pytest.mark.parametrize("reloaded", [False, True])
def test_a_log_remembers_producers_whose_batches_are_deleted_since_kafka_7190(reloaded: bool) -> None:
    bench = old_bench(keeps=True)
    if reloaded:
        bench.log = Log(bench.log.directory, TP)
    assert bench.check(ANNE, 2) is Errors.NONE
    assert bench.check(ANNE, 4) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert bench.log.producers.coordinator_epoch_of(BERT) == 3
    assert bench.stable() == 3, "where the log begins: Anne's transaction is open"
    bench.log.truncate_to(7)
    assert bench.check(ANNE, 2) is Errors.NONE
    bench.log.truncate_fully_and_start_at(9)
    bench.log = Log(bench.log.directory, TP)
    assert bench.check(ANNE, 2) is Errors.UNKNOWN_PRODUCER_ID


@pytest.mark.parametrize("reloaded", [False, True])
def test_a_log_forgets_them_before(reloaded: bool) -> None:
    bench = old_bench(keeps=False)
    if reloaded:
        bench.log = Log(bench.log.directory, TP)
    assert bench.check(ANNE, 2) is Errors.UNKNOWN_PRODUCER_ID
    assert bench.check(ANNE, 2, admits_unknown=True) is Errors.NONE
    assert bench.check(BERT, 6) is Errors.NONE
    bench.mark(BERT, committed=True)
    assert bench.stable() == bench.log.end_offset, "nor is Anne's transaction open any more"


def test_a_producer_of_which_a_marker_is_left_is_forgotten_with_the_next_segment() -> None:
    bench = old_bench(keeps=False)
    bench.mark(ANNE, committed=False, epoch=1)
    assert bench.check(ANNE, 0) is Errors.INVALID_PRODUCER_EPOCH
    bench.write(BERT, 6)
    bench.write(BERT, 8)
    assert bench.log.delete_old_segments(0, bench.log.end_offset)
    assert bench.check(ANNE, 0) is Errors.NONE, "not even the epoch is known"


@pytest.mark.parametrize("how", ["reloaded", "truncated"])
@pytest.mark.parametrize("keeps", [False, True])
def test_a_log_that_loads_its_producers_begins_at_its_start(keeps: bool, how: str) -> None:
    """Anne's batch is before the start, in the same segment as Bert's (DeleteRecords, or a follower's leader)."""
    bench = Bench()
    rules = LogRules(keeps_producers=keeps)
    bench.log = Log(LogDirectory(Disk("disk"), lambda _topic: LogConfig(), rules=rules), TP)
    for producer, sequence in ((ANNE, 0), (BERT, 0), (BERT, 2), (BERT, 4)):
        bench.write(producer, sequence)
    bench.log.raise_start_to(2)
    if how == "reloaded":
        bench.log = Log(bench.log.directory, TP)
    else:
        bench.log.truncate_to(6)
    assert bench.log.producers.knows(ANNE) is keeps
    assert bench.log.producers.knows(BERT)
    bench.log.raise_start_to(4)
    reloaded = Log(bench.log.directory, TP)
    assert any(base < 4 for producer, base, _ in reloaded.producers.remembered_batches() if producer == BERT) is keeps
