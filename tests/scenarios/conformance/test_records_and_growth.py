"""Cases about records, their offsets and their sizes, drawn at random from Kafka's core suites (1.1.1 to 3.9.0); each
names the test that it restates."""

import pytest

from emulator.protocol.clients.fetch import READ_COMMITTED, READ_UNCOMMITTED
from emulator.protocol.clients.list_offsets import EARLIEST, EARLIEST_LOCAL, LATEST
from tests.scenarios.conformance.releases import RELEASES
from tests.scenarios.conformance.test_topics_and_metadata import FROM_1_1, MINUTE, create, described
from understudy.protocol import (
    AlterConfigOp,
    ClientMetadataRequest,
    CreatePartitionsRequest,
    DeleteRecordsRequest,
    DescribeConfigsRequest,
    Errors,
    IncrementalAlterConfigsRequest,
    LeaderAndIsrPartition,
    LeaderAndIsrRequest,
    NewPartitions,
    NewTopic,
    OffsetQuery,
    OffsetsByTimeRequest,
    OpType,
    Resource,
    ResourceType,
    TopicPartition,
)
from understudy.testing import ClusterInstance, KafkaError, cluster, in_virtual_time

TP = TopicPartition("t", 0)


async def found(c: ClusterInstance, time: int, broker: int = 0) -> tuple[Errors, int, int, int]:
    [each] = (await c.send(broker, OffsetsByTimeRequest(-1, (OffsetQuery(TP, -1, time),)))).found
    return each.error, each.offset, each.timestamp_ms, each.leader_epoch


def ends(c: ClusterInstance, broker: int) -> tuple[int, int]:
    log = c.log(broker, TP)
    return (-1, -1) if log is None else (log.start_offset, log.end_offset)


async def delete_before(c: ClusterInstance, offset: int) -> tuple[Errors, int]:
    leader = c.leader(TP)
    [each] = (await c.send(leader, DeleteRecordsRequest(((TP, offset),), MINUTE))).partitions
    return each.error, each.low_watermark


# -- offsets ----------------------------------------------------------------------------------------------------------


@FROM_1_1
@in_virtual_time
async def test_fetch_offset_by_timestamp_includes_leader_epoch(release: str) -> None:
    """UnifiedLogTest.testFetchOffsetByTimestampIncludesLeaderEpoch (KIP-320), ListOffsetsIntegrationTest
    .testEarliestOffset: of the second epoch, too, and of a third one that has no record yet."""

    async def bounced(c: ClusterInstance) -> None:
        await c.stop(0)
        c.start(0)
        await c.until(lambda: c.leader(TP) == 0)

    async with cluster(2, {"t": [[0]]}, profile=release, controller=1) as c:
        assert (await found(c, 0))[1:] == (-1, -1, -1)
        times, epochs = [], []
        for _ in range(2):
            await c.produce(TP)
            epochs.append(c.leader_epoch(TP))
            log = c.log(0, TP)
            assert log is not None
            times.append(log.batches[-1].timestamp_us // 1000)
            await bounced(c)
        assert times[0] < times[1]
        for number in range(2):
            assert await found(c, times[number]) == (Errors.NONE, number, times[number], epochs[number])
        for time in (EARLIEST, EARLIEST_LOCAL):
            assert await found(c, time) == (Errors.NONE, 0, -1, 0)
        assert await found(c, LATEST) == (Errors.NONE, 2, -1, c.leader_epoch(TP))
        assert c.leader_epoch(TP) > epochs[1]


@FROM_1_1
@in_virtual_time
async def test_replica_can_fetch_from_log_start_offset_after_delete_records(release: str) -> None:
    """AdminClientIntegrationTest.testReplicaCanFetchFromLogStartOffsetAfterDeleteRecords: what is deleted while a
    follower is down, first below its end, then above it."""
    async with cluster(3, {"t": [[0, 1, 2]]}, profile=release, controller=2) as c:
        for before, end in ((3, 100), (117, 200)):
            c.crash(1)
            await c.until(lambda: 1 not in c.isr(TP))
            for _ in range(10):
                await c.produce(TP, 10)
            assert await delete_before(c, before) == (Errors.NONE, before)
            c.start(1)
            await c.until(lambda before=before, end=end: ends(c, 1) == (before, end))  # type: ignore[misc]
            await c.settled()
            assert [ends(c, broker) for broker in range(3)] == [(before, end)] * 3


@FROM_1_1
@in_virtual_time
async def test_log_start_offset_checkpoint(release: str) -> None:
    """AdminClientIntegrationTest.testLogStartOffsetCheckpoint: a deletion that asks for less finds the start from
    before all brokers were down."""
    async with cluster(3, {"t": [[0, 1, 2]]}, profile=release) as c:
        await c.produce(TP, 10)
        assert await delete_before(c, 5) == (Errors.NONE, 5)
        for broker in range(3):
            await c.stop(broker)
        for broker in range(3):
            c.start(broker)
        await c.until(lambda: c.leader(TP) >= 0)
        await c.settled()
        assert await delete_before(c, 0) == (Errors.NONE, 5)


@pytest.mark.parametrize("isolation", [READ_UNCOMMITTED, READ_COMMITTED])
@in_virtual_time
async def test_consumer_list_offset_earliest_offset(isolation: int) -> None:
    """KafkaApisTest.testRead(Committed|Uncommitted)ConsumerListOffsetEarliestOffsetEquals* (1.1.1): the log's start,
    also where nothing else is in the log that such a reader may read."""
    async with cluster(2, {"t": [[0]]}, profile="kafka-1.1", controller=1) as c:
        await c.produce(TP, 15)
        assert await delete_before(c, 15) == (Errors.NONE, 15)
        asked = OffsetsByTimeRequest(-1, (OffsetQuery(TP, -1, EARLIEST),), isolation)
        [each] = (await c.send(0, asked)).found
        assert (each.error, each.offset, each.timestamp_ms) == (Errors.NONE, 15, -1)


@pytest.mark.parametrize("release", ["kafka-2.4", "kafka-2.5", "kafka-2.7", "kafka-3.9"])
@in_virtual_time
async def test_reassignment_bytes_in_metrics(release: str) -> None:
    """ReplicaFetcherThreadTest.should(Not)UpdateReassignmentBytesInMetrics(WhenNoReassignmentsInProgress): what a
    replica that is being added copies counts twice (KIP-551, 2.5)."""
    name = "kafka.server:type=BrokerTopicMetrics,name={}BytesInPerSec"
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2) as c:
        await c.produce(TP, 10, size=100)
        await c.reassign({"t-0": [0, 2]})
        await c.settled()
        await c.sleep("2s")
        assert [c.metric(broker, name.format("Replication")) for broker in (1, 2)] == [1000, 1000]
        if release > "kafka-2.4":
            assert [c.metric(broker, name.format("Reassignment")) for broker in (1, 2)] == [0, 1000]


