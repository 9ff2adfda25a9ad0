"""Cases about what brokers and controllers say of a cluster, drawn at random from Kafka's core suites (1.1.1 to 3.9.0);
each names the test that it restates."""

import json
from typing import Any

import pytest

from scenarios.errors import BadInput
from tests.scenarios.conformance.releases import RELEASES, WITH_API
from tests.scenarios.conformance.test_topics_and_metadata import FROM_1_1, MINUTE, described
from understudy.protocol import (
    AlterPartitionReassignmentsRequest,
    CreatePartitionsRequest,
    DeleteRecordsRequest,
    DeleteTopicsRequest,
    DescribeConfigsRequest,
    EpochQuery,
    Errors,
    InitProducerIdRequest,
    ListPartitionReassignmentsRequest,
    NewPartitions,
    OffsetsForLeaderEpochRequest,
    Resource,
    ResourceType,
    TopicPartition,
)
from understudy.testing import ClusterInstance, KafkaError, cluster, in_virtual_time

TP = TopicPartition("t", 0)
REPLICAS = "kafka.server:type=ReplicaManager,name={}"
NUMBERS = list(range(6))


# -- metadata and metrics ---------------------------------------------------------------------------------------------


@FROM_1_1
@in_virtual_time
async def test_alive_brokers_list_with_no_topics_after_new_broker_startup(release: str) -> None:
    """TopicMetadataTest.testAliveBrokersListWithNoTopicsAfterNewBrokerStartup."""
    async with cluster(3, {}, profile=release, controller=1) as c:
        await c.stop(0)
        await c.settled()
        assert [c.metadata(broker).live_brokers for broker in (1, 2)] == [(1, 2)] * 2
        c.start(0)
        await c.settled()
        assert [c.metadata(broker).live_brokers for broker in range(3)] == [(0, 1, 2)] * 3


@RELEASES
@in_virtual_time
async def test_describe_under_min_isr_and_under_replicated_partitions(release: str) -> None:
    """TopicCommandIntegrationTest.testDescribeUnder(MinIsr|Replicated)Partitions: six replicas, all needed, one
    down."""
    topic = {"assignment": [NUMBERS], "config": {"min.insync.replicas": 6}}
    async with cluster(6, {"t": topic}, profile=release, controller=5) as c:
        await c.stop(0)
        await c.until(lambda: all(len(c.metadata(broker).isr(TP)) == 5 for broker in NUMBERS[1:]))
        leader = c.leader(TP)
        names = ("UnderMinIsrPartitionCount", "UnderReplicatedPartitions")
        assert [c.metric(leader, REPLICAS.format(name)) for name in names] == [1, 1]


@FROM_1_1
@in_virtual_time
async def test_describe_and_list_topics_marked_for_deletion(release: str) -> None:
    """TopicCommandWithZKClientTest.testDescribeAndListTopicsMarkedForDeletion: its only broker is down."""
    async with cluster(2, {"t": [[0]]}, profile=release, controller=1) as c:
        c.crash(0)
        await c.until(lambda: c.broker_epoch(0) < 0)
        await c.delete_topic("t")
        await c.settled()
        assert (c.children("/admin/delete_topics"), c.children("/brokers/topics")) == (("t",), ("t",))


@RELEASES
@in_virtual_time
async def test_describe_under_min_isr_partitions_mixed(release: str) -> None:
    """TopicCommandIntegrationTest.testDescribeUnderMinIsrPartitionsMixed: of four topics one has too few in the ISR
    and one is offline; the others are as they should be."""
    topics: dict[str, Any] = {
        "under": {"assignment": [NUMBERS], "config": {"min.insync.replicas": 6}}, "not-under": [NUMBERS],
        "offline": [[0]], "full": [[1, 2, 3]],
    }  # fmt: skip
    async with cluster(6, topics, profile=release, controller=5) as c:
        await c.stop(0)
        await c.settled()
        found = {}
        for topic, answer in (await described(c, *topics, broker=4)).items():
            [only] = answer.partitions
            found[topic] = len(only.state.isr) if only.state.leader >= 0 else -1
        assert found == {"under": 5, "not-under": 5, "offline": -1, "full": 3}


