"""Kafka's system tests of replication (tests/kafkatest/tests/core, 2.4.1), as small as they can be: every record that
was acknowledged can be read, whatever happens to brokers meanwhile."""

from collections.abc import Callable

import pytest

from understudy.actions import DiskFail
from understudy.protocol import TopicPartition
from understudy.testing import ClusterInstance, cluster, in_virtual_time

RELEASES = pytest.mark.parametrize(
    "release",
    [
        "kafka-1.1",
        "kafka-2.3",
        "kafka-2.4",
        "kafka-2.5",
        "kafka-2.6",
        "kafka-2.7",
        "kafka-2.8",
        "kafka-3.0",
        "kafka-3.3",
        "kafka-3.6",
        "kafka-3.9",
    ],
)
DURABLE = ["no_acked_record_lost", "leader_completeness", "log_matching", "one_leader_per_epoch"]


async def readable(c: ClusterInstance, topic: str, partitions: int) -> None:
    """Each partition has a leader, all its replicas in sync, and the same logs."""
    for number in range(partitions):
        tp = TopicPartition(topic, number)
        await c.until(lambda tp=tp: sorted(c.isr(tp)) == sorted(c.replicas(tp)), within="2m")  # type: ignore[misc]
    await c.sleep("2s")


@pytest.mark.parametrize("from_zero", [True, False])
@pytest.mark.parametrize("bounce", [True, False])
@RELEASES
@in_virtual_time
async def test_reassign_partitions(release: str, bounce: bool, from_zero: bool) -> None:
    """reassign_partitions_test.py: min.insync.replicas is the replication factor; the assignments are exchanged, while
    every other broker is restarted."""
    old = [[number % 4, (number + 1) % 4, (number + 2) % 4] for number in range(8)]
    config = {"log.retention.check.interval.ms": 1000, "log.roll.ms": 500}
    topic = {"assignment": old, "config": {"min.insync.replicas": 3}}
    load = {"topic": "t", "producerRate": 400, "messageSize": 100, "config": {"enable.idempotence": True}}
    async with cluster(4, {"t": topic}, profile=release, config=config, workloads=[load], checkers=DURABLE) as c:
        await c.sleep("3s")
        if not from_zero:
            await c.alter_config({"retention.ms": 1000}, topic="t")
            await c.until(lambda: all((log := c.log(n % 4, f"t-{n}")) and log.start_offset for n in range(8)), "90s")
        new = {f"t-{number}": old[(number * 3 + 1) % 8] for number in range(8)}
        await c.reassign(new)
        if bounce:
            for broker in (0, 2):
                await c.stop(broker)
                await c.sleep("1s")  # 1.1's controller does not notice a faster one (KAFKA-1120)
                c.start(broker)
        await c.until(lambda: {name: c.replicas(name) for name in new} == new, within="2m")
        await readable(c, "t", 8)


async def clean_shutdown(c: ClusterInstance, broker: int) -> None:
    await c.stop(broker)


async def hard_shutdown(c: ClusterInstance, broker: int) -> None:
    c.crash(broker)


async def clean_bounce(c: ClusterInstance, broker: int) -> None:
    for _ in range(3):
        await c.stop(broker)
        c.start(broker)
        await c.until(lambda: len(c.isr("t-0")) == 3, within="1m")


async def hard_bounce(c: ClusterInstance, broker: int) -> None:
    for _ in range(3):
        c.crash(broker)
        await c.until(lambda: c.broker_epoch(broker) < 0, within="1m")
        c.start(broker)
        await c.until(lambda: len(c.isr("t-0")) == 3, within="1m")


@pytest.mark.parametrize("who", ["leader", "controller"])
@pytest.mark.parametrize("failure", [clean_shutdown, hard_shutdown, clean_bounce, hard_bounce])
@pytest.mark.parametrize("release", ["kafka-0.8", "kafka-1.1", "kafka-2.3", "kafka-2.4", "kafka-2.7"])
@in_virtual_time
async def test_replication_with_broker_failure(
    release: str, failure: Callable[[ClusterInstance, int], object], who: str
) -> None:
    """replication_test.py: three partitions of three replicas, min.insync.replicas 2."""
    topic = {"assignment": [[0, 1, 2], [1, 2, 0], [2, 0, 1]], "config": {"min.insync.replicas": 2}}
    loads = [{"topic": "t", "producerRate": 200, "messageSize": 100}]
    checkers = [] if release == "kafka-0.8" else DURABLE
    async with cluster(3, {"t": topic}, profile=release, workloads=loads, checkers=checkers) as c:
        await c.sleep("2s")
        await failure(c, c.leader("t-0") if who == "leader" else c.controller())  # type: ignore[misc]
        await c.until(lambda: all(c.leader(f"t-{number}") in c.up() for number in range(3)), within="1m")
        before = [c.log(c.leader(f"t-{number}"), f"t-{number}") for number in range(3)]
        ends = [log.end_offset + 200 for log in before if log is not None]

        def goes_on(number: int) -> bool:
            log = c.log(c.leader(f"t-{number}"), f"t-{number}")
            return log is not None and (log.high_watermark or 0) > ends[number]

        await c.until(lambda: all(map(goes_on, range(3))), within="1m")


@pytest.mark.parametrize("bounce", [False, True])
@pytest.mark.parametrize("who", ["leader", "follower"])
@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.3", "kafka-2.4", "kafka-2.7"])
@in_virtual_time
async def test_replication_with_disk_failure(release: str, who: str, bounce: bool) -> None:
    """log_dir_failure_test.py: the broker lives on, leads nothing that was on the disk, and is in no ISR of it; at the
    end it alone is up, and what is on its other disk can be written and read."""
    topics = {"one": [[0, 1, 2]], "two": [[0, 1, 2]]}
    loads = [{"topic": "two", "producerRate": 200, "messageSize": 100}]
    config = {"log.roll.ms": 3000, "controlled.shutdown.enable": True}
    async with cluster(3, topics, profile=release, log_dirs=2, workloads=loads, config=config, checkers=DURABLE) as c:
        await c.sleep("2s")
        broker = c.leader("two-0") if who == "leader" else next(b for b in c.isr("two-0") if b != c.leader("two-0"))
        c.perform(DiskFail(log_dir="/data/1"), broker)
        if bounce:
            await c.stop(broker)
            c.start(broker)
        await c.until(lambda: broker not in (c.leader("two-0"), *c.isr("two-0")), within="1m")
        await c.until(lambda: broker in c.isr("one-0"), within="1m")
        assert broker in c.up()
        for other in [other for other in c.up() if other != broker]:
            await c.stop(other)
        await c.until(lambda: (c.leader("one-0"), c.isr("one-0")) == (broker, [broker]))
        assert list(await c.produce("one-0", 3)) == await c.consume("one-0", 3)
