"""Cases of Kafka's suites about topics, moves and elections that no other test has, by the public API:
ControllerIntegrationTest, ReassignPartitionsClusterTest, DeleteTopicTest and AddPartitionsTest, 2.4.1."""

import pytest

from tests.scenarios.conformance.releases import RELEASE, RELEASES, WITH_API
from understudy.events import ControllerResigned
from understudy.protocol import (
    AlterPartitionReassignmentsRequest,
    ControlledShutdownRequest,
    Errors,
    ListPartitionReassignmentsRequest,
    TopicPartition,
)
from understudy.testing import ClusterInstance, KafkaError, cluster, in_virtual_time

TP = TopicPartition("t", 0)
CONTROLLER, OTHER = 0, 1
STRAY_AFTER_CANCEL = ("kafka-2.6", "kafka-2.7", "kafka-2.8", "kafka-3.0", "kafka-3.3")
REASSIGN, ELECT = "/admin/reassign_partitions", "/admin/preferred_replica_election"
MOVED = '{"version":1,"brokerid":2,"timestamp":"0"}'
"""Another broker, which does not exist, as the controller."""


# -- ControllerIntegrationTest -----------------------------------------------------------------------------------------


@RELEASES
@in_virtual_time
async def test_controller_epoch_persists_when_all_brokers_down(release: str) -> None:
    """testControllerEpochPersistsWhenAllBrokersDown."""
    async with cluster(1, profile=release) as c:
        assert (c.controller(), c.controller_epoch()) == (0, 1)
        await c.stop(0)
        await c.until(lambda: c.controller() == -1)
        assert c.controller_epoch() == 1


@RELEASES
@in_virtual_time
async def test_partition_reassignment(release: str) -> None:
    """testPartitionReassignment: three leader epochs, the timer of its controller state, and since 2.4 empty lists."""
    timer = "kafka.controller:type=ControllerStats,name=PartitionReassignmentRateAndTimeMs"
    async with cluster(2, {"t": [[CONTROLLER]]}, profile=release, controller=CONTROLLER) as c:
        await c.reassign({"t-0": [OTHER]}, via="zk")
        await c.until(lambda: c.znode(REASSIGN) is None)
        await c.settled()
        assert (c.leader(TP), c.leader_epoch(TP), c.replicas(TP)) == (OTHER, 3, [OTHER])
        assert ('"adding_replicas":{}' in (c.znode("/brokers/topics/t") or "")) == (release != "kafka-2.3")
        assert c.metric(CONTROLLER, timer) > 0


@RELEASES
@in_virtual_time
async def test_preferred_replica_leader_election(release: str) -> None:
    """testPreferredReplicaLeaderElection, by the znode."""
    config = {"auto.leader.rebalance.enable": False}
    async with cluster(2, {"t": [[OTHER, CONTROLLER]]}, profile=release, controller=CONTROLLER, config=config) as c:
        await c.stop(OTHER)
        await c.until(lambda: (c.leader(TP), c.leader_epoch(TP)) == (CONTROLLER, 1))
        c.start(OTHER)
        await c.until(lambda: len(c.isr(TP)) == 2)
        await c.zk.create(ELECT, '{"version":1,"partitions":[{"topic":"t","partition":0}]}')
        await c.until(lambda: c.znode(ELECT) is None)
        await c.until(lambda: (c.leader(TP), c.leader_epoch(TP)) == (OTHER, 2))


@pytest.mark.parametrize("what", ["deletion", "election"])
@RELEASES
@in_virtual_time
async def test_controller_move(release: str, what: str) -> None:
    """testControllerMoveOnTopicDeletion, testControllerMoveOnPreferredReplicaElection: while its thread is held another
    broker becomes controller; the held one then changes nothing, and resigns."""
    async with cluster(2, {"t": [[0]]}, profile=release, controller=CONTROLLER) as c:
        with c.hold_controller():
            if what == "deletion":
                await c.delete_topic("t")
            else:
                await c.zk.create(ELECT, '{"version":1,"partitions":[{"topic":"t","partition":0}]}')
            await c.zk.delete("/controller")
            await c.zk.create("/controller", MOVED)
            await c.zk.set("/controller_epoch", "2")
        await c.until(lambda: [event.node for event in c.events(ControllerResigned)] == [CONTROLLER])
        assert (c.leader(TP), c.leader_epoch(TP)) == (0, 0)
        path = "/admin/delete_topics/t" if what == "deletion" else ELECT
        assert c.znode(path) is not None


