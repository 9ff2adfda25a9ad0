"""C07, C09, C13: what brokers learn from the controller, and which controller's requests they accept."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from emulator.gates import Visit
from emulator.kernel import Signal, World
from emulator.protocol import znodes
from emulator.protocol.events import ControlResponse
from emulator.protocol.metadata import MetadataRequest
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import ZkClient
from scenarios.cluster import Cluster
from scenarios.cluster.clients.tools import reassign, topics
from scenarios.cluster.from_scenario import cluster_setup
from scenarios.language import Scenario
from tests.scenarios.runs.building import TP, scenario

EXPIRY_US = 15_000_000
SOON_US = 1_000_000


def drive(wanted: Scenario, test: Callable[[Cluster], Awaitable[object]]) -> list[Any]:
    """``test`` with the cluster of ``wanted``; returns every event."""
    world = World(wanted.seed)
    cluster = Cluster(world, cluster_setup(wanted))
    events: list[Any] = []
    cluster.trace.sink(events.extend)
    world.run(cluster.run, test)
    cluster.trace.flush()
    return events


def zk(cluster: Cluster) -> ZkClient:
    return cluster.operator.zk


def metadata(cluster: Cluster, broker: int, tp: TopicPartition = TP) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What ``broker`` knows: who is alive, and the replicas of ``tp`` that are offline."""
    cache = cluster.brokers[broker].replicas.metadata
    [state] = (known for known in cache.answer(MetadataRequest((tp.topic,))).partitions if known.tp == tp)
    return cache.live_brokers, state.offline_replicas


def test_C07_metadata_propagation_on_broker_change() -> None:
    async def test(cluster: Cluster) -> None:
        cluster.crash_broker(2)
        await cluster.world.sleep(EXPIRY_US)
        assert [metadata(cluster, broker) for broker in (0, 1)] == [((0, 1), (2,))] * 2
        cluster.start_broker(2)
        await cluster.world.sleep(EXPIRY_US)
        assert [metadata(cluster, broker) for broker in (0, 1, 2)] == [((0, 1, 2), ())] * 3

    drive(scenario(brokers=3, controller=0, assignment=[[0, 2]], rate=0), test)


@pytest.mark.parametrize(("profile", "noticed"), [("kafka-2.3", True), ("kafka-1.1", False)])
def test_C09_controller_detects_bounced_brokers(profile: str, noticed: bool) -> None:
    """The controller is held while broker 1 restarts: the same id, a new czxid. Before 2.2 it never notices, and the
    broker, up and registered, serves nothing (KIP-380)."""

    async def test(cluster: Cluster) -> None:
        world, release = cluster.world, Signal(cluster.world, "the controller's release")
        cluster.gates.arm("new-partition.1", "before", lambda _: release)
        cluster.operator.begin(topics.create, "others", {0: (0,)}, {})
        await world.sleep(SOON_US)
        cluster.crash_broker(1)
        cluster.zookeeper.expire(1)
        cluster.start_broker(1)
        await world.sleep(SOON_US)
        replicas = cluster.brokers[1].replicas
        assert len(replicas.partitions) == 0
        release.set()
        await world.sleep(EXPIRY_US)
        assert list(replicas.partitions) == ([TP] if noticed else [])
        if noticed:
            assert metadata(cluster, 1) == ((0, 1), ())

    drive(scenario(brokers=2, controller=0, assignment=[[0, 1]], rate=0, profile=profile), test)


ZOMBIE, NEW_REPLICA = 4, 3


@pytest.mark.parametrize("profile", ["kafka-2.3", "kafka-1.1"])
def test_C13_brokers_refuse_a_zombie_once_they_know_its_successor(profile: str) -> None:
    answers = answers_to_a_zombie(profile, cut_off=())
    assert len(answers) > 0
    assert {answer.error for answer in answers} == {"STALE_CONTROLLER_EPOCH"}


@pytest.mark.parametrize("profile", ["kafka-2.3", "kafka-1.1"])
def test_C13_a_broker_that_does_not_know_the_successor_obeys_the_zombie(profile: str) -> None:
    """It never reads /controller_epoch."""
    answers = answers_to_a_zombie(profile, cut_off=(0, 1, 2))
    believed = [answer for answer in answers if answer.error == "NONE"]
    assert {answer.node for answer in believed} == {NEW_REPLICA}
    assert "LeaderAndIsr" in {answer.api for answer in believed}


def answers_to_a_zombie(profile: str, cut_off: tuple[int, ...]) -> list[ControlResponse]:
    """The controller stops in the middle of a move with requests in its queues; /controller is deleted, another broker
    goes on with the move, if it can reach the new replica (not from ``cut_off``); then the old one goes on. Returns the
    answers to its requests from then on."""
    woke_us: list[int] = []

    async def test(cluster: Cluster) -> None:
        world, paused = cluster.world, Signal(cluster.world, "the pause")

        def pause(visit: Visit) -> None:
            if not paused.is_set:
                visit.process.pause()
                paused.set()

        cluster.gates.arm("wiki.4", "before", pause)
        cluster.operator.begin(reassign.execute, {TP: (0, 1, NEW_REPLICA)})
        await paused.wait()
        for broker in cut_off:
            cluster.network.cut(broker, NEW_REPLICA)
        await zk(cluster).delete(znodes.CONTROLLER)
        await world.sleep(2 * SOON_US)
        successor = await zk(cluster).get(znodes.CONTROLLER)
        assert znodes.decode_controller(successor[0]) != ZOMBIE
        woke_us.append(world.now)
        process = cluster.nodes[ZOMBIE].process
        assert process is not None
        process.resume()
        await world.sleep(2 * SOON_US)

    wanted = scenario(brokers=5, controller=ZOMBIE, plan={0: [0, 1, NEW_REPLICA]}, rate=0, profile=profile)
    events = drive(wanted, test)
    [woke] = woke_us
    answers = [event for event in events if isinstance(event, ControlResponse)]
    return [answer for answer in answers if answer.controller == ZOMBIE and answer.t_us > woke]
