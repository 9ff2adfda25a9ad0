"""Kafka's system tests of truncation and of throttled reassignments (tests/kafkatest, 2.4.1: truncation_test.py,
throttling_test.py), with their own numbers."""

import math

import pytest

from scenarios.language.plan import Move, Plan
from understudy.actions import ReassignExecute
from understudy.protocol import TopicPartition
from understudy.testing import cluster, in_virtual_time

TP = TopicPartition("t", 0)


@pytest.mark.parametrize(
    "release",
    [
        "kafka-1.1",
        "kafka-2.3",
        "kafka-2.4",
        "kafka-2.7",
        "kafka-2.8",
        "kafka-3.0",
        "kafka-3.3",
        "kafka-3.6",
        "kafka-3.9",
    ],
)
@in_virtual_time
async def test_offset_truncate(release: str) -> None:
    """test_offset_truncate: the log that a consumer has read is cut by an unclean election. It goes on behind the
    records that are gone. Before KIP-320 (2.1) its offset is out of range, and it begins again (auto.offset.reset)."""
    load = {"topic": "t", "producerRate": 10, "messageSize": 100, "linger": "1ms"}
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2, workloads=[load], checkers=False) as c:
        consumer = c.consumer(TP)
        await consumer.poll(10)
        await c.stop(1)
        await consumer.poll(consumer.records + 10)
        await c.stop(0)
        await c.until(lambda: c.leader(TP) == -1)
        await c.sleep("5s")
        read = consumer.records
        position = max(consumer.offsets(TP)) + 1
        assert read == position
        c.start(1)
        await c.sleep("5s")
        assert (c.leader(TP), consumer.records) == (-1, read)
        await c.alter_config({"unclean.leader.election.enable": True}, topic="t")
        if release == "kafka-1.1":  # waits for a broker to start (KAFKA-6526)
            await c.stop(1)
            c.start(1)
        await c.until(lambda: c.leader(TP) == 1, within="1m")
        c.start(0)
        cut = c.log(1, TP)
        assert cut is not None
        begin = next(start for epoch, start in cut.epochs if epoch == cut.epochs[-1][0])
        assert begin < position
        await c.until(lambda: max(consumer.offsets(TP)[read:], default=-1) >= position, within="1m")
        again = consumer.offsets(TP)[read:]
        assert again[0] == (0 if release == "kafka-1.1" else begin)
        assert again == list(range(again[0], again[0] + len(again)))


@pytest.mark.parametrize(("release", "bounce"), [("kafka-2.3", True), ("kafka-2.7", False)])
@in_virtual_time
async def test_throttled_reassignment(release: str, bounce: bool) -> None:
    """test_throttled_reassignment: two new replicas of each partition, 273 MB each, at 4 MiB/s from one leader, under
    load: it takes that long, and less than twice that, also where every other broker is restarted. The load is lower
    than Kafka's."""
    throttle, records, size = 4 << 20, 2000, 4096 * 100
    old = [[0, 1], [2, 3], [4, 5]]
    load = {"topic": "t", "producerRate": 100, "messageSize": 10, "linger": "1s", "start": "30s"}
    topic = {"assignment": old, "config": {"segment.bytes": 64 << 20}}
    async with cluster(6, {"t": topic}, profile=release, workloads=[load]) as c:
        for number in range(records // 2):
            await c.produce(f"t-{number % 3}", 2, size=size)
        new = {TopicPartition("t", number): old[(number + 1) % 3] for number in range(3)}
        moves = [Move(topic=tp.topic, partition=tp.partition, replicas=replicas) for tp, replicas in new.items()]
        await c.until(lambda: c.now > 35)
        began = c.now
        c.perform(ReassignExecute(plan=Plan(partitions=moves), throttle=throttle))
        await c.sleep("2s")
        if bounce:
            for broker in (0, 2, 4):
                await c.stop(broker)
                await c.sleep("1s")
                c.start(broker)
        least = math.ceil(2 * records * size / 3 / throttle)
        await c.until(lambda: all(c.replicas(tp) == replicas for tp, replicas in new.items()), within=f"{2 * least}s")
        assert 0.9 * least <= c.now - began
