"""``python -m benchmarks.mutations.hunt CPU_SECONDS NOISY``: run random scenarios until one has a finding that
no known behaviour of the release explains, or the budget is over, and print what was seen as JSON.

Seeds of six profiles take turns, so that what only old releases do is run too. ``NOISY`` is a JSON list of
``PROFILE/SEED`` that have findings without the mutation too: they say nothing about it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Collection, Iterator
from itertools import count
from typing import Any

from emulator.kernel.collector import collector_off
from scenarios.chaos.draw import default_swarm
from scenarios.runs.batch import Chunk
from scenarios.studies.chaos.seed_run import Drawn, work

PROFILES = ("kafka-2.4", "kafka-2.3", "kafka-2.7", "kafka-1.1", "kafka-2.6", "kafka-0.8")


def swarms() -> dict[str, Drawn]:
    return {profile: Drawn(scenario=default_swarm().for_run(profile=profile)) for profile in PROFILES}


def places() -> Iterator[tuple[str, int]]:
    """Profile and seed, in the order in which they are tried: another seed each time, as what it draws counts most."""
    return ((PROFILES[seed % len(PROFILES)], seed) for seed in count())


@collector_off()
def hunt(budget_s: float, quiet: Collection[str], *, to_the_end: bool = False) -> dict[str, Any]:
    """The first finding; ``all``: the places of all of them, where the hunt goes on ``to_the_end``."""
    drawn, runs = swarms(), 0
    found: list[str] = []
    for profile, seed in places():
        if time.process_time() >= budget_s:
            break
        place = f"{profile}/{seed}"
        if place in quiet:
            continue
        runs += 1
        [result] = work(Chunk(drawn[profile], (seed,)))
        if result.new:
            first = result.new[0]
            if not to_the_end:
                return {"seen": f"{first.checker}: {first.state or first.statement}", "seed": place, "runs": runs}
            found.append(place)
    return {"seen": "", "seed": "", "runs": runs, "all": found}


if __name__ == "__main__":
    seconds, quiet_places = float(sys.argv[1]), json.loads(sys.argv[2])
    print(json.dumps(hunt(seconds, quiet_places, to_the_end="--all" in sys.argv)))
