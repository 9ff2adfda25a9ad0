"""Cases about moves, deletions and offsets, drawn at random from Kafka's core suites (1.1.1 to 3.9.0); each names the
test that it restates."""

import json

import pytest

from emulator.protocol.clients.fetch import PartitionData
from emulator.protocol.fetch import FetchResponse
from emulator.protocol.log_dirs import AlterReplicaLogDirsRequest, DescribeLogDirsRequest
from emulator.protocol.produce import ProducedBatch, ProduceRequest
from tests.scenarios.conformance.releases import RELEASES
from tests.scenarios.conformance.test_records_and_growth import delete_before, ends, found
from tests.scenarios.conformance.test_requests import fetch
from tests.scenarios.conformance.test_topics_and_metadata import FROM_1_1, MINUTE
from understudy.protocol import (
    AlterConfigOp,
    DeleteTopicsRequest,
    DescribeConfigsRequest,
    ElectionType,
    ElectLeadersRequest,
    Errors,
    IncrementalAlterConfigsRequest,
    OpType,
    Resource,
    ResourceType,
    TopicPartition,
)
from understudy.testing import ClusterInstance, cluster, in_virtual_time

TP = TopicPartition("t", 0)
THREE = [[0, 1], [1, 2], [2, 0]]


async def where(c: ClusterInstance, broker: int, tp: TopicPartition) -> list[str]:
    """The directories with a replica that is no future one."""
    directories = (await c.send(broker, DescribeLogDirsRequest((tp,)))).directories
    return [each.name for each in directories for replica in each.replicas if not replica.future]


# -- moves ------------------------------------------------------------------------------------------------------------


@FROM_1_1
@in_virtual_time
async def test_should_shrink_cluster(release: str) -> None:
    """ReassignPartitionsClusterTest.shouldShrinkCluster: nothing is left on the third broker."""
    async with cluster(3, {"t": THREE}, profile=release) as c:
        await c.reassign({f"t-{number}": [number % 2, 1 - number % 2] for number in range(3)})
        await c.settled()
        assert {tuple(sorted(c.replicas(TopicPartition("t", number)))) for number in range(3)} == {(0, 1)}
        assert [c.log(2, TopicPartition("t", number)) for number in range(3)] == [None] * 3


@FROM_1_1
@in_virtual_time
async def test_should_move_subset_of_partitions(release: str) -> None:
    """ReassignPartitionsClusterTest.shouldMoveSubsetOfPartitions: two of the new replicas have a directory stated
    before they are there."""
    proposed = {
        TopicPartition("t1", 0): [0, 2],
        TopicPartition("t1", 2): [0, 2],
        TopicPartition("t2", 1): [1, 0],
        TopicPartition("t2", 2): [0, 2],
    }
    stated = {(2, TopicPartition("t1", 0)): "/data/1", (0, TopicPartition("t2", 1)): "/data/0"}
    async with cluster(3, {"t1": THREE, "t2": THREE}, profile=release, log_dirs=2) as c:
        for (broker, tp), name in stated.items():
            [(_, error)] = (await c.send(broker, AlterReplicaLogDirsRequest(((tp, name),)))).partitions
            assert error in (Errors.REPLICA_NOT_AVAILABLE, Errors.UNKNOWN_TOPIC_OR_PARTITION)
        await c.reassign({f"{tp.topic}-{tp.partition}": replicas for tp, replicas in proposed.items()})
        await c.settled()
        actual = {TopicPartition(t, n): THREE[n] for t in ("t1", "t2") for n in range(3)} | proposed
        assert {tp: c.replicas(tp) for tp in actual} == actual
        for (broker, tp), name in stated.items():
            assert await where(c, broker, tp) == [name]