@RELEASES
@in_virtual_time
async def test_general_broker_topic_metrics_are_greedily_registered(release: str) -> None:
    """MetricsTest.testGeneralBrokerTopicMetricsAreGreedilyRegistered: those of all topics from the start on, those of
    one with its first records."""

    def names(c: ClusterInstance, topic: bool) -> set[str]:
        return {name for name in c.metrics(0) if "type=BrokerTopicMetrics" in name and (",topic=" in name) is topic}

    async with cluster(1, {"t": [[0], [0]]}, profile=release) as c:
        assert names(c, False)
        assert names(c, True) == set()
        await c.produce(TP)
        await c.sleep("2s")
        assert names(c, True)


# -- registrations ----------------------------------------------------------------------------------------------------


@FROM_1_1
@in_virtual_time
async def test_get_broker_methods(release: str) -> None:
    """KafkaZkClientTest.testGetBrokerMethods: the ids, and what each has registered."""
    async with cluster(2, {}, profile=release, rack_names=["a", "b"]) as c:
        assert sorted(c.children("/brokers/ids")) == ["0", "1"]
        found = [json.loads(c.znode(f"/brokers/ids/{broker}") or "") for broker in (0, 1)]
        assert [one["rack"] for one in found] == ["a", "b"]
        assert c.znode("/brokers/ids/2") is None


@in_virtual_time
async def test_get_broker_metadatas() -> None:
    """AdminTest.testGetBrokerMetadatas (2.3.1): where one broker has no rack, no rack counts (RackAwareMode.Safe)."""
    racks = ["rack1", "rack2", "rack2", "rack1", "", "rack3"]
    async with cluster(6, {}, profile="kafka-2.3", rack_names=racks) as c:
        await c._cluster.brokers[0].admin_zk.create_topic("foo", 3, 2)
        await c.settled()
        assert len(c.partitions()) == 3


# -- settings ---------------------------------------------------------------------------------------------------------


@FROM_1_1
@in_virtual_time
async def test_describe_configs_for_topic(release: str) -> None:
    """AdminClientIntegrationTest.testDescribeConfigsForTopic (2.4.1)."""
    names = ("t", "unknown", "(invalid topic)")
    async with cluster(2, {"t": [[0, 1], [1, 0]]}, profile=release) as c:
        asked = tuple((Resource(ResourceType.TOPIC, name), None) for name in names)
        found = (await c.send(0, DescribeConfigsRequest(asked))).resources
        assert [each.error.code for each in found] == [
            Errors.NONE, Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.INVALID_TOPIC_EXCEPTION,
        ]  # fmt: skip


def test_unclean_election_invalid() -> None:
    """KafkaConfigTest.testUncleanElectionInvalid."""
    with pytest.raises(BadInput):
        cluster(1, config={"unclean.leader.election.enable": "invalid"})


@FROM_1_1
@in_virtual_time
async def test_synonyms(release: str) -> None:
    """DynamicBrokerConfigTest.testSynonyms: of log.roll.ms."""
    async with cluster(1, {}, profile=release) as c:
        await c.alter_config({"log.roll.ms": 100_000}, broker=0)
        await c.settled()
        asked = DescribeConfigsRequest(((Resource(ResourceType.BROKER, "0"), ("log.roll.ms",)),), True)
        [entry] = (await c.send(0, asked)).resources[0].entries
        assert (entry.value, [each.name for each in entry.synonyms]) == ("100000", ["log.roll.ms", "log.roll.hours"])


@FROM_1_1
@in_virtual_time
async def test_broker_id_config_change_and_delete(release: str) -> None:
    """DynamicConfigChangeTest.testBrokerIdConfigChangeAndDelete: the three rates of one broker, and of no other;
    testDefaultBrokerIdConfigChangeAndDelete (KAFKA-10190, 3.9): those of all, where a broker has none of its own."""
    names = [f"{side}.replication.throttled.rate" for side in ("leader", "follower")]
    names.append("replica.alter.log.dirs.io.max.bytes.per.second")

    def rates(c: ClusterInstance) -> list[set[int]]:
        managers = [c._cluster.brokers[broker].quotas for broker in (0, 1)]
        return [{one.listed.rate for one in (each.leader, each.follower, each.alter_log_dirs)} for each in managers]

    async with cluster(2, {}, profile=release) as c:
        await c.alter_config(dict.fromkeys(names, 100_000), broker=0)
        await c.settled()
        assert rates(c) == [{100_000}, {2**63 - 1}]
        await c.alter_config(dict.fromkeys(names, 70_000))
        await c.settled()
        of_all = 70_000 if release == "kafka-3.9" else 2**63 - 1
        assert rates(c) == [{100_000}, {of_all}]
        await c.alter_config(remove=names, broker=0)
        await c.settled()
        assert rates(c) == [{of_all}] * 2
        await c.stop(1)
        c.start(1)
        await c.settled()
        assert rates(c) == [{of_all}] * 2
        await c.alter_config(remove=names)
        await c.settled()
        assert rates(c) == [{2**63 - 1}] * 2


