"""ControllerIntegrationTest (2.7.2 to 3.9.0), ControllerFailoverTest, BrokerEpochIntegrationTest,
UncleanLeaderElectionTest and TopicDeletionManagerTest: cases about the controller, by the public API."""

import json
from typing import Any

import pytest

from emulator.protocol.alter_isr import AlterIsrPartition, AlterIsrRequest
from tests.scenarios.conformance.releases import RELEASES
from understudy.events import ControllerElected
from understudy.protocol import (
    Errors,
    LeaderAndIsrPartition,
    LeaderAndIsrRequest,
    PartitionMetadata,
    StopReplicaRequest,
    TopicPartition,
    UpdateMetadataRequest,
)
from understudy.testing import ClusterInstance, KafkaError, cluster, in_virtual_time

TP = TopicPartition("t", 0)
CONTROLLER, LEADER, OTHER = 0, 1, 2
REASSIGN = "/admin/reassign_partitions"
SINCE_2_7 = pytest.mark.parametrize(
    "release", ["kafka-2.7", "kafka-2.8", "kafka-3.0", "kafka-3.3", "kafka-3.6", "kafka-3.9"]
)
FENCED = pytest.mark.parametrize("release", ["kafka-3.3", "kafka-3.6", "kafka-3.9"])
"""The releases that check an ISR against what the controller knows (KAFKA-14140, KAFKA-14154)."""


def state(c: ClusterInstance, tp: TopicPartition | str = TP) -> tuple[int, int]:
    return c.leader(tp), c.leader_epoch(tp)


# -- metadata ---------------------------------------------------------------------------------------------------------


@RELEASES
@in_virtual_time
async def test_metadata_propagation_on_broker_shutdown_with_no_replicas(release: str) -> None:
    """testMetadataPropagationOnBrokerShutdownWithNoReplicas (3.3.2): the last broker but one to stop leads nothing; the
    controller's own metadata has the controller alone. Up to 3.0 it stays there while any partition has no leader
    (KafkaController.onReplicasBecomeOffline)."""
    before = release < "kafka-3.3"
    async with cluster(3, {"t": [[LEADER]]}, profile=release, controller=CONTROLLER) as c:
        for broker in (LEADER, OTHER):
            await c.stop(broker)
        await c.settled()
        assert c.metadata(CONTROLLER).live_brokers == ((CONTROLLER, OTHER) if before else (CONTROLLER,))
        assert (c.metadata(CONTROLLER).leader(TP), c.metadata(CONTROLLER).offline_replicas(TP)) == (-1, [LEADER])


# -- auto leader rebalance and moves ----------------------------------------------------------------------------------

REBALANCE = {"auto.leader.rebalance.enable": True, "leader.imbalance.check.interval.seconds": 1}


@pytest.mark.parametrize(
    ("release", "during"),
    [("kafka-2.3", False), ("kafka-2.7", False), ("kafka-3.3", False), ("kafka-3.6", True), ("kafka-3.9", True)],
)
@in_virtual_time
async def test_auto_preferred_replica_leader_election_with_other_reassigning_partitions(
    release: str, during: bool
) -> None:
    """testAutoPreferredReplicaLeaderElectionWithOtherReassigningPartitions (KAFKA-10149, 3.4)."""
    topics = {"t": [[LEADER, CONTROLLER]], "reassigning": [[CONTROLLER]]}
    moved = TopicPartition("reassigning", 0)
    async with cluster(3, topics, profile=release, controller=CONTROLLER, config=REBALANCE) as c:
        await c.stop(LEADER)
        await c.until(lambda: state(c) == (CONTROLLER, 1))
        await c.stop(OTHER)
        await c.until(lambda: c.broker_epoch(OTHER) < 0)
        await c.zk.create(REASSIGN, '{"version":1,"partitions":[{"topic":"reassigning","partition":0,"replicas":[2]}]}')
        await c.until(lambda: state(c, moved) == (CONTROLLER, 1))
        c.start(LEADER)
        if during:
            await c.until(lambda: state(c) == (LEADER, 2))
        else:
            await c.until(lambda: len(c.isr(TP)) == 2)
            await c.sleep("10s")
            assert state(c) == (CONTROLLER, 1)
        c.start(OTHER)
        await c.until(lambda: (*state(c, moved), c.replicas(moved)) == (OTHER, 4, [OTHER]))
        await c.until(lambda: c.znode(REASSIGN) is None)
        await c.until(lambda: state(c) == (LEADER, 2))


