"""``python -m benchmarks.kernel [--repeats 5] [--brokers 4,10,40] [--write]``: measures, checks, prints the
table.

All variants of a size run in one process, interleaved, each on the same number of messages; a ratio is the
median of the ratios within each round. Exit code 1 where a target is missed or two checksums differ.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

from benchmarks.kernel import of_heapq, of_simpy, of_trio, of_world
from benchmarks.kernel.model import pairs
from benchmarks.results import machine, write_section
from emulator.kernel.collector import collect, collector_off

Variant = Callable[[int, int, int | None], int]

WORLD = "world, detached"
STORE = "SimPy, Store"
LIKE = "SimPy, like for like"
HEAPQ = "heapq callbacks"
VARIANTS: dict[str, Variant] = {
    WORLD: of_world.run,
    "world, attached": partial(of_world.run, backend="attached"),
    STORE: of_simpy.run_store,
    LIKE: of_simpy.run_like_for_like,
    "Trio, MockClock": of_trio.run,
    HEAPQ: of_heapq.run,
}
TIMEOUT_US = 500_000
MESSAGES = 40_000
TARGETS = {STORE: 3.0, LIKE: 1.3, HEAPQ: 0.5}
"""At 10 brokers, without time-outs. Everywhere: at least twice SimPy's Store."""


def measure(brokers: int, timeout_us: int | None, repeats: int) -> dict[str, list[float]]:
    """Seconds of each run of each variant, round by round.

    Raises:
        SystemExit: two variants got different results.
    """
    fetches = max(1, round(MESSAGES / 2 / len(pairs(brokers))))
    seconds: dict[str, list[float]] = {name: [] for name in VARIANTS}
    checksums: dict[str, int] = {}
    # The world keeps the cyclic collector off while it runs; so that this is no advantage, it is off for all.
    with collector_off():
        for _ in range(repeats):
            for name, run in VARIANTS.items():
                collect()
                start = time.process_time()
                checksums[name] = run(brokers, fetches, timeout_us)
                seconds[name].append(time.process_time() - start)
    if len(set(checksums.values())) > 1:
        raise SystemExit(f"{brokers} brokers: the variants disagree: {checksums}")
    return seconds


def ratio(seconds: dict[str, list[float]], name: str) -> float:
    """The speed of the world as a multiple of that of ``name``."""
    return statistics.median(other / ours for ours, other in zip(seconds[WORLD], seconds[name], strict=True))


def missed(brokers: int, timeout_us: int | None, seconds: dict[str, list[float]]) -> list[str]:
    """The targets that this size misses."""
    targets = {STORE: 2.0}
    if brokers == 10 and timeout_us is None:
        targets |= TARGETS
    return [
        f"{brokers} brokers, {'no ' if timeout_us is None else ''}time-outs:"
        f" {ratio(seconds, name):.2f} x {name} is below {target}"
        for name, target in targets.items()
        if ratio(seconds, name) < target
    ]


def rows(brokers: int, timeout_us: int | None, seconds: dict[str, list[float]]) -> list[str]:
    """The lines of the table for one size."""
    messages = 2 * max(1, round(MESSAGES / 2 / len(pairs(brokers)))) * len(pairs(brokers))
    return [
        f"| {brokers} | {'no' if timeout_us is None else 'yes'} | {name} |"
        f" {messages / statistics.median(times) / 1000:.0f} | {ratio(seconds, name):.2f} |"
        for name, times in seconds.items()
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernel", description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--brokers", default="4,10,40")
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/RESULTS.md")
    options = parser.parse_args()
    table = [
        "Request and response between N brokers, N(N-1) fetchers, 2 partitions per fetch, one process,",
        f"variants interleaved, median of {options.repeats} rounds, CPU time, the collector off for all.",
        "The last column is the world's speed over the row's. Checksums are equal within each size.",
        "",
        machine("python -m benchmarks.kernel --write"),
        "",
        "| brokers | time-out on each receive | variant | 1000 messages/s | world is x times as fast |",
        "|---|---|---|---|---|",
    ]
    misses = []
    for brokers in map(int, options.brokers.split(",")):
        for timeout_us in (None, TIMEOUT_US):
            seconds = measure(brokers, timeout_us, options.repeats)
            lines = rows(brokers, timeout_us, seconds)
            print("\n".join(lines), flush=True)
            table += lines
            misses += missed(brokers, timeout_us, seconds)
    table += ["", "Targets: " + ("; ".join(misses) if misses else "all met.")]
    if options.write:
        write_section("kernel", table)
    print(table[-1])
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
