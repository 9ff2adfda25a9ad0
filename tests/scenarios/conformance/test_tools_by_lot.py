"""More cases of Kafka's suites of producers, consumers, admin clients and tools (1.1.1 to 3.9.0) that were drawn by
lot."""

from contextlib import suppress

import pytest

from brokers.log.checkpoints import HIGH_WATERMARKS, OffsetCheckpointFile
from emulator.protocol.alter_configs import AlterConfigOp, AlterConfigsRequest, IncrementalAlterConfigsRequest, OpType
from emulator.protocol.clients.metadata import ClientMetadataRequest
from emulator.protocol.create_topics import CreateTopicsRequest, NewTopic
from emulator.protocol.describe_configs import DescribeConfigsRequest, Resource, ResourceType
from emulator.protocol.log_dirs import AlterReplicaLogDirsRequest, DescribeLogDirsRequest
from understudy.actions import DiskFail
from understudy.protocol import (
    CoordinatorType,
    ElectionType,
    ElectLeadersRequest,
    Errors,
    FindCoordinatorRequest,
    InitProducerIdRequest,
    ListPartitionReassignmentsRequest,
    TopicPartition,
)
from understudy.testing import ClusterInstance, KafkaError, cluster, in_virtual_time

TP = TopicPartition("t", 0)
MINUTE = 60_000_000


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-3.9"])
@in_virtual_time
async def test_too_large_record_with_ack_zero(release: str) -> None:
    """ProducerFailureHandlingTest.testTooLargeRecordWithAckZero: no error, and no offset."""
    async with cluster(2, {"t": [[0, 1]]}, profile=release, config={"message.max.bytes": 100_000}) as c:
        await c.settled()
        assert list(await c.produce(TP, size=100_001, acks=0)) == []
        await c.settled()
        assert (await c.list_offsets(TP)).end == 0


async def alter(c: ClusterInstance, broker: int, **entries: str) -> Errors:
    given = tuple((name.replace("_", "."), value) for name, value in entries.items())
    asked = AlterConfigsRequest(((Resource(ResourceType.BROKER, str(broker)), given),))
    [(_, error)] = (await c.send(broker, asked)).resources
    await c.settled()
    return Errors(error.code)


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-3.9"])
@in_virtual_time
async def test_dynamic_configs_of_a_broker(release: str) -> None:
    """DynamicBrokerConfigTest.testDynamicListenerConfig, testDynamicConfigInitializationWithoutConfigsInZK: a listener
    more; and a pool of threads, where nothing was in ZooKeeper."""
    async with cluster(2, {"t": [[0]]}, profile=release) as c:
        assert c.children("/config/brokers") == ()
        assert await alter(c, 0, num_io_threads="10", background_threads="20") is Errors.NONE
        more = "PLAINTEXT://hostname:9092,SASL_PLAINTEXT://hostname:9093"
        assert await alter(c, 1, listeners=more) is Errors.NONE


@pytest.mark.parametrize("release", ["kafka-2.4", "kafka-3.9"])
@in_virtual_time
async def test_topic_deletion(release: str) -> None:
    """TopicCommandIntegrationTest.testTopicDeletion."""
    async with cluster(6, profile=release) as c:
        await c.create_topic("t", [[3]])
        await c.settled()
        assert c.znode("/admin/delete_topics/t") is None
        await c.delete_topic("t")
        await c.settled()
        assert c.znode("/admin/delete_topics/t") is None
        assert c.znode("/brokers/topics/t") is None
        assert [c.log(broker, TP) for broker in range(6)] == [None] * 6
        for broker in range(6):
            [topic] = (await c.send(broker, ClientMetadataRequest(("t",)))).topics
            assert topic.error is Errors.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("release", ["kafka-3.3", "kafka-3.9"])