@pytest.mark.parametrize("release", ["kafka-3.6", "kafka-3.9"])
@in_virtual_time
async def test_auto_preferred_replica_leader_election_with_same_partition_being_reassigned(release: str) -> None:
    """testAutoPreferredReplicaLeaderElectionWithSamePartitionBeingReassigned."""
    topics = {"t": [[CONTROLLER, LEADER]]}
    async with cluster(3, topics, profile=release, controller=CONTROLLER, config=REBALANCE) as c:
        await c.stop(OTHER)
        await c.until(lambda: c.broker_epoch(OTHER) < 0)
        await c.zk.create(REASSIGN, '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,0,2]}]}')
        await c.until(lambda: state(c) == (LEADER, 2))
        c.start(OTHER)
        await c.until(lambda: (*state(c), c.replicas(TP)) == (LEADER, 3, [1, 0, 2]))
        await c.until(lambda: c.znode(REASSIGN) is None)


# -- what an operator does by hand, with every checker ----------------------------------------------------------------


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.3", "kafka-2.7", "kafka-3.9"])
@in_virtual_time
async def test_a_request_that_is_deleted_by_hand(release: str) -> None:
    """ControllerIntegrationTest.testPartitionReassignmentWithOfflineReplicaHaltingProgress, whose znode the operator
    deletes: the controller has read it, and goes on once the replica is back."""
    async with cluster(4, {"t": [[0, 1, 2]]}, profile=release, controller=1) as c:
        await c.stop(3)
        await c.zk.create(REASSIGN, '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[3,1,2]}]}')
        await c.sleep("5s")
        await c.zk.delete(REASSIGN)
        await c.sleep("2s")
        c.start(3)
        await c.settled()
        assert (c.replicas(TP), sorted(c.isr(TP))) == ([3, 1, 2], [1, 2, 3])


@pytest.mark.parametrize("release", ["kafka-2.7", "kafka-3.9"])
@in_virtual_time
async def test_topic_partition_expansion_by_an_older_tool(release: str) -> None:
    """testTopicPartitionExpansion: the znode is written in the format of before KIP-455 (version 1)."""
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2) as c:
        first = topic_id(c)
        await c.zk.set("/brokers/topics/t", '{"version":1,"partitions":{"0":[0,1],"1":[1,0]}}')
        await c.until(lambda: state(c, "t-1") == (1, 0))
        await c.settled()
        assert topic_id(c) in ("", first)


# -- topic ids --------------------------------------------------------------------------------------------------------


def topic_id(c: ClusterInstance, topic: str = "t") -> str:
    return str(json.loads(c.znode(f"/brokers/topics/{topic}") or "{}").get("topic_id", ""))


@SINCE_2_7
@in_virtual_time
async def test_topic_ids(release: str) -> None:
    """testTopicIdsAreAdded, testTopicIdsAreNotAdded, testTopicIdMigrationAndHandling,
    test(No)TopicIdPersistsThroughControllerReelection, testTopicIdPersistsThroughControllerRestart,
    testTopicIdUpgradeAfterReassigningPartitions' moves: an id stays with its topic."""
    has = release != "kafka-2.7"
    async with cluster(3, {}, profile=release, controller=CONTROLLER) as c:
        for topic in ("t", "u"):
            await c.create_topic(topic, [[0]])
            await c.until(lambda topic=topic: state(c, f"{topic}-0") == (0, 0))  # type: ignore[misc]
        first = topic_id(c)
        assert (bool(first), topic_id(c, "u") != first) == (has, has)
        await c.create_partitions("t", 2)
        await c.reassign({"t-0": [1]}, via="api")
        await c.settled()
        assert topic_id(c) == first
        c.crash(CONTROLLER)
        await c.until(lambda: c.controller() > 0)
        await c.settled()
        c.start(CONTROLLER)
        await c.settled()
        assert topic_id(c) == first
        await c.delete_topic("t")
        await c.settled()
        await c.create_topic("t", [[0]])
        await c.settled()
        assert (topic_id(c) != first) is has


@pytest.mark.parametrize("release", ["kafka-2.8", "kafka-3.0", "kafka-3.9"])
@in_virtual_time
async def test_topic_id_created_on_upgrade(release: str) -> None:
    """testTopicIdCreatedOnUpgrade(MultiBrokerScenario): a topic whose znode a tool has written without an id gets one,
    which stays over a failover."""
    async with cluster(2, {}, profile=release, controller=CONTROLLER) as c:
        await c.zk.create(
            "/brokers/topics/t",
            '{"version":2,"partitions":{"0":[1]},"adding_replicas":{},"removing_replicas":{}}',
        )
        await c.settled()
        assert state(c) == (1, 0)
        first = topic_id(c)
        c.crash(CONTROLLER)
        await c.until(lambda: c.controller() == 1)
        await c.settled()
        assert first
        assert (topic_id(c), c.leader(TP)) == (first, 1)