@FROM_1_1
@in_virtual_time
async def test_unclean_election_enabled(release: str) -> None:
    """KafkaConfigTest.testUncleanElectionEnabled."""
    async with cluster(1, {}, profile=release, config={"unclean.leader.election.enable": True}) as c:
        asked = DescribeConfigsRequest(((Resource(ResourceType.BROKER, "0"), None),))
        entries = (await c.send(0, asked)).resources[0].entries
        assert {entry.name: entry.value for entry in entries}["unclean.leader.election.enable"] == "true"


# -- sizes ------------------------------------------------------------------------------------------------------------


@FROM_1_1
@in_virtual_time
async def test_read_before_first_offset(release: str) -> None:
    """LogSegmentTest.testReadBeforeFirstOffset: a reader in the middle of a batch gets all of it."""
    async with cluster(2, {"t": [[0]]}, profile=release) as c:
        for _ in range(2):
            await c.produce(TP, 5)
        assert await c.consume(TP, 10) == list(range(10))
        [error] = [(await found(c, LATEST))[0]]
        assert error is Errors.NONE


# -- creation and growth ----------------------------------------------------------------------------------------------


@FROM_1_1
@in_virtual_time
async def test_topics_whose_numbers_cannot_be(release: str) -> None:
    """TopicCommandTest.testCreateWithInvalidReplicationFactor, TopicCommandIntegrationTest
    .testAlterWithInvalidPartitionCount."""
    async with cluster(2, {"t": [[0]]}, profile=release, controller=0) as c:
        assert await create(c, NewTopic("new", 2, 32768)) == [Errors.INVALID_REPLICATION_FACTOR]
        [(_, error)] = (await c.send(0, CreatePartitionsRequest((NewPartitions("t", -1),), MINUTE))).topics
        assert error.code is Errors.INVALID_PARTITIONS
        with pytest.raises(KafkaError, match=r"^INVALID_PARTITIONS"):
            await c.create_partitions("t", -1)
        assert c.partitions() == ["t-0"]


@FROM_1_1
@in_virtual_time
async def test_topic_with_colliding_char_deletion_and_create_again(release: str) -> None:
    """TopicCommandIntegrationTest.testTopicWithCollidingCharDeletionAndCreateAgain."""
    async with cluster(2, {}, profile=release) as c:
        await c.create_topic("test.a", [[0]])
        await c.settled()
        assert c.znode("/admin/delete_topics/test.a") is None
        await c.delete_topic("test.a")
        await c.until(lambda: c.partitions() == [] and c.children("/admin/delete_topics") == ())
        await c.create_topic("test.a", [[0]])
        await c.until(lambda: c.leader(TopicPartition("test.a", 0)) == 0)


@FROM_1_1
@in_virtual_time
async def test_config_preservation_across_partition_alteration(release: str) -> None:
    """TopicCommandWithAdminClientTest.testConfigPreservationAcrossPartitionAlteration."""
    async with cluster(2, {}, profile=release) as c:
        await c.create_topic("t", [[0]], {"cleanup.policy": "compact"})
        before = c.znode("/config/topics/t")
        assert before is not None
        assert '"cleanup.policy":"compact"' in before
        await c.create_partitions("t", 3)
        await c.settled()
        assert (c.znode("/config/topics/t"), len(c.partitions())) == (before, 3)


