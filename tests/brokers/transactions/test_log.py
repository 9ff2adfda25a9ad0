"""What a log knows of its transactions: up to where everything is decided, what was aborted, who may write."""

import pytest

from brokers.log.directory import LogDirectory
from brokers.log.log import Log
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

    def check(self, producer: int, sequence: int, **more: int) -> Errors:
        return self.log.producers.check(data(producer, sequence, **more), admits_unknown=False)


def test_a_log_without_transactions_is_stable_up_to_its_high_watermark() -> None:
    bench = Bench()
    bench.write(ANNE, 0, attributes=0)
    assert not bench.log.producers.has_transactions
    assert bench.stable(1) == 1
    assert bench.log.producers.aborted_between(0, 9) == ()


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
    producers = bench.log.producers
    first, second = AbortedTransaction(ANNE, 0), AbortedTransaction(ANNE, 6)
    assert producers.aborted_between(0, 9) == (first, second)
    assert producers.aborted_between(0, 6) == (first,)
    assert producers.aborted_between(5, 9) == (second,)


def test_a_restart_and_a_truncation_know_the_same() -> None:
    bench = Bench()
    bench.write(ANNE, 0)
    bench.mark(ANNE, committed=False)
    bench.write(BERT, 0)
    reloaded = Log(bench.log.directory, TP)
    assert isinstance(reloaded.producers, TransactionalProducers)
    assert reloaded.producers.ongoing == {BERT: 3}
    assert reloaded.producers.aborted_between(0, 9) == (AbortedTransaction(ANNE, 0),)
    reloaded.truncate_to(2)
    assert reloaded.producers.ongoing == {ANNE: 0}
    assert reloaded.producers.aborted_between(0, 9) == ()
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
    sequence: int, more: dict[str, int], expected: Errors
) -> None:
    bench = Bench()
    bench.write(ANNE, 0)
    assert bench.check(ANNE, sequence, **more) is expected


def test_a_marker_with_a_higher_epoch_fences_the_producer() -> None:
    bench = Bench()
    bench.write(ANNE, 0)
    bench.mark(ANNE, committed=False, epoch=1)
    assert bench.check(ANNE, 2) is Errors.INVALID_PRODUCER_EPOCH
    assert bench.check(ANNE, 2, epoch=1) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
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
