"""``python -m benchmarks.cluster [--repeats 7] [--case NAME] [--virtual-s N] [--before CHECKOUT] [--write]``: virtual
seconds per second of CPU, and where they go.

The real emulator, traces on, acks=all, one produce request per leader broker and linger of 100 ms (so 10 batches a
second and partition), with and without checkers and measures, beside two callback models of the same messages: the
*floor that records* the same facts in the same form, and the *bare floor*, which records nothing. Then a run as in a
chaos suite, with other seeds, and the demo. Everything in turn in one process; medians. Exit code 1 where a target is
missed, or the three do not acknowledge equally many batches.

``--before CHECKOUT``: the same cases and the chaos-like run beside those of another checkout, instead; each run has a
process of its own.

``--counts [--case "10/500"] [--before CHECKOUT] [--functions 20] [--instructions]``: what a case costs in calls and
events instead of seconds, per acknowledged batch, on a busy machine too.
"""

import argparse
import cProfile
import sys
from collections.abc import Sequence
from pathlib import Path

from attrs import evolve

from benchmarks.cluster import before, counts
from benchmarks.cluster.cases import CASES, CHAOS_NAME, LARGE, SMALL, Case, cluster
from benchmarks.cluster.here import SEEDS, measured
from benchmarks.profiling import top_ten
from benchmarks.program import conclude, parser_of, quiet
from benchmarks.results import machine
from benchmarks.tables import table


def profiled(case: Case) -> list[str]:
    """The functions that take most of its time."""
    profile = cProfile.Profile()
    cluster(case, profile)
    return top_ten(case.name, profile)


def measure(cases: Sequence[Case], options: argparse.Namespace, *, chaos: bool) -> int:
    """The cases in this process. Returns the exit code."""
    quiet()
    found = measured(cases, options.repeats, chaos=chaos)
    lines = [
        machine(f"python -m benchmarks.cluster --repeats {options.repeats} --write"),
        "",
        f"Medians of {options.repeats} rounds, all set-ups in turn in one process; ratios are taken round by round.",
        "A set-up is brokers/partitions; under load each partition gets 10 batches a second.",
        "",
        *found.lines(),
    ]
    for case in cases:
        if case.name in (SMALL, LARGE):
            lines += ["", *profiled(case)]
    return conclude("cluster", lines, found.missed(), write=options.write)


def compare(checkout: Path, cases: Sequence[Case], options: argparse.Namespace, *, chaos: bool) -> int:
    """The cases in ``checkout`` and in this one, pair by pair. Returns the exit code."""
    found = before.compared(checkout, cases, options.repeats, seeds=SEEDS if chaos else 0)
    lines = [
        machine(f"python -m benchmarks.cluster --before CHECKOUT --repeats {options.repeats} --write"),
        "",
        before.commits(checkout),
        f"Medians of {options.repeats} pairs of runs, each in a process of its own; ratios are taken pair by pair.",
        "",
        *table(before.HEADINGS, [compared.cells() for compared in found]),
    ]
    problems = [line for compared in found for line in compared.missed()]
    return conclude("cluster-before", lines, problems, write=options.write)


def count(checkout: Path | None, cases: Sequence[Case], options: argparse.Namespace, *, chaos: bool) -> int:
    """The counts of the cases, and of ``checkout`` before them, and the functions that take most of the time. Returns
    the exit code."""
    checkouts = {"": before.HERE} if checkout is None else {", before": checkout, ", after": before.HERE}
    found = {
        f"{case.name}{label}": counts.counted(path, case, instructions=options.instructions)
        for case in cases
        for label, path in checkouts.items()
    }
    found |= {
        f"{case.name}, floor that records": counts.counted_floor(case, instructions=options.instructions)
        for case in cases
        if case.to_floor
    }
    if chaos:
        found |= {
            f"{CHAOS_NAME}{label}": counts.counted_run(path, instructions=options.instructions)
            for label, path in checkouts.items()
        }
    asked = (" --before CHECKOUT" if checkout else "") + (" --instructions" if options.instructions else "")
    lines = [
        machine(f"python -m benchmarks.cluster --counts{asked} --write"),
        "",
        "The same on a quiet and on a busy machine. Kernel events: callbacks from the heap, and tasks that go on.",
        *([before.commits(checkout)] if checkout else []),
        "",
        *table(counts.HEADINGS, [(name, *one.cells()) for name, one in found.items()]),
    ]
    for name, one in found.items() if options.functions else ():
        lines += ["", *counts.heaviest(name, one, options.functions)]
    return conclude("cluster-counts", lines, write=options.write)


def main() -> int:
    parser = parser_of("cluster", __doc__, repeats=7)
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="compare with the code of another checkout")
    parser.add_argument("--case", action="append", metavar="NAME", help="only this case (may be repeated)")
    parser.add_argument("--virtual-s", type=int, metavar="N", help="how long the stretch of each case is")
    counting = parser.add_argument_group("counts, which are the same on a busy machine")
    counting.add_argument("--counts", action="store_true", help="count calls, recorded events and kernel events")
    counting.add_argument("--instructions", action="store_true", help="and instructions, by valgrind; takes minutes")
    counting.add_argument("--functions", type=int, default=0, metavar="N", help="and list the N costliest functions")
    options = parser.parse_args()
    names = [*(case.name for case in CASES), CHAOS_NAME]
    for name in options.case or ():
        if name not in names:
            parser.error(f"no case {name!r}; there are {', '.join(map(repr, names))}")
    cases = [
        case if options.virtual_s is None else evolve(case, virtual_s=options.virtual_s)
        for case in CASES
        if options.case is None or case.name in options.case
    ]
    chaos = options.case is None or CHAOS_NAME in options.case
    checkout = options.before and options.before.resolve()
    if options.counts:
        return count(checkout, cases, options, chaos=chaos)
    if checkout is not None:
        return compare(checkout, cases, options, chaos=chaos)
    return measure(cases, options, chaos=chaos)


if __name__ == "__main__":
    sys.exit(main())
