"""One run in a process of its own: ``python -m benchmarks.large.case [--virtual-s 5] [--watched]`` prints JSON."""

import argparse
import cProfile
import json
import sys
import time

from attrs import asdict, frozen

from benchmarks.program import quiet, watch
from benchmarks.scale.case import peak_bytes
from emulator.kernel import World
from emulator.protocol.events import BatchesProduced
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.workload import Workload
from scenarios.cluster.cluster import Cluster, ClusterSetup, TopicSetup

BROKERS = 100
REPLICAS = 3
PARTITIONS = 10_000
PER_TOPIC = 1000
LOADED = 1000
LINGER_US = 100_000
EVEN_US = 2_000_000
"""From the first batch until the load runs evenly."""


@frozen
class Loaded:
    """The cost of the stretch under load, the events and acknowledged batches in it, and memory at its end."""

    wall_s: float
    cpu_s: float
    events: int
    acked: int
    peak_bytes: int
    started_bytes: int
    """The peak when the load had begun to run evenly."""


def topics() -> tuple[TopicSetup, ...]:
    """Ten topics of 1,000 partitions; the brokers lead in turn, followers each time in other steps, so that every
    broker follows many."""
    assignment = {p: tuple((p + k * (1 + p // BROKERS)) % BROKERS for k in range(REPLICAS)) for p in range(PER_TOPIC)}
    return tuple(TopicSetup(f"topic-{number:03d}", assignment) for number in range(PARTITIONS // PER_TOPIC))


def measure(virtual_s: int, *, watched: bool = False, profile: cProfile.Profile | None = None) -> Loaded:
    """10 batches/s, acks=all, in each partition of the first topic, ``virtual_s`` long; ``watched``: with checkers and
    measures, as ``understudy run`` has them."""
    world = World(1)
    load = Workload(
        tuple(TopicPartition("topic-000", p) for p in range(LOADED)), LOADED * 1_000_000 // LINGER_US * 10,
        linger_us=LINGER_US,
    )  # fmt: skip
    cluster = Cluster(world, ClusterSetup(BROKERS, topics=topics(), workloads=(load,)))
    if watched:
        watch(cluster)
    acked = 0

    def count(event: BatchesProduced) -> None:
        nonlocal acked
        acked += len(event.partitions)

    cluster.trace.fold(BatchesProduced, count)
    found: list[Loaded] = []

    async def drive(_: Cluster) -> None:
        await world.sleep(EVEN_US, background=True)
        started, events, before = peak_bytes(), cluster.trace.seq, acked
        if profile is not None:
            profile.enable()
        wall, cpu = time.perf_counter(), time.process_time()
        await world.sleep(virtual_s * 1_000_000, background=True)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        if profile is not None:
            profile.disable()
        found.append(Loaded(wall, cpu, cluster.trace.seq - events, acked - before, peak_bytes(), started))

    world.run(cluster.run, drive)
    return found[0]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large.case", description=__doc__)
    parser.add_argument("--virtual-s", type=int, default=5)
    parser.add_argument("--watched", action="store_true", help="with checkers and measures")
    options = parser.parse_args()
    quiet()
    print(json.dumps(asdict(measure(options.virtual_s, watched=options.watched))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
