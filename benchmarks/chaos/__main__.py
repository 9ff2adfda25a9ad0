"""``python -m benchmarks.chaos [--seeds 60] [--write]``: what a seed of a campaign costs, how much of that is drawing,
and whether the memory of a long campaign stays flat.

Exit code 1 where a target is missed. Each part has a process of its own.
"""

import gc
import json
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import evolve

from benchmarks.program import alone, conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table
from scenarios.chaos.draw import default_swarm
from scenarios.chaos.kinds.shape import Healing, Shape
from scenarios.language import Scenario
from scenarios.runs.batch import ThisProcess
from scenarios.studies.chaos.campaign import Campaign, Tally, run
from scenarios.studies.chaos.seed_run import Drawn

CASE = Path(__file__).parent / "case.toml"
WANTED, GOAL = 10, 40
"""Seeds per second and core."""
CAMPAIGN = 100_000
GROWS_KB = 2_048
"""The memory of a campaign may grow by so much between half of the seeds and all: by its failures."""


def swarm() -> Scenario:
    """The case with the faults of the default swarm; its cluster, topics and loads are as the file states them."""
    faults = [block for block in default_swarm().chaos if not isinstance(block, Shape)]
    faults = [block for block in faults if block.kind not in ("loads", "consumers", "more-clients")]
    return evolve(Scenario.load(CASE), chaos=[Healing(at=(60_000_000, 60_000_000)), *faults])


def memory_kb() -> int:
    """The present memory of this process, in kB (Linux)."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() // 1024


def measured(seeds: int) -> dict[str, float]:
    """A campaign in this process: CPU seconds in all and for drawing, virtual seconds, events, and memory."""
    drawn = Drawn(scenario=swarm())
    drawn.concrete(0)
    began = time.process_time()
    for seed in range(seeds):
        drawn.concrete(seed)
    drawing_s = time.process_time() - began
    first: list[int] = []

    def note(_: object, tally: Tally) -> None:
        if tally.seeds == max(1, seeds // 2):
            first.append(memory_kb())

    began = time.process_time()
    tally = run(Campaign(drawn=drawn, seeds=range(seeds)), ThisProcess(), note)
    return {
        "cpu_s": time.process_time() - began,
        "drawing_s": drawing_s,
        "virtual_s": tally.virtual_us / 1e6,
        "events": tally.events,
        "failed": len(tally.failed),
        "first_kb": first[0],
        "last_kb": memory_kb(),
    }


def lines(found: dict[str, float], seeds: int) -> Iterator[str]:
    each = found["cpu_s"] / seeds
    rows = (
        ("seeds per second and core", f"{1 / each:.2f}", f"≥ {WANTED} (goal {GOAL})"),
        ("CPU ms of a seed", f"{each * 1e3:.0f}", ""),
        ("of these for drawing it", f"{found['drawing_s'] / seeds * 1e3:.1f}", ""),
        ("virtual seconds of a seed", f"{found['virtual_s'] / seeds:.0f}", ""),
        ("events of a seed", f"{found['events'] / seeds:,.0f}", ""),
        ("seeds with new findings", f"{found['failed']:.0f} of {seeds}", ""),
        ("memory after half of the seeds, and after all: MiB",
         f"{found['first_kb'] / 1024:.0f}, {found['last_kb'] / 1024:.0f}", f"+{GROWS_KB // 1024} at most"),
        (f"{CAMPAIGN:,} seeds on two cores, extrapolated: hours", f"{each * CAMPAIGN / 2 / 3600:.1f}", ""),
    )  # fmt: skip
    yield from table(("figure", "here", "target"), rows)


def missed(found: dict[str, float], seeds: int) -> Sequence[str]:
    problems = []
    if seeds / found["cpu_s"] < WANTED:
        problems.append(f"{seeds / found['cpu_s']:.1f} seeds per second and core, wanted ≥ {WANTED}")
    if found["last_kb"] - found["first_kb"] > GROWS_KB:
        problems.append(f"memory grew by {(found['last_kb'] - found['first_kb']) / 1024:.1f} MiB")
    return problems


def main() -> int:
    parser = parser_of("chaos", __doc__)
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("--alone", action="store_true", help="measure in this process and print JSON")
    options = parser.parse_args()
    if options.alone:
        print(json.dumps(measured(options.seeds)))
        return 0
    found = alone("benchmarks.chaos", "--alone", "--seeds", options.seeds)
    head = [machine(f"python -m benchmarks.chaos --seeds {options.seeds} --write"), ""]
    return conclude("chaos", [*head, *lines(found, options.seeds)], missed(found, options.seeds), write=options.write)


if __name__ == "__main__":
    sys.exit(main())
