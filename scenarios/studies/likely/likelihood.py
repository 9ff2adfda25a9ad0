"""The share of continuations that have a finding, at growing instants, and what happened where it rises most.

Instants are chosen where entries act: just before, and just after. A few of these are looked at first, then those
between the two neighbours with the steepest rise; where no entry is between them any more, instants half way, until the
two are close together.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from time import perf_counter
from typing import Any

from attrs import define, frozen

from emulator.kernel.collector import collector_off
from scenarios.chaos.draw import concrete
from scenarios.language import Scenario
from scenarios.runs.batch import Workers
from scenarios.runs.finding import Finding
from scenarios.runs.findings import findings
from scenarios.runs.run import Run
from scenarios.runs.runner import Stage, conclude, prepare
from scenarios.studies.likely.tails import Tails, count
from scenarios.studies.statistics.counted_share import wilson

FIRST_POINTS = 7
CLOSE_US = 10_000
"""Two instants as close as this are not told apart any more."""
AT_ONCE = 10
"""The most continuations of one task."""


@frozen
class Act:
    """An entry that has acted: its place in the file, its action, and the virtual time (us)."""

    place: str
    action: str
    t_us: int


@frozen
class Point:
    """The continuations from one instant.

    Attributes:
        at_us: the instant; nothing that happens at it has happened.
        found, of: how many of them have the finding, and their number.
    """

    at_us: int
    found: int
    of: int

    @property
    def share(self) -> float:
        return self.found / self.of

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of 95 % of the share (Wilson)."""
        return wilson(self.found, self.of)


@frozen
class Likelihood:
    """When a finding became likely.

    Attributes:
        points: in the order of their instants; the last is the instant at which the finding showed, where all have it.
        before, after: the two neighbours with the steepest rise between them.
        acts: the entries that acted between the two: the steepest rise is theirs. None did: it is that of ``events``.
        events: the events of the control plane between the two.
    """

    finding: Finding
    points: tuple[Point, ...]
    before: Point
    after: Point
    acts: tuple[Act, ...]
    events: tuple[Any, ...]


@define(eq=False)
class Original:
    """The run with the finding, as it was.

    Attributes:
        scenario: its scenario, as it was drawn.
        shown_us: the instant at which the finding showed; for what shows at its end only, that.
    """

    scenario: Scenario
    swarm: Scenario | None
    run: Run
    finding: Finding
    acts: tuple[Act, ...]
    places: tuple[tuple[tuple[int, int], int], ...]
    shown_us: int

    @classmethod
    @collector_off()
    def of(cls, asked: Scenario, finding: Finding) -> Original:
        """Play the run that is asked for, which has the finding."""
        scenario = concrete(asked, asked.seed)
        stage, began = Stage(prepare(scenario)), perf_counter()
        stage.play()
        run, _ = conclude(stage, scenario, perf_counter() - began)
        found = next(one for one in findings(run) if one == finding)
        acted = stage.method.acted
        return cls(
            scenario,
            asked if asked.chaos else None,
            run,
            found,
            tuple(Act(turn.place, turn.entry.name, t_us) for t_us, turn in acted),
            tuple((turn.number, t_us) for t_us, turn in acted),
            round(run.virtual_s * 1e6) if found.violation is None else found.violation.t_us + 1,
        )

    def tails(self, at_us: int, branches: int) -> Iterator[Tails]:
        """The continuations from one instant, in tasks."""
        document = json.dumps(self.scenario.to_table())
        swarm = "" if self.swarm is None else json.dumps(self.swarm.to_table())
        rule = self.finding.rule
        for first in range(0, branches, AT_ONCE):
            numbers = tuple(range(first, min(branches, first + AT_ONCE)))
            yield Tails(document, swarm, rule, self.places, at_us, numbers)


def likelihood(
    original: Original,
    branches: int,
    most_points: int,
    workers: Workers,
    told: Callable[[Point], object] = lambda _: None,
) -> Likelihood:
    """When the finding became likely.

    Args:
        branches: the number of continuations from each instant.
        most_points: the most instants.
        told: called with each point as it is known.
    """
    instants = sorted({1, *(t_us + late for act in original.acts for t_us in (act.t_us,) for late in (0, 1))})
    instants = [at_us for at_us in instants if 0 < at_us < original.shown_us] or [1]
    points = {original.shown_us: Point(original.shown_us, branches, branches)}

    def look(chosen: Iterable[int]) -> None:
        wanted = [at_us for at_us in chosen if at_us not in points]
        tasks = [one for at_us in wanted for one in original.tails(at_us, branches)]
        each = len(tasks) // max(1, len(wanted))
        with closing(workers.in_order(count, tasks)) as counted:
            for at_us in wanted:
                points[at_us] = Point(at_us, sum(next(counted) for _ in range(each)), branches)
                told(points[at_us])

    look(_spread(instants, min(FIRST_POINTS, most_points)))
    while len(points) <= most_points:
        before, after = _steepest(points)
        between = [at_us for at_us in instants if before < at_us < after]
        if between:
            look(_spread(between, 3)[1:-1] or between[:1])
        elif after - before > CLOSE_US and not _acts(original, before, after):
            look([(before + after) // 2])
        else:
            break
    before, after = _steepest(points)
    events = tuple(event for event in original.run.control_plane if before <= event.t_us < after)
    return Likelihood(
        original.finding, tuple(points[at_us] for at_us in sorted(points)), points[before], points[after],
        _acts(original, before, after), events,
    )  # fmt: skip


def _spread(instants: Sequence[int], number: int) -> list[int]:
    """Some of the instants: the first, the last, and others at about equal distances."""
    if len(instants) <= number:
        return list(instants)
    return [instants[place * (len(instants) - 1) // (number - 1)] for place in range(number)]


def _steepest(points: dict[int, Point]) -> tuple[int, int]:
    """The neighbours between which the share rises most, the first of several."""
    pairs = list(pairwise(sorted(points)))
    return max(pairs, key=lambda pair: points[pair[1]].share - points[pair[0]].share)


def _acts(original: Original, before: int, after: int) -> tuple[Act, ...]:
    return tuple(act for act in original.acts if before <= act.t_us < after)
