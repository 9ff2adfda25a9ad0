"""Cases of Kafka's suites of APIs, tools and brokers (1.1.1 to 3.9.0) that were drawn by lot, by the public API."""

from typing import Any

import pytest

from emulator.protocol.clients.metadata import ClientMetadataRequest
from emulator.protocol.create_topics import CreateTopicsRequest, NewTopic
from emulator.protocol.delete_records import DeleteRecordsRequest
from emulator.protocol.delete_topics import DeleteTopicsRequest
from emulator.protocol.describe_configs import DescribeConfigsRequest, Resource, ResourceType
from emulator.protocol.log_dirs import DescribeLogDirsRequest
from fetchers.quota import UNLIMITED
from scenarios.testing.virtual_time import current_world
from understudy.actions import DiskFail
from understudy.protocol import (
    CoordinatorType,
    ElectionType,
    ElectLeadersRequest,
    Errors,
    FindCoordinatorRequest,
    InitProducerIdRequest,
    LeaderAndIsrPartition,
    LeaderAndIsrRequest,
    PartitionMetadata,
    StopReplicaRequest,
    TopicPartition,
    UpdateMetadataRequest,
)
from understudy.testing import KafkaError, cluster, in_virtual_time

TP = TopicPartition("t", 0)
UNKNOWN = Errors.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("kind", list(CoordinatorType))
@pytest.mark.parametrize("release", ["kafka-2.8", "kafka-3.3"])
@in_virtual_time
async def test_find_coordinator_creates_the_internal_topic(release: str, kind: CoordinatorType) -> None:
    """testOldFindCoordinatorAutoTopicCreationForTxnTopic, testFindCoordinatorAutoTopicCreationForOffsetTopic."""
    settings = {
        f"{name}.{what}": 3
        for name in ("offsets.topic", "transaction.state.log")
        for what in ("num.partitions", "replication.factor")
    }
    async with cluster(3, profile=release, config=settings) as c:
        [found] = (await c.send(0, FindCoordinatorRequest(("group",), kind))).coordinators
        assert (found.key, found.error) == ("group", Errors.COORDINATOR_NOT_AVAILABLE)
        await c.settled()
        name = "__transaction_state" if kind else "__consumer_offsets"
        assert c.partitions() == [f"{name}-{number}" for number in range(3)]
        assert all(len(c.replicas(tp)) == 3 for tp in c.partitions())


@pytest.mark.parametrize("release", ["kafka-2.3", "kafka-2.4", "kafka-3.3"])
@in_virtual_time
async def test_delete_records_with_exception(release: str) -> None:
    """testDeleteRecordsWithException (2.3.1), testErrorWhenDeletingRecordsWithInvalidTopic (3.3.2): a client that finds
    no leader in the metadata does not ask; the broker's own word is UNKNOWN_TOPIC_OR_PARTITION."""
    async with cluster(3, {"t": [[0, 1, 2]] * 2}, profile=release) as c:
        await c.produce(TP, 10)
        await c.settled()

        async def delete(tp: TopicPartition, before: int) -> tuple[int, Errors]:
            [found] = (await c.send(c.leader(TP), DeleteRecordsRequest(((tp, before),), 10_000_000))).partitions
            return found.low_watermark, found.error

        assert await delete(TP, 5) == (5, Errors.NONE)
        assert await delete(TP, 20) == (-1, Errors.OFFSET_OUT_OF_RANGE)
        assert await delete(TopicPartition("t", 3), 20) == (-1, UNKNOWN)
        assert await delete(TopicPartition("invalid-topic", 0), 1) == (-1, UNKNOWN)


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-3.9"])
@in_virtual_time
async def test_preferred_replica(release: str) -> None:
    """testPreferredReplica."""
    assigned = {0: (1, 2, 0), 1: (2, 0, 1)}
    async with cluster(3, {"t1": [list(each) for each in assigned.values()]}, profile=release, controller=0) as c:
        await c.settled()
        for broker in (0, 1):
            [topic] = (await c.send(broker, ClientMetadataRequest(("t1",)))).topics
            assert (topic.error, topic.name) == (Errors.NONE, "t1")
            assert {each.state.tp.partition: each.state.replicas for each in topic.partitions} == assigned
            assert {each.state.tp.partition: each.state.isr for each in topic.partitions} == assigned
            assert {each.state.tp.partition: each.state.leader for each in topic.partitions} == {0: 1, 1: 2}


