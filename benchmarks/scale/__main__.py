"""``python -m benchmarks.scale [--sizes 10000 50000 200000] [--repeats 3] [--write]``: the cost of creating and failing
over a cluster of 10 brokers, and whether it grows linearly.

Exit code 1 where a target is missed. Each run has a process of its own, so that its peak of memory is its own.
"""

import math
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from benchmarks.program import alone, conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table

SIZES = (10_000, 50_000, 200_000)
EXPONENT = 1.1
MIB = 1 << 20
Run = Mapping[str, Any]
Figure = Callable[[Run], float]

INTRODUCTION = """
10 brokers, topics of 1,000 partitions with 3 replicas each, made with the operator's tool; then the broker of the
active controller is killed and stays down, until another has taken over, every partition is led and the world is
settled. Real brokers, fetchers, controllers and ZooKeeper; the trace is on, checkers and measures where a row says
so. Each run has a process of its own. Messages are those of the whole network, with ZooKeeper's; control requests
are LeaderAndIsr, UpdateMetadata and StopReplica. A run is one thread that waits for nothing: where a core is free,
wall time is CPU time, and that is what the targets are compared with.
"""

HEADINGS = (
    "partitions",
    "create: wall s (CPU s)", "virtual s", "messages per partition", "control requests",
    "idle: CPU ms per virtual s",
    "fail over: wall s (CPU s)", "virtual s", "messages per partition", "control requests",
    "peak MiB",
)  # fmt: skip


@frozen
class Target:
    """A limit for the largest size. ``watched``: with checkers and measures."""

    name: str
    of: Figure
    limit: float
    unit: str
    watched: bool = False


def peak_mib(run: Run) -> float:
    return float(run["fail over"]["peak_bytes"]) / MIB


TARGETS = (
    Target("created", lambda run: float(run["create"]["cpu_s"]), 20, "s"),
    Target("failed over", lambda run: float(run["fail over"]["cpu_s"]), 9, "s"),
    Target("peak", peak_mib, 1.1 * 1024, "MiB"),
    Target("peak with checkers and measures", peak_mib, 2048, "MiB", watched=True),
)

GROWTH: Mapping[str, Figure] = {
    "CPU time to create": lambda run: float(run["create"]["cpu_s"]),
    "CPU time to fail over": lambda run: float(run["fail over"]["cpu_s"]),
    "memory above that of the imported program": lambda run: float(run["fail over"]["peak_bytes"] - run["idle_bytes"]),
    "messages to create": lambda run: float(run["create"]["messages"]),
    "messages to fail over": lambda run: float(run["fail over"]["messages"]),
}


def measured(partitions: int, *, watched: bool = False) -> Run:
    """One run in a process of its own."""
    run: Run = alone("benchmarks.scale.case", partitions, *(["--watched"] if watched else []))
    return run


def median(runs: Sequence[Run], of: Figure) -> float:
    return statistics.median(of(run) for run in runs)


def exponent(runs: Mapping[int, Sequence[Run]], of: Figure) -> float:
    """The slope in logarithms, of the least of each size: whatever else a machine does only adds, and adds most to
    the largest, which needs the caches most. 1 is linear growth."""
    sizes = [math.log(size) for size in runs]
    return statistics.linear_regression(sizes, [math.log(min(map(of, some))) for some in runs.values()]).slope


def row(name: str, size: int, runs: Sequence[Run]) -> list[str]:
    def cells(phase: str) -> list[str]:
        wall, cpu, virtual, messages, control = (
            statistics.median(run[phase][key] for run in runs)
            for key in ("wall_s", "cpu_s", "virtual_s", "messages", "control_requests")
        )
        return [f"{wall:,.2f} ({cpu:,.2f})", f"{virtual:,.0f}", f"{messages / size:.2f}", f"{control:,.0f}"]

    idle = median(runs, lambda run: 1000 * run["idle"]["cpu_s"] / run["idle"]["virtual_s"])
    peak = median(runs, peak_mib)
    return [name, *cells("create"), f"{idle:.1f}", *cells("fail over"), f"{peak:,.0f}"]


def growth(runs: Mapping[int, Sequence[Run]]) -> tuple[list[str], list[str]]:
    """The lines about growth, and the exponents that are too large."""
    heading = f"Growth exponent over the {len(runs)} sizes, of each size's least (1 is linear; at most {EXPONENT}):"
    lines, problems = [heading, ""], []
    for name, of in GROWTH.items():
        found = exponent(runs, of)
        lines.append(f"- {name}: {found:.3f}")
        if found > EXPONENT:
            problems.append(f"{name} grows with the exponent {found:.3f}, wanted at most {EXPONENT}")
    return lines, problems


def judge(size: int, bare: Sequence[Run], watched: Sequence[Run]) -> tuple[list[str], list[str]]:
    """The costs of the largest size beside their targets, and the targets that are missed."""
    lines, problems = [f"{size:,} partitions:", ""], []
    for target in TARGETS:
        value = median(watched if target.watched else bare, target.of)
        lines.append(f"- {target.name}: {value:,.1f} {target.unit} (target: below {target.limit:,.0f})")
        if value >= target.limit:
            problems.append(
                f"{size:,} partitions {target.name}: {value:,.1f} {target.unit}, wanted {target.limit:,.0f}"
            )
    return lines, problems


def main() -> int:
    parser = parser_of("scale", __doc__, repeats=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="partitions, in ascending order")
    options = parser.parse_args()
    bare: dict[int, list[Run]] = {size: [] for size in options.sizes}
    for _ in range(options.repeats):
        for size in options.sizes:
            bare[size].append(measured(size))
    watched = {size: [measured(size, watched=True)] for size in options.sizes}
    rows = [row(f"{size:,}", size, runs) for size, runs in bare.items()]
    rows += [row(f"{size:,}, with checkers and measures", size, runs) for size, runs in watched.items()]
    lines = [
        machine(f"python -m benchmarks.scale --repeats {options.repeats} --write"),
        INTRODUCTION,
        f"Medians of {options.repeats} runs; with checkers and measures one.",
        "",
        *table(HEADINGS, rows),
    ]
    problems: list[str] = []
    sections = [growth(bare)] if len(bare) > 1 else []
    if SIZES[-1] in bare:
        sections.append(judge(SIZES[-1], bare[SIZES[-1]], watched[SIZES[-1]]))
    for said, wrong in sections:
        lines += ["", *said]
        problems += wrong
    lines += ["", "Targets: all met." if not problems else f"Missed: {'; '.join(problems)}."]
    return conclude("scale", lines, problems, write=options.write)


if __name__ == "__main__":
    sys.exit(main())
