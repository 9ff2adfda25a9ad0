"""``python -m benchmarks.chaos.phases [--seeds 60] [--profile kafka-2.3]``: in which part of its run a seed of the
default swarm spends its CPU time: before faults, while they last, until the cluster has converged, and after that.

Nothing is judged. A seed's share of virtual time is beside its share of CPU time: a cluster at rest costs little.
"""

import sys
import time
from itertools import pairwise
from unittest.mock import patch

from benchmarks.program import parser_of
from benchmarks.results import machine
from benchmarks.tables import table
from scenarios.chaos.draw import default_swarm
from scenarios.faults.actions.healing import Heal
from scenarios.language.schema.spans import certain
from scenarios.language.triggers import At
from scenarios.runs.runner import Stage
from scenarios.studies.chaos.seed_run import Drawn, run_seed

PHASES = ("before faults", "faults", "until it has converged", "after that", "set up, judged, freed")
FIRST_US = 3_000_000


def phase(stage: Stage, heal_us: int, now_us: int) -> str:
    """The phase that a look at ``now_us`` belongs to."""
    if now_us < FIRST_US:
        return PHASES[0]
    if now_us < heal_us:
        return PHASES[1]
    met_us = stage.converged.met_us
    return PHASES[2] if met_us is None or now_us < met_us else PHASES[3]


def spent(drawn: Drawn, seeds: int) -> tuple[dict[str, float], dict[str, float]]:
    """The CPU seconds and the virtual seconds of each phase, of all seeds together."""
    cpu, virtual = dict.fromkeys(PHASES, 0.0), dict.fromkeys(PHASES, 0.0)
    looks: list[tuple[Stage, int, float]] = []
    look = Stage._look

    def noted(stage: Stage, argument: object) -> None:
        looks.append((stage, stage.world.now, time.process_time()))
        look(stage, argument)

    with patch.object(Stage, "_look", noted):
        for seed in range(seeds):
            looks.clear()
            began = time.process_time()
            run_seed(drawn, seed)
            ended = time.process_time()
            stage = looks[0][0]
            triggers = [entry.trigger for entry in stage.scenario.method if entry.name == Heal.name]
            heal_us = next(certain(trigger.time_us) for trigger in triggers if isinstance(trigger, At))
            for (_, from_us, from_s), (_, to_us, to_s) in pairwise(looks):
                of = phase(stage, heal_us, from_us)
                cpu[of] += to_s - from_s
                virtual[of] += (to_us - from_us) / 1e6
            cpu[PHASES[4]] += looks[0][2] - began + ended - looks[-1][2]
    return cpu, virtual


def main() -> int:
    parser = parser_of("chaos.phases", __doc__)
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("--profile", default="kafka-2.3")
    options = parser.parse_args()
    drawn = Drawn(scenario=default_swarm().for_run(profile=options.profile))
    run_seed(drawn, options.seeds)
    cpu, virtual = spent(drawn, options.seeds)
    rows = [
        (name, f"{cpu[name] / options.seeds * 1e3:.0f}", f"{cpu[name] / sum(cpu.values()):.0%}",
         f"{virtual[name] / options.seeds:.1f}")
        for name in PHASES
    ]  # fmt: skip
    print(machine(f"python -m benchmarks.chaos.phases --seeds {options.seeds} --profile {options.profile}"), "")
    print("\n".join(table(("phase", "CPU ms of a seed", "share", "virtual s of a seed"), rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
