"""ControllerIntegrationTest and AdminTest of 1.1.1, and AdminTest and LogRecoveryTest of 0.8.0: what the releases
before 2.3 do, by the public API alone. What they do wrong by themselves (KAFKA-7482, KAFKA-1028) fails no test."""

import json
from typing import Any

import pytest

from understudy.protocol import TopicPartition
from understudy.testing import ClusterInstance, KafkaError, cluster, in_virtual_time

CONTROLLER, OTHER = 0, 1
TP = TopicPartition("t", 0)
REASSIGN, ELECT = "/admin/reassign_partitions", "/admin/preferred_replica_election"
BY_HAND = {"auto.leader.rebalance.enable": False}
EARLY = pytest.mark.parametrize("release", ["kafka-0.8", "kafka-1.1"])


def early(release: str, brokers: int, *replicas: int, **more: object) -> ClusterInstance:
    settings: dict[str, Any] = {"controller": CONTROLLER, "config": BY_HAND, **more}
    return cluster(brokers, {"t": [list(replicas)]} if replicas else {}, profile=release, **settings)


def led(c: ClusterInstance) -> tuple[int, int]:
    return c.leader(TP), c.leader_epoch(TP)


def plan(replicas: list[int]) -> str:
    return json.dumps({"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": replicas}]})


# -- ControllerIntegrationTest ----------------------------------------------------------------------------------------


@EARLY
@in_virtual_time
async def test_topics_and_partitions_with_an_offline_replica(release: str) -> None:
    """testTopicCreationWithOfflineReplica, testTopicPartitionExpansionWithOfflineReplica."""
    async with early(release, 2) as c:
        await c.stop(OTHER)
        await c.until(lambda: c.broker_epoch(OTHER) < 0)
        await c.create_topic("t", [[OTHER, CONTROLLER]])
        await c.until(lambda: led(c) == (CONTROLLER, 0))
        assert c.isr(TP) == [CONTROLLER]
        await c.zk.set("/brokers/topics/t", '{"version":1,"partitions":{"0":[1,0],"1":[1,0]}}')
        await c.until(lambda: (c.leader("t-1"), c.leader_epoch("t-1"), c.isr("t-1")) == (CONTROLLER, 0, [CONTROLLER]))


@in_virtual_time
async def test_partition_reassignment_resumes_after_replica_comes_online() -> None:
    """testPartitionReassignmentWithOfflineReplicaHaltingProgress and ...ResumesAfterReplicaComesOnline of 1.1.1."""
    async with early("kafka-1.1", 2, CONTROLLER) as c:
        await c.stop(OTHER)
        await c.zk.create(REASSIGN, plan([OTHER]))
        await c.until(lambda: led(c) == (CONTROLLER, 1))
        await c.settled()
        assert c.znode(REASSIGN) is not None
        c.start(OTHER)
        await c.until(lambda: led(c) == (OTHER, 4))
        await c.until(lambda: (c.replicas(TP), c.znode(REASSIGN)) == ([OTHER], None))


@in_virtual_time
async def test_back_to_back_preferred_replica_leader_elections() -> None:
    """testBackToBackPreferredReplicaLeaderElections of 1.1.1."""
    async with early("kafka-1.1", 2, OTHER, CONTROLLER) as c:
        for epoch in (0, 2):
            await c.stop(OTHER)
            await c.until(lambda epoch=epoch: led(c) == (CONTROLLER, epoch + 1))  # type: ignore[misc]
            c.start(OTHER)
            await c.until(lambda: len(c.isr(TP)) == 2)
            await c.zk.create(ELECT, '{"version":1,"partitions":[{"topic":"t","partition":0}]}')
            await c.until(lambda: c.znode(ELECT) is None)
            await c.until(lambda epoch=epoch: led(c) == (OTHER, epoch + 2))  # type: ignore[misc]


@EARLY
@in_virtual_time
async def test_preferred_replica_leader_election_with_offline_preferred_replica(release: str) -> None:
    """testPreferredReplicaLeaderElectionWithOfflinePreferredReplica."""
    async with early(release, 2, OTHER, CONTROLLER) as c:
        await c.stop(OTHER)
        await c.zk.create(ELECT, '{"version":1,"partitions":[{"topic":"t","partition":0}]}')
        await c.until(lambda: c.znode(ELECT) is None)
        await c.settled()
        assert led(c) == (CONTROLLER, 1)


@in_virtual_time
async def test_auto_preferred_replica_leader_election() -> None:
    """testAutoPreferredReplicaLeaderElection of 1.1.1."""
    config = {"auto.leader.rebalance.enable": True, "leader.imbalance.check.interval.seconds": 1}
    async with early("kafka-1.1", 2, OTHER, CONTROLLER, config=config) as c:
        await c.stop(OTHER)
        await c.until(lambda: led(c) == (CONTROLLER, 1))
        c.start(OTHER)
        await c.until(lambda: led(c) == (OTHER, 2))


