"""``python -m benchmarks.cluster [--repeats 5] [--before CHECKOUT] [--write]``: virtual seconds per second of CPU, and
where they go.

The real emulator, traces on, acks=all, one produce request per leader broker and linger of 100 ms (so 10 batches a
second and partition), beside a bare callback model. Exit code 1 where a target is missed or the two disagree on how
many batches were acknowledged.

``--before CHECKOUT``: the same cases beside those of another checkout, instead.

``--counts [--case "10/500"] [--before CHECKOUT] [--functions 20] [--instructions]``: what a case costs in calls and
events instead of seconds, per acknowledged batch, on a busy machine too.
"""

import cProfile
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.cluster import before, counts
from benchmarks.cluster.cases import CASES, Case, Timing, cluster, demo_seconds, floor
from benchmarks.profiling import top_ten
from benchmarks.program import conclude, parser_of, quiet
from benchmarks.results import machine
from benchmarks.tables import table

HEADINGS = ("set-up", "virtual s per CPU s", "target", "floor", "emulator / floor", "events per virtual s")

DEMO_TARGET_S = 0.25


def measure(case: Case, repeats: int) -> tuple[list[Timing], list[Timing]]:
    """The two in turn, ``repeats`` times."""
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(cluster(case))
        theirs.append(floor(case))
    return ours, theirs


def profiled(case: Case) -> list[str]:
    """The functions that take most of its time."""
    profile = cProfile.Profile()
    cluster(case, profile)
    return top_ten(case.name, profile)


def compare(checkout: Path, repeats: int, *, write: bool) -> int:
    """The cases in ``checkout`` and in this one, pair by pair. Returns the exit code."""
    found = before.pairs(checkout, CASES, repeats)
    lines = [
        machine(f"python -m benchmarks.cluster --before CHECKOUT --repeats {repeats} --write"),
        "",
        f"Virtual seconds per CPU second. {before.commits(checkout)}",
        f"Medians of {repeats} pairs of runs, each run in a process of its own; the ratio is taken pair by pair.",
        "",
        *table(before.HEADINGS, before.rows(found)),
    ]
    return conclude("cluster-before", lines, write=write)


def count(
    cases: Sequence[Case], checkout: Path | None, *, chaos: bool, instructions: bool, functions: int, write: bool
) -> int:
    """The counts of the cases, and of ``checkout`` before them, and the ``functions`` functions that take most of the
    time; with ``chaos`` those of the chaos-like run too. Returns the exit code."""
    checkouts = {"": before.HERE} if checkout is None else {", before": checkout, ", after": before.HERE}
    found = {
        f"{case.name}{label}": counts.counted(path, case, instructions=instructions)
        for case in cases
        for label, path in checkouts.items()
    }
    if chaos:
        found |= {
            f"{counts.CHAOS_NAME}{label}": counts.counted_run(path, instructions=instructions)
            for label, path in checkouts.items()
        }
    options = (" --before CHECKOUT" if checkout else "") + (" --instructions" if instructions else "")
    lines = [
        machine(f"python -m benchmarks.cluster --counts{options} --write"),
        "",
        "The same on a quiet and on a busy machine. Kernel events: callbacks from the heap, and tasks that go on.",
        *([before.commits(checkout)] if checkout else []),
        "",
        *table(counts.HEADINGS, [(name, *one.cells()) for name, one in found.items()]),
    ]
    for name, one in found.items() if functions else ():
        lines += ["", *counts.heaviest(name, one, functions)]
    return conclude("cluster-counts", lines, write=write)


def main() -> int:
    parser = parser_of("cluster", __doc__, repeats=5)
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="compare with the code of another checkout")
    parser.add_argument("--case", action="append", metavar="NAME", help="only this case (may be repeated)")
    counting = parser.add_argument_group("counts, which are the same on a busy machine")
    counting.add_argument("--counts", action="store_true", help="count calls, recorded events and kernel events")
    counting.add_argument("--instructions", action="store_true", help="and instructions, by valgrind; takes minutes")
    counting.add_argument("--functions", type=int, default=0, metavar="N", help="and list the N costliest functions")
    options = parser.parse_args()
    checkout = options.before and options.before.resolve()
    cases = [case for case in CASES if options.case is None or case.name in options.case]
    chaos = options.case is None or counts.CHAOS_NAME in options.case
    if options.counts:
        return count(
            cases, checkout, chaos=chaos, instructions=options.instructions, functions=options.functions,
            write=options.write,
        )  # fmt: skip
    if checkout is not None:
        return compare(checkout, options.repeats, write=options.write)
    quiet()
    rows, problems = [], []
    for case in cases:
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