@RELEASES
@in_virtual_time
async def test_controlled_shutdown(release: str) -> None:
    """testControlledShutdown: brokers ask one after the other, and stay up; the last one keeps what it leads."""
    async with cluster(3, {"t": [[0, 1, 2]]}, profile=release) as c:

        async def ask(broker: int) -> int:
            request = ControlledShutdownRequest(broker, c.broker_epoch(broker))
            response = await c.send(c.controller(), request)
            assert response.error is Errors.NONE
            await c.settled()
            return len(response.remaining)

        assert await ask(2) == 0
        assert [(c.metadata(b).leader(TP), c.metadata(b).isr(TP)) for b in (0, 1)] == [(0, [0, 1])] * 2
        assert await ask(1) == 0
        assert [c.metadata(broker).leader(TP) for broker in (0, 1, 2)] == [0, 0, 0]
        assert await ask(0) == 1
        assert [c.metadata(broker).leader(TP) for broker in (0, 1, 2)] == [0, 0, 0]


# -- DeleteTopicTest ---------------------------------------------------------------------------------------------------


@RELEASES
@in_virtual_time
async def test_recreate_topic_after_deletion(release: str) -> None:
    """testRecreateTopicAfterDeletion, testDeleteTopicAlreadyMarkedAsDeleted, testDeleteNonExistingTopic."""
    async with cluster(3, {"test": [[0, 1, 2]]}, profile=release) as c:
        await c.produce("test-0", 3)
        with pytest.raises(KafkaError, match=r"^UNKNOWN_TOPIC_OR_PARTITION"):
            await c.delete_topic("test2")
        await c.delete_topic("test")
        await c.delete_topic("test")
        await c.until(lambda: c.znode("/brokers/topics/test") is None and not c.children("/admin/delete_topics"))
        assert [c.log(broker, "test-0") for broker in c.up()] == [None] * 3
        await c.create_topic("test", [[0, 1, 2]])
        await c.until(lambda: [c.log(broker, "test-0") is not None for broker in c.up()] == [True] * 3)
        assert (c.leader("test-0"), c.leader_epoch("test-0")) == (0, 0)
        assert list(await c.produce("test-0")) == [0]


@RELEASES
@in_virtual_time
async def test_disable_delete_topic(release: str) -> None:
    """testDisableDeleteTopic: the request goes, the topic stays."""
    config = {"delete.topic.enable": False}
    async with cluster(3, {"test": [[0, 1, 2]]}, profile=release, config=config) as c:
        await c.delete_topic("test")
        await c.until(lambda: not c.children("/admin/delete_topics"))
        await c.settled()
        assert c.leader("test-0") == 0
        assert [c.log(broker, "test-0") is not None for broker in c.up()] == [True] * 3


# -- AddPartitionsTest -------------------------------------------------------------------------------------------------

PLACED = {
    "new-topic2": ([[1, 2]], [{1, 2}, {0, 2}, {1, 3}], [1, 2, 3]),
    "new-topic3": ([[2, 3, 0, 1]], [{0, 1, 2, 3}] * 7, [2, 3, 0, 1, 2, 3, 0]),
}


@pytest.mark.parametrize("topic", PLACED)
@in_virtual_time
async def test_replica_placement(topic: str) -> None:
    """testReplicaPlacementAllServers, testReplicaPlacementPartialServers."""
    first, replicas, leaders = PLACED[topic]
    async with cluster(4, {topic: first}, profile=RELEASE) as c:
        await c.create_partitions(topic, len(replicas))
        await c.until(lambda: all(c.leader(f"{topic}-{number}") >= 0 for number in range(len(replicas))))
        await c.settled()
        assert [set(c.metadata(0).replicas(f"{topic}-{number}")) for number in range(len(replicas))] == replicas
        assert [c.metadata(0).leader(f"{topic}-{number}") for number in range(len(replicas))] == leaders


