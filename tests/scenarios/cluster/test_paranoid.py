"""A sent message is never changed: the paranoid mode, which hashes every message at both ends, notices one that was.

The whole library runs in that mode in ``tests/scenarios/determinism``.
"""

import pytest
from attrs import evolve

from brokers.requests import handles
from brokers.requests.produce import ProduceHandler
from emulator.kernel import World
from emulator.network import Channel
from emulator.network.sealed import Mutated
from emulator.protocol.produce import ProduceRequest
from scenarios.cluster.cluster import Cluster
from scenarios.cluster.from_scenario import cluster_setup
from scenarios.language.files import load


def test_a_changed_message_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    produce = ProduceHandler.produce

    def meddle(self: ProduceHandler, request: ProduceRequest, channel: Channel) -> None:
        produce(self, request, channel)
        held.append(request)
        held[0].timeout_us += 1

    held: list[ProduceRequest] = []
    monkeypatch.setattr(ProduceHandler, "produce", handles(ProduceRequest)(meddle))
    resent: list[ProduceRequest] = []
    setup = evolve(cluster_setup(load("broker-loses-its-network")), paranoid=True)
    world = World(1)
    cluster = Cluster(world, setup)

    async def drive(cluster: Cluster) -> None:
        network, operator = cluster.network, cluster.operator.process
        endpoint = network.connect(operator, 0, "kafka", resent.append)
        request = ProduceRequest(0, 1, (), 60)
        endpoint.send(request, 60)
        endpoint.send(request, 60)
        await world.sleep(1_000_000)

    with pytest.raises(Mutated, match="a ProduceRequest to broker-0 was changed"):
        world.run(cluster.run, drive)
