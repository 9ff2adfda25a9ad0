"""The oracle's share of a run: CPU time of runs of the default swarm with it and without it, in turns."""

import time

from benchmarks.program import quiet
from benchmarks.results import machine
from benchmarks.tables import table
from scenarios.chaos.draw import default_swarm
from scenarios.runs import run_scenario

SEEDS = range(3)
PROFILES = ("kafka-0.8", "kafka-2.3", "kafka-3.9")
TURNS = 3


def _cpu_s(seed: int, profile: str, *, oracle: bool) -> float:
    began = time.process_time()
    run_scenario(default_swarm(), seed=seed, profile=profile, against_specification=oracle)
    return time.process_time() - began


def cost() -> list[str]:
    """The lines of the table: the least of a few turns for each seed, summed."""
    quiet()
    _cpu_s(0, PROFILES[0], oracle=True)  # imports
    rows = []
    for profile in PROFILES:
        spent = {
            oracle: sum(min(_cpu_s(seed, profile, oracle=oracle) for _ in range(TURNS)) for seed in SEEDS)
            for oracle in (False, True)
        }
        share = spent[True] / spent[False] - 1
        rows.append((profile, f"{spent[False]:.2f}", f"{spent[True]:.2f}", f"{share:.1%}"))
    return [machine("python -m benchmarks.specification --cost --write"), "", *table(
        ("Profile", "Without it, CPU s", "With it, CPU s", "More"), rows
    )]  # fmt: skip
