"""A cluster's work grows with its number of partitions, and with nothing else: counts of messages, requests and events,
never time.

``python -m benchmarks.scale`` measures what that costs, up to 200,000 partitions.
"""

from functools import cache
from typing import Any

import pytest
from attrs import define, field

from brokers.broker import BrokerSpec
from brokers.broker_policies import BrokerPolicies
from brokers.metadata_cache import serves_all
from controller.policies import ControllerPolicies
from emulator.kernel import World
from emulator.network import Endpoint
from emulator.protocol.events import ControllerElected, ControlRequest, LeaderElected
from emulator.trace.events import ZkWritten
from scenarios.cluster.cluster import Cluster, ClusterSetup, TopicSetup

BROKERS = 10
REPLICAS = 3
SMALL, LARGE = 250, 500
MORE = LARGE - SMALL
LIVING = range(1, BROKERS)
SECOND = 1_000_000


@define(eq=False)
class Seen:
    """The counts of one phase. ``requests``: (API, broker, partitions) of each control request, in order."""

    requests: list[tuple[str, int, int]] = field(factory=list)
    messages: int = 0
    written: int = 0
    elected: int = 0
    emitted: int = 0

    def requests_of(self, api: str, broker: int) -> list[int]:
        """How many partitions each request of ``api`` to ``broker`` was about."""
        return [partitions for name, to, partitions in self.requests if (name, to) == (api, broker)]


class Play:
    """One cluster, created, left idle, and then without its controller."""

    def __init__(self, partitions: int) -> None:
        self.created, self.idle, self.failed_over = Seen(), Seen(), Seen()
        self.leaders = 0
        self.kept: tuple[int, int] = (0, 0)
        self._seen = self.created
        self._world = World(1)
        lists = {p: tuple((p + k) % BROKERS for k in range(REPLICAS)) for p in range(partitions)}
        # Which followers fetch before their leader has its metadata, and are refused, is a race.
        broker = BrokerSpec(BrokerPolicies(serves=serves_all))
        setup = ClusterSetup(
            BROKERS, broker=broker, topics=(TopicSetup("t", lists),), controller=ControllerPolicies(pinned=0)
        )
        cluster = Cluster(self._world, setup)
        cluster.trace.fold(ControlRequest, lambda e: self._seen.requests.append((e.api, e.broker, e.partitions)))
        cluster.trace.fold(ZkWritten, self._write)
        cluster.trace.fold(LeaderElected, self._election)
        with pytest.MonkeyPatch.context() as patch:
            send = Endpoint.send

            def counted(endpoint: Endpoint, *message: Any, **how: Any) -> None:
                self._seen.messages += 1
                send(endpoint, *message, **how)

            patch.setattr(Endpoint, "send", counted)
            self._world.run(cluster.run, self._drive)

    def _write(self, _: ZkWritten) -> None:
        self._seen.written += 1

    def _election(self, _: LeaderElected) -> None:
        self._seen.elected += 1

    def _begin(self, seen: Seen, cluster: Cluster) -> None:
        """The phase in hand is over; ``seen`` is for the next one."""
        self._seen.emitted += cluster.trace.seq
        seen.emitted = -cluster.trace.seq
        self._seen = seen

    async def _drive(self, cluster: Cluster) -> None:
        world = self._world
        elected: list[int] = []
        cluster.trace.fold(ControllerElected, lambda event: elected.append(event.node))
        self._begin(Seen(), cluster)
        await world.sleep(20 * SECOND, background=True)  # the first look of all periodic work
        self._begin(self.idle, cluster)
        await world.sleep(30 * SECOND, background=True)
        self._begin(self.failed_over, cluster)
        cluster.crash_broker(0)
        while not elected:
            await world.sleep(SECOND, background=True)
        await world.settled()
        self._begin(Seen(), cluster)
        replicas = [cluster.brokers[broker].replicas for broker in LIVING]
        dead, controller = cluster.brokers[0].replicas, cluster.controllers[0]
        self.kept = len(dead.partitions), len(controller.context.assignments)
        self.leaders = sum(partition.is_leader for manager in replicas for partition in manager.partitions.values())


@cache
def played(partitions: int) -> Play:
    return Play(partitions)


def test_creating_costs_the_same_for_each_partition() -> None:
    """Two znodes, one leader, twelve events, a request and an answer for each write: the rest is the topic's."""
    small, large = played(SMALL).created, played(LARGE).created
    assert large.written - small.written == 2 * MORE
    assert large.elected - small.elected == MORE
    assert large.emitted - small.emitted == 12 * MORE
    assert 0 <= large.messages - small.messages - 4 * MORE < MORE // 5  # the time that it takes brings long polls


def test_each_broker_receives_all_its_new_replicas_in_one_request() -> None:
    created = played(LARGE).created
    for broker in range(BROKERS):
        assert created.requests_of("LeaderAndIsr", broker) == [LARGE * REPLICAS // BROKERS]
        assert [count for count in created.requests_of("UpdateMetadata", broker) if count] == [LARGE]


def test_an_idle_cluster_costs_the_same_whatever_its_size() -> None:
    """Long polls and pings."""
    small, large = played(SMALL).idle, played(LARGE).idle
    assert (large.emitted, large.requests) == (small.emitted, small.requests) == (0, [])
    assert abs(large.messages - small.messages) <= 2


def test_failing_over_costs_the_same_for_each_partition() -> None:
    """The dead broker was in the ISR of 3 partitions in 10, and led one of them. Each state is read by the new
    controller, and once more before it is written."""
    small, large = played(SMALL).failed_over, played(LARGE).failed_over
    writes = MORE * (REPLICAS + 1) // BROKERS
    assert large.written - small.written == writes
    assert large.elected - small.elected == MORE // BROKERS
    assert 0 <= large.messages - small.messages - 2 * (MORE + 2 * writes) < MORE // 5
    assert played(LARGE).leaders == LARGE


def test_a_failover_takes_as_many_control_requests_however_many_partitions_there_are() -> None:
    """All replicas receive their roles, then the ISRs without the dead broker, then the new leaders."""
    small, large = played(SMALL).failed_over, played(LARGE).failed_over
    assert [(api, broker) for api, broker, _ in large.requests] == [(api, broker) for api, broker, _ in small.requests]
    for broker in LIVING:
        told = large.requests_of("LeaderAndIsr", broker)
        assert told[0] == LARGE * REPLICAS // BROKERS
        assert len(told) <= 3


def test_a_dead_broker_keeps_no_partitions_in_memory() -> None:
    assert played(SMALL).kept == (0, 0)
    assert played(SMALL).leaders == SMALL
