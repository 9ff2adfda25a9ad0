"""The cases of the cluster benchmark: what is run, and one run of the emulator or of the bare model."""

import cProfile
import statistics
import time
from pathlib import Path

from attrs import frozen

from benchmarks.cluster.floor import LINGER_US, REPLICAS, Floor
from benchmarks.program import watch
from emulator.kernel import World
from emulator.kernel.collector import collector_off
from emulator.protocol.events import Produced
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.workload import Workload
from scenarios.cluster.cluster import Cluster, ClusterSetup, TopicSetup
from scenarios.language import Scenario


@frozen
class Case:
    """One set-up.

    Attributes:
        load: 10 batches a second and partition, acks=all; false: no clients.
        virtual_s: how long the measured stretch is.
        target: virtual seconds per CPU second that it must reach.
        watched: with checkers and measures, as ``understudy run`` has them.
    """

    name: str
    brokers: int
    partitions: int
    load: bool
    virtual_s: int
    target: float | None
    watched: bool = False


CASES = (
    Case("3/12", 3, 12, True, 60, 150),
    Case("3/12, idle", 3, 12, False, 1200, 5000),
    Case("10/500", 10, 500, True, 3, 5),
    Case("3/12, watched", 3, 12, True, 60, None, True),
    Case("10/500, watched", 10, 500, True, 3, None, True),
)

CHAOS = Path(__file__).with_name("chaos.toml")
"""A scenario as in a chaos suite; each run of it takes another seed."""

DEMO = Path(__file__).parents[2] / "scenarios" / "library" / "controller-dies-mid-move.toml"


@frozen
class Timing:
    """CPU seconds of the measured stretch, batches acknowledged and events recorded in it."""

    seconds: float
    acked: int
    events: int


def cluster(case: Case, profile: cProfile.Profile | None = None) -> Timing:
    """Run the emulator; the clock starts when the cluster is up and, under load, running evenly."""
    topic = "orders"
    assignment = {p: tuple((p + k) % case.brokers for k in range(REPLICAS)) for p in range(case.partitions)}
    load = Workload(
        tuple(TopicPartition(topic, p) for p in range(case.partitions)), 100 * case.partitions, linger_us=LINGER_US
    )
    setup = ClusterSetup(case.brokers, topics=(TopicSetup(topic, assignment),), workloads=(load,) if case.load else ())
    world = World(1)
    stage = Cluster(world, setup)
    if case.watched:
        watch(stage)
    acked = [0]

    def count(_: Produced) -> None:
        acked[0] += 1

    stage.trace.fold(Produced, count)
    timings: list[Timing] = []

    async def drive(_: Cluster) -> None:
        await world.sleep(1_000_000, background=True)
        batches, events = acked[0], stage.trace.seq
        if profile is not None:
            profile.enable()
        began = time.process_time()
        await world.sleep(case.virtual_s * 1_000_000, background=True)
        took = time.process_time() - began
        if profile is not None:
            profile.disable()
        timings.append(Timing(took, acked[0] - batches, stage.trace.seq - events))

    world.run(stage.run, drive)
    return timings[0]


def floor(case: Case) -> Timing:
    """Run the bare callback model over the same stretch."""
    model = Floor(case.brokers, case.partitions, case.load)
    began = time.process_time()
    with collector_off():
        model.run(case.virtual_s * 1_000_000)
    return Timing(time.process_time() - began, model.acked, 0)


def demo_seconds(repeats: int) -> float:
    """CPU seconds of one run of the demo's scenario, past imports: from the file to the verdict."""
    seconds = []
    for _ in range(repeats + 1):
        began = time.process_time()
        run = Scenario.load(DEMO).run()
        seconds.append(time.process_time() - began)
        assert run.passed, run.explanation
    return statistics.median(seconds[1:])