@in_virtual_time
async def test_describe_unavailable_partitions(release: str) -> None:
    """TopicCommandIntegrationTest.testDescribeUnavailablePartitions, testCreateWithReplicaAssignment (3.3.2)."""
    async with cluster(6, profile=release, controller=5, checkers=False) as c:
        await c.create_topic("one", [[number] for number in range(6)])
        await c.create_topic("two", [[5, 4], [3, 2], [1, 0]])
        await c.settled()
        [topic] = (await c.send(2, ClientMetadataRequest(("two",)))).topics
        assert [each.state.replicas for each in topic.partitions] == [(5, 4), (3, 2), (1, 0)]
        await c.stop(0)
        await c.settled()
        for broker in range(1, 6):
            [topic] = (await c.send(broker, ClientMetadataRequest(("one",)))).topics
            lost = [each for each in topic.partitions if each.error is Errors.LEADER_NOT_AVAILABLE]
            assert [(each.state.tp.partition, each.state.leader, each.state.replicas) for each in lost] == [
                (0, -1, (0,))
            ]


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.4"])
@in_virtual_time
async def test_describe_log_dirs(release: str) -> None:
    """AdminClientIntegrationTest.testDescribeLogDirs."""
    async with cluster(3, {"topic": [[number % 3] for number in range(10)]}, profile=release, log_dirs=2) as c:
        await c.settled()
        for broker in range(3):
            found = (await c.send(broker, DescribeLogDirsRequest())).directories
            replicas = {replica.tp.partition: each.name for each in found for replica in each.replicas}
            assert sorted(replicas) == [number for number in range(10) if number % 3 == broker]
            for number, name in replicas.items():
                replica = c._cluster.brokers[broker].replicas.partitions[TopicPartition("topic", number)]
                assert replica.log.directory.disk.name == name


@pytest.mark.parametrize("release", ["kafka-2.7", "kafka-3.9"])
@in_virtual_time
async def test_assign_replicas_to_brokers_with_invalid_parameters(release: str) -> None:
    """AdminRackAwareTest.testAssignReplicasToBrokersWithInvalidParameters (3.9.0), by what a broker answers: with racks
    for some brokers alone no topic is made."""
    async with cluster(5, profile=release) as c:

        async def create(partitions: int, factor: int) -> Errors:
            asked = CreateTopicsRequest((NewTopic("t", partitions, factor),), MINUTE, validate_only=True)
            [topic] = (await c.send(c.controller(), asked)).topics
            error: Errors = topic.error.code
            return error

        assert await create(0, 1) is Errors.INVALID_PARTITIONS
        assert await create(10, 0) is Errors.INVALID_REPLICATION_FACTOR
        assert await create(10, 6) is Errors.INVALID_REPLICATION_FACTOR
        assert await create(10, 5) is Errors.NONE


@in_virtual_time
async def test_contiguous_ids() -> None:
    """ProducerIdManagerTest.testContiguousIds (3.3.2): over three blocks."""
    async with cluster(1, profile="kafka-3.3") as c:
        ids = list[int]()
        while len(ids) < 3000:
            response = await c.send(0, InitProducerIdRequest())
            if response.error is Errors.COORDINATOR_LOAD_IN_PROGRESS:
                await c.sleep("1ms")
                continue
            assert response.error is Errors.NONE
            ids.append(response.producer_id)
        assert ids == list(range(3000))


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.4"])
@in_virtual_time
async def test_fail_if_proposed_does_not_match_existing(release: str) -> None:
    """ReassignPartitionsClusterTest.shouldFailIfProposedDoesNotMatchExisting: the tool refuses, and writes nothing."""
    async with cluster(2, {"t": [[0]]}, profile=release) as c:
        await c.settled()
        with pytest.raises(KafkaError):
            await c.reassign({"t-1": [1]}, via="zk" if release == "kafka-1.1" else None)
        assert c.znode("/admin/reassign_partitions") is None
        assert c.partitions() == ["t-0"]


@in_virtual_time
async def test_list_reassignments_without_any() -> None:
    """testListReassignmentsDoesNotShowNonReassigningPartitions (2.4.1)."""
    async with cluster(3, {"t": [[0, 1, 2]]}, profile="kafka-2.4") as c:
        await c.settled()
        for asked in ((TP,), None):
            found = await c.send(c.controller(), ListPartitionReassignmentsRequest(asked))
            assert (found.error, found.partitions) == (Errors.NONE, ())


