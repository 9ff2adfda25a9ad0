"""LogOffsetTest (3.0.2), PartitionTest.testListOffsetIsolationLevels, ReplicaManagerTest: what a reader gets that waits
for transactions, or asks for times."""

import pytest

from brokers.requests.produce import ProduceHandler
from brokers.transactions.marker_writing import MarkerWriter
from emulator.protocol.clients.fetch import READ_COMMITTED, READ_UNCOMMITTED, ConsumerFetchRequest, PartitionData
from emulator.protocol.clients.list_offsets import EARLIEST, LATEST, MAX_TIMESTAMP, OffsetQuery, OffsetsByTimeRequest
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import CONSUMER
from emulator.protocol.records import TRANSACTIONAL, RecordHeader
from emulator.protocol.transactions.markers import TxnMarker, WriteTxnMarkersRequest
from tests.brokers.bench import ME, TP, Bench, Line, caught_up
from tests.brokers.groups.bench import GroupBench
from tests.brokers.requests.clients import produce, records
from tests.brokers.requests.test_client_offsets import ask

PRODUCER, EPOCH = 234, 5


def offset(bench: Bench, timestamp_ms: int, reader: int = CONSUMER, isolation: int = READ_UNCOMMITTED) -> int:
    [found] = bench.send(OffsetsByTimeRequest(reader, (OffsetQuery(TP, -1, timestamp_ms),), isolation)).last.found
    assert found.error is Errors.NONE
    return int(found.offset)


def write(bench: Bench, sequence: int, count: int = 1) -> Line:
    """Records of a transaction, of no certain time."""
    header = RecordHeader(TRANSACTIONAL, count, 0, 0)
    values = [b"message"] * count
    return produce(bench, records(*values, producer=(PRODUCER, EPOCH, sequence), header=header), acks=-1)


def test_list_offset_isolation_levels() -> None:
    """testListOffsetIsolationLevels: a follower, a reader of all that is replicated, a reader of what is decided."""
    bench = Bench()
    bench.lead(5, isr=(0, 1), replicas=(0, 1))
    write(bench, 0, 3)
    readers = ((1, READ_UNCOMMITTED), (CONSUMER, READ_UNCOMMITTED), (CONSUMER, READ_COMMITTED))
    assert [offset(bench, LATEST, *reader) for reader in readers] == [3, 0, 0]
    bench.follower(1).at(0, 5)
    bench.follower(1).at(3, 5)
    assert [offset(bench, LATEST, *reader) for reader in readers] == [3, 3, 0]
    assert [offset(bench, EARLIEST, *reader) for reader in readers] == [0, 0, 0]


# -- the latest time (KIP-734) ----------------------------------------------------------------------------------------


def timed(*times_ms: int, isr: tuple[int, ...] = (ME,)) -> Bench:
    """A record of each of these times, in batches of their own."""
    bench = Bench()
    bench.lead(isr=isr)
    for time_ms in times_ms:
        produce(bench, records(b"42", timestamp_ms=time_ms))
    return bench


@pytest.mark.parametrize(
    ("times", "found"),
    [
        (tuple(range(1, 21)), (19, 20)),  # testFetchOffsetByTimestampForMaxTimestampAfterTruncate, before it
        ((0, 1, 2, 3, 4, 6, 5), (5, 6)),  # testFetchOffsetByTimestampForMaxTimestampWithUnorderedTimestamps
        ((7, 3, 7), (0, 7)),
        ((), (-1, -1)),  # testFetchOffsetByTimestampForMaxTimestampWithEmptyLog
    ],
)
def test_max_timestamp(times: tuple[int, ...], found: tuple[int, int]) -> None:
    bench = timed(*times)
    assert ask(bench, MAX_TIMESTAMP) == (Errors.NONE, *found)
    bench.partition.log.truncate_to(0)
    assert ask(bench, MAX_TIMESTAMP) == (Errors.NONE, -1, -1)


def test_max_timestamp_that_is_not_committed() -> None:
    """Partition.fetchOffsetForTimestamp: the record is found, and a consumer may not read it yet."""
    bench = timed(100, 300, 200, isr=(0, 1, 2))
    caught_up(bench, 1, 2)
    assert ask(bench, MAX_TIMESTAMP) == (Errors.NONE, -1, -1)
    assert ask(bench, MAX_TIMESTAMP, replica=1) == (Errors.NONE, 1, 300)


def test_get_offsets_after_delete_records() -> None:
    """testGetOffsetsAfterDeleteRecords, testGetOffsetsBeforeEarliestTime, testEmptyLogsGetOffsets: the log's start."""
    bench = timed()
    assert (offset(bench, EARLIEST), offset(bench, LATEST)) == (0, 0)
    for _ in range(20):
        produce(bench, records(b"42"))
    bench.partition.log.raise_start_to(3)
    assert (offset(bench, EARLIEST), offset(bench, LATEST), offset(bench, 0)) == (3, 20, 3)


# -- ReplicaManagerTest -----------------------------------------------------------------------------------------------


class TransactionsBench(GroupBench):
    """A leader with one follower, whose log takes markers."""

    def restart(self) -> None:
        super().restart()
        self.router.add(MarkerWriter(self.manager, ProduceHandler(self.manager), None, self.groups.transitions))  # type: ignore[arg-type]

    def __init__(self) -> None:
        super().__init__()
        self.lead(0, (0, 1), replicas=(0, 1))

    def replicate(self) -> None:
        """The follower fetches all, and says so."""
        for _ in range(2):
            self.follower(1).at(self.partition.log_end_offset)

    def abort(self) -> None:
        self.send(WriteTxnMarkersRequest((TxnMarker(PRODUCER, EPOCH, 0, False, (TP,)),)))

    def read(self, isolation: int, at: int = 0, min_bytes: int = 1) -> Line:
        wanted = (PartitionData(TP, -1, at, -1, 1 << 20),)
        return self.send(ConsumerFetchRequest(-1, 0, -1, 500_000, min_bytes, 1 << 20, 0, (), (), wanted, isolation))


def got(line: Line) -> tuple[int, list[int]]:
    """The last stable offset, and the first offsets of the batches in an answer."""
    [answer] = line.last.partitions
    return line.last.stability[TP].last_stable_offset, [batch.base_offset for batch in answer.batches]


def test_read_committed_fetch_limited_at_lso() -> None:
    """testReadCommittedFetchLimitedAtLSO."""
    bench = TransactionsBench()
    for sequence in range(3):
        write(bench, sequence)
    bench.replicate()
    assert got(bench.read(READ_UNCOMMITTED)) == (0, [0, 1, 2])
    waiting = bench.read(READ_COMMITTED)
    assert not waiting.replies
    bench.abort()
    assert bench.partition.log_end_offset == 4
    assert not waiting.replies
    bench.replicate()
    assert got(bench.read(READ_COMMITTED)) == (4, [0, 1, 2, 3])


def test_delayed_fetch_includes_aborted_transactions() -> None:
    """testDelayedFetchIncludesAbortedTransactions: the answer to a fetch that has waited says what was aborted."""
    bench = TransactionsBench()
    for sequence in range(3):
        write(bench, sequence)
    bench.abort()
    waiting = bench.read(READ_COMMITTED)
    assert not waiting.replies
    bench.replicate()
    assert got(waiting) == (4, [0, 1, 2, 3])
    assert waiting.last.stability[TP].aborted == ((PRODUCER, 0),)