@pytest.mark.parametrize(("release", "holds"), [("kafka-3.6", False), ("kafka-3.9", True)])
@in_virtual_time
async def test_a_rate_of_all_brokers_limits_a_copy(release: str, holds: bool) -> None:
    """KAFKA-10190 (3.9), with the checkers of quotas."""
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=0) as c:
        for _ in range(20):
            await c.produce(TP, 10, size=10_000)
        await c.alter_config({"follower.replication.throttled.replicas": "*"}, topic="t")
        await c.alter_config({"follower.replication.throttled.rate": 100_000})
        await c.settled()
        began = c.now
        await c.reassign({"t-0": [0, 1, 2]})
        await c.until(lambda: 2 in c.isr(TP), within="2m")
        assert (c.now - began > 5) is holds


@pytest.mark.parametrize("release", ["kafka-2.6", "kafka-2.8", "kafka-3.3"])
@in_virtual_time
async def test_modify_topic_throttles(release: str) -> None:
    """ReassignPartitionsUnitTest.testModifyTopicThrottles."""
    sides = [f"{side}.replication.throttled.replicas" for side in ("leader", "follower")]
    async with cluster(2, {"foo": [[0]], "bar": [[0]]}, profile=release) as c:
        await c.alter_config({sides[0]: "0:0"}, topic="foo")
        await c.alter_config({sides[0]: "0:1", sides[1]: "*"}, topic="bar")
        await c.settled()
        asked = tuple((Resource(ResourceType.TOPIC, topic), tuple(sides)) for topic in ("bar", "foo"))
        found = (await c.send(0, DescribeConfigsRequest(asked))).resources
        values = [{entry.name: entry.value for entry in each.entries} for each in found]
        assert [[each[side] for side in sides] for each in values] == [["0:1", "*"], ["0:0", ""]]


# -- requests ---------------------------------------------------------------------------------------------------------


@RELEASES
@in_virtual_time
async def test_delete_topics_by_a_request(release: str) -> None:
    """DeleteTopicsRequestTest.testDeleteTopicsVersions: by name, until no broker knows the topic."""
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2) as c:
        [(_, error)] = (await c.send(2, DeleteTopicsRequest(("t",), MINUTE))).topics
        assert error.code is Errors.NONE
        await c.settled()
        for broker in range(3):
            assert (await described(c, "t", broker=broker))["t"].error is Errors.UNKNOWN_TOPIC_OR_PARTITION


@FROM_1_1
@in_virtual_time
async def test_delete_a_topic_that_is_not_there(release: str) -> None:
    """TopicCommandTest.testDeleteIfExists, without --if-exists."""
    async with cluster(3, {}, profile=release) as c:
        await c.create_topic("t", [[0]])
        await c.settled()
        await c.delete_topic("t")
        await c.settled()
        with pytest.raises(KafkaError):
            await c.delete_topic("t")


@FROM_1_1
@in_virtual_time
async def test_delete_records_with_exception(release: str) -> None:
    """PlaintextAdminIntegrationTest.testDeleteRecordsWithException."""
    async with cluster(3, {"t": [[0, 1, 2]]}, profile=release) as c:
        await c.produce(TP, 10)
        found = []
        for offset in (5, 20):
            [each] = (await c.send(0, DeleteRecordsRequest(((TP, offset),), MINUTE))).partitions
            found.append((each.error, each.low_watermark))
        assert found == [(Errors.NONE, 5), (Errors.OFFSET_OUT_OF_RANGE, -1)]


