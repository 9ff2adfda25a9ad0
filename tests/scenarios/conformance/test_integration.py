"""Cases of Kafka's integration suites (2.4.1) that docs/extend/sources/conformance.md does not list, by the public API.

Kafka's tests start as many brokers as they need and ask which of them is the controller; here it is named.
"""

import json

import pytest

from tests.scenarios.conformance.releases import RELEASE
from understudy.events import ControllerResigned
from understudy.testing import KafkaError, cluster, in_virtual_time

CONTROLLER, OTHER = 0, 1


@in_virtual_time
async def test_partition_reassignment_resumes_after_replica_comes_online() -> None:
    """ControllerIntegrationTest.testPartitionReassignmentResumesAfterReplicaComesOnline."""
    async with cluster(2, {"t": [[CONTROLLER]]}, profile=RELEASE, controller=CONTROLLER) as c:
        await c.stop(OTHER)
        await c.zk.create("/admin/reassign_partitions", plan("t", [OTHER]))
        await c.until(lambda: (c.leader("t-0"), c.leader_epoch("t-0")) == (CONTROLLER, 1))
        c.start(OTHER)
        await c.until(lambda: (c.leader("t-0"), c.leader_epoch("t-0")) == (OTHER, 4))
        await c.until(lambda: c.replicas("t-0") == [OTHER])
        await c.until(lambda: c.znode("/admin/reassign_partitions") is None)


def plan(topic: str, replicas: list[int]) -> str:
    """The data of /admin/reassign_partitions."""
    return json.dumps({"version": 1, "partitions": [{"topic": topic, "partition": 0, "replicas": replicas}]})


@in_virtual_time
async def test_preferred_replica_leader_election_with_offline_preferred_replica() -> None:
    """ControllerIntegrationTest.testPreferredReplicaLeaderElectionWithOfflinePreferredReplica."""
    async with cluster(2, {"t": [[OTHER, CONTROLLER]]}, profile="kafka-2.3", controller=CONTROLLER) as c:
        await c.stop(OTHER)
        await c.elect_preferred("t-0")
        await c.until(lambda: c.znode("/admin/preferred_replica_election") is None)
        assert (c.leader("t-0"), c.leader_epoch("t-0")) == (CONTROLLER, 1)


@in_virtual_time
async def test_leader_and_isr_when_entire_isr_offline_and_unclean_leader_election_disabled() -> None:
    """ControllerIntegrationTest.testLeaderAndIsrWhenEntireIsrOfflineAndUncleanLeaderElectionDisabled."""
    async with cluster(2, {"t": [[OTHER]]}, profile=RELEASE, controller=CONTROLLER) as c:
        assert (c.leader("t-0"), c.leader_epoch("t-0")) == (OTHER, 0)
        await c.stop(OTHER)
        await c.until(lambda: (c.leader("t-0"), c.leader_epoch("t-0"), c.isr("t-0")) == (-1, 1, [OTHER]))


@in_virtual_time
async def test_controller_move_on_partition_reassignment() -> None:
    """ControllerIntegrationTest.testControllerMoveOnPartitionReassignment: while its thread is held, another broker
    (which does not exist) becomes controller; the held one then writes nothing, and resigns."""
    async with cluster(2, {"t": [[CONTROLLER]]}, profile=RELEASE, controller=CONTROLLER) as c:
        with c.hold_controller():
            await c.reassign({"t-0": [OTHER]}, via="zk")
            await c.zk.delete("/controller")
            await c.zk.create("/controller", '{"version":1,"brokerid":2,"timestamp":"0"}')
            await c.zk.set("/controller_epoch", "2")
        await c.until(lambda: [event.node for event in c.events(ControllerResigned)] == [CONTROLLER])
        assert (c.replicas("t-0"), c.leader_epoch("t-0")) == ([CONTROLLER], 0)


@in_virtual_time
async def test_leader_election_and_epoch() -> None:
    """LeaderElectionTest.testLeaderElectionAndEpoch, whose brokers have no controlled shutdown. The leader is the
    controller, too: the next controller raises the epoch when its replica goes offline, and again when it elects."""
    config = {"controlled.shutdown.enable": False, "auto.leader.rebalance.enable": False}
    async with cluster(2, {"new-topic": [[0, 1]]}, profile=RELEASE, config=config, controller=0) as c:
        tp = "new-topic-0"
        assert (c.leader(tp), c.leader_epoch(tp)) == (0, 0)
        await c.stop(0)
        await c.until(lambda: c.leader(tp) == 1)
        assert c.leader_epoch(tp) == 2
        c.start(0)
        await c.until(lambda: len(c.metadata(1).isr(tp)) == 2)
        await c.stop(1)
        await c.until(lambda: c.leader(tp) == 0)
        assert c.leader_epoch(tp) == 4


@in_virtual_time
async def test_isr_after_broker_shut_down_and_joins_back() -> None:
    """MetadataRequestTest.testIsrAfterBrokerShutDownAndJoinsBack."""
    async with cluster(3, {"topic": [[0, 1, 2]]}, profile=RELEASE) as c:
        await c.stop(2)
        c.start(2)
        await c.until(lambda: [sorted(c.metadata(broker).isr("topic-0")) for broker in c.up()] == [[0, 1, 2]] * 3)


@in_virtual_time
async def test_controller_id() -> None:
    """MetadataRequestTest.testControllerId."""
    async with cluster(3, profile=RELEASE) as c:
        first = c.controller()
        assert [c.metadata(broker).controller for broker in c.up()] == [first] * 3
        await c.stop(first)
        c.start(first)
        await c.until(lambda: c.controller() not in (-1, first))
        await c.until(lambda: [c.metadata(broker).controller for broker in c.up()] == [c.controller()] * 3)


@in_virtual_time
async def test_topic_unclean_leader_election_enable() -> None:
    """UncleanLeaderElectionTest.testTopicUncleanLeaderElectionEnable."""
    unclean = "kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec"
    leader, follower, controller = 0, 1, 2
    async with cluster(3, {"topic": [[leader, follower]]}, profile=RELEASE, controller=controller) as c:
        await c.produce("topic-0")
        assert await c.consume("topic-0", 1) == [0]
        await c.stop(follower)
        await c.produce("topic-0")
        assert await c.consume("topic-0", 2) == [0, 1]

        await c.stop(leader)
        c.start(follower)
        await c.sleep("5s")
        assert c.metric(controller, unclean) == 0
        with pytest.raises(KafkaError, match="LEADER_NOT_AVAILABLE"):
            await c.produce("topic-0", within="1s")
        consumer = c.consumer("topic-0")
        await c.sleep("2s")
        assert consumer.records == 0

        await c.alter_config({"unclean.leader.election.enable": True}, topic="topic")
        await c.until(lambda: c.leader("topic-0") == follower)
        await c.until(lambda: c.metric(controller, unclean) == 1)
        await c.produce("topic-0")
        assert await c.consume("topic-0", 2) == [0, 1], "the second record was lost, and the third has its offset"
        log = c.log(follower, "topic-0")
        assert log is not None
        assert [batch.leader_epoch for batch in log.batches] == [0, c.leader_epoch("topic-0")]