@pytest.mark.parametrize("release", ["kafka-2.3", "kafka-2.4"])
@in_virtual_time
async def test_describe_configs_for_topic(release: str) -> None:
    """testDescribeConfigsForTopic."""
    async with cluster(3, {"topic": [[0, 1, 2]] * 2}, profile=release) as c:
        await c.settled()
        for name, error in (
            ("topic", Errors.NONE), ("unknown", UNKNOWN), ("(invalid topic)", Errors.INVALID_TOPIC_EXCEPTION),
        ):  # fmt: skip
            asked = DescribeConfigsRequest(((Resource(ResourceType.TOPIC, name), None),))
            [found] = (await c.send(1, asked)).resources
            assert found.error.code is error
            assert bool(found.entries) is (error is Errors.NONE)


@pytest.mark.parametrize("release", ["kafka-3.3", "kafka-3.9"])
@in_virtual_time
async def test_delete_when_topic_does_not_exist(release: str) -> None:
    """TopicCommandIntegrationTest.testDeleteWhenTopicDoesntExist: the tool does not find it among all topics; a broker
    that is asked all the same refuses."""
    async with cluster(3, {"t": [[0]]}, profile=release) as c:
        await c.settled()
        assert "none" not in [topic.name for topic in (await c.send(0, ClientMetadataRequest(None))).topics]
        [(_, error)] = (await c.send(c.controller(), DeleteTopicsRequest(("none",), 10_000_000))).topics
        assert error.code is UNKNOWN


@pytest.mark.parametrize("release", ["kafka-2.3", "kafka-3.9"])
@in_virtual_time
async def test_control_request_with_stale_broker_epoch(release: str) -> None:
    """testControlRequestWithStaleBrokerEpoch: LeaderAndIsr, UpdateMetadata and StopReplica."""
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2) as c:
        await c.settled()
        epoch, stale = c.controller_epoch(), c.broker_epoch(1) - 1
        state = LeaderAndIsrPartition(TP, epoch, 1, 1, (0, 1), 0, (0, 1), False)
        known = PartitionMetadata(TP, epoch, 1, 1, (0, 1), 0, (0, 1), ())
        for request in (
            LeaderAndIsrRequest(2, epoch, stale, (state,), (0, 1)),
            UpdateMetadataRequest(2, epoch, stale, (known,), (0, 1)),
            StopReplicaRequest(2, epoch, stale, True, (TP,)),
        ):
            assert (await c.send(1, request)).error is Errors.STALE_BROKER_EPOCH
        assert c.metadata(1).leader(TP) == 0
        assert c.log(1, TP) is not None


@pytest.mark.parametrize("release", ["kafka-2.4", "kafka-3.9"])
@in_virtual_time
async def test_produce_error_from_failure_on_checkpoint(release: str) -> None:
    """LogDirFailureTest.testProduceErrorFromFailureOnCheckpoint."""
    async with cluster(2, {"topic": [[0, 1]] * 12}, profile=release, log_dirs=3, checkers=False) as c:
        tp = TopicPartition("topic", 0)
        await c.settled()
        leader = c.leader(tp)
        directories = (await c.send(leader, DescribeLogDirsRequest((tp,)))).directories
        [failing] = [each.name for each in directories if each.replicas]
        c.perform(DiskFail(log_dir=failing), leader)
        await c.sleep("6s")
        assert leader in c.up()
        with pytest.raises(KafkaError, match=r"KAFKA_STORAGE_ERROR|NOT_LEADER"):
            await c.produce(tp, retries=False, broker=leader)


@in_virtual_time
async def test_enable_default_unclean_leader_election() -> None:
    """testEnableDefaultUncleanLeaderElection (3.3.2): the controller elects for what is offline."""
    async with cluster(3, {"t": [[0, 1]]}, profile="kafka-3.3", controller=2, checkers=False) as c:
        await c.settled()
        await c.stop(1)
        await c.produce(TP)
        await c.stop(0)
        c.start(1)
        await c.settled()
        assert c.leader(TP) == -1
        await c.alter_config({"unclean.leader.election.enable": "true"})
        await c.until(lambda: c.leader(TP) == 1)


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-3.9"])
@in_virtual_time
async def test_concurrent_topic_creation(release: str) -> None:
    """AdminTest.testConcurrentTopicCreation: one of two creations finds it there."""
    async with cluster(3, profile=release) as c:
        found = list[Errors]()

        async def create() -> None:
            asked = CreateTopicsRequest((NewTopic("test.topic", 1, 1),), 10_000_000)
            [topic] = (await c.send(c.controller(), asked)).topics
            found.append(topic.error.code)

        async with current_world().open_nursery() as nursery:
            for _ in range(2):
                current_world().spawn(nursery, create)
        assert sorted(found) == [Errors.NONE, Errors.TOPIC_ALREADY_EXISTS]


