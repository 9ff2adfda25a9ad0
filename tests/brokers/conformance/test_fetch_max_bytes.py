"""FetchRequestMaxBytesTest (2.5.1; KIP-541): an answer has no more than the broker's fetch.max.bytes, but its first
batch whole."""

import pytest
from attrs import evolve

from scenarios.profiles import PROFILES
from tests.brokers.bench import TP, Bench
from tests.brokers.requests.clients import at, bases, fetch, produce, records


@pytest.mark.parametrize(("release", "capped"), [("kafka-2.4", False), ("kafka-2.5", True), ("kafka-3.9", True)])
def test_consume_multiple_records(release: str, capped: bool) -> None:
    """testConsumeMultipleRecords: what fits, and one that does not fit alone."""
    policies = PROFILES[release].policies.brokers
    bench = Bench(evolve(policies, config=evolve(policies.config, fetch_max_bytes=1024)))
    bench.lead(isr=(0,))
    large = 1024 // 2
    for number, size in enumerate((1, large, 2048, 1, large)):
        produce(bench, records(bytes(size), id=number + 1))

    def got(offset: int) -> list[int]:
        ((_partition, found),) = bases(fetch(bench, at(offset, most=1 << 30), max_bytes=1 << 30).last)
        return found

    if not capped:
        assert got(0) == [0, 1, 2, 3, 4]
        return
    assert (got(0), got(2), got(3)) == ([0, 1], [2], [3, 4])
    follower = bench.follower(1, max_bytes=1 << 30, max_partition_bytes=1 << 30)
    answer = follower.fetch((TP, 0, 0))
    assert answer is not None
    assert [batch.base_offset for batch in answer.partitions[0].batches] == [0, 1]


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.3", "kafka-2.5", "kafka-3.9"])
@pytest.mark.parametrize("limit", ["max_bytes", "most"])
def test_fetch_record_larger_than_the_limits_of_a_consumer(release: str, limit: str) -> None:
    """PlaintextConsumerTest.testFetchRecordLargerThan(FetchMaxBytes|MaxPartitionFetchBytes): a small record, a large
    one and a small one all come in the end."""
    bench = Bench(PROFILES[release].policies.brokers)
    bench.lead(isr=(0,))
    most = 10 * 1024
    for number, size in enumerate((10, most + 1, 10)):
        produce(bench, records(bytes(size), id=number + 1))
    got: list[int] = []
    while len(got) < 3:
        asked = at(len(got), most=most if limit == "most" else 1 << 20)
        ((_partition, found),) = bases(fetch(bench, asked, max_bytes=most if limit == "max_bytes" else 1 << 20).last)
        assert found
        got += found
    assert got == [0, 1, 2]