@pytest.mark.parametrize("release", ["kafka-3.3", "kafka-3.9"])
@in_virtual_time
async def test_configs_of_topics_that_there_are_not(release: str) -> None:
    """DynamicConfigChangeTest.testIncrementalAlterDefaultTopicConfig, testConfigChangeOnNonExistingTopicWithAdminClient
    (3.3.2)."""
    async with cluster(2, profile=release) as c:
        for name, error in (("", Errors.INVALID_REQUEST), ("none", Errors.UNKNOWN_TOPIC_OR_PARTITION)):
            ops = (AlterConfigOp("flush.messages", OpType.SET, "200000"),)
            asked = IncrementalAlterConfigsRequest(((Resource(ResourceType.TOPIC, name), ops),))
            [(_, found)] = (await c.send(0, asked)).resources
            assert found.code is error


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-3.9"])
@in_virtual_time
async def test_io_exception_during_log_roll(release: str) -> None:
    """LogDirFailureTest.testIOExceptionDuringLogRoll: another replica leads, and the controller knows why."""
    tp = TopicPartition("topic", 0)
    config = {"offsets.topic.replication.factor": 2}
    async with cluster(2, {"topic": [[0, 1]]}, profile=release, log_dirs=3, config=config, checkers=False) as c:
        await c.produce(tp)
        directories = (await c.send(0, DescribeLogDirsRequest((tp,)))).directories
        [failing] = [each.name for each in directories if each.replicas]
        c.perform(DiskFail(log_dir=failing), 0)
        with pytest.raises(KafkaError):
            await c.produce(tp, retries=False, broker=0)
        await c.until(lambda: c.leader(tp) == 1)
        await c.produce(tp)
        await c.settled()
        assert await c.consume(tp, 2) == [0, 1]
        assert c.children("/log_dir_event_notification") == ()
        assert c.isr(tp) == [1]


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-3.9"])
@in_virtual_time
async def test_hw_checkpoint_no_failures_multiple_log_segments(release: str) -> None:
    """LogRecoveryTest.testHWCheckpointNoFailuresMultipleLogSegments."""
    async with cluster(
        2, {"topic": [[0, 1]]}, profile=release, config={"log.segment.bytes": 2000}, checkers=False
    ) as c:
        tp = TopicPartition("topic", 0)
        for _ in range(20):
            await c.produce(tp, size=500)
        await c.settled()
        for broker in (0, 1):
            await c.stop(broker)
        for broker in (0, 1):
            log = c.log(broker, tp)
            assert log is not None
            assert log.end_offset == 20
            checkpoint = OffsetCheckpointFile(c._cluster.nodes[broker].disk, HIGH_WATERMARKS)
            assert checkpoint.get(tp) == 20


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-3.9"])
@in_virtual_time
async def test_add_partition_during_delete_topic(release: str) -> None:
    """DeleteTopicTest.testAddPartitionDuringDeleteTopic."""
    async with cluster(3, {"test": [[0, 1, 2]]}, profile=release) as c:
        await c.settled()
        await c.delete_topic("test")
        with suppress(KafkaError):
            await c.create_partitions("test", 3, [[0, 1, 2], [0, 1, 2]])
        await c.settled()
        assert c.znode("/brokers/topics/test") is None
        assert c.znode("/admin/delete_topics/test") is None
        for broker in range(3):
            assert [c.log(broker, TopicPartition("test", number)) for number in range(3)] == [None] * 3


@pytest.mark.parametrize("kind", list(CoordinatorType))
@in_virtual_time
async def test_find_coordinator_not_enough_brokers(kind: CoordinatorType) -> None:
    """testFindCoordinatorNotEnoughBrokersForTxnTopic (2.8.2)."""
    async with cluster(2, profile="kafka-2.8", config={"transaction.state.log.replication.factor": 3}) as c:
        [found] = (await c.send(0, FindCoordinatorRequest(("group",), kind))).coordinators
        assert found.error is Errors.COORDINATOR_NOT_AVAILABLE
        await c.settled()
        assert c.partitions() == []


@in_virtual_time
async def test_elect_unclean_leaders_for_many_partitions() -> None:
    """testElectUncleanLeadersForManyPartitions (2.4.1)."""
    tps = (TP, TopicPartition("t", 1))
    async with cluster(3, {"t": [[1, 2], [1, 2]]}, profile="kafka-2.4", controller=0, checkers=False) as c:
        await c.settled()
        assert [c.leader(tp) for tp in tps] == [1, 1]
        await c.stop(2)
        await c.until(lambda: [c.isr(tp) for tp in tps] == [[1], [1]])
        await c.stop(1)
        await c.settled()
        assert [c.leader(tp) for tp in tps] == [-1, -1]
        c.start(2)
        await c.settled()
        response = await c.send(0, ElectLeadersRequest(ElectionType.UNCLEAN, tps))
        assert dict(response.partitions) == dict.fromkeys(tps, Errors.NONE)
        assert [c.leader(tp) for tp in tps] == [2, 2]