@FROM_1_1
@in_virtual_time
async def test_fetch_epoch_end_offsets(release: str) -> None:
    """LocalLeaderEndPointTest.testFetchEpochEndOffsets, OffsetsForLeaderEpochTest.shouldGetEpochsFromReplica. (1.1
    answers with the end of the epoch that was asked for, or of the next one: before KIP-279.)"""
    async with cluster(2, {"t": [[0]]}, profile=release, controller=1) as c:

        async def end(epoch: int) -> tuple[Errors, int, int]:
            request = OffsetsForLeaderEpochRequest(1, (EpochQuery(TP, -1, epoch),))
            [each] = (await c.send(0, request)).partitions
            return each.error, each.leader_epoch, each.end_offset

        named = release > "kafka-1.1"
        await c.produce(TP, 3)
        assert await end(0) == (Errors.NONE, 0 if named else -1, 3)
        for _ in range(2):
            await c.stop(0)
            await c.until(lambda: c.leader(TP) == -1)
            c.start(0)
            await c.until(lambda: c.leader(TP) == 0)
        await c.produce(TP, 3)
        now = c.leader_epoch(TP)
        assert now == 4
        assert await end(4) == (Errors.NONE, 4 if named else -1, 6)
        assert await end(3) == (Errors.NONE, 0 if named else -1, 3)
        assert await end(5) == (Errors.NONE, -1, -1)


@WITH_API
@in_virtual_time
async def test_find_partition_reassignment_states(release: str) -> None:
    """ReassignPartitionsUnitTest.testFindPartitionReassignmentStates, PlaintextAdminIntegrationTest
    .testListReassignmentsDoesNotShowNonReassigningPartitions: of two partitions one is moved, and then cancelled."""
    foo, still, quux = TopicPartition("foo", 0), TopicPartition("foo", 1), TopicPartition("quux", 0)
    async with cluster(5, {"foo": [[0, 1, 2], [1, 2, 3]]}, profile=release, controller=4) as c:

        async def listed(*tps: TopicPartition) -> dict[TopicPartition, tuple[int, ...]]:
            found = (await c.send(4, ListPartitionReassignmentsRequest(tps or None))).partitions
            return {tp: each.replicas for tp, each in found}

        assert (await listed(foo, still), await listed()) == ({}, {})
        await c.produce(foo, 100, size=10_000)
        await c.alter_config({"follower.replication.throttled.replicas": "*"}, topic="foo")
        await c.alter_config({"follower.replication.throttled.rate": 1}, broker=3)
        await c.settled()
        asked = AlterPartitionReassignmentsRequest({foo: (0, 1, 3), quux: (1, 2, 3)})
        found = dict((await c.send(4, asked)).partitions)
        assert found == {foo: Errors.NONE, quux: Errors.UNKNOWN_TOPIC_OR_PARTITION}
        assert set(await listed()) <= {foo}
        cancelled = await c.send(4, AlterPartitionReassignmentsRequest({foo: None, quux: None}))
        assert dict(cancelled.partitions)[quux] is Errors.NO_REASSIGNMENT_IN_PROGRESS
        await c.settled()
        assert (await listed(), c.replicas(still)) == ({}, [1, 2, 3])


@FROM_1_1
@in_virtual_time
async def test_error_when_deleting_records_with_invalid_topic(release: str) -> None:
    """DeleteRecordsRequestTest.testErrorWhenDeletingRecordsWithInvalidTopic."""
    async with cluster(2, {}, profile=release) as c:
        asked = DeleteRecordsRequest(((TopicPartition("invalid-topic", 0), 1),), MINUTE)
        [each] = (await c.send(0, asked)).partitions
        assert (each.error, each.low_watermark) == (Errors.UNKNOWN_TOPIC_OR_PARTITION, -1)