# -- AlterPartition ---------------------------------------------------------------------------------------------------


async def alter(c: ClusterInstance, tp: TopicPartition = TP, **changes: Any) -> Errors:
    """The error of an AlterPartition as the leader of ``TP`` would send it, but for ``changes``."""
    leader = changes.pop("leader", c.leader(TP))
    epoch = changes.pop("broker_epoch", None)
    if epoch is None:
        epoch = c.broker_epoch(leader)
    asked: dict[str, Any] = {
        "leader_epoch": c.leader_epoch(TP),
        "zk_version": partition_epoch(c),
        "isr": tuple(c.replicas(TP)),
    } | changes
    for name in ("leader_epoch", "zk_version"):
        if isinstance(asked[name], str):
            asked[name] = int(asked[name]) + (c.leader_epoch(TP) if name == "leader_epoch" else partition_epoch(c))
    response = await c.send(c.controller(), AlterIsrRequest(leader, epoch, (AlterIsrPartition(tp, **asked),)))
    if response.error:
        return Errors(response.error)
    [(_tp, error, _state)] = response.partitions
    return Errors(error)


def partition_epoch(c: ClusterInstance) -> int:
    stat = c._cluster.zookeeper.tree.stat("/brokers/topics/t/partitions/0/state")
    return -1 if stat is None else stat.version


@FENCED
@in_virtual_time
async def test_alter_partition_errors(release: str) -> None:
    """testAlterPartitionErrors: errors of epochs come before others; a leader that is ahead asks another controller."""
    async with cluster(2, {"t": [[0, 1]]}, profile=release, controller=CONTROLLER, checkers=False) as c:
        await c.zk.set("/brokers/topics/t", c.znode("/brokers/topics/t") or "")
        await c.settled()
        epoch = c.broker_epoch(0)
        assert await alter(c, broker_epoch=epoch - 1) is Errors.STALE_BROKER_EPOCH
        assert await alter(c, leader=99, broker_epoch=epoch) is Errors.STALE_BROKER_EPOCH
        for unknown in (TopicPartition("unknown", 0), TopicPartition("t", 1)):
            assert await alter(c, unknown) is Errors.UNKNOWN_TOPIC_OR_PARTITION
        assert await alter(c, isr=(0,), zk_version="-1") is Errors.INVALID_UPDATE_VERSION
        assert await alter(c, zk_version="+1") is Errors.NOT_CONTROLLER
        assert await alter(c, leader_epoch="-1") is Errors.FENCED_LEADER_EPOCH
        assert await alter(c, leader_epoch="+1") is Errors.NOT_CONTROLLER
        assert (c.isr(TP), await alter(c)) == ([0, 1], Errors.NONE)


@FENCED
@in_virtual_time
async def test_alter_partition_errors_after_unclean_election(release: str) -> None:
    """testAlterPartitionErrorsAfterUncleanElection."""
    config = {"unclean.leader.election.enable": True}
    topics = {"t": [[1, 2]]}
    async with cluster(3, topics, profile=release, controller=CONTROLLER, config=config, checkers=False) as c:
        await c.stop(1)
        await c.until(lambda: (c.leader(TP), c.isr(TP)) == (2, [2]))
        await c.stop(2)
        await c.until(lambda: (c.leader(TP), c.isr(TP)) == (-1, [2]))
        c.start(1)
        await c.until(lambda: (c.leader(TP), c.isr(TP)) == (1, [1]))
        assert await alter(c, broker_epoch=c.broker_epoch(1) - 1) is Errors.STALE_BROKER_EPOCH
        assert await alter(c, zk_version="-1") is Errors.INVALID_UPDATE_VERSION
        assert await alter(c, zk_version="+1") is Errors.NOT_CONTROLLER
        assert await alter(c, leader_epoch="-1") is Errors.FENCED_LEADER_EPOCH
        assert await alter(c, leader_epoch="+1") is Errors.NOT_CONTROLLER
        assert await alter(c) is Errors.INELIGIBLE_REPLICA
        assert c.isr(TP) == [1]


