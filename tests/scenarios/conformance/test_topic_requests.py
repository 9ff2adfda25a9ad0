"""Cases of MetadataRequestTest, CreateTopicsRequestTest, DeleteTopicsRequestTest and FetchRequestTest (2.7.2) that no
other test has, by single requests."""

from typing import Any

import pytest

from emulator.protocol.clients.fetch import FINAL_EPOCH, ConsumerFetchRequest, PartitionData
from emulator.protocol.clients.metadata import ClientMetadataRequest, TopicAnswer
from emulator.protocol.create_topics import CreateTopicsRequest, NewTopic
from emulator.protocol.delete_topics import DeleteTopicsRequest
from understudy.protocol import Errors, TopicPartition
from understudy.testing import ClusterInstance, KafkaError, cluster, in_virtual_time

RELEASES = pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.3", "kafka-2.7"])
TP = TopicPartition("t", 0)
MINUTE, MS = 60_000_000, 1_000


# -- MetadataRequestTest ----------------------------------------------------------------------------------------------


async def described(c: ClusterInstance, broker: int, *topics: str, **more: Any) -> list[TopicAnswer]:
    return list((await c.send(broker, ClientMetadataRequest(topics, **more))).topics)


@RELEASES
@in_virtual_time
async def test_auto_creation(release: str) -> None:
    """testAutoCreateOfCollidingTopics, testAutoCreateTopicWithInvalidReplicationFactor: the first of two topics is not
    shown with leaders that it has got while the second is created."""
    async with cluster(3, profile=release, config={"default.replication.factor": 2}) as c:
        found = await described(c, 0, "auto_create", "auto.create", creates=True)
        assert [topic.error for topic in found] == [Errors.LEADER_NOT_AVAILABLE, Errors.INVALID_TOPIC_EXCEPTION]
        await c.settled()
        [topic] = await described(c, 1, "auto_create")
        [partition] = topic.partitions
        assert (topic.error, len(partition.state.replicas)) == (Errors.NONE, 2)
        for broker in (1, 2):
            await c.stop(broker)
        await c.settled()
        [topic] = await described(c, 0, "new", creates=True)
        assert (topic.error, topic.partitions) == (Errors.INVALID_REPLICATION_FACTOR, ())


@RELEASES
@in_virtual_time
async def test_replica_down_response(release: str) -> None:
    """testReplicaDownResponse: version 0 leaves out what is down, and says that it does."""
    async with cluster(3, {"t": [[0, 1, 2]]}, profile=release) as c:
        await c.stop(2)
        await c.settled()
        for only_alive, error, replicas in ((True, Errors.REPLICA_NOT_AVAILABLE, 2), (False, Errors.NONE, 3)):
            [topic] = await described(c, 1, "t", only_alive=only_alive)
            assert [(each.error, len(each.state.replicas)) for each in topic.partitions] == [(error, replicas)]


@RELEASES
@in_virtual_time
async def test_internal_topics_are_created_for_who_asks(release: str) -> None:
    """KafkaApis.getTopicMetadata (1.1.1 to 2.7.2): also where clients may create no topics, if enough brokers live."""
    names = ("__consumer_offsets", "__transaction_state")
    async with cluster(3, profile=release, config={"auto.create.topics.enable": False}) as c:
        await c.stop(2)
        await c.settled()
        found = await described(c, 0, *names, "t", creates=True)
        refused = Errors.INVALID_REPLICATION_FACTOR
        assert [topic.error for topic in found] == [refused, refused, Errors.UNKNOWN_TOPIC_OR_PARTITION]
        c.start(2)
        await c.settled()
        found = await described(c, 0, *names)
        assert [topic.error for topic in found] == [Errors.LEADER_NOT_AVAILABLE] * 2
        await c.settled()
        found = await described(c, 1, *names)
        assert [(topic.error, len(topic.partitions)) for topic in found] == [(Errors.NONE, 50)] * 2
        assert "segment.bytes" in (c.znode("/config/topics/__consumer_offsets") or "")


# -- CreateTopicsRequestTest and DeleteTopicsRequestTest --------------------------------------------------------------


