"""One run in a process of its own: ``python -m benchmarks.idle.case PARTITIONS VIRTUAL_S`` prints JSON."""

import argparse
import json
import sys
import time

from attrs import asdict, evolve, frozen

from benchmarks.program import quiet
from benchmarks.scale.case import BROKERS, FIRST_CONTROLLER, topics
from controller.policies import ControllerPolicies
from emulator.kernel import World
from scenarios.cluster.cluster import Cluster, ClusterSetup

RECORD = 1024
STARTED_US = 30_000_000
"""From the creation of the topics until all periodic work has been done once, and whatever it found."""


@frozen
class Rest:
    """The cost of the stretch without any work, in seconds, and how many events it put into the trace."""

    wall_s: float
    cpu_s: float
    events: int


def measure(partitions: int, virtual_s: int) -> Rest:
    """``partitions`` that hold one record each, three times, and see no other, for ``virtual_s``."""
    world = World(1)
    cluster = Cluster(
        world,
        ClusterSetup(
            BROKERS,
            topics=tuple(evolve(topic, size=RECORD) for topic in topics(partitions)),
            controller=ControllerPolicies(pinned=FIRST_CONTROLLER),
        ),
    )
    rests: list[Rest] = []

    async def drive(_: Cluster) -> None:
        await world.sleep(STARTED_US, background=True)
        events, wall, cpu = cluster.trace.seq, time.perf_counter(), time.process_time()
        await world.sleep(virtual_s * 1_000_000, background=True)
        rests.append(Rest(time.perf_counter() - wall, time.process_time() - cpu, cluster.trace.seq - events))

    world.run(cluster.run, drive)
    return rests[0]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.idle.case", description=__doc__)
    parser.add_argument("partitions", type=int)
    parser.add_argument("virtual_s", type=int)
    options = parser.parse_args()
    quiet()
    print(json.dumps(asdict(measure(options.partitions, options.virtual_s))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