@SINCE_2_7
@in_virtual_time
async def test_idempotent_alter_partition(release: str) -> None:
    """testIdempotentAlterIsr (2.7.2), testIdempotentAlterPartition (3.3.2): asked again for what it has got, with the
    partition epoch before or the one now, the leader is answered without an error, and nothing is written."""
    async with cluster(2, {"t": [[1, 0]]}, profile=release, controller=CONTROLLER, checkers=False) as c:
        before = partition_epoch(c)
        c.pause(1)
        assert await alter(c, isr=(1,), zk_version=before) is Errors.NONE
        assert (c.isr(TP), partition_epoch(c)) == ([1], before + 1)
        for version in (before, before + 1):
            assert await alter(c, isr=(1,), zk_version=version) is Errors.NONE
        assert (c.isr(TP), partition_epoch(c)) == ([1], before + 1)


@pytest.mark.parametrize(
    ("release", "error"), [("kafka-3.0", Errors.NONE), ("kafka-3.3", Errors.INELIGIBLE_REPLICA),
                           ("kafka-3.9", Errors.INELIGIBLE_REPLICA)],
)  # fmt: skip
@in_virtual_time
async def test_shutdown_broker_not_added_to_isr(release: str, error: Errors) -> None:
    """testShutdownBrokerNotAddedToIsr (KAFKA-14140, 3.3): it is added once it is back."""
    async with cluster(2, {"t": [[0, 1]]}, profile=release, controller=CONTROLLER, checkers=False) as c:
        await c.stop(1)
        await c.until(lambda: c.isr(TP) == [0])
        assert await alter(c, isr=(0, 1)) is error
        if error:
            assert c.isr(TP) == [0]
        c.start(1)
        await c.until(lambda: c.isr(TP) == [0, 1])


# -- a controller that resigns ----------------------------------------------------------------------------------------


@RELEASES
@in_virtual_time
async def test_a_controller_is_elected_again(release: str) -> None:
    """ControllerFailoverTest: after its znode is gone, there is another term, and all goes on."""
    async with cluster(3, {"t": [[1, 2]]}, profile=release, controller=CONTROLLER) as c:
        epoch = c.controller_epoch()
        await c.zk.delete("/controller")
        await c.until(lambda: c.controller() >= 0 and c.controller_epoch() > epoch)
        await c.settled()
        elected = [event.controller_epoch for event in c.events(ControllerElected)]
        assert elected == sorted(set(elected))
        await c.create_topic("u", [[0, 1, 2]])
        await c.until(lambda: c.leader("u-0") == 0)


# -- BrokerEpochIntegrationTest ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("off", [-1, 0, 1])
@RELEASES
@in_virtual_time
async def test_control_request_with_broker_epoch(release: str, off: int) -> None:
    """testControlRequestWithCorrectBrokerEpoch, ...StaleBrokerEpoch, ...NewerBrokerEpoch (2.7.2): before 2.5.1 a newer
    epoch is an error that nothing expects (KAFKA-9839)."""
    async with cluster(2, {"t": [[0, 1]]}, profile=release, controller=CONTROLLER, checkers=False) as c:
        epoch, term = c.broker_epoch(1) + off, c.controller_epoch()
        expected = Errors.STALE_BROKER_EPOCH if off < 0 else Errors.NONE
        if off > 0 and release in ("kafka-2.3", "kafka-2.4"):
            expected = Errors.UNKNOWN_SERVER_ERROR
        wanted = LeaderAndIsrPartition(TP, term, 1, 1, (0, 1), 1, (0, 1), False)
        answer = await c.send(1, LeaderAndIsrRequest(0, term, epoch, (wanted,), (0, 1)))
        assert answer.error is expected
        metadata = PartitionMetadata(TP, term, 1, 1, (0, 1), 1, (0, 1), ())
        answer = await c.send(1, UpdateMetadataRequest(0, term, epoch, (metadata,), (0, 1)))
        assert (answer.error, c.metadata(1).leader(TP)) == (expected, 0 if expected else 1)
        answer = await c.send(1, StopReplicaRequest(0, term, epoch, True, (TP,), (2,)))
        assert (answer.error, c.log(1, TP) is None) == (expected, not expected)


@RELEASES
@in_virtual_time
async def test_controller_broker_epoch_cache_matches_with_zk(release: str) -> None:
    """testReplicaManagerBrokerEpochMatchesWithZk, testControllerBrokerEpochCacheMatchesWithZk."""
    async with cluster(2, {"t": [[0, 1]]}, profile=release, controller=CONTROLLER) as c:

        def known() -> dict[int, int]:
            return dict(c._cluster.controllers[CONTROLLER].context.brokers)

        def registered() -> dict[int, int]:
            return {int(id): c.broker_epoch(int(id)) for id in c.children("/brokers/ids")}

        assert known() == registered()
        first = c.broker_epoch(1)
        await c.stop(1)
        await c.until(lambda: known() == registered() and len(known()) == 1)
        c.start(1)
        await c.until(lambda: known() == registered() and len(known()) == 2)
        assert c.broker_epoch(1) > first


