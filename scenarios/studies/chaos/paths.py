"""The way that a run took: the seed that it was drawn from, and the branches at which it went on otherwise."""

from __future__ import annotations

from attrs import evolve

from scenarios.chaos.redraw import redrawn, sub_seed
from scenarios.faults.actions.healing import Heal
from scenarios.language import Scenario
from scenarios.language.entries import Branch
from scenarios.language.schema.spans import certain
from scenarios.language.triggers import At
from scenarios.runs.continuing import with_branch
from scenarios.studies.chaos.seed_run import Drawn

Path = tuple[tuple[int, int], ...]
"""The branches of a run: the instant (us) of each, and its number among those that were drawn there."""

FIRST_US, BEFORE_HEALING_US = 3_000_000, 1_000_000
"""Branches are drawn between these: faults begin at about the first."""


def branch_at(drawn: Drawn, scenario: Scenario, at_us: int, number: int) -> Branch:
    """The branch of a scenario that was drawn from ``drawn``."""
    return redrawn(drawn.scenario, scenario, at_us, sub_seed(scenario.seed, at_us, number), drawn.weights)


def on_path(drawn: Drawn, seed: int, path: Path) -> Scenario:
    """The scenario of a run: a file that replays it from the start. Raises: BadInput."""
    scenario = evolve(drawn.concrete(seed), source="")
    for at_us, number in path:
        scenario = with_branch(scenario, branch_at(drawn, scenario, at_us, number))
    return scenario


def healing_us(scenario: Scenario) -> int:
    """The time at which a drawn scenario is healed; 0: never."""
    heals = [entry.trigger for entry in scenario.method if isinstance(entry.action, Heal)]
    return certain(heals[-1].time_us) if heals and isinstance(heals[-1], At) else 0


def name_of(seed: int, path: Path) -> str:
    """The name of a run in file names: ``seed-12``, ``seed-12-at-23.456789s-0``."""
    return "-".join([f"seed-{seed}", *(f"at-{at_us / 1e6:.6f}s-{number}" for at_us, number in path)])
