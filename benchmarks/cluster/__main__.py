"""``python -m benchmarks.cluster [--repeats 5] [--before CHECKOUT] [--write]``: virtual seconds per second of CPU, and
where they go.

The real emulator, traces on, acks=all, one produce request per leader broker and linger of 100 ms (so 10 batches a
second and partition), beside a bare callback model. Exit code 1 where a target is missed or the two disagree on how
many batches were acknowledged.

``--before CHECKOUT``: the same cases beside those of another checkout, instead.
"""

import cProfile
import statistics
import sys
import time
from pathlib import Path

from attrs import frozen

from benchmarks.cluster import before
from benchmarks.cluster.floor import LINGER_US, REPLICAS, Floor
from benchmarks.profiling import top_ten
from benchmarks.program import conclude, parser_of, quiet, watch
from benchmarks.results import machine
from benchmarks.tables import table
from emulator.kernel import World
from emulator.kernel.collector import collector_off
from emulator.protocol.events import Produced
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.workload import Workload
from scenarios.cluster.cluster import Cluster, ClusterSetup, TopicSetup
from scenarios.language import Scenario


@frozen
class Case:
    """One set-up. ``target``: virtual seconds per second that it must reach; ``watched``: with checkers and measures,
    as ``understudy run`` has them."""

    name: str
    brokers: int
    partitions: int
    load: bool
    virtual_s: int
    target: float | None
    watched: bool = False


CASES = (
    Case("3 brokers, 12 partitions, 10 batches/s each", 3, 12, True, 60, 150),
    Case("3 brokers, 12 partitions, idle", 3, 12, False, 1200, 5000),
    Case("10 brokers, 500 partitions, 10 batches/s each", 10, 500, True, 3, 5),
    Case("3/12 under load, with checkers and measures", 3, 12, True, 60, None, True),
    Case("10/500 under load, with checkers and measures", 10, 500, True, 3, None, True),
)
HEADINGS = ("set-up", "virtual s per CPU s", "target", "floor", "emulator / floor", "events per virtual s")

DEMO = Path(__file__).parents[2] / "scenarios" / "library" / "controller-dies-mid-move.toml"
DEMO_TARGET_S = 0.25


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
    setup = ClusterSetup(
        case.brokers, topics=(TopicSetup(topic, assignment),), workloads=(load,) if case.load else ()
    )
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


def measure(case: Case, repeats: int) -> tuple[list[Timing], list[Timing]]:
    """The two in turn, ``repeats`` times."""
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(cluster(case))
        theirs.append(floor(case))
    return ours, theirs


def demo_seconds(repeats: int) -> float:
    """CPU seconds of one run of the demo's scenario, past imports: from the file to the verdict."""
    seconds = []
    for _ in range(repeats + 1):
        began = time.process_time()
        run = Scenario.load(DEMO).run()
        seconds.append(time.process_time() - began)
        assert run.passed, run.explanation
    return statistics.median(seconds[1:])


def profiled(case: Case) -> list[str]:
    """The functions that take most of its time."""
    profile = cProfile.Profile()
    cluster(case, profile)
    return top_ten(case.name, profile)


def compare(checkout: Path, repeats: int, *, write: bool) -> int:
    """The cases in ``checkout`` and in this one, pair by pair. Returns the exit code."""
    found = before.pairs(checkout, [case.name for case in CASES], repeats)
    lines = [
        machine(f"python -m benchmarks.cluster --before CHECKOUT --repeats {repeats} --write"),
        "",
        f"Virtual seconds per CPU second; before: {before.commit(checkout)}, after: {before.commit(before.HERE)}.",
        f"Medians of {repeats} pairs of runs, each run in a process of its own; the ratio is taken pair by pair.",
        "",
        *table(before.HEADINGS, before.rows(found)),
    ]
    return conclude("cluster-before", lines, write=write)


def main() -> int:
    parser = parser_of("cluster", __doc__, repeats=5)
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="compare with the code of another checkout")
    options = parser.parse_args()
    if options.before is not None:
        return compare(options.before.resolve(), options.repeats, write=options.write)
    quiet()
    rows, problems = [], []
    for case in CASES:
        ours, theirs = measure(case, options.repeats)
        speed = statistics.median(case.virtual_s / timing.seconds for timing in ours)
        bare = statistics.median(case.virtual_s / timing.seconds for timing in theirs)
        share = statistics.median(b.seconds / a.seconds for a, b in zip(ours, theirs, strict=True))
        target = "" if case.target is None else f"{case.target:,.0f}"
        events = ours[0].events / case.virtual_s
        rows.append((case.name, f"{speed:,.1f}", target, f"{bare:,.0f}", f"{share:.2f}", f"{events:,.0f}"))
        if case.target is not None and speed < case.target:
            problems.append(f"{case.name}: {speed:.1f} virtual s per s, wanted {case.target}")
        if abs(ours[0].acked - theirs[0].acked) > 2 * case.partitions:
            problems.append(f"{case.name}: {ours[0].acked} batches acknowledged, the floor has {theirs[0].acked}")
    demo = demo_seconds(options.repeats)
    if demo >= DEMO_TARGET_S:
        problems.append(f"the demo's run took {demo:.3f} s of CPU")
    lines = [
        machine(f"python -m benchmarks.cluster --repeats {options.repeats} --write"),
        "",
        *table(HEADINGS, rows),
        "",
        f"One run of the demo, file to verdict: {demo:.3f} s of CPU (target: below {DEMO_TARGET_S}).",
        "",
        *profiled(CASES[0]),
        "",
        *profiled(CASES[2]),
    ]
    return conclude("cluster", lines, problems, write=options.write)


if __name__ == "__main__":
    sys.exit(main())
