"""The cases of the cluster benchmark: what is run, and one run of the emulator or of the bare model."""

import cProfile
import statistics
import time
from collections.abc import Iterable
from pathlib import Path

from attrs import frozen

from benchmarks.cluster.floor import LINGER_US, REPLICAS, Floor
from benchmarks.cluster.targets import Target
from benchmarks.program import watch
from emulator.kernel import World
from emulator.kernel.collector import collector_off
from emulator.protocol.events import BatchesProduced
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.workload import Workload
from scenarios.cluster.cluster import Cluster, ClusterSetup, TopicSetup
from scenarios.language import Scenario
from scenarios.runs import Run


@frozen
class Case:
    """One set-up.

    Attributes:
        load: 10 batches a second and partition, acks=all; false: no clients.
        virtual_s: how long the measured stretch is.
        target: virtual seconds per CPU second that it must reach.
        watched: whether it runs with checkers and measures, as ``understudy run`` does.
        to_floor: for the emulator's speed over that of the floor that records.
        to_before: for its speed over that of the commit before.
    """

    name: str
    brokers: int
    partitions: int
    load: bool
    virtual_s: int
    target: float | None
    watched: bool = False
    to_floor: Target | None = None
    to_before: Target | None = None


SMALL, IDLE, LARGE = "3/12", "3/12, idle", "10/500"
"""Brokers/partitions."""
WATCHED = ", with checkers and measures"

CASES = (
    Case(SMALL, 3, 12, True, 120, 150, False, Target(0.45, goal=0.8), Target(1.7, goal=2.5)),
    Case(IDLE, 3, 12, False, 6000, 5000, False, None, Target(8, goal=12)),
    Case(LARGE, 10, 500, True, 6, 5, False, Target(0.45, goal=0.8), Target(2.3, goal=4)),
    Case(SMALL + WATCHED, 3, 12, True, 120, None, True),
    Case(LARGE + WATCHED, 10, 500, True, 6, None, True, None, Target(3)),
)
WATCHING = Target(1.35, at_most=True)
"""For the CPU time with checkers and measures over that without."""

CHAOS = Path(__file__).with_name("chaos.toml")
"""A scenario as in a chaos suite: 5 brokers, 5 partitions at 4 batches/s each, 64 virtual seconds, a move, a crash."""
CHAOS_NAME = "chaos-like run"
CHAOS_TARGET = Target(12, goal=40)
"""For runs per CPU second."""

DEMO_TARGET = Target(0.25, at_most=True)
"""For the CPU seconds of the demo."""
DEMO = Path(__file__).parents[2] / "scenarios" / "library" / "controller-dies-mid-move.toml"


EVEN_US = 1_000_000
"""From the start until the cluster is up and the load runs evenly."""


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

    def count(event: BatchesProduced) -> None:
        acked[0] += len(event.partitions)

    stage.trace.fold(BatchesProduced, count)
    timings: list[Timing] = []

    async def drive(_: Cluster) -> None:
        await world.sleep(EVEN_US, background=True)
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


def floor(case: Case, kind: type[Floor], profile: cProfile.Profile | None = None) -> Timing:
    """Run a callback model over the same stretch."""
    model = kind(case.brokers, case.partitions, case.load)
    with collector_off():
        model.run(EVEN_US)
        acked, events = model.acked, model.events
        if profile is not None:
            profile.enable()
        began = time.process_time()
        model.run(EVEN_US + case.virtual_s * 1_000_000)
        took = time.process_time() - began
        if profile is not None:
            profile.disable()
    return Timing(took, model.acked - acked, model.events - events)


def chaos_seconds(seeds: Iterable[int]) -> float:
    """CPU seconds of one run for each seed, from the scenario to the verdict."""
    scenario = Scenario.load(CHAOS)
    began = time.process_time()
    runs: list[Run] = [scenario.run(seed=seed) for seed in seeds]
    took = time.process_time() - began
    for run in runs:
        assert run.passed, run.explanation
    return took


def demo_seconds(repeats: int) -> float:
    """CPU seconds of one run of the demo's scenario, past imports: from the file to the verdict."""
    seconds = []
    for _ in range(repeats + 1):
        began = time.process_time()
        run: Run = Scenario.load(DEMO).run()
        seconds.append(time.process_time() - began)
        assert run.passed, run.explanation
    return statistics.median(seconds[1:])
