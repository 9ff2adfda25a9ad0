"""``python -m benchmarks.mutations.hunt CPU_SECONDS PLACES``: run random scenarios until one has a finding that no
known behaviour of the release explains, or the budget is over, and print what was seen as JSON.

Seeds of six profiles take turns, so that what only old releases do is run too. ``PLACES`` is a JSON list of the runs to
make: profile, seed, and the CPU seconds by which the budget is smaller because the runs before it are left out: those
that have findings without the mutation too, and those that do not execute the line which was changed.

``--survey`` makes all runs that the budget is enough for, in a checkout without a mutation whose lines are watched, and
prints what is to be known of each: how long it took, whether it has such a finding, which of the lines it executed.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from benchmarks.mutations.executed import SEEN
from emulator.kernel.collector import collector_off
from scenarios.chaos.draw import default_swarm
from scenarios.studies.chaos.seed_run import Drawn, SeedChunk, SeedResult, work

PROFILES = ("kafka-2.4", "kafka-2.3", "kafka-2.7", "kafka-1.1", "kafka-3.9", "kafka-0.8")


def swarms() -> dict[str, Drawn]:
    return {profile: Drawn(scenario=default_swarm().for_run(profile=profile)) for profile in PROFILES}


def places() -> Iterator[tuple[str, int]]:
    """Profile and seed, in the order in which they are tried: another seed each time, as what it draws counts most."""
    return ((PROFILES[seed % len(PROFILES)], seed) for seed in count())


def run(drawn: Mapping[str, Drawn], profile: str, seed: int) -> SeedResult:
    [result] = work(SeedChunk(drawn[profile], (seed,)))
    return result


@collector_off()
def hunt(budget_s: float, wanted: Iterable[tuple[str, int, float]]) -> dict[str, Any]:
    """The first finding."""
    drawn, runs = swarms(), 0
    for profile, seed, left_out_s in wanted:
        if time.process_time() + left_out_s >= budget_s:
            break
        runs += 1
        result = run(drawn, profile, seed)
        if result.new:
            first = result.new[0]
            seen = f"{first.checker}: {first.in_short}"
            return {"seen": seen, "seed": f"{profile}/{seed}", "runs": runs}
    return {"seen": "", "seed": "", "runs": runs}


@collector_off()
def survey(budget_s: float) -> list[dict[str, Any]]:
    """All runs, in their order."""
    drawn, found = swarms(), []
    for profile, seed in places():
        begun = time.process_time()
        if begun >= budget_s:
            break
        SEEN.clear()
        noisy = bool(run(drawn, profile, seed).new)
        took_s = time.process_time() - begun
        found.append({"place": (profile, seed), "cpu_s": took_s, "noisy": noisy, "executed": sorted(SEEN)})
    return found


if __name__ == "__main__":
    seconds, wanted = float(sys.argv[1]), sys.argv[2]
    print(json.dumps(survey(seconds) if wanted == "--survey" else hunt(seconds, json.loads(wanted))))
