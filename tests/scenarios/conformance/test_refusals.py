"""Cases about what is refused: ProducerFailureHandlingTest and DynamicConfigChangeTest (1.1.1 to 2.7.2), and what
KafkaController (2.4.1 to 2.7.2) answers about a topic that is being deleted."""

import pytest

from emulator.protocol.clients.metadata import ClientMetadataRequest
from emulator.protocol.create_partitions import CreatePartitionsRequest, NewPartitions
from emulator.protocol.create_topics import CreateTopicsRequest, NewTopic
from emulator.protocol.delete_topics import DeleteTopicsRequest
from tests.scenarios.conformance.releases import WITH_API
from understudy.protocol import (
    AlterPartitionReassignmentsRequest,
    ElectionType,
    ElectLeadersRequest,
    Errors,
    ListPartitionReassignmentsRequest,
    TopicPartition,
)
from understudy.testing import KafkaError, cluster, in_virtual_time

RELEASES = pytest.mark.parametrize("release", ["kafka-0.8", "kafka-1.1", "kafka-2.3", "kafka-2.7"])
TP, OTHER, GONE = TopicPartition("t", 0), TopicPartition("u", 0), TopicPartition("gone", 0)
UNKNOWN, INVALID = Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.INVALID_TOPIC_EXCEPTION
MINUTE = 60_000_000


TOO_SMALL = {"replica.fetch.max.bytes": 30_000, "replica.fetch.response.max.bytes": 20_000}


@in_virtual_time
async def test_partition_too_large_for_replication_before_kip_74() -> None:
    """Before KIP-74 (0.10.1) the follower gets nothing, so that the produce request times out."""
    async with cluster(3, {"t": [[0, 1]]}, profile="kafka-0.8", controller=2, config=TOO_SMALL) as c:
        with pytest.raises(KafkaError, match=r"^REQUEST_TIMED_OUT"):
            await c.produce(TP, size=50_000)


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.3", "kafka-2.7"])
@in_virtual_time
async def test_partition_too_large_for_replication_with_ack_all(release: str) -> None:
    """testPartitionTooLargeForReplicationWithAckAll, testResponseTooLargeForReplicationWithAckAll: a fetch's limits are
    for all batches but the first."""
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2, config=TOO_SMALL) as c:
        for _ in range(3):
            await c.produce(TP, size=50_000)
        await c.settled()
        ends = [log.end_offset for log in (c.log(0, TP), c.log(1, TP)) if log is not None]
        assert (ends, sorted(c.isr(TP))) == ([3, 3], [0, 1])


@RELEASES
@in_virtual_time
async def test_config_change_on_non_existing_topic(release: str) -> None:
    """testConfigChangeOnNonExistingTopic: nothing is written."""
    async with cluster(2, {"t": [[0]]}, profile=release) as c:
        with pytest.raises(KafkaError, match=r"^UNKNOWN_TOPIC_OR_PARTITION: none$"):
            await c.alter_config({"flush.messages": 10_000}, topic="none")
        assert c.znode("/config/topics/none") is None
        await c.alter_config({"flush.messages": 10_000}, topic="t")
        assert '"flush.messages":"10000"' in (c.znode("/config/topics/t") or "")


@WITH_API
@in_virtual_time
async def test_a_topic_that_is_being_deleted(release: str) -> None:
    """maybeTriggerPartitionReassignment, processReplicaLeaderElection, AdminManager.createPartitions: its deletion
    waits for a replica that is down; until then each request has an answer of its own."""
    async with cluster(4, {"t": [[0, 1]]}, profile=release, controller=3) as c:
        await c.stop(1)
        await c.settled()
        await c.delete_topic("t")
        await c.settled()
        assert c.znode("/brokers/topics/t") is not None

        async def moved(replicas: tuple[int, ...] | None) -> Errors:
            response = await c.send(3, AlterPartitionReassignmentsRequest({TP: replicas}))
            [(_, error)] = response.partitions
            return Errors(error)

        assert await moved((0, 2)) is UNKNOWN
        assert await moved(None) is Errors.NO_REASSIGNMENT_IN_PROGRESS
        elected = await c.send(3, ElectLeadersRequest(ElectionType.PREFERRED, (TP, GONE)))
        assert [error for _, error in elected.partitions] == [INVALID, UNKNOWN]
        more = await c.send(3, CreatePartitionsRequest((NewPartitions("t", 3),), MINUTE))
        assert [error.code for _, error in more.topics] == [INVALID]
        again = await c.send(3, CreateTopicsRequest((NewTopic("t", 1, 1),), MINUTE))
        assert [topic.error.code for topic in again.topics] == [Errors.TOPIC_ALREADY_EXISTS]
        deleted = await c.send(3, DeleteTopicsRequest(("t",), MINUTE))
        assert [error.code for _, error in deleted.topics] == [UNKNOWN]
        assert (await c.send(0, ClientMetadataRequest(("t",)))).topics[0].error is UNKNOWN
        c.start(1)
        await c.settled()
        assert c.znode("/brokers/topics/t") is None