@pytest.mark.parametrize("unclean", [False, True])
@in_virtual_time
async def test_leader_and_isr_when_entire_isr_offline(unclean: bool) -> None:
    """testLeaderAndIsrWhenEntireIsrOfflineAndUncleanLeaderElectionDisabled, ...Enabled of 1.1.1."""
    config = {**BY_HAND, "unclean.leader.election.enable": unclean}
    async with early("kafka-1.1", 2, OTHER, config=config) as c:
        await c.stop(OTHER)
        await c.until(lambda: (*led(c), c.isr(TP)) == (-1, 1, [OTHER]))
        await c.settled()
        assert led(c) == (-1, 1)


# -- AdminTest --------------------------------------------------------------------------------------------------------


@EARLY
@pytest.mark.parametrize("new", [[0, 2, 3], [1, 2, 3]])
@in_virtual_time
async def test_partition_reassignment(release: str, new: list[int]) -> None:
    """testPartitionReassignmentWithLeaderInNewReplicas, ...WithLeaderNotInNewReplicas."""
    async with early(release, 4, 0, 1, 2, controller=3) as c:
        await c.reassign({"t-0": new})
        await c.until(lambda: c.znode(REASSIGN) is None)
        await c.settled()
        assert (c.replicas(TP), sorted(c.isr(TP)), c.leader(TP)) == (new, new, new[0])


@EARLY
@in_virtual_time
async def test_partition_reassignment_non_overlapping_replicas(release: str) -> None:
    """testPartitionReassignmentNonOverlappingReplicas, testReassigningNonExistingPartition."""
    async with early(release, 4, 0, 1) as c:
        with pytest.raises(KafkaError, match="no such partitions: none-0"):
            await c.reassign({"none-0": [2, 3]})
        assert c.znode(REASSIGN) is None
        await c.reassign({"t-0": [2, 3]})
        await c.until(lambda: c.znode(REASSIGN) is None)
        await c.settled()
        assert (c.replicas(TP), sorted(c.isr(TP))) == ([2, 3], [2, 3])


@pytest.mark.parametrize("release", ["kafka-0.8", "kafka-1.1", "kafka-2.3", "kafka-2.4", "kafka-2.7"])
@in_virtual_time
async def test_resume_partition_reassignment_that_was_completed(release: str) -> None:
    """testResumePartitionReassignmentThatWasCompleted: the topic and the request are there before the brokers; broker 2
    never comes."""
    async with early(release, 3, controller=None) as c:
        for broker in (2, 1, 0):
            c.stop_uncontrolled(broker)
        await c.until(lambda: not c.up() and c.controller() == -1)
        await c.create_topic("t", [[0, 2]])
        await c.zk.create(REASSIGN, plan([0, 1]))
        for broker in (0, 1):
            c.start(broker)
        await c.until(lambda: c.znode(REASSIGN) is None, within="1m")
        await c.settled()
        assert (c.replicas(TP), sorted(c.isr(TP))) == ([0, 1], [0, 1])
        assert [c.log(broker, TP) is not None for broker in (0, 1)] == [True, True]


@EARLY
@in_virtual_time
async def test_basic_preferred_replica_election(release: str) -> None:
    """testBasicPreferredReplicaElection: back to the first replica."""
    async with early(release, 4, 0, 1, 2, controller=3) as c:
        await c.stop(0)
        await c.until(lambda: c.leader(TP) in (1, 2))
        c.start(0)
        await c.until(lambda: sorted(c.isr(TP)) == [0, 1, 2])
        await c.elect_preferred("t-0")
        await c.until(lambda: c.leader(TP) == 0)


@EARLY
@in_virtual_time
async def test_controlled_shutdown(release: str) -> None:
    """testShutdownBroker (0.8.0), testControlledShutdown (1.1.1): the last one keeps what it leads."""
    async with early(release, 4, 0, 1, 2, controller=3) as c:
        await c.stop(2)
        await c.until(lambda: [c.metadata(b).isr(TP) for b in (0, 1, 3)] == [[0, 1]] * 3)
        assert c.leader(TP) == 0
        await c.stop(0)
        await c.until(lambda: [c.metadata(b).leader(TP) for b in (1, 3)] == [1, 1])
        assert c.isr(TP) == [1]


# -- LogRecoveryTest --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("segment_bytes", [2**30, 3_000])
@pytest.mark.parametrize("release", ["kafka-0.8", "kafka-1.1", "kafka-2.3", "kafka-2.7"])
@in_virtual_time
async def test_hw_checkpoint(release: str, segment_bytes: int) -> None:
    """testHWCheckpointNoFailures(Single|Multiple)LogSegment, testHWCheckpointWithFailuresMultipleLogSegments: both
    brokers know what was committed, after each restart."""
    config = {**BY_HAND, "log.segment.bytes": segment_bytes}
    async with early(release, 3, 0, 1, controller=2, config=config) as c:

        def known(*brokers: int) -> list[int | None]:
            logs = [c.log(broker, TP) for broker in brokers]
            return [None if log is None else log.high_watermark for log in logs]

        for _ in range(10):
            await c.produce(TP, 2)
        await c.until(lambda: known(0, 1) == [20, 20])
        await c.stop(0)
        await c.stop(1)
        c.start(1)
        await c.until(lambda: c.leader(TP) == 1 and known(1) == [20])
        c.start(0)
        await c.until(lambda: sorted(c.isr(TP)) == [0, 1] and known(0) == [20])
        await c.produce(TP, 2)
        await c.until(lambda: known(0, 1) == [22, 22])
