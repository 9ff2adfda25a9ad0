"""A sent message is never changed: whole scenarios with every message hashed at both ends."""

from importlib.resources import files
from pathlib import Path

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
from scenarios.language import Scenario
from scenarios.runs import run_scenario
from scenarios.runs.runner import Stage

LIBRARY = sorted(Path(str(files("scenarios") / "library")).glob("*.toml"))


def paranoid(scenario: Scenario) -> Stage:
    """A stage whose network hashes at both ends."""
    stage = Stage(scenario)
    stage.cluster.network.paranoid = True
    return stage


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.stem)
def test_a_sent_message_is_never_changed(path: Path) -> None:
    scenario = Scenario.load(path)
    stage = paranoid(scenario)
    stage.play()
    assert stage.cluster.trace.digest() == run_scenario(scenario).digest


def test_a_changed_message_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    produce = ProduceHandler.produce

    def meddle(self: ProduceHandler, request: ProduceRequest, channel: Channel) -> None:
        produce(self, request, channel)
        held.append(request)
        held[0].timeout_us += 1

    held: list[ProduceRequest] = []
    monkeypatch.setattr(ProduceHandler, "produce", handles(ProduceRequest)(meddle))
    resent: list[ProduceRequest] = []
    setup = evolve(cluster_setup(Scenario.load(LIBRARY[0])), paranoid=True)
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
