"""The continuations of one run from one instant, and whether each has the finding."""

from __future__ import annotations

import json
from functools import partial
from typing import NamedTuple

from scenarios.chaos.redraw import FileMethod, redrawn, sub_seed, varied
from scenarios.language import Scenario
from scenarios.runs.continuing import continuations
from scenarios.runs.finding import Finding
from scenarios.runs.findings import findings
from scenarios.runs.run import Run


class Tails(NamedTuple):
    """Continuations as they travel to a worker: plain values.

    Attributes:
        document: the table of the scenario whose run has the finding, as JSON.
        swarm: that of the file with ``[[chaos]]`` blocks that it was drawn from; empty: there is none.
        acted: for each entry that has acted the number of the entry and of its method, and the time (us).
        at_us: the instant.
        numbers: the numbers of the continuations.
    """

    document: str
    swarm: str
    finding: Finding
    acted: tuple[tuple[tuple[int, int], int], ...]
    at_us: int
    numbers: tuple[int, ...]


def count(tails: Tails) -> int:
    """How many of the continuations have the finding."""
    whole = Scenario.from_table(json.loads(tails.document))
    earlier = tuple(branch for branch in whole.branches if branch.at_us < tails.at_us)
    scenario = whole.with_branches(earlier)
    seeds = [sub_seed(whole.seed, "likely", tails.at_us, number) for number in tails.numbers]
    if tails.swarm:
        swarm = Scenario.from_table(json.loads(tails.swarm))
        branches = [redrawn(swarm, scenario, tails.at_us, seed) for seed in seeds]
    else:
        acted = frozenset(place for place, t_us in tails.acted if t_us < tails.at_us)
        left = FileMethod.of(whole).without(acted)
        branches = [varied(left, tails.at_us, seed) for seed in seeds]
    return sum(continuations(scenario, branches, partial(_has, tails.finding), figures=whole.names_metrics))


def _has(finding: Finding, run: Run) -> bool:
    return finding in findings(run)