@pytest.mark.parametrize("release", ["kafka-2.3", "kafka-2.4"])
@in_virtual_time
async def test_metadata_refresh(release: str) -> None:
    """AdminClientIntegrationTest.testMetadataRefresh: topics are made after the controller has changed."""
    async with cluster(3, profile=release) as c:
        await c.create_topic("mytopic", [[0]])
        old = c.controller()
        await c.stop(old)
        c.start(old)
        await c.until(lambda: c.controller() >= 0)
        await c.settled()
        await c.create_topic("mytopic3", [[1]])
        await c.settled()
        for broker in range(3):
            found = (await c.send(broker, ClientMetadataRequest(None))).topics
            assert sorted(topic.name for topic in found) == ["mytopic", "mytopic3"]


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-3.9"])
@in_virtual_time
async def test_too_large_record_with_ack_one(release: str) -> None:
    """ProducerFailureHandlingTest.testTooLargeRecordWithAckOne."""
    async with cluster(2, {"t": [[0, 1]]}, profile=release, config={"message.max.bytes": 100_000}) as c:
        await c.settled()
        with pytest.raises(KafkaError, match="MESSAGE_TOO_LARGE"):
            await c.produce(TP, size=100_001, acks=1)


@in_virtual_time
async def test_reassign_through_the_api() -> None:
    """ReassignPartitionsClusterTest.shouldReassignThroughApi (2.4.1)."""
    async with cluster(2, {"t": [[0]]}, profile="kafka-2.4") as c:
        await c.settled()
        listed = await c.send(c.controller(), ListPartitionReassignmentsRequest((TP,)))
        assert (listed.partitions, c.replicas(TP)) == ((), [0])
        await c.reassign({"t-0": [1]}, via="api")
        await c.settled()
        listed = await c.send(c.controller(), ListPartitionReassignmentsRequest((TP,)))
        assert listed.partitions == ()
        assert c.replicas(TP) == [1]


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.4"])
@in_virtual_time
async def test_move_a_subset_of_partitions(release: str) -> None:
    """ReassignPartitionsClusterTest.shouldMoveSubsetOfPartitions; two of the new replicas in stated directories."""
    assigned = [[0, 1], [1, 2], [2, 0]]
    async with cluster(3, {"topic1": assigned, "topic2": assigned}, profile=release, log_dirs=2) as c:
        await c.settled()
        moved = {"topic1-0": [0, 2], "topic1-2": [0, 2], "topic2-1": [1, 0], "topic2-2": [0, 2]}
        for broker, name in ((2, "topic1-0"), (0, "topic2-1")):
            asked = AlterReplicaLogDirsRequest(((TopicPartition(name[:6], int(name[7:])), "/data/1"),))
            await c.send(broker, asked)
        await c.reassign(moved)
        await c.reassigned()
        await c.settled()
        expected = {f"topic{topic}-{number}": each for topic in (1, 2) for number, each in enumerate(assigned)}
        assert {name: c.replicas(name) for name in c.partitions()} == {**expected, **moved}
        for broker, name in ((2, "topic1-0"), (0, "topic2-1")):
            tp = TopicPartition(name[:6], int(name[7:]))
            found = (await c.send(broker, DescribeLogDirsRequest((tp,)))).directories
            assert [each.name for each in found if each.replicas] == ["/data/1"]


@pytest.mark.parametrize("release", ["kafka-3.3", "kafka-3.9"])
@in_virtual_time
async def test_update_dynamic_thread_pool(release: str) -> None:
    """DynamicBrokerConfigTest.testUpdateDynamicThreadPool (3.3.2), ProducerIdsIntegrationTest.testUniqueProducerIds."""
    before = {
        "num.io.threads": 4, "num.network.threads": 2, "num.replica.fetchers": 1,
        "num.recovery.threads.per.data.dir": 1, "background.threads": 3,
    }  # fmt: skip
    async with cluster(2, {"t": [[0, 1]] * 4}, profile=release, config={"num.io.threads": 4}) as c:
        after = {name: str(2 * value) for name, value in before.items() if name != "num.network.threads"}
        asked = AlterConfigsRequest(((Resource(ResourceType.BROKER, ""), tuple(after.items())),))
        [(_, error)] = (await c.send(0, asked)).resources
        assert error.code is Errors.NONE
        await c.settled()
        shown = DescribeConfigsRequest(((Resource(ResourceType.BROKER, "1"), tuple(after)),))
        [found] = (await c.send(1, shown)).resources
        assert {each.name: each.value for each in found.entries} == after
        ids = list[int]()
        while len(ids) < 2002:
            response = await c.send(len(ids) % 2, InitProducerIdRequest())
            if response.error is Errors.NONE:
                ids.append(response.producer_id)
            else:
                await c.sleep("1ms")
        assert len(set(ids)) == 2002