@FROM_1_1
@in_virtual_time
async def test_alter_log_dirs_after_delete_records(release: str) -> None:
    """PlaintextAdminIntegrationTest.testAlterLogDirsAfterDeleteRecords: a replica begins and ends in its new directory
    where the others do."""
    async with cluster(3, {"t": [[0, 1, 2]]}, profile=release, log_dirs=2) as c:
        await c.produce(TP, 100)
        await c.settled()
        assert await delete_before(c, 3) == (Errors.NONE, 3)
        assert [ends(c, broker) for broker in range(3)] == [(3, 100)] * 3
        [before] = await where(c, 0, TP)
        target = "/data/1" if before == "/data/0" else "/data/0"
        [(_, error)] = (await c.send(0, AlterReplicaLogDirsRequest(((TP, target),)))).partitions
        assert error is Errors.NONE
        await c.settled()
        assert (await where(c, 0, TP), ends(c, 0)) == ([target], (3, 100))


@pytest.mark.parametrize("release", ["kafka-2.6", "kafka-2.7", "kafka-2.8", "kafka-3.3", "kafka-3.9"])
@in_virtual_time
async def test_modify_broker_inter_broker_throttle(release: str) -> None:
    """ReassignPartitionsUnitTest.testModifyBrokerInterBrokerThrottle: a later rate takes the place of an earlier one,
    at the brokers that it is for."""
    names = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
    async with cluster(4, {}, profile=release) as c:
        for brokers, rate in (((0, 1, 2), "1000"), ((0, 3), "100")):
            for broker in brokers:
                resource = Resource(ResourceType.BROKER, str(broker))
                ops = tuple(AlterConfigOp(name, OpType.SET, rate) for name in names)
                [(_, error)] = (await c.send(broker, IncrementalAlterConfigsRequest(((resource, ops),)))).resources
                assert error.code is Errors.NONE
        await c.settled()
        rates = []
        for broker in range(4):
            asked = DescribeConfigsRequest(((Resource(ResourceType.BROKER, str(broker)), None),))
            entries = {entry.name: entry.value for entry in (await c.send(broker, asked)).resources[0].entries}
            rates.append([entries.get(name) for name in names])
        assert rates == [["100"] * 2, ["1000"] * 2, ["1000"] * 2, ["100"] * 2]


# -- records ----------------------------------------------------------------------------------------------------------


@RELEASES
@in_virtual_time
async def test_offsets_for_times_after_delete_records(release: str) -> None:
    """AdminClientIntegrationTest.testOffsetsForTimesAfterDeleteRecords: the first record that is left, or none."""
    async with cluster(3, {"t": [[0, 1, 2], [1, 2, 0]]}, profile=release) as c:
        await c.produce(TP, 10)
        await c.settled()
        assert (await found(c, 0))[:2] == (Errors.NONE, 0)
        assert await delete_before(c, 5) == (Errors.NONE, 5)
        assert (await found(c, 0))[:2] == (Errors.NONE, 5)
        assert await delete_before(c, -1) == (Errors.NONE, 10)
        assert (await found(c, 0))[:2] == (Errors.NONE, -1)


@RELEASES
@in_virtual_time
async def test_non_existent_topic(release: str) -> None:
    """ProducerFailureHandlingTest.testNonExistentTopic: where topics are not created by themselves."""
    async with cluster(2, {}, profile=release, config={"auto.create.topics.enable": False}) as c:
        asked = ProduceRequest(1, 1_000_000, (ProducedBatch(TopicPartition("none", 0), 1, 100, 1),), 100)
        [(_, error, _)] = (await c.send(0, asked)).partitions
        assert error is Errors.UNKNOWN_TOPIC_OR_PARTITION
        assert c.partitions() == []


@pytest.mark.parametrize("release", ["kafka-2.4", "kafka-2.7", "kafka-3.3", "kafka-3.9"])
@in_virtual_time
async def test_produce_consume(release: str) -> None:
    """replica_scale_test.test_produce_consume, at a size for a test: many partitions that ask for two replicas in sync,
    of some of which each record is read back."""
    names = [f"replicas_produce_consume_{number}" for number in range(5)]
    layout = {name: [[n % 8, (n + 1) % 8, (n + 2) % 8] for n in range(10)] for name in names}
    async with cluster(8, layout, profile=release, config={"min.insync.replicas": 2}) as c:
        tps = [TopicPartition(name, number) for name in names[:3] for number in range(10)]
        for tp in tps:
            await c.produce(tp, 20, acks="all")
        assert [await c.consume(tp, 20) for tp in tps] == [list(range(20))] * len(tps)