@FROM_1_1
@in_virtual_time
async def test_topics_that_are_not_there(release: str) -> None:
    """TopicCommandIntegrationTest.testDescribeWhenTopicDoesntExist, testAlterWhenTopicDoesntExist,
    testAlterAssignmentWithMoreAssignmentThanPartitions."""
    async with cluster(6, {"t": [[0, 1], [1, 2]]}, profile=release) as c:
        found = await described(c, "none")
        assert (found["none"].error, found["none"].partitions) == (Errors.UNKNOWN_TOPIC_OR_PARTITION, ())
        asked = CreatePartitionsRequest((NewPartitions("none", 1),), MINUTE)
        [(_, error)] = (await c.send(c.controller(), asked)).topics
        assert error.code is Errors.UNKNOWN_TOPIC_OR_PARTITION
        with pytest.raises(KafkaError, match=r"^INVALID_REPLICA_ASSIGNMENT"):
            await c.create_partitions("t", 3, [[4, 2], [3, 2]])
        assert c.partitions() == ["t-0", "t-1"]


@FROM_1_1
@in_virtual_time
async def test_seek_after_delete_records(release: str) -> None:
    """AdminClientIntegrationTest.testSeekAfterDeleteRecords: -1 is the high watermark."""
    async with cluster(3, {"t": [[0, 1, 2]]}, profile=release) as c:
        await c.produce(TP, 10)
        for asked, start in ((5, 5), (-1, 10)):
            [each] = (await c.send(0, DeleteRecordsRequest(((TP, asked),), MINUTE))).partitions
            assert (each.error, each.low_watermark) == (Errors.NONE, start)
            assert (await c.list_offsets(TP)).start == start
        log = c.log(0, TP)
        assert log is not None
        assert (log.start_offset, log.end_offset) == (10, 10)


@FROM_1_1
@in_virtual_time
async def test_unique_producer_ids(release: str) -> None:
    """ProducerIdsIntegrationTest.testUniqueProducerIds: more than a block from each of three brokers."""
    async with cluster(3, {}, profile=release) as c:
        found = list[int]()
        while len(found) < 3003:
            response = await c.send(len(found) % 3, InitProducerIdRequest())
            if response.error is Errors.NONE:
                found.append(response.producer_id)
            else:  # where a block has ended
                assert response.error is Errors.COORDINATOR_LOAD_IN_PROGRESS
        assert len(dict.fromkeys(found)) == 3003
        assert min(found) >= 0


@RELEASES
@in_virtual_time
async def test_topic_creation(release: str) -> None:
    """ControllerIntegrationTest.testTopicCreation."""
    async with cluster(1, {}, profile=release) as c:
        await c.create_topic("t", [[0]])
        await c.until(lambda: (c.leader(TP), c.leader_epoch(TP)) == (0, 0))
        state = json.loads(c.znode("/brokers/topics/t/partitions/0/state") or "")
        assert (state["controller_epoch"], state["isr"]) == (1, [0])


@WITH_API
@in_virtual_time
async def test_reassignment(release: str) -> None:
    """ReassignPartitionsIntegrationTest.testReassignment."""
    foo, bar = TopicPartition("foo", 0), TopicPartition("bar", 0)
    async with cluster(5, {"foo": [[0, 1, 2], [1, 2, 3]], "bar": [[3, 2, 1]]}, profile=release) as c:
        assert await c.reassigning() == []
        await c.reassign({"foo-0": [0, 1, 3], "bar-0": [3, 2, 0]})
        await c.reassigned()
        await c.settled()
        assert (c.replicas(foo), c.replicas(bar)) == ([0, 1, 3], [3, 2, 0])
        assert [sorted(c.isr(tp)) for tp in (foo, bar)] == [[0, 1, 3], [0, 2, 3]]
        assert [c.znode(f"/config/brokers/{broker}") for broker in range(5)] == [None] * 5


# -- kafkatest --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ["kafka-2.4", "kafka-2.7", "kafka-3.9"])
@in_virtual_time
async def test_clean_bounce(release: str) -> None:
    """core/replica_scale_test.py: topics with many partitions, whose brokers are restarted one after the other, and
    which are deleted then."""
    topic = {"partitions": 34, "replication_factor": 3, "config": {"min.insync.replicas": 2}}
    async with cluster(5, {f"topic-{n}": topic for n in range(5)}, profile=release) as c:
        for broker in range(5):
            await c.stop(broker)
            c.start(broker)
            await c.settled()
        for n in range(5):
            await c.delete_topic(f"topic-{n}")
        await c.settled()
        assert (c.partitions(), c.children("/admin/delete_topics")) == ([], ())
