"""The oracle's share of a run: CPU time of runs of the default swarm with it and without it, in turns."""

import time

from benchmarks.program import quiet
from benchmarks.results import machine
from benchmarks.tables import table
from scenarios.chaos.draw import default_swarm
from scenarios.runs import run_scenario

SEEDS = range(3)
PROFILES = ("kafka-0.8", "kafka-2.3", "kafka-3.9")
TURNS = 7


def _cpu_s(seed: int, profile: str, *, oracle: bool) -> float:
    began = time.process_time()
    run_scenario(default_swarm(), seed=seed, profile=profile, against_specification=oracle)
    return time.process_time() - began


def _least(seed: int, profile: str) -> tuple[float, float]:
    """The least CPU time of a run without the oracle and with it, which take turns: a machine that others use is fast
    and slow by turns too."""
    turns = [(_cpu_s(seed, profile, oracle=False), _cpu_s(seed, profile, oracle=True)) for _ in range(TURNS)]
    without, under = zip(*turns, strict=True)
    return min(without), min(under)


def cost() -> list[str]:
    """The lines of the table: the least of a few turns for each seed, summed."""
    quiet()
    _cpu_s(0, PROFILES[0], oracle=True)  # imports
    rows = []
    for profile in PROFILES:
        without, under = map(sum, zip(*(_least(seed, profile) for seed in SEEDS), strict=True))
        rows.append((profile, f"{without:.2f}", f"{under:.2f}", f"{under / without - 1:.1%}"))
    return [machine("python -m benchmarks.specification --cost --write"), "", *table(
        ("Profile", "Without it, CPU s", "With it, CPU s", "More"), rows
    )]  # fmt: skip
