"""One run in a process of its own: ``python -m benchmarks.scale.case PARTITIONS [--watched]`` prints JSON."""

import argparse
import json
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from attrs import asdict, define, field, frozen

from benchmarks.program import quiet, watch
from controller.policies import ControllerPolicies
from emulator.kernel import World
from emulator.network import Endpoint
from emulator.protocol.events import ControllerElected, ControlRequest
from scenarios.cluster.cluster import Cluster, ClusterSetup, TopicSetup

BROKERS = 10
REPLICAS = 3
PER_TOPIC = 1000
FIRST_CONTROLLER = 0
IDLE_S = 60
LOOK_US = 1_000_000


@frozen
class Phase:
    """The cost of one phase: wall and CPU seconds, virtual seconds, messages on the network (requests and answers,
    those with ZooKeeper included) and control requests."""

    wall_s: float
    cpu_s: float
    virtual_s: float
    messages: int
    control_requests: int
    peak_bytes: int


@define(eq=False)
class Meter:
    """Measures the phases of one run, one after the other."""

    world: World
    messages: int = 0
    control_requests: int = 0
    _began: tuple[float, float, int] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """A phase begins now."""
        self.messages = self.control_requests = 0
        self._began = time.perf_counter(), time.process_time(), self.world.now

    def end(self) -> Phase:
        """End the phase."""
        wall, cpu, now = self._began
        return Phase(
            time.perf_counter() - wall, time.process_time() - cpu, (self.world.now - now) / 1_000_000, self.messages,
            self.control_requests, peak_bytes(),
        )  # fmt: skip

    def watch(self, cluster: Cluster) -> None:
        """Count the control requests of ``cluster``."""

        def count(_: ControlRequest) -> None:
            self.control_requests += 1

        cluster.trace.fold(ControlRequest, count)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count the messages of every connection. One more Python call for each of them."""
        send = Endpoint.send

        def counted(endpoint: Endpoint, body: Any, size: int, background: bool = False) -> None:
            self.messages += 1
            send(endpoint, body, size, background)

        setattr(Endpoint, "send", counted)  # noqa: B010
        try:
            yield
        finally:
            setattr(Endpoint, "send", send)  # noqa: B010


def peak_bytes() -> int:
    """The largest resident set of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def topics(partitions: int) -> tuple[TopicSetup, ...]:
    """Topics of up to 1,000 partitions each; leaders and followers are on the brokers in turn."""
    lists = [tuple((number + k) % BROKERS for k in range(REPLICAS)) for number in range(partitions)]
    return tuple(
        TopicSetup(f"topic-{first // PER_TOPIC:03d}", dict(enumerate(lists[first : first + PER_TOPIC])))
        for first in range(0, partitions, PER_TOPIC)
    )


def measure(partitions: int, *, watched: bool = False) -> dict[str, Phase]:
    """Create the cluster, leave it alone for a while, and crash its controller's broker, which stays down.

    Each phase ends when the world is settled: no control request queued, no fetcher with work. ``watched``: with
    checkers and measures, as ``understudy run`` has them.
    """
    world = World(1)
    cluster = Cluster(
        world, ClusterSetup(BROKERS, topics=topics(partitions), controller=ControllerPolicies(pinned=FIRST_CONTROLLER))
    )
    if watched:
        watch(cluster)
    meter = Meter(world)
    meter.watch(cluster)
    elected: list[int] = []
    cluster.trace.fold(ControllerElected, lambda event: elected.append(event.node))
    phases: dict[str, Phase] = {}

    async def drive(_: Cluster) -> None:
        phases["create"] = meter.end()
        assert leaders(cluster) == partitions
        await world.sleep(2 * LOOK_US + 10_000_000, background=True)  # the first look of all periodic work
        meter.begin()
        await world.sleep(IDLE_S * 1_000_000, background=True)
        phases["idle"] = meter.end()
        assert elected == [FIRST_CONTROLLER]
        meter.begin()
        cluster.crash_broker(FIRST_CONTROLLER)
        while len(elected) == 1:
            await world.sleep(LOOK_US, background=True)
        await world.settled()
        phases["fail over"] = meter.end()
        assert leaders(cluster) == partitions

    with meter.counting():
        world.run(cluster.run, drive)
    return phases


def leaders(cluster: Cluster) -> int:
    """The number of partitions that have a live leader."""
    return sum(
        partition.is_leader
        for id, broker in cluster.brokers.items()
        if cluster.nodes[id].running
        for partition in broker.replicas.partitions.values()
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.case", description=__doc__)
    parser.add_argument("partitions", type=int)
    parser.add_argument("--watched", action="store_true", help="with checkers and measures")
    options = parser.parse_args()
    quiet()
    before = peak_bytes()
    phases = measure(options.partitions, watched=options.watched)
    print(json.dumps({"idle_bytes": before, **{name: asdict(phase) for name, phase in phases.items()}}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