# -- topics and elections ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ["kafka-2.8", "kafka-3.3", "kafka-3.9"])
@in_virtual_time
async def test_delete_topics_with_ids(release: str) -> None:
    """PlaintextAdminIntegrationTest.testDeleteTopicsWithIds (KIP-516, 2.8)."""
    topics = {"mytopic": [[1, 2], [2, 0]], "mytopic2": [[0, 1, 2]] * 3, "mytopic3": [[0]]}
    async with cluster(3, topics, profile=release) as c:
        ids = [json.loads(c.znode(f"/brokers/topics/{name}") or "")["topic_id"] for name in topics]
        answer = (await c.send(c.controller(), DeleteTopicsRequest((), MINUTE, tuple(ids)))).by_id
        assert [(name, error.code) for _, name, error in answer] == [(name, Errors.NONE) for name in topics]
        await c.settled()
        assert c.partitions() == []


@pytest.mark.parametrize("release", ["kafka-2.4", "kafka-2.7", "kafka-3.9"])
@in_virtual_time
async def test_elect_unclean_leaders_noop(release: str) -> None:
    """AdminClientIntegrationTest.testElectUncleanLeadersNoop, LeaderElectionCommandTest.testTopicDoesNotExist."""
    async with cluster(3, {"t": [[1, 2]]}, profile=release, controller=0) as c:
        await c.stop(1)
        await c.until(lambda: c.leader(TP) == 2)
        c.start(1)
        response = await c.send(0, ElectLeadersRequest(ElectionType.UNCLEAN, (TP,)))
        assert response.partitions == ((TP, Errors.ELECTION_NOT_NEEDED),)
        unknown = TopicPartition("unknown-topic-name", 0)
        response = await c.send(0, ElectLeadersRequest(ElectionType.PREFERRED, (unknown,)))
        assert response.partitions == ((unknown, Errors.UNKNOWN_TOPIC_OR_PARTITION),)


@pytest.mark.parametrize("release", ["kafka-2.7", "kafka-3.3", "kafka-3.9"])
@in_virtual_time
async def test_epoch_validation_within_fetch_session(release: str) -> None:
    """FetchRequestTest.testEpochValidationWithinFetchSessionV12: at the leader and at a follower."""
    async with cluster(4, {"t": [[0, 1, 2]]}, profile=release, controller=3) as c:
        c.crash(0)
        await c.until(lambda: c.metadata(1).leader(TP) == c.metadata(2).leader(TP) == 1)
        await c.settled()
        now = c.leader_epoch(TP)

        async def asked(broker: int, session: tuple[int, int], epoch: int) -> FetchResponse:
            return await c.send(broker, fetch(PartitionData(TP, epoch, 0, -1, 1024), session=session))  # type: ignore[no-any-return]

        for broker in (1, 2):
            session = (await asked(broker, (0, 0), now)).session_id
            assert session
            found = [(await asked(broker, (session, n), now + by)).partitions[0].error for n, by in ((1, -1), (2, 1))]
            assert found == [Errors.FENCED_LEADER_EPOCH, Errors.UNKNOWN_LEADER_EPOCH]


@pytest.mark.parametrize("release", ["kafka-2.4", "kafka-2.7", "kafka-3.3", "kafka-3.9"])
@in_virtual_time
async def test_add_and_remove_metrics(release: str) -> None:
    """PartitionTest.testAddAndRemoveMetrics, without LastStableOffsetLag, which is shown from when it was not 0 on."""
    names = ["AtMinIsr", "InSyncReplicasCount", "ReplicasCount", "UnderMinIsr", "UnderReplicated"]
    async with cluster(2, {"t": [[0]]}, profile=release) as c:
        await c.produce(TP)
        await c.sleep("2s")
        shown = c.metrics(0)
        of = "kafka.cluster:type=Partition,name={},topic=t,partition=0"
        assert [name for name in names if of.format(name) in shown] == names
        await c.delete_topic("t")
        await c.settled()
        assert [name for name in c.metrics(0) if "type=Partition," in name] == []