# -- UncleanLeaderElectionTest ----------------------------------------------------------------------------------------

UNCLEAN = "unclean.leader.election.enable"
METER = "kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec"


async def lost_its_follower(c: ClusterInstance) -> None:
    """The partition of brokers 1 and 2 is left with broker 2 alone, which lacks a record."""
    await c.produce(TP)
    await c.stop(2)
    await c.until(lambda: c.isr(TP) == [1])
    await c.produce(TP)
    await c.stop(1)
    await c.until(lambda: c.leader(TP) == -1)
    c.start(2)


@pytest.mark.parametrize(("broker", "topic"), [(True, None), (False, True), (True, False), (False, None)])
@RELEASES
@in_virtual_time
async def test_unclean_leader_election(release: str, broker: bool, topic: bool | None) -> None:
    """testUncleanLeaderElectionEnabled, ...Disabled, ...EnabledByTopicOverride, ...DisabledByTopicOverride: with the
    meter, and, where it is disabled, what happens when the leader is back."""
    unclean = broker if topic is None else topic
    async with cluster(3, {}, profile=release, controller=CONTROLLER, config={UNCLEAN: broker}, checkers=False) as c:
        await c.create_topic("t", [[1, 2]], {} if topic is None else {UNCLEAN: topic})
        await c.until(lambda: len(c.isr(TP)) == 2)
        await lost_its_follower(c)
        if unclean:
            await c.until(lambda: c.leader(TP) == 2)
            assert c.metric(CONTROLLER, METER) == 1
            assert list(await c.produce(TP)) == [1]
            return
        await c.until(lambda: c.metadata(2).isr(TP) == [1])
        assert (c.metadata(2).leader(TP), c.leader(TP)) == (-1, -1)
        with pytest.raises(KafkaError):
            await c.produce(TP, within="1s")
        c.start(1)
        await c.until(lambda: c.leader(TP) == 1)
        assert list(await c.produce(TP)) == [2]
        await c.until(lambda: c.metadata(2).isr(TP) == [1, 2])
        await c.stop(1)
        await c.until(lambda: c.leader(TP) == 2)
        assert await c.consume(TP, 3) == [0, 1, 2]
        assert c.metric(CONTROLLER, METER) == 0


@pytest.mark.parametrize("whole", [True, False])
@RELEASES
@in_virtual_time
async def test_topic_unclean_leader_election_enable_with_alter_topic_configs(release: str, whole: bool) -> None:
    """testTopicUncleanLeaderElectionEnableWithAlterTopicConfigs (3.9.0; KIP-265's since 1.1 and 2.0): while the leader
    is alive the setting changes nothing; once it is dead the controller elects as soon as the setting comes."""
    async with cluster(3, {"t": [[1, 2]]}, profile=release, controller=CONTROLLER, checkers=False) as c:
        for value in () if whole else (True, False):
            await c.alter_config({UNCLEAN: value}, topic="t")
            await c.sleep("10s")
            assert c.leader(TP) == 1
        await lost_its_follower(c)
        await c.until(lambda: c.metadata(2).isr(TP) == [1])
        assert c.metric(CONTROLLER, METER) == 0
        if whole:
            await c.alter_config({UNCLEAN: True})
        else:
            await c.alter_config({UNCLEAN: True}, topic="t")
        await c.until(lambda: c.leader(TP) == 2)
        assert c.metric(CONTROLLER, METER) == 1
        assert list(await c.produce(TP)) == [1]


# -- TopicDeletionManagerTest -----------------------------------------------------------------------------------------


@RELEASES
@in_virtual_time
async def test_deletion_with_broker_offline(release: str) -> None:
    """testDeletionWithBrokerOffline, testBrokerFailureAfterDeletionStarted, testInitialization: the topic waits, also
    over a failover, while others are deleted."""
    topics = {"foo": [[1, 2], [2, 1]], "bar": [[0, 1]]}
    async with cluster(4, topics, profile=release, controller=3, checkers=False) as c:
        await c.stop(2)
        await c.settled()
        for topic in topics:
            await c.delete_topic(topic)
        await c.until(lambda: c.znode("/brokers/topics/bar") is None)
        await c.settled()
        assert c.children("/admin/delete_topics") == ("foo",)
        c.crash(3)
        await c.until(lambda: c.controller() not in (3, -1))
        await c.settled()
        assert c.children("/admin/delete_topics") == ("foo",)
        c.start(2)
        await c.until(lambda: not c.children("/admin/delete_topics"))
        assert c.partitions() == []
