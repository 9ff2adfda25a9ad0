"""Cases about topics that are created and deleted, and about settings, drawn at random from Kafka's core suites (1.1.1
to 3.9.0); each names the test that it restates."""

import pytest

from tests.scenarios.conformance.releases import RELEASES
from tests.scenarios.conformance.test_topics_and_metadata import FROM_1_1, create, described
from understudy.protocol import (
    ClientMetadataRequest,
    CoordinatorType,
    DescribeClusterRequest,
    Errors,
    FindCoordinatorRequest,
    LeaderAndIsrPartition,
    LeaderAndIsrRequest,
    NewTopic,
    PartitionMetadata,
    StopReplicaRequest,
    TopicPartition,
    UpdateMetadataRequest,
)
from understudy.testing import ClusterInstance, cluster, in_virtual_time

TP = TopicPartition("t", 0)
RACKS = ["0", "0", "1", "1"]


# -- creation and deletion --------------------------------------------------------------------------------------------


@RELEASES
@in_virtual_time
async def test_marked_deletion_topic_creation(release: str) -> None:
    """AdminZkClientTest.testMarkedDeletionTopicCreation (KAFKA-13175, 3.1): the topic's znodes are gone, and the entry
    in /admin/delete_topics is not."""
    async with cluster(2, {"t": [[0]]}, profile=release, controller=1) as c:
        with c.gate("delete.entry", topic="t") as gate:
            await c.delete_topic("t")
            await gate.reached()
            assert (c.znode("/brokers/topics/t"), c.znode("/admin/delete_topics/t")) == (None, "")
            refused = release >= "kafka-3.3"
            found = await create(c, NewTopic("t", assignment={0: (0,)}), only=True)
            assert found == [Errors.TOPIC_ALREADY_EXISTS if refused else Errors.NONE]
        await c.settled()


@FROM_1_1
@in_virtual_time
async def test_delete_internal_topic(release: str) -> None:
    """TopicCommandWithAdminClientTest.testDeleteInternalTopic: with --bootstrap-server."""
    path = "/admin/delete_topics/__consumer_offsets"
    async with cluster(1, {}, profile=release) as c:
        await c.create_topic("__consumer_offsets", [[0]])
        await c.settled()
        assert c.znode(path) is None
        await c.delete_topic("__consumer_offsets")
        await c.until(lambda: c.partitions() == [] and c.znode(path) is None)
        assert c.log(0, TopicPartition("__consumer_offsets", 0)) is None


@RELEASES
@in_virtual_time
async def test_resume_delete_topic_with_recovered_follower(release: str) -> None:
    """DeleteTopicTest.testResumeDeleteTopicWithRecoveredFollower."""
    async with cluster(4, {"t": [[0, 1, 2]]}, profile=release, controller=3) as c:
        await c.stop(2)
        await c.delete_topic("t")
        await c.until(lambda: [c.log(broker, TP) for broker in (0, 1)] == [None, None])
        assert c.znode("/admin/delete_topics/t") is not None
        c.start(2)
        await c.until(lambda: c.znode("/admin/delete_topics/t") is None and c.partitions() == [])
        assert c.log(2, TP) is None


@FROM_1_1
@in_virtual_time
async def test_auto_create_topic_with_racks(release: str) -> None:
    """RackAwareAutoTopicCreationTest.testAutoCreateTopic: eight partitions, whose replicas are in two racks each."""
    config = {"num.partitions": 8, "default.replication.factor": 2}
    async with cluster(4, {}, profile=release, rack_names=RACKS, config=config) as c:
        await c.send(0, ClientMetadataRequest(("t",), creates=True))
        await c.settled()
        assert list(await c.produce(TP)) == [0]
        placed = [c.replicas(TopicPartition("t", number)) for number in range(8)]
        assert [sum(broker == one[0] for one in placed) for broker in range(4)] == [2] * 4
        assert [sum(broker in one for one in placed) for broker in range(4)] == [4] * 4
        assert all(len({RACKS[broker] for broker in one}) == 2 for one in placed)


@FROM_1_1
@in_virtual_time
async def test_create_with_negative_partition_count(release: str) -> None:
    """TopicCommandIntegrationTest.testCreateWithNegativePartitionCount. (Since 2.4 -1 is the brokers' default where the
    request says so; the tool refuses it.)"""
    async with cluster(1, {}, profile=release) as c:
        assert await create(c, NewTopic("t", -2, 1)) == [Errors.INVALID_PARTITIONS]
        assert c.partitions() == []