@in_virtual_time
async def test_increment_partitions() -> None:
    """testIncrementPartitions, testManualAssignmentOfReplicas, testWrongReplicaCount."""
    async with cluster(4, {"one": [[0, 1]], "two": [[1, 2]]}, profile=RELEASE) as c:
        with pytest.raises(KafkaError, match=r"^INVALID_REPLICA_ASSIGNMENT"):
            await c.create_partitions("one", 2, [[0, 1, 2]])
        await c.create_partitions("one", 3)
        await c.create_partitions("two", 3, [[0, 1], [2, 3]])
        await c.settled()
        found = [c.metadata(0).replicas(f"one-{number}") for number in (1, 2)]
        assert [len(replicas) for replicas in found] == [2, 2]
        assert [c.metadata(0).leader(f"one-{number}") for number in (1, 2)] == [replicas[0] for replicas in found]
        assert [c.metadata(3).replicas(f"two-{number}") for number in range(3)] == [[1, 2], [0, 1], [2, 3]]


# -- ReassignPartitionsClusterTest -------------------------------------------------------------------------------------


@RELEASES
@in_virtual_time
async def test_reassignment_matches_current_assignment(release: str) -> None:
    """testReassignmentMatchesCurrentAssignment: it ends at once, and changes nothing."""
    async with cluster(1, {"t": [[0]]}, profile=release) as c:
        await c.reassign({"t-0": [0]}, via="zk")
        await c.until(lambda: c.znode(REASSIGN) is None)
        await c.settled()
        assert (c.replicas(TP), c.leader(TP), c.isr(TP)) == ([0], 0, [0])


@RELEASES
@in_virtual_time
async def test_multiple_reassignment_operations_over_various_topics(release: str) -> None:
    """shouldPerformMultipleReassignmentOperationsOverVariousTopics: four plans in turn, the last one asked for
    again and again until the znode of the third is gone."""
    topics = {
        "orders": [[0, 1, 2], [0, 1, 2]],
        "payments": [[0, 1], [0, 1]],
        "deliveries": [[0]],
        "customers": [[0], [1], [2], [3]],
    }
    async with cluster(4, topics, profile=release) as c:
        expected = {f"{topic}-{p}": list(replicas) for topic, all in topics.items() for p, replicas in enumerate(all)}
        plans = [
            {"orders-0": [0, 2, 3], "orders-1": [0, 1, 2], "payments-1": [1, 2], "deliveries-0": [1, 2]},
            {"orders-0": [0, 2, 3], "orders-1": [3, 1, 2], "payments-1": [2, 1], "deliveries-0": [1, 2, 3]},
            {"orders-0": [1, 2, 3]},
        ]
        for plan in plans:
            await c.reassign(plan, via="zk")
            expected |= plan
            if plan is not plans[-1]:
                await c.until(lambda: c.znode(REASSIGN) is None)
                assert {tp: c.replicas(tp) for tp in expected} == expected
        refusals = 0
        while True:
            try:
                await c.reassign({"payments-1": [2, 3]}, via="zk")
                break
            except KafkaError:
                refusals += 1
                await c.sleep("1ms")
        expected["payments-1"] = [2, 3]
        await c.until(lambda: c.znode(REASSIGN) is None)
        assert refusals > 0
        assert {tp: c.replicas(tp) for tp in expected} == expected


async def throttle(c: ClusterInstance, *topics: str) -> None:
    """Let no replica of ``topics`` catch up from now on: the first batch passes the quota, and the others do not."""
    for _ in range(5):
        await c.produce(f"{topics[0]}-0", 100, size=10_000)
    for topic in topics:
        lists = {f"{side}.replication.throttled.replicas": "*" for side in ("leader", "follower")}
        await c.alter_config(lists, topic=topic)
    for broker in c.up():
        rates = {f"{side}.replication.throttled.rate": 1 for side in ("leader", "follower")}
        await c.alter_config(rates, broker=broker)
    await c.settled()


