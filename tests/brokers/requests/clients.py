"""Requests that real clients send to a broker on a bench."""

from typing import Any

from attrs import evolve

from emulator.protocol.clients.fetch import FINAL_EPOCH, ConsumerFetchRequest, PartitionData
from emulator.protocol.clients.produce import RecordsProduceRequest
from emulator.protocol.fetch import CONSUMER, FetchResponse
from emulator.protocol.records import NO_PRODUCER_ID, NO_SEQUENCE, ProducedRecords, RecordHeader, write_records
from emulator.protocol.types import TopicPartition
from tests.brokers.bench import TP, Bench, Line

NOW_MS = 1_700_000_000_000


def records(
    *values: bytes,
    tp: TopicPartition = TP,
    timestamp_ms: int = NOW_MS,
    producer: tuple[int, int, int] = (NO_PRODUCER_ID, -1, NO_SEQUENCE),
    **fields: Any,
) -> ProducedRecords:
    """A batch as a client sends it. ``producer``: its id, its epoch, and the sequence number of the first record."""
    data = write_records([(None, value) for value in values], timestamp_ms)
    id, epoch, sequence = producer
    header = RecordHeader(0, len(values), timestamp_ms, timestamp_ms)
    batch = ProducedRecords(tp, len(values), len(data), 1, id, sequence, header, data, producer_epoch=epoch)
    return evolve(batch, **fields) if fields else batch


def produce(bench: Bench, *batches: ProducedRecords, acks: int = 1) -> Line:
    return bench.send(RecordsProduceRequest(acks, 1_000_000, batches, sum(batch.size for batch in batches)))


def fetch(
    bench: Bench,
    *wanted: PartitionData,
    line: Line | None = None,
    session: tuple[int, int] = (0, FINAL_EPOCH),
    forgotten: tuple[TopicPartition, ...] = (),
    **limits: Any,
) -> Line:
    """One request; its answer, if it comes at once, is ``last`` of the line. ``session``: its id and its epoch."""
    most = {"max_wait_us": 500_000, "min_bytes": 1, "max_bytes": 10_000, "replica_id": CONSUMER, **limits}
    request = ConsumerFetchRequest(
        session_id=session[0], session_epoch=session[1], max_partition_bytes=0,
        partitions=tuple((each.tp, each.leader_epoch, each.fetch_offset, -1, -1) for each in wanted),
        forgotten=forgotten, wanted=wanted, **most,
    )  # fmt: skip
    return bench.send(request, line)


def at(
    offset: int, tp: TopicPartition = TP, *, epoch: int = -1, most: int = 10_000, fetched: int = -1
) -> PartitionData:
    return PartitionData(tp, epoch, offset, fetched, most)


def bases(answer: FetchResponse) -> list[tuple[int, list[int]]]:
    """Partition numbers in the order of the answer, with the base offsets of the batches."""
    return [(each.tp.partition, [batch.base_offset for batch in each.batches]) for each in answer.partitions]