@WITH_API
@in_virtual_time
async def test_reassignment_to_a_replica_that_is_down(release: str) -> None:
    """replicasAreValid: one that is assigned already may be down, a new one may not."""
    async with cluster(4, {"u": [[0, 1, 2]]}, profile=release, controller=3) as c:

        async def moved(*replicas: int) -> list[Errors]:
            response = await c.send(3, AlterPartitionReassignmentsRequest({OTHER: replicas}))
            await c.settled()
            return [error for _, error in response.partitions]

        async def listed() -> dict[TopicPartition, tuple[int, ...]]:
            response = await c.send(3, ListPartitionReassignmentsRequest(None))
            return {tp: found.removing for tp, found in response.partitions}

        await c.stop(1)
        await c.settled()
        assert await moved(0, 1) == [Errors.NONE]
        assert (c.replicas(OTHER), await listed()) == ([0, 1, 2], {OTHER: (2,)})
        c.start(1)
        await c.settled()
        assert (c.replicas(OTHER), await listed()) == ([0, 1], {})
        await c.stop(2)
        await c.settled()
        assert await moved(0, 2) == [Errors.INVALID_REPLICA_ASSIGNMENT]
        assert (c.replicas(OTHER), await listed()) == ([0, 1], {})


# -- AdminTest, UncleanLeaderElectionTest, TopicCommandTest -----------------------------------------------------------

UNFIT = Errors.INVALID_REPLICA_ASSIGNMENT
TOPICS: list[tuple[str, list[list[int]], Errors]] = [
    ("twice", [[0, 0]], UNFIT),
    ("uneven", [[0, 1], [0]], UNFIT),
    ("empty", [[]], UNFIT),
    ("nothing", [], UNFIT),
    ("negative", [[-1]], UNFIT),
    ("old_topic", [[0]], Errors.TOPIC_ALREADY_EXISTS),
    ("old.topic", [[0]], INVALID),
    ("no topic", [[0]], INVALID),
    ("..", [[0]], INVALID),
    ("n" * 250, [[0]], INVALID),
]
CONFIGS: list[dict[str, object]] = [
    {"unclean.leader.election.enable": "invalid"}, {"min.insync.replicas": 0}, {"retention.ms": "soon"},
    {"message.timestamp.type": "boom"}, {"no.such.setting": 1}, {"leader.replication.throttled.replicas": "0"},
]  # fmt: skip


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.7"])
@in_virtual_time
async def test_topics_that_cannot_be_created(release: str) -> None:
    """AdminTest.testManualReplicaAssignment, testTopicCreationWithCollision; UncleanLeaderElectionTest
    .testUncleanLeaderElectionInvalidTopicOverride; TopicCommandTest.testInvalidTopicLevelConfig."""
    async with cluster(2, {"old_topic": [[0]]}, profile=release) as c:
        for topic, assignment, error in TOPICS:
            with pytest.raises(KafkaError, match=rf"^{error.name}"):
                await c.create_topic(topic, assignment)
        for config in CONFIGS:
            with pytest.raises(KafkaError, match=r"^INVALID_CONFIG"):
                await c.create_topic("new", [[0]], config)
        await c.settled()
        assert c.partitions() == ["old_topic-0"]
        await c.create_topic("new", [[0]], {"unclean.leader.election.enable": True})
        await c.settled()
        assert c.leader("new-0") == 0


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.7"])
@in_virtual_time
async def test_settings_that_cannot_be(release: str) -> None:
    """DynamicConfigTest (its cases of topics and brokers), DynamicBrokerReconfigurationTest.testDefaultTopicConfig:
    nothing is written, and the brokers go on."""
    brokers: list[dict[str, object]] = [
        {"min.insync.replicas": 0}, {"log.retention.ms": "abc"}, {"log.message.timestamp.type": "invalid"},
        {"num.replica.fetchers": 0}, {"num.replica.fetchers": 3},
        {"broker.id": 7}, {"replica.lag.time.max.ms": 1}, {"leader.replication.throttled.rate": -1}, {"log.roll.ms": 0},
    ]  # fmt: skip
    async with cluster(2, {"t": [[0]]}, profile=release) as c:
        before = c.znode("/config/topics/t")
        for config in CONFIGS:
            with pytest.raises(KafkaError, match=r"^INVALID_CONFIG"):
                await c.alter_config(config, topic="t")
        for config in brokers:
            for broker in (None, 0):
                with pytest.raises(KafkaError, match=r"^INVALID_REQUEST"):
                    await c.alter_config(config, broker=broker)
        await c.settled()
        assert c.znode("/config/topics/t") == before
        assert (c.znode("/config/brokers/0"), c.znode("/config/brokers/<default>")) == (None, None)
        assert list(await c.produce(TP)) == [0]
