"""``python -m benchmarks.large [--repeats 5] [--virtual-s 5] [--write]``: 100 brokers, 10,000 partitions with 3
replicas, 1,000 of them with 10 batches a second: events per second, virtual seconds per second of CPU, memory.

With and without checkers and measures, in turn; each run has a process of its own.
"""

import cProfile
import statistics
import sys
from collections.abc import Mapping, Sequence

from benchmarks.large.case import BROKERS, LOADED, PARTITIONS, measure
from benchmarks.profiling import top_ten
from benchmarks.program import alone, conclude, parser_of, quiet
from benchmarks.results import machine
from benchmarks.tables import table

MIB = 1 << 20
NAME = f"{BROKERS} brokers, {PARTITIONS:,} partitions, {LOADED:,} with 10 batches/s"
HEADINGS = (
    "", "virtual s per CPU s", "events per CPU s", "events per virtual s", "batches acknowledged per virtual s",
    "peak MiB", "more MiB per virtual s", "CPU, over the bare run",
)  # fmt: skip
Run = Mapping[str, float]


def measured(virtual_s: int, *, watched: bool) -> Run:
    """One run in a process of its own."""
    run: Run = alone("benchmarks.large.case", "--virtual-s", virtual_s, *(["--watched"] if watched else []))
    return run


def row(name: str, runs: Sequence[Run], bare: Sequence[Run], virtual_s: int) -> tuple[str, ...]:
    """Medians; the last figure is the median over the rounds of the CPU time over that of the bare run."""

    def median(key: str) -> float:
        return statistics.median(run[key] for run in runs)

    return (
        name,
        f"{virtual_s / median('cpu_s'):.2f}",
        f"{median('events') / median('cpu_s'):,.0f}",
        f"{median('events') / virtual_s:,.0f}",
        f"{median('acked') / virtual_s:,.0f}",
        f"{median('peak_bytes') / MIB:,.0f}",
        f"{(median('peak_bytes') - median('started_bytes')) / MIB / virtual_s:.1f}",
        f"{statistics.median(run['cpu_s'] / base['cpu_s'] for run, base in zip(runs, bare, strict=True)):.2f}",
    )


def profiled(virtual_s: int) -> list[str]:
    """The profile of a bare run, as lines: the functions that take the time."""
    profile = cProfile.Profile()
    measure(virtual_s, profile=profile)
    return top_ten(NAME, profile)


def main() -> int:
    parser = parser_of("large", __doc__, repeats=5)
    parser.add_argument("--virtual-s", type=int, default=5)
    options = parser.parse_args()
    quiet()
    bare: list[Run] = []
    watched: list[Run] = []
    for _ in range(options.repeats):
        bare.append(measured(options.virtual_s, watched=False))
        watched.append(measured(options.virtual_s, watched=True))
    rows = [
        row("traces", bare, bare, options.virtual_s),
        row("traces, checkers and measures", watched, bare, options.virtual_s),
    ]
    lines = [
        machine(f"python -m benchmarks.large --repeats {options.repeats} --write"),
        "",
        f"{NAME}; RF 3, acks=all, traces on; {options.virtual_s} virtual s under even load.",
        f"Medians; rounds: {options.repeats}.",
        "",
        *table(HEADINGS, rows),
        "",
        *profiled(options.virtual_s),
    ]
    return conclude("large", lines, write=options.write)


if __name__ == "__main__":
    sys.exit(main())