@FROM_1_1
@in_virtual_time
async def test_preferred_replica(release: str) -> None:
    """MetadataRequestTest.testPreferredReplica."""
    assignment = [[1, 2, 0], [2, 0, 1]]
    async with cluster(3, {"t1": assignment}, profile=release) as c:
        for broker in (0, 1):
            answer = (await described(c, "t1", broker=broker))["t1"]
            states = [each.state for each in answer.partitions]
            assert answer.error is Errors.NONE
            assert [(list(one.replicas), list(one.isr), one.leader) for one in states] == [
                (replicas, replicas, replicas[0]) for replicas in assignment
            ]


# -- control requests -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("late_by", [1, 0, -1])
@RELEASES
@in_virtual_time
async def test_control_request_with_broker_epoch(release: str, late_by: int) -> None:
    """BrokerEpochIntegrationTest.testControlRequestWith(Stale|Correct|Newer)BrokerEpoch, KafkaApisTest
    .testStopReplicaRequestWithNewerBrokerEpochIsValid (KAFKA-9839, 2.5.1)."""
    newer = Errors.NONE if release >= "kafka-2.5" else Errors.UNKNOWN_SERVER_ERROR
    expected = {1: Errors.STALE_BROKER_EPOCH, 0: Errors.NONE, -1: newer}[late_by]
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2, checkers=False) as c:
        epoch, term = c.broker_epoch(1) - late_by, c.controller_epoch()
        state = LeaderAndIsrPartition(TP, term, 1, 1, (0, 1), 0, (0, 1), False)
        assert (await c.send(1, LeaderAndIsrRequest(2, term, epoch, (state,), (0, 1)))).error is expected
        known = PartitionMetadata(TP, term, 1, 1, (0, 1), 0, (0, 1), ())
        assert (await c.send(1, UpdateMetadataRequest(2, term, epoch, (known,), (0, 1, 2)))).error is expected
        done = expected is Errors.NONE
        assert (c.metadata(1).leader(TP), c.metadata(1).leader_epoch(TP)) == ((1, 1) if done else (0, 0))
        stopped = await c.send(1, StopReplicaRequest(2, term, epoch, True, (TP,), (2,)))
        assert stopped.error is expected
        assert (c.log(1, TP) is None) is done


# -- settings ---------------------------------------------------------------------------------------------------------

LEADERS, FOLLOWERS = "leader.replication.throttled.replicas", "follower.replication.throttled.replicas"


def throttled(c: ClusterInstance, broker: int = 0) -> list[bool]:
    """Whether the leader's quota has each partition of the topic."""
    listed = c._cluster.brokers[broker].quotas.leader.listed
    return [listed.is_throttled(TopicPartition("t", number)) for number in range(3)]


