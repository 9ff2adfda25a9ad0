"""ListOffsets for real clients: the ends of the log, and records by their time."""

import pytest
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from attrs import evolve

from emulator.protocol.clients.list_offsets import EARLIEST, LATEST, MAX_TIMESTAMP, OffsetQuery, OffsetsByTimeRequest
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import CONSUMER
from emulator.protocol.records import COMPRESSION, ProducedRecords, RecordHeader
from tests.brokers.bench import TP, Bench, caught_up
from tests.brokers.requests.clients import produce, records


def ask(bench: Bench, timestamp_ms: int, *, replica: int = CONSUMER, epoch: int = -1) -> tuple[Errors, int, int]:
    """The error, the offset and its time."""
    line = bench.send(OffsetsByTimeRequest(replica, (OffsetQuery(TP, epoch, timestamp_ms),)))
    [found] = line.last.found
    return found.error, found.offset, found.timestamp_ms


def compressed(batch: ProducedRecords) -> ProducedRecords:
    return evolve(batch, header=evolve(batch.header, attributes=COMPRESSION))


@pytest.fixture
def bench() -> Bench:
    """Three batches of two records, of the times 100, 200 and 300."""
    bench = Bench()
    bench.lead(isr=(0,))
    for timestamp_ms in (100, 200, 300):
        produce(bench, records(b"a", b"b", timestamp_ms=timestamp_ms))
    return bench


@pytest.mark.parametrize(
    ("timestamp_ms", "expected"),
    [
        (EARLIEST, (0, -1)), (LATEST, (6, -1)), (MAX_TIMESTAMP, (4, 300)),
        (0, (0, 100)), (100, (0, 100)), (101, (2, 200)), (300, (4, 300)), (301, (-1, -1)),
    ],
)  # fmt: skip
def test_offsets_by_time(bench: Bench, timestamp_ms: int, expected: tuple[int, int]) -> None:
    assert ask(bench, timestamp_ms) == (Errors.NONE, *expected)


def test_of_compressed_records_that_cannot_be_read_the_first_one_is_found(bench: Bench) -> None:
    produce(bench, compressed(records(b"a", b"b", timestamp_ms=400)))
    assert ask(bench, 400) == (Errors.NONE, 6, 400)


def of_times(*times_ms: int, codec: int) -> ProducedRecords:
    """A batch of a client, whose records have these times."""
    builder = DefaultRecordBatchBuilder(2, codec, 0, -1, -1, -1, 1 << 16)
    for number, time_ms in enumerate(times_ms):
        builder.append(number, time_ms, None, bytes(10), [])
    header = RecordHeader(codec, len(times_ms), times_ms[0], max(times_ms))
    return records(*[bytes(10)] * len(times_ms), data=bytes(builder.build()), header=header)


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("codec", range(5))
def test_records_by_their_times(codec: int, together: bool) -> None:
    """ListOffsetsIntegrationTest.testThree(Non)CompressedRecordsIn(One|Separate)Batch (3.9), PlaintextConsumerTest
    .testFetchOffsetsForTime: in one batch, too, the record that is the latest, and the first since a time."""
    bench = Bench()
    bench.lead(isr=(0,))
    times_ms = (100, 999, 200)
    for batch in [times_ms] if together else [(time_ms,) for time_ms in times_ms]:
        produce(bench, of_times(*batch, codec=codec))
    assert [ask(bench, time)[1] for time in (EARLIEST, LATEST, MAX_TIMESTAMP)] == [0, 3, 1]
    assert [ask(bench, time)[1:] for time in (0, 100, 101, 200, 999, 1000)] == [
        (0, 100), (0, 100), (1, 999), (1, 999), (1, 999), (-1, -1)
    ]  # fmt: skip


def test_records_of_the_append_have_its_time() -> None:
    bench = Bench()
    bench.manager.configured("topics/t", {"message.timestamp.type": "LogAppendTime"})
    bench.lead(isr=(0,))
    bench.at(5_000_000)
    produce(bench, records(b"a", timestamp_ms=100))
    assert ask(bench, 101) == (Errors.NONE, 0, 5000)


def test_emulated_batches_have_the_time_of_their_append() -> None:
    bench = Bench()
    bench.lead(isr=(0,))
    bench.at(5_000_000)
    bench.produce(TP)
    assert ask(bench, 1) == (Errors.NONE, 0, 5000)


def test_consumers_see_no_further_than_the_high_watermark() -> None:
    bench = Bench()
    bench.lead()
    caught_up(bench, 1, 2)
    produce(bench, records(b"a", timestamp_ms=100))
    assert ask(bench, LATEST) == (Errors.NONE, 0, -1)
    assert ask(bench, 100) == (Errors.NONE, -1, -1)
    assert ask(bench, LATEST, replica=1) == (Errors.NONE, 1, -1)


def test_a_new_leader_that_does_not_know_yet_says_so() -> None:
    """KIP-207."""
    bench = Bench()
    bench.lead()
    produce(bench, records(b"a", timestamp_ms=100))
    bench.lead(epoch=1, version=1)
    assert ask(bench, LATEST)[0] is Errors.OFFSET_NOT_AVAILABLE
    assert ask(bench, 100)[0] is Errors.OFFSET_NOT_AVAILABLE
    assert ask(bench, EARLIEST) == (Errors.NONE, 0, -1)


def test_fences_and_repetitions(bench: Bench) -> None:
    assert ask(bench, LATEST, epoch=4)[0] is Errors.UNKNOWN_LEADER_EPOCH
    twice = OffsetQuery(TP, -1, LATEST)
    found = bench.send(OffsetsByTimeRequest(CONSUMER, (twice, twice))).last.found
    assert [each.error for each in found] == [Errors.INVALID_REQUEST] * 2