@pytest.mark.parametrize("release", ["kafka-2.8", "kafka-3.3", "kafka-3.9"])
@in_virtual_time
async def test_create_txn_topic(release: str) -> None:
    """AutoTopicCreationManagerTest.testCreateTxnTopic: with the number of its partitions and its replication factor."""
    config = {"transaction.state.log.num.partitions": 2, "transaction.state.log.replication.factor": 2}
    async with cluster(3, {}, profile=release, config=config) as c:
        await c.send(1, ClientMetadataRequest(("__transaction_state",), creates=True))
        await c.settled()
        partitions = (await described(c, "__transaction_state"))["__transaction_state"].partitions
        assert [len(each.state.replicas) for each in partitions] == [2, 2]


# -- brokers ----------------------------------------------------------------------------------------------------------


@FROM_1_1
@in_virtual_time
async def test_metadata_refresh(release: str) -> None:
    """PlaintextAdminIntegrationTest.testMetadataRefresh: the controller shuts down; the others describe the topic."""
    async with cluster(3, {}, profile=release) as c:
        await c.create_topic("t", [[0, 1, 2], [1, 2, 0], [2, 0, 1]])
        await c.settled()
        gone = c.controller()
        await c.stop(gone)
        for broker in {0, 1, 2} - {gone}:
            answer = (await described(c, "t", broker=broker))["t"]
            assert (answer.error, len(answer.partitions)) == (Errors.NONE, 3)
            assert c.metadata(broker).live_brokers


@RELEASES
@in_virtual_time
async def test_leader_and_isr_request_with_current_broker_epoch(release: str) -> None:
    """KafkaApisTest.testLeaderAndIsrRequestWithCurrentBrokerEpoch."""
    async with cluster(2, {"t": [[0, 1]]}, profile=release, controller=1, checkers=False) as c:
        state = LeaderAndIsrPartition(TP, 1, 0, c.leader_epoch(TP) + 1, (0, 1), 1, (0, 1), False)
        request = LeaderAndIsrRequest(1, c.controller_epoch(), c.broker_epoch(0), (state,), (0, 1))
        response = await c.send(0, request)
        assert (response.error, response.partitions) == (Errors.NONE, ((TP, Errors.NONE),))


@FROM_1_1
@in_virtual_time
async def test_least_loaded_assignment(release: str) -> None:
    """LogManagerTest.testLeastLoadedAssignment: twenty logs in three directories."""
    async with cluster(1, {}, profile=release, log_dirs=3) as c:
        for number in range(20):
            await c.create_topic(f"topic{number}", [[0]])
            await c.until(lambda number=number: c.leader(TopicPartition(f"topic{number}", 0)) == 0)  # type: ignore[misc]
            counts = [len(disk.list("logs/")) for disk in c._cluster.nodes[0].disks]
            assert sum(counts) == number + 1
            assert max(counts) <= min(counts) + 1


@pytest.mark.parametrize("release", ["kafka-2.4", "kafka-2.7", "kafka-3.9"])
@pytest.mark.parametrize("broker", ["1", ""])
@in_virtual_time
async def test_should_add_broker_dynamic_config(release: str, broker: str) -> None:
    """ConfigCommandTest.shouldAdd(Default)BrokerDynamicConfig: two settings are set and one is deleted, in one request;
    what no broker has in the znode is no error."""
    resource = Resource(ResourceType.BROKER, broker)
    async with cluster(2, {}, profile=release) as c:
        first = (
            AlterConfigOp("message.max.bytes", OpType.SET, "1000"),
            AlterConfigOp("num.io.threads", OpType.SET, "5"),
        )
        second = (
            AlterConfigOp("message.max.bytes", OpType.SET, "10"), AlterConfigOp("leader.replication.throttled.rate",
            OpType.SET, "10"), AlterConfigOp("num.io.threads", OpType.DELETE, ""),
        )  # fmt: skip
        for ops in (first, second):
            [(_, error)] = (await c.send(1, IncrementalAlterConfigsRequest(((resource, ops),)))).resources
            assert error.code is Errors.NONE
        data = c.znode(f"/config/brokers/{broker or '<default>'}") or ""
        assert '"message.max.bytes":"10"' in data
        assert "num.io.threads" not in data


# -- kafkatest --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ["kafka-2.4", "kafka-2.7", "kafka-3.9"])
@in_virtual_time
async def test_produce_consume_with_latency(release: str) -> None:
    """core/round_trip_fault_test.py: 100 ms of latency and 3 Mbit/s on every machine; all that is written is read."""
    network = {"latency": "100ms", "egress": "375kB/s", "ingress": "375kB/s"}
    topic = {"assignment": [[0, 1, 2], [1, 2, 0]], "config": {"min.insync.replicas": 2}}
    async with cluster(3, {"t": topic}, profile=release, network=network) as c:
        for number in range(2):
            for _ in range(10):
                await c.produce(TopicPartition("t", number), 10, size=100)
        for number in range(2):
            assert len(await c.consume(TopicPartition("t", number), 100)) == 100
            assert len(c.isr(TopicPartition("t", number))) == 3