@pytest.mark.parametrize("release", ["kafka-2.7", "kafka-3.6", "kafka-3.9"])
@in_virtual_time
async def test_default_and_broker_id_config_change(release: str) -> None:
    """DynamicConfigChangeTest.testDefaultAndBrokerIdConfigChange (3.9.0): a broker's own rates come first; before
    KAFKA-10190 those of all brokers were described, and had no effect."""
    names = (
        "leader.replication.throttled.rate", "follower.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    )  # fmt: skip
    async with cluster(2, {"t": [[0, 1]]}, profile=release) as c:
        await c.alter_config(dict.fromkeys(names, 100_000), broker=0)
        await c.alter_config(dict.fromkeys(names, 200_000))
        await c.settled()
        for broker, value, counts in ((0, 100_000, True), (1, 200_000, release == "kafka-3.9")):
            asked = DescribeConfigsRequest(((Resource(ResourceType.BROKER, str(broker)), names),))
            [found] = (await c.send(broker, asked)).resources
            assert {each.name: each.value for each in found.entries} == dict.fromkeys(names, str(value))
            quotas = c._cluster.brokers[broker].quotas
            for quota in (quotas.leader, quotas.follower, quotas.alter_log_dirs):
                assert quota.listed.rate == (value if counts else UNLIMITED)


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-3.9"])
@in_virtual_time
async def test_partitions_for_auto_create(release: str) -> None:
    """testPartitionsForAutoCreate: asked for again, the new topic has partitions."""
    async with cluster(3, profile=release) as c:
        found: Any = []
        for _ in range(20):
            [topic] = (await c.send(0, ClientMetadataRequest(("non-exist-topic",), creates=True))).topics
            found = topic.partitions
            await c.sleep("100ms")
        assert found


@in_virtual_time
async def test_no_clean_shutdown_after_failed_startup() -> None:
    """ServerShutdownTest.testNoCleanShutdownAfterFailedStartupDueToCorruptLogs (3.3.2): without a directory that can be
    read the process ends."""
    async with cluster(2, {"t": [[0]]}, profile="kafka-3.3", controller=1, checkers=False) as c:
        await c.settled()
        await c.stop(0)
        c.perform(DiskFail(), 0)
        c.start(0)
        await c.sleep("10s")
        assert (c.up(), c.children("/brokers/ids")) == ([1], ("1",))


@pytest.mark.parametrize("release", ["kafka-2.4", "kafka-3.9"])
@in_virtual_time
async def test_elect_unclean_leaders_noop(release: str) -> None:
    """testElectUncleanLeadersNoop (2.4.1)."""
    async with cluster(3, {"t": [[1, 2]]}, profile=release, controller=0) as c:
        await c.settled()
        assert c.leader(TP) == 1
        await c.stop(1)
        assert c.leader(TP) == 2
        c.start(1)
        await c.settled()
        response = await c.send(0, ElectLeadersRequest(ElectionType.UNCLEAN, (TP,), 10_000_000))
        assert response.partitions == ((TP, Errors.ELECTION_NOT_NEEDED),)
        assert c.leader(TP) == 2


@pytest.mark.parametrize("release", ["kafka-2.7", "kafka-3.9"])
@in_virtual_time
async def test_modify_topic_throttles(release: str) -> None:
    """ReassignPartitionsUnitTest.testModifyTopicThrottles, testGetReplicaAssignments (2.7.2)."""
    topics = {"foo": [[0, 1, 2], [1, 2, 3]], "bar": [[2, 3, 0]]}
    async with cluster(4, topics, profile=release) as c:
        leaders, followers = (f"{side}.replication.throttled.replicas" for side in ("leader", "follower"))
        await c.alter_config({leaders: "0:0,1:1"}, topic="foo")
        await c.alter_config({leaders: "0:2", followers: "0:3"}, topic="bar")
        await c.settled()
        asked = DescribeConfigsRequest(
            tuple((Resource(ResourceType.TOPIC, name), (leaders, followers)) for name in ("bar", "foo"))
        )
        found = (await c.send(0, asked)).resources
        assert [{each.name: each.value for each in one.entries} for one in found] == [
            {leaders: "0:2", followers: "0:3"}, {leaders: "0:0,1:1", followers: ""},
        ]  # fmt: skip
        described = (await c.send(0, ClientMetadataRequest(("foo", "bar")))).topics
        assert {
            (topic.name, each.state.tp.partition): list(each.state.replicas)
            for topic in described
            for each in topic.partitions
        } == {(name, number): replicas for name, rows in topics.items() for number, replicas in enumerate(rows)}


@in_virtual_time
async def test_allocate_producer_ids_with_a_single_request_handler() -> None:
    """testHandleAllocateProducerIdsSingleRequestHandlerThread (3.9.0)."""
    async with cluster(2, profile="kafka-3.9", config={"num.io.threads": 1}) as c:
        ids = list[int]()
        for broker in (0, 1):
            for _ in range(1001):
                response = await c.send(broker, InitProducerIdRequest())
                while response.error is Errors.COORDINATOR_LOAD_IN_PROGRESS:
                    await c.sleep("1ms")
                    response = await c.send(broker, InitProducerIdRequest())
                assert response.error is Errors.NONE
                ids.append(response.producer_id)
        assert len(set(ids)) == len(ids) == 2002


@pytest.mark.parametrize("release", ["kafka-3.3", "kafka-3.9"])
@in_virtual_time
async def test_partitions_that_the_tool_adds(release: str) -> None:
    """TopicCommandIntegrationTest: testConfigPreservationAcrossPartitionAlteration, testAlterAssignment,
    testAlterWithInvalidPartitionCount (3.3.2)."""
    async with cluster(6, profile=release) as c:
        await c.create_topic("t", [[5, 3], [3, 1]], {"cleanup.policy": "compact"})
        await c.settled()

        async def policy() -> str | None:
            asked = DescribeConfigsRequest(((Resource(ResourceType.TOPIC, "t"), ("cleanup.policy",)),))
            [found] = (await c.send(0, asked)).resources
            value: str | None = found.entries[0].value
            return value

        assert await policy() == "compact"
        await c.create_partitions("t", 3, [[4, 2]])
        await c.settled()
        assert await policy() == "compact"
        for broker in range(6):
            [topic] = (await c.send(broker, ClientMetadataRequest(("t",)))).topics
            assert len(topic.partitions) == 3
            assert topic.partitions[2].state.replicas == (4, 2)
        with pytest.raises(KafkaError, match="INVALID_PARTITIONS"):
            await c.create_partitions("t", -1)


@pytest.mark.parametrize("release", ["kafka-3.3", "kafka-3.9"])
@in_virtual_time
async def test_all_topics_after_a_deletion(release: str) -> None:
    """testGetAllTopicMetadataShouldNotCreateTopicOrReturnUnknownTopicPartition (3.3.2)."""
    async with cluster(2, {"remaining-topic": [[0]], "later-deleted-topic": [[1]]}, profile=release) as c:
        await c.settled()
        await c.delete_topic("later-deleted-topic")
        for _ in range(50):
            found = (await c.send(0, ClientMetadataRequest(None, creates=True))).topics
            assert Errors.UNKNOWN_TOPIC_OR_PARTITION not in [topic.error for topic in found]
            await c.sleep("1ms")
        await c.settled()
        found = (await c.send(0, ClientMetadataRequest(None, creates=True))).topics
        await c.settled()
        assert [topic.name for topic in found] == ["remaining-topic"]
        assert c.children("/brokers/topics") == ("remaining-topic",)


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-3.9"])
@in_virtual_time
async def test_bootstrap_two_brokers_with_follower_throttle(release: str) -> None:
    """ReplicationQuotasTest.shouldBootstrapTwoBrokersWithFollowerThrottle."""
    assigned = [[0, 6], [1, 6], [2, 6], [3, 7], [4, 7], [5, 7], [0, 6], [1, 7]]
    tps = [TopicPartition("t", number) for number in range(8)]
    size, count, duration = 100_000, 100, 10
    throttle = size * count // duration * 3
    async with cluster(8, {"t": assigned}, profile=release, controller=5) as c:
        await c.settled()
        for broker in (6, 7):
            await c.stop(broker)
        rates = {f"{side}.replication.throttled.rate": throttle for side in ("leader", "follower")}
        for broker in range(8):
            await c.alter_config(rates, broker=broker)
        throttled = ",".join(f"{number}:{assigned[number][1]}" for number in range(6))
        await c.alter_config({"follower.replication.throttled.replicas": throttled}, topic="t")
        await c.settled()
        for _ in range(count):
            for tp in tps:
                await c.produce(tp, size=size, acks=1)

        def ends(broker: int, *numbers: int) -> bool:
            logs = [c.log(broker, tps[number]) for number in numbers]
            return all(log is not None and log.end_offset == count for log in logs)

        assert all(ends(assigned[number][0], number) for number in range(8))
        start = c.now
        for broker in (6, 7):
            c.start(broker)
        await c.until(lambda: ends(6, 6) and ends(7, 7), within="5m")
        unthrottled = c.now - start
        for broker in (6, 7):
            quota = c._cluster.brokers[broker].quotas.follower.listed
            assert quota.rate == throttle
            assert quota.lists == {"t": frozenset(range(3)) if broker == 6 else frozenset(range(3, 6))}
        await c.until(lambda: ends(6, 0, 1, 2) and ends(7, 3, 4, 5), within="5m")
        took = c.now - start
        assert unthrottled < 9
        assert 9 < took < 30
        name = "kafka.server:type=FollowerReplication:byte-rate"
        rate = sum(c.metric(broker, name) for broker in (6, 7)) / 2
        assert 0.5 * throttle < rate < 1.1 * throttle