@FROM_1_1
@in_virtual_time
async def test_topic_config_change(release: str) -> None:
    """AdminZkClientTest.testTopicConfigChange: the settings that a topic is created with hold for its logs, but for the
    throttled lists (limits.md); each change replaces those that are named."""
    lists: dict[str, object] = {LEADERS: "0:0,1:0,2:0", FOLLOWERS: "0:1,1:1,2:1"}
    names = ("max.message.bytes", "retention.ms")

    def settings(c: ClusterInstance) -> list[int]:
        log = c._cluster.brokers[0].replicas.partitions[TP].log
        config = log.directory.config_of("t")
        return [config.max_message_bytes, config.retention_us // 1000]

    async with cluster(1, {}, profile=release) as c:
        await c.create_topic("t", [[0], [0], [0]], {names[0]: 1024, names[1]: 1_000_000})
        await c.settled()
        default = [1_000_012 if release < "kafka-2.5" else 1_048_588, 7 * 24 * 3_600_000]
        assert settings(c) == [1024, 1_000_000]
        await c.alter_config(lists, topic="t")
        await c.settled()
        assert (settings(c), throttled(c)) == ([1024, 1_000_000], [True] * 3)
        await c.alter_config({names[0]: 2048, names[1]: 2_000_000, LEADERS: "*", FOLLOWERS: "*"}, topic="t")
        await c.settled()
        assert (settings(c), throttled(c)) == ([2048, 2_000_000], [True] * 3)
        await c.alter_config(remove=[*names, LEADERS, FOLLOWERS], topic="t")
        await c.settled()
        assert (settings(c), throttled(c)) == (default, [False] * 3)
        await c.alter_config(lists, topic="t")
        await c.settled()
        assert throttled(c) == [True] * 3
        await c.alter_config({LEADERS: "", FOLLOWERS: ""}, topic="t")
        await c.settled()
        assert throttled(c) == [False] * 3


@FROM_1_1
@in_virtual_time
async def test_should_propagate_dynamic_broker_configs(release: str) -> None:
    """AdminTest.shouldPropagateDynamicBrokerConfigs."""
    names = [f"{side}.replication.throttled.rate" for side in ("leader", "follower")]

    def limits(c: ClusterInstance) -> set[float]:
        managers = [c._cluster.brokers[broker].quotas for broker in range(3)]
        return {side.listed.rate for each in managers for side in (each.leader, each.follower)}

    async with cluster(3, {}, profile=release) as c:
        for limit in (1_000_000, 2_000_000):
            for broker in range(3):
                await c.alter_config(dict.fromkeys(names, limit), broker=broker)
            await c.settled()
            assert limits(c) == {limit}
            for broker in range(3):
                assert (c.znode(f"/config/brokers/{broker}") or "").count(f'"{limit}"') == 2
        for broker in range(3):
            await c.alter_config(remove=names, broker=broker)
        await c.settled()
        assert limits(c) == {2**63 - 1}


@in_virtual_time
async def test_log_retention_unlimited() -> None:
    """KafkaConfigTest.testLogRetentionUnlimited, of the one of its three settings that there is."""
    async with cluster(1, {"t": [[0]]}, config={"log.retention.ms": -1}) as c:
        log = c._cluster.brokers[0].replicas.partitions[TP].log
        assert log.directory.config_of("t").retention_us < 0


# -- answers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ["kafka-2.3", "kafka-2.7", "kafka-3.3", "kafka-3.9"])
@pytest.mark.parametrize("kind", [CoordinatorType.GROUP, CoordinatorType.TRANSACTION])
@in_virtual_time
async def test_find_coordinator_not_enough_brokers(release: str, kind: CoordinatorType) -> None:
    """KafkaApisTest.testOldFindCoordinatorNotEnoughBrokersForOffsetTopic and its siblings."""
    topic = "__consumer_offsets" if kind is CoordinatorType.GROUP else "__transaction_state"
    async with cluster(2, {}, profile=release) as c:
        [found] = (await c.send(0, FindCoordinatorRequest(("group",), kind))).coordinators
        assert (found.error, found.node) == (Errors.COORDINATOR_NOT_AVAILABLE, -1)
        await c.settled()
        assert c.znode(f"/brokers/topics/{topic}") is None


@pytest.mark.parametrize("release", ["kafka-2.8", "kafka-3.3", "kafka-3.9"])
@in_virtual_time
async def test_list_nodes(release: str) -> None:
    """AdminClientIntegrationTest.testListNodes."""
    async with cluster(3, {}, profile=release) as c:
        response = await c.send(1, DescribeClusterRequest())
        assert sorted(response.live_brokers) == [0, 1, 2]
        assert sorted(c.metadata(1).live_brokers) == [0, 1, 2]


@FROM_1_1
@in_virtual_time
async def test_too_large_record_with_ack_zero(release: str) -> None:
    """ProducerFailureHandlingTest.testTooLargeRecordWithAckZero: the producer learns of no error, and of no offset."""
    config = {"message.max.bytes": 10_000}
    async with cluster(2, {"t": [[0, 1]]}, profile=release, config=config) as c:
        assert list(await c.produce(TP, size=10_001, acks="0")) == []
        await c.settled()
        log = c.log(0, TP)
        assert log is not None
        assert log.end_offset == 0


@RELEASES
@in_virtual_time
async def test_metrics_reporter_after_deleting_topic(release: str) -> None:
    """MetricsTest.testMetricsReporterAfterDeletingTopic."""
    async with cluster(2, {"t": [[0, 1]]}, profile=release) as c:
        await c.produce(TP)
        await c.sleep("2s")
        assert [name for name in c.metrics(0) if "topic=t" in name]
        await c.delete_topic("t")
        await c.until(lambda: c.partitions() == [])
        await c.settled()
        assert [name for broker in (0, 1) for name in c.metrics(broker) if "topic=t" in name] == []
