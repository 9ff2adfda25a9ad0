"""``python -m benchmarks.sampled [--cases A:B] [--seeds 8] [--processes 2] [--longest S] [--write]``: drawn
scenarios, exact and sampled. How far are the means over the seeds from each other, and how much less CPU time does a
sampled run take?

``--big``: one terabyte, sampled, and the cost of the exact run from its first minutes.

Each run has a process of its own, and single runs are never compared: one throttled run is bimodal.
"""

import statistics
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import inf, sqrt
from typing import Any

from scipy import stats  # type: ignore[import-untyped]

from benchmarks.program import alone, conclude, parser_of
from benchmarks.results import machine
from benchmarks.sampled.case import COUNTS, FIGURES
from benchmarks.sampled.drawn_cases import described, drawn, partition_s
from benchmarks.tables import table

CASE = "benchmarks.sampled.case"
FIDELITIES = ("exact", "sampled")
Found = Mapping[str, Any]
HEADINGS = ("case", "virtual s", "time in leaps", "faster", "time to complete", "replica-seconds", "bytes", "counts")
ALL_HEADINGS = ("figure", "cases", "median error", "median of absolute errors", "worst", "mean, with 95 % interval")


def mean(runs: Sequence[Found], name: str) -> float | None:
    """The mean of a figure over runs; None where a run has none."""
    values = [run["figures"][name] for run in runs]
    return None if None in values else statistics.fmean(values)


def error(runs: Mapping[str, Sequence[Found]], name: str) -> float | None:
    """By how much the sampled mean is above the exact one, as a share of it."""
    exact, sampled = (mean(runs[each], name) for each in FIDELITIES)
    return None if not exact or sampled is None else sampled / exact - 1


def equal(runs: Mapping[str, Sequence[Found]]) -> str:
    """In how many seeds all counts are equal."""
    pairs = list(zip(*(runs[each] for each in FIDELITIES), strict=True))
    same = sum(all(one["figures"][name] == other["figures"][name] for name in COUNTS) for one, other in pairs)
    return f"{same} of {len(pairs)}"


def row(number: int, runs: Mapping[str, Sequence[Found]]) -> tuple[str, ...]:
    exact, sampled = (runs[each] for each in FIDELITIES)
    faster = statistics.fmean(run["cpu_s"] for run in exact) / statistics.fmean(run["cpu_s"] for run in sampled)
    leapt = statistics.fmean(run["sampled"]["leapt_s"] / run["virtual_s"] for run in sampled)
    long_s = statistics.fmean(run["virtual_s"] for run in exact)
    errors = [_percent(error(runs, name)) for name in ("time_to_complete_s", "extra_replica_s", "bytes_moved")]
    return (
        f"{number}: {described(drawn(number))}",
        f"{long_s:.0f}",
        f"{leapt:.0%}",
        f"{faster:.1f} x",
        *errors,
        equal(runs),
    )


def overall(cases: Mapping[int, Mapping[str, Sequence[Found]]]) -> list[tuple[str, ...]]:
    """The errors of each figure over all cases."""
    rows: list[tuple[str, ...]] = []
    for name in FIGURES:
        errors = [found for runs in cases.values() if (found := error(runs, name)) is not None]
        if errors:
            t = float(stats.t.ppf(0.975, len(errors) - 1)) if len(errors) > 1 else float("nan")
            half = t * statistics.stdev(errors) / sqrt(len(errors)) if len(errors) > 1 else float("nan")
            rows.append(
                (
                    f"`{name}`", str(len(errors)), _percent(statistics.median(errors)),
                    _percent(statistics.median(map(abs, errors))), _percent(max(errors, key=abs)),
                    f"{100 * statistics.fmean(errors):+.2f} +- {100 * half:.2f} %",
                )
            )  # fmt: skip
    return rows


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:+.2f} %"


def compared(numbers: Sequence[int], seeds: int, processes: int) -> dict[int, dict[str, list[Found]]]:
    """All runs."""
    jobs = [(number, fidelity, seed) for number in numbers for fidelity in FIDELITIES for seed in range(seeds)]
    found: dict[int, dict[str, list[Found]]] = {number: {each: [] for each in FIDELITIES} for number in numbers}
    with ThreadPoolExecutor(processes) as pool:
        done = pool.map(lambda job: alone(CASE, job[0], job[2], job[1]), jobs)
        for (number, fidelity, _seed), run in zip(jobs, done, strict=True):
            found[number][fidelity].append(run)
            if fidelity == FIDELITIES[-1] and len(found[number][fidelity]) == seeds:
                print(*row(number, found[number]), sep=" | ", file=sys.stderr, flush=True)
    return found


def big() -> list[str]:
    """The lines about one terabyte."""
    sampled, exact = alone(CASE, "big", 0, "sampled", "20h"), alone(CASE, "big", 0, "exact", "65s")
    cpu_s, virtual_s = sampled["cpu_s"], sampled["virtual_s"]
    cost = exact["cpu_s"] / exact["virtual_s"] * virtual_s
    leaps = sampled["sampled"]
    return [
        "200 partitions of 5 GB, 40 MB/s, 100 MB/s a broker.",
        "",
        *table(
            ("run", "CPU s", "MiB", "virtual s", "leaps", "s in leaps", "verdict"),
            [
                (
                    "sampled", f"{cpu_s:.0f}", f"{sampled['mib']:.0f}", f"{virtual_s:,.0f}", f"{leaps['leaps']:,}",
                    f"{leaps['leapt_s']:,.0f}", sampled["verdict"],
                ),
                (f"exact, from {exact['virtual_s']:.0f} s of it", f"{cost:,.0f}", "-", f"{virtual_s:,.0f}", "", "", ""),
            ],
        ),
        "",
        f"Faster: {cost / cpu_s:.0f} times.",
    ]  # fmt: skip


def main() -> int:
    parser = parser_of("sampled", __doc__)
    parser.add_argument("--cases", default="0:200", metavar="A:B", help="the cases A to B - 1")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--big", action="store_true", help="one terabyte alone")
    parser.add_argument("--longest", type=float, default=inf, metavar="S", help="skip cases of more partition-seconds")
    options = parser.parse_args()
    if options.big:
        lines = [machine("python -m benchmarks.sampled --big --write"), "", *big()]
        return conclude("sampled, one terabyte", lines, write=options.write)
    first, last = map(int, options.cases.split(":"))
    skipped = [number for number in range(first, last) if partition_s(drawn(number)) > options.longest]
    cases = compared([each for each in range(first, last) if each not in skipped], options.seeds, options.processes)
    command = f"python -m benchmarks.sampled --cases {options.cases} --seeds {options.seeds}"
    left = f" Skipped, with more than {options.longest:g} partition-seconds: {', '.join(map(str, skipped))}."
    lines = [
        machine(f"{command}{f' --longest {options.longest:g}' if skipped else ''} --write"),
        "",
        f"Errors are those of the sampled means over {options.seeds} seeds against the exact means."
        + (left if skipped else ""),
        "",
        *table(ALL_HEADINGS, overall(cases)),
        "",
        *table(HEADINGS, (row(number, runs) for number, runs in cases.items())),
    ]
    return conclude("sampled", lines, write=options.write)


if __name__ == "__main__":
    sys.exit(main())
