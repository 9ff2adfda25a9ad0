"""Cases of PlaintextAdminIntegrationTest (2.7.2; AdminClientIntegrationTest before 2.4): partitions that are added, and
replicas that change their directory under load."""

import pytest

from emulator.protocol.create_partitions import CreatePartitionsRequest, NewPartitions
from emulator.protocol.log_dirs import AlterReplicaLogDirsRequest, DescribeLogDirsRequest
from tests.scenarios.conformance.releases import WITH_API
from understudy.protocol import (
    AlterPartitionReassignmentsRequest,
    Errors,
    ListPartitionReassignmentsRequest,
    TopicPartition,
)
from understudy.testing import cluster, in_virtual_time

RELEASES = pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.3", "kafka-2.4", "kafka-2.5", "kafka-2.7"])
INVALID, UNFIT = Errors.INVALID_PARTITIONS, Errors.INVALID_REPLICA_ASSIGNMENT
INCONSISTENT = (
    "Inconsistent replication factor between partitions, partition 0 has 1 while partitions [{}] have replication "
    "factors [2], respectively."
)
REFUSED: list[tuple[str, int, tuple[tuple[int, ...], ...] | None, Errors, str]] = [
    ("t1", 1, None, INVALID, "Topic currently has 3 partitions, which is higher than the requested 1."),
    ("t2", 3, None, INVALID, "Topic already has 3 partitions."),
    ("t2", 3, ((0, 1), (1, 2)), INVALID, "Topic already has 3 partitions."),
    ("t2", 3, ((1, 2), (0, 1)), INVALID, "Topic already has 3 partitions."),
    ("none", 2, None, Errors.UNKNOWN_TOPIC_OR_PARTITION, "The topic 'none' does not exist."),
    ("t1", -22, None, INVALID, "Topic currently has 3 partitions, which is higher than the requested -22."),
    ("t1", 4, ((1, 2),), UNFIT, INCONSISTENT.format(3)),
    ("t1", 6, ((1,),), UNFIT, "Increasing the number of partitions by 3 but 1 assignments provided."),
    ("t1", 4, ((1,), (2,)), UNFIT, "Increasing the number of partitions by 1 but 2 assignments provided."),
    ("t1", 4, ((1, 1),), UNFIT, "Duplicate brokers not allowed in replica assignment: 1, 1 for partition id 3."),
    ("t1", 5, ((1,), (1, 0)), UNFIT, INCONSISTENT.format(4)),
    ("t1", 4, ((12,),), UNFIT, "Unknown broker(s) in replica assignment: 12."),
    ("t1", 4, (), UNFIT, "Increasing the number of partitions by 1 but 0 assignments provided."),
]  # fmt: skip


@RELEASES
@in_virtual_time
async def test_create_partitions(release: str) -> None:
    """testCreatePartitions."""
    async with cluster(4, {"t1": [[0]], "t2": [[0, 1]]}, profile=release, controller=3) as c:

        async def add(*new: NewPartitions, validate: bool = False) -> list[tuple[Errors, str | None]]:
            response = await c.send(3, CreatePartitionsRequest(new, 10_000_000, validate))
            await c.settled()
            return [(error.code, error.message) for _, error in response.topics]

        def count(topic: str) -> int:
            return sum(name.startswith(f"{topic}-") for name in c.partitions())

        fine, both = (Errors.NONE, None), ((0, 1), (1, 2))
        for validate in (True, False):
            more = NewPartitions("t1", 3), NewPartitions("t2", 3, both)
            assert await add(*more, validate=validate) == [fine] * 2
            assert [count("t1"), count("t2")] == ([1, 1] if validate else [3, 3])
        assert [c.replicas("t2-1"), c.replicas("t2-2")] == [[0, 1], [1, 2]]
        for topic, total, replicas, code, why in REFUSED:
            for validate in (True, False):
                assert await add(NewPartitions(topic, total, replicas), validate=validate) == [(code, why)]
        found = await add(NewPartitions("t1", 4), NewPartitions("t2", 2))
        assert [code for code, _ in found] == [Errors.NONE, INVALID]
        assert [count("t1"), count("t2")] == [4, 3]


@RELEASES
@in_virtual_time
async def test_alter_replica_log_dirs(release: str) -> None:
    """testAlterReplicaLogDirs: all replicas change their directories while a producer that does not retry goes on; each
    record is there once."""
    tp = TopicPartition("t", 0)
    async with cluster(3, {"t": [[0, 1, 2]]}, profile=release, log_dirs=2) as c:

        async def where(broker: int) -> list[str]:
            found = (await c.send(broker, DescribeLogDirsRequest((tp,)))).directories
            return [each.name for each in found for replica in each.replicas]

        before = {broker: (await where(broker))[0] for broker in range(3)}
        wanted = {broker: "/data/1" if name == "/data/0" else "/data/0" for broker, name in before.items()}
        offsets: list[int] = []
        for _ in range(20):
            offsets += await c.produce(tp, retries=False)
        for broker, name in wanted.items():
            response = await c.send(broker, AlterReplicaLogDirsRequest(((tp, name),)))
            assert [error for _, error in response.partitions] == [Errors.NONE]
        for _ in range(50):
            offsets += await c.produce(tp, retries=False)
            await c.sleep("20ms")
        await c.settled()
        assert {broker: await where(broker) for broker in range(3)} == {b: [name] for b, name in wanted.items()}
        assert offsets == await c.consume(tp, 70) == list(range(70))


@WITH_API
@in_virtual_time
async def test_invalid_alter_partition_reassignments(release: str) -> None:
    """testInvalidAlterPartitionReassignments: of a request each partition has its own answer."""
    one, two, three = (TopicPartition("t", number) for number in range(3))
    async with cluster(3, {"t": [[0], [1], [2], [0]]}, profile=release) as c:
        tops = {
            one: (), two: (-1, 0, 1), three: (0, 0), TopicPartition("t", 3): (0, 1, 1, 2),
            TopicPartition("t", 4): (0,), TopicPartition("none", 0): (0,),
        }  # fmt: skip
        response = await c.send(c.controller(), AlterPartitionReassignmentsRequest(tops))
        unknown = Errors.UNKNOWN_TOPIC_OR_PARTITION
        assert [error for _, error in response.partitions] == [UNFIT, UNFIT, UNFIT, UNFIT, unknown, unknown]
        listed = await c.send(c.controller(), ListPartitionReassignmentsRequest(None))
        assert (listed.error, listed.partitions) == (Errors.NONE, ())
        listed = await c.send(c.controller(), ListPartitionReassignmentsRequest((one, TopicPartition("none", 0))))
        assert (listed.error, listed.partitions) == (Errors.NONE, ())