async def release_throttle(c: ClusterInstance) -> None:
    for broker in c.up():
        rates = {f"{side}.replication.throttled.rate": 10**9 for side in ("leader", "follower")}
        await c.alter_config(rates, broker=broker)


Listed = dict[TopicPartition, tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]


async def listed(c: ClusterInstance, *tps: TopicPartition) -> Listed:
    """Replicas, adding and removing of each move in progress."""
    response = await c.send(c.controller(), ListPartitionReassignmentsRequest(tps or None))
    assert response.error is Errors.NONE
    return {tp: (found.replicas, found.adding, found.removing) for tp, found in response.partitions}


async def alter(c: ClusterInstance, targets: dict[TopicPartition, tuple[int, ...] | None]) -> list[Errors]:
    response = await c.send(c.controller(), AlterPartitionReassignmentsRequest(targets))
    assert response.error is Errors.NONE
    return [error for _tp, error in response.partitions]


@WITH_API
@in_virtual_time
async def test_incrementally_stack_different_reassignments(release: str) -> None:
    """shouldBeAbleToIncrementallyStackDifferentReassignments."""
    a0, a1, b0 = TopicPartition("A", 0), TopicPartition("A", 1), TopicPartition("B", 0)
    async with cluster(3, {"A": [[0], [0]], "B": [[0]]}, profile=release, controller=2) as c:
        for tp in (a0, a1, b0):
            await c.produce(tp, 100, size=10_000)
        await throttle(c, "A", "B")
        moving: Listed = {}
        for tp in (a0, a1, b0):
            assert await alter(c, {tp: (1,)}) == [Errors.NONE]
            moving[tp] = (1, 0), (1,), (0,)
            assert await listed(c) == moving
        await release_throttle(c)
        await c.until(lambda: [c.replicas(tp) for tp in (a0, a1, b0)] == [[1]] * 3)
        await c.settled()
        assert await listed(c) == {}


@WITH_API
@in_virtual_time
async def test_cancel_through_api(release: str) -> None:
    """shouldBeAbleToCancelThroughApi; ReassignPartitionsIntegrationTest.testCancellation (2.7.2): a second cancellation
    finds nothing. From KIP-570 (2.6) to 3.4.0 the replica that was being added stays (KAFKA-13972): its epoch is the
    controller's."""
    async with cluster(4, {"t": [[0, 1]]}, profile=release, controller=3) as c:
        await throttle(c, "t")
        assert await alter(c, {TP: (2, 1)}) == [Errors.NONE]
        assert await listed(c, TP) == {TP: ((2, 1, 0), (2,), (0,))}
        assert await alter(c, {TP: None}) == [Errors.NONE]
        assert await alter(c, {TP: None}) == [Errors.NO_REASSIGNMENT_IN_PROGRESS]
        await release_throttle(c)
        await c.settled()
        assert (sorted(c.replicas(TP)), sorted(c.isr(TP)), await listed(c)) == ([0, 1], [0, 1], {})
        assert (c.log(2, TP) is None) == (release not in STRAY_AFTER_CANCEL)


@WITH_API
@in_virtual_time
async def test_a_topic_is_deleted_while_it_moves(release: str) -> None:
    """PlaintextAdminIntegrationTest.testListReassignmentsDoesNotShowDeletedPartitions: a move ends with its topic."""
    async with cluster(4, {"t": [[0, 1]]}, profile=release, controller=3, checkers=False) as c:
        await throttle(c, "t")
        assert await alter(c, {TP: (2, 1)}) == [Errors.NONE]
        await c.delete_topic("t")
        await c.until(lambda: not c.children("/admin/delete_topics"))
        await c.settled()
        assert await listed(c) == await listed(c, TP) == {}
        assert [c.log(broker, TP) for broker in c.up()] == [None] * 4