@RELEASES
@in_virtual_time
async def test_create_topics_requests(release: str) -> None:
    """testErrorCreateTopicsRequests, testInvalidCreateTopicsRequests, PlaintextAdminIntegrationTest.testLongTopicNames:
    of one request each topic has its own answer."""
    async with cluster(3, {"old": [[0]]}, profile=release) as c:

        async def create(*topics: NewTopic, timeout_us: int = MINUTE, **more: Any) -> list[Errors]:
            response = await c.send(c.controller(), CreateTopicsRequest(topics, timeout_us, **more))
            return [topic.error.code for topic in response.topics]

        expected = [
            (NewTopic("old", 1, 1), Errors.TOPIC_ALREADY_EXISTS),
            (NewTopic("partitions", -2, 1), Errors.INVALID_PARTITIONS),
            (NewTopic("replication", 1, 4), Errors.INVALID_REPLICATION_FACTOR),
            (NewTopic("config", 1, 1, config={"not.a.property": "error"}), Errors.INVALID_CONFIG),
            (NewTopic("value", 1, 1, config={"message.format.version": "invalid-value"}), Errors.INVALID_CONFIG),
            (NewTopic("version", 1, 1, config={"message.format.version": "0.11.0-IV2"}), Errors.NONE),
            (NewTopic("assignment", assignment={0: (0, 1), 1: (0,)}), Errors.INVALID_REPLICA_ASSIGNMENT),
            (NewTopic("n" * 249, 1, 1), Errors.NONE),
            (NewTopic("n" * 250, 1, 1), Errors.INVALID_TOPIC_EXCEPTION),
        ]  # fmt: skip
        assert await create(*(topic for topic, _ in expected)) == [error for _, error in expected]
        both = NewTopic("both", 10, 3, assignment={0: (0,)})
        assert await create(both) == await create(both, validate_only=True) == [Errors.INVALID_REQUEST]
        for timeout_us in (MS, 0, -1):
            late = NewTopic(f"late{timeout_us}", 10, 3)
            assert await create(late, timeout_us=timeout_us) == [Errors.REQUEST_TIMED_OUT]
            await c.settled()
            assert c.leader(f"late{timeout_us}-9") >= 0


@RELEASES
@in_virtual_time
async def test_delete_topics_requests(release: str) -> None:
    """testValidDeleteTopicRequests, testErrorDeleteTopicRequests."""
    topics = {name: [[0], [1]] for name in ("one", "two", "late")}
    async with cluster(2, topics, profile=release) as c:

        async def delete(*names: str, timeout_us: int = MINUTE) -> list[Errors]:
            response = await c.send(c.controller(), DeleteTopicsRequest(names, timeout_us))
            return [error.code for _, error in response.topics]

        assert await delete("one", "gone", "two") == [Errors.NONE, Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.NONE]
        assert await delete("late", timeout_us=0) == [Errors.REQUEST_TIMED_OUT]
        await c.settled()
        assert c.partitions() == []


# -- FetchRequestTest -------------------------------------------------------------------------------------------------


async def fetched(
    c: ClusterInstance, broker: int, tps: list[TopicPartition], offset_of_first: int = 0
) -> dict[TopicPartition, int]:
    """One fetch of 800 bytes, 190 of each partition: how many bytes came of each."""
    wanted = tuple(PartitionData(tp, -1, offset_of_first if tp is tps[0] else 0, -1, 190) for tp in tps)
    positions = tuple((each.tp, -1, each.fetch_offset, -1, -1) for each in wanted)
    request = ConsumerFetchRequest(-1, 0, FINAL_EPOCH, 0, 0, 800, 190, positions, (), wanted=wanted)
    response = await c.send(broker, request)
    assert [each.tp for each in response.partitions] == tps
    assert {each.error for each in response.partitions} == {Errors.NONE}
    return {each.tp: sum(batch.size for batch in each.batches) for each in response.partitions}


@RELEASES
@in_virtual_time
async def test_order_and_limits_of_a_fetch(release: str) -> None:
    """testBrokerRespectsPartitionsOrderAndSizeLimits: a batch above its partition's limit, and one above that of the
    response, are sent where they come first, and only there."""
    tps = [TopicPartition(topic, number) for topic in ("a", "b", "c") for number in range(3)]
    *small, large, larger = tps
    async with cluster(2, {topic: [[0]] * 3 for topic in ("a", "b", "c")}, profile=release, controller=1) as c:
        for tp in tps:
            for _ in range(9):
                await c.produce(tp, size=100)
        await c.produce(large, size=211)
        await c.produce(larger, size=900)
        for order in (small, small[::-1]):
            sizes = await fetched(c, 0, [*order, large, larger])
            assert list(sizes.values()) == [100] * 8 + [0]
            sizes = await fetched(c, 0, [large, larger, *order], 9)
            assert list(sizes.values()) == [211] + [100] * 5 + [0] * 3
            sizes = await fetched(c, 0, [larger, large, *order], 9)
            assert list(sizes.values()) == [900] + [0] * 8


@RELEASES
@in_virtual_time
async def test_requests_to_a_broker_without_a_replica(release: str) -> None:
    """testFetchRequestToNonReplica, ProduceRequestTest.testProduceToNonReplica; 1.1.1 knows it not (KAFKA-6796)."""
    error = Errors.UNKNOWN_TOPIC_OR_PARTITION if release == "kafka-1.1" else Errors.NOT_LEADER_FOR_PARTITION
    async with cluster(2, {"t": [[0]]}, profile=release, controller=1) as c:
        wanted = (PartitionData(TP, -1, 0, -1, 1024),)
        request = ConsumerFetchRequest(-1, 0, FINAL_EPOCH, 0, 0, 1024, 1024, ((TP, -1, 0, -1, -1),), (), wanted=wanted)
        assert [each.error for each in (await c.send(1, request)).partitions] == [error]
        with pytest.raises(KafkaError, match=rf"^{error.name}"):
            await c.produce(TP, retries=False, broker=1)
