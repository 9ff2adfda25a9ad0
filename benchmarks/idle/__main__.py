"""``python -m benchmarks.idle [--sizes 100 10000 100000] [--repeats 5] [--virtual-s 3600] [--write]``: a virtual hour
of a cluster in which nothing happens, with few partitions and with many.

Exit code 1 where a larger size takes 10 % more than the first. Each run has a process of its own; the sizes take turns.
"""

import statistics
import sys
from collections.abc import Mapping, Sequence

from benchmarks.program import alone, conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table

SIZES = (100, 10_000, 100_000)
HELD = 10_000
"""Up to how many partitions the target holds."""
MOST_MORE = 0.10
HEADINGS = ("partitions", "wall s", "CPU s", "wall, over the first", "CPU, over the first", "events")
Run = Mapping[str, float]

INTRODUCTION = """
10 brokers; each partition has 3 replicas and holds one record; no clients. From half a minute after the topics were
created: fetch sessions, ZooKeeper sessions, checkpoints, ISR checks, leader rebalance and whatever else is periodic
go on.
"""


def measured(partitions: int, virtual_s: int) -> Run:
    """One run in a process of its own."""
    run: Run = alone("benchmarks.idle.case", partitions, virtual_s)
    return run


def rounds(sizes: Sequence[int], repeats: int, virtual_s: int) -> dict[int, list[Run]]:
    """The sizes in turn, ``repeats`` times."""
    runs: dict[int, list[Run]] = {size: [] for size in sizes}
    for _ in range(repeats):
        for size, some in runs.items():
            some.append(measured(size, virtual_s))
    return runs


def ratio(runs: Sequence[Run], first: Sequence[Run], key: str) -> float:
    """The median over the rounds of what one size takes over what the first takes."""
    return statistics.median(run[key] / base[key] for run, base in zip(runs, first, strict=True))


def rows(runs: Mapping[int, Sequence[Run]], virtual_s: int) -> list[tuple[str, ...]]:
    """Medians, per virtual hour."""
    first = next(iter(runs.values()))
    found = []
    for size, some in runs.items():
        wall, cpu, events = (
            statistics.median(run[key] for run in some) * 3600 / virtual_s for key in ("wall_s", "cpu_s", "events")
        )
        over = [f"{ratio(some, first, key):.3f}" for key in ("wall_s", "cpu_s")]
        found.append((f"{size:,}", f"{wall:.3f}", f"{cpu:.3f}", *over, f"{events:,.0f}"))
    return found


def missed(runs: Mapping[int, Sequence[Run]]) -> list[str]:
    """The targets that are missed: in CPU time, since a run is one thread that never waits."""
    first = next(iter(runs.values()))
    more = {size: ratio(some, first, "cpu_s") - 1 for size, some in runs.items() if size <= HELD}
    return [f"{size:,} partitions take {share:.0%} more" for size, share in more.items() if share >= MOST_MORE]


def main() -> int:
    parser = parser_of("idle", __doc__, repeats=5)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="partitions, in ascending order")
    parser.add_argument("--virtual-s", type=int, default=3600)
    options = parser.parse_args()
    runs = rounds(options.sizes, options.repeats, options.virtual_s)
    problems = missed(runs)
    lines = [
        machine(f"python -m benchmarks.idle --repeats {options.repeats} --write"),
        INTRODUCTION,
        f"Per virtual hour, medians; rounds: {options.repeats}.",
        "",
        *table(HEADINGS, rows(runs, options.virtual_s)),
        "",
        f"Target: up to {HELD:,} partitions less than {MOST_MORE:.0%} above the first: "
        + ("met." if not problems else f"missed: {'; '.join(problems)}."),
    ]
    return conclude("idle", lines, problems, write=options.write)


if __name__ == "__main__":
    sys.exit(main())
