"""``python -m benchmarks.large [--repeats 5] [--virtual-s 5] [--write]``: 100 brokers, 10,000 partitions with 3
replicas, 1,000 of them with 10 batches a second: events per second, virtual seconds per second of CPU, memory.

With and without checkers and measures, in turn; each run has a process of its own.
"""

import argparse
import cProfile
import json
import logging
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence

import structlog

from benchmarks.large.case import BROKERS, LOADED, PARTITIONS, measure
from benchmarks.profiling import top_ten
from benchmarks.results import machine, write_section

MIB = 1 << 20
NAME = f"{BROKERS} brokers, {PARTITIONS:,} partitions, {LOADED:,} with 10 batches/s"
HEADINGS = (
    "", "virtual s per CPU s", "events per CPU s", "events per virtual s", "batches acknowledged per virtual s",
    "peak MiB", "more MiB per virtual s", "CPU, over the bare run",
)  # fmt: skip
Run = Mapping[str, float]


def measured(virtual_s: int, *, watched: bool) -> Run:
    """One run in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.large.case", "--virtual-s", str(virtual_s)]
    command += ["--watched"] if watched else []
    run: Run = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return run


def row(name: str, runs: Sequence[Run], bare: Sequence[Run], virtual_s: int) -> str:
    """Medians; the last figure is the median over the rounds of the CPU time over that of the bare run."""

    def median(key: str) -> float:
        return statistics.median(run[key] for run in runs)

    cells = (
        name,
        f"{virtual_s / median('cpu_s'):.2f}",
        f"{median('events') / median('cpu_s'):,.0f}",
        f"{median('events') / virtual_s:,.0f}",
        f"{median('acked') / virtual_s:,.0f}",
        f"{median('peak_bytes') / MIB:,.0f}",
        f"{(median('peak_bytes') - median('started_bytes')) / MIB / virtual_s:.1f}",
        f"{statistics.median(run['cpu_s'] / base['cpu_s'] for run, base in zip(runs, bare, strict=True)):.2f}",
    )
    return f"| {' | '.join(cells)} |"


def profiled(virtual_s: int) -> list[str]:
    """Where the time of a bare run goes."""
    profile = cProfile.Profile()
    measure(virtual_s, profile=profile)
    return top_ten(NAME, profile)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--virtual-s", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write the table into benchmarks/RESULTS.md")
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    bare: list[Run] = []
    watched: list[Run] = []
    for _ in range(options.repeats):
        bare.append(measured(options.virtual_s, watched=False))
        watched.append(measured(options.virtual_s, watched=True))
    lines = [
        machine(f"python -m benchmarks.large --repeats {options.repeats} --write"),
        "",
        f"{NAME}; RF 3, acks=all, traces on; {options.virtual_s} virtual s under even load.",
        f"Medians; rounds: {options.repeats}.",
        "",
        f"| {' | '.join(HEADINGS)} |",
        f"|{'---|' * len(HEADINGS)}",
        row("traces", bare, bare, options.virtual_s),
        row("traces, checkers and measures", watched, bare, options.virtual_s),
        "",
        *profiled(options.virtual_s),
    ]
    print("\n".join(lines))
    if options.write:
        write_section("large", lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
