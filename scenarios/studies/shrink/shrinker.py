"""The search for the smallest scenario: candidates are tried until none gives the finding, or the time is over.

It does not use Hypothesis' engine. That shrinks the bytes from which a value was drawn, and draws every part again when
an earlier one is left out. A scenario has a structure of its own: a part that is removed in one place has to be removed
in all places that name it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from itertools import islice
from math import inf
from typing import Any

from attrs import define, field, frozen

from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.expect import Expect
from scenarios.language.schema.toml_text import write_toml
from scenarios.runs.batch import Workers, kept_workers
from scenarios.runs.finding import EXPECTATION, Finding
from scenarios.studies.shrink.measure import Size, healing, standing
from scenarios.studies.shrink.passes import PASSES, Pass, seeds
from scenarios.studies.shrink.prepare import STEPS
from scenarios.studies.shrink.references import Table
from scenarios.studies.shrink.shrinking_state import State
from scenarios.studies.shrink.trial import Trial, gives
from scenarios.units import parse_duration

Weight = tuple[Any, ...]

CONVERGED = "converged"


@frozen(kw_only=True)
class Limits:
    """The limits of the search.

    Attributes:
        seconds: the real time; None: until nothing smaller is found.
        runs: the most candidates to run; None: any number.
        jobs: the processes that run candidates. The result does not depend on it.
    """

    seconds: float | None = None
    runs: int | None = None
    jobs: int = 1


@frozen(kw_only=True)
class Shrunk:
    """The result.

    Attributes:
        scenario: the smallest one that gives the finding.
        before, after: the size of the given scenario, with everything in it made explicit, and of this one.
        runs: the number of candidates that were run.
        finished: whether nothing smaller was found in a whole round; otherwise the time, or the number of runs, was
            over.
    """

    scenario: Scenario
    finding: Finding
    before: Size
    after: Size
    runs: int
    finished: bool


class _Over(Exception):
    """A limit is reached."""


@define(eq=False)
class Shrinker:
    """Shrinks one scenario.

    Attributes:
        state: the candidates that were tried. With a file it is kept there, so that the next attempt goes on from it.
        said: called with a line of text each time the scenario has become smaller.
        gives: tells whether a trial has the finding. With several jobs it is called in the worker processes.
    """

    scenario: Scenario
    finding: Finding
    limits: Limits = Limits()
    state: State = field(factory=State)
    said: Callable[[str], object] = lambda _: None
    gives: Callable[[Trial], bool] = gives
    _current: Table = field(init=False)
    _until: float | None = field(init=False)
    _workers: Workers = field(init=False)
    _by_bugs: bool = False
    _heals_by: frozenset[str] = frozenset()
    _standing: float = inf
    _runs: int = 0

    def shrink(self) -> Shrunk:
        """Shrink. Raises: BadInput where the scenario does not give the finding itself."""
        seconds = self.limits.seconds
        self._until = None if seconds is None else time.monotonic() + seconds
        self._current = self.state.current or _titled(self.scenario, self.finding)
        finished = True
        if not self.state.current and not self._shows_it():
            raise BadInput(f"its run does not show {self.finding.checker}; nothing to shrink")
        self._by_bugs = bool(self.scenario.bugs) and not self._gives({**self._current, "bugs": []})
        try:
            self._prepare()
            if _after_healing(self.finding):
                self._heals_by, self._standing = healing(self._current), standing(self._current)
            before = self.state.before = self.state.before or Size.of(self._current)
            self.state.keep(self._current)
            with kept_workers(self.limits.jobs) as self._workers:
                self._shrink()
        except _Over:
            before, finished = self.state.before or Size.of(self._current), False
        scenario = Scenario.from_table(self._current)
        self.state.close(finished=finished)
        return Shrunk(
            scenario=scenario, finding=self.finding, before=before, after=Size.of(self._current),
            runs=self.state.runs, finished=finished,
        )  # fmt: skip

    def _shows_it(self) -> bool:
        """Whether the scenario gives the finding, by itself where it can."""
        if self._gives(self._current):
            return True
        self.state.by_itself = False
        return self._gives(self._current)

    def _prepare(self) -> None:
        """Make everything explicit, as far as the run stays what it was."""
        for step in STEPS if not self.state.before else ():
            table = _canonical(step(Scenario.from_table(self._current)))
            if table is not None and table != self._current and self._gives(table):
                self._current = table

    def _shrink(self) -> None:
        while True:
            before = self._current
            for one in PASSES:
                self._exhaust(one)
            if self._current == before:
                self._exhaust(seeds)
                if self._current == before:
                    return

    def _exhaust(self, one: Pass) -> None:
        """Try the proposals of the pass, in rounds, until a whole round gives nothing."""
        start = 0
        while True:
            found = self._first(one, start)
            if found is None:
                return
            start, self._current = found
            self.state.keep(self._current)
            self.said(f"{Size.of(self._current)} ({self.state.runs:,} runs)")

    def _first(self, one: Pass, start: int) -> tuple[int, Table] | None:
        """The first candidate from the place ``start`` on that gives the finding, and its place."""
        proposed = list(one(self._current))
        order = [*range(start, len(proposed)), *range(min(start, len(proposed)))]
        fresh = self._fresh((place, proposed[place]) for place in order)
        jobs = self.limits.jobs
        while chunk := list(islice(fresh, jobs)):
            trials = [self._trial(table) for _place, table in chunk]
            with closing(self._workers.in_order(self.gives, trials)) as results:
                for (place, table), holds in zip(chunk, results, strict=True):
                    self._count(table)
                    if holds:
                        return place, table
        return None

    def _fresh(self, proposed: Iterator[tuple[int, Table]]) -> Iterator[tuple[int, Table]]:
        """The candidates that are scenarios, smaller than the current one, and were not tried before. A cluster that is
        not healed any more has another reason not to converge."""
        weight = _weight(self._current)
        for place, candidate in proposed:
            table = _canonical(candidate)
            if table is None or not self._heals_by <= healing(table) or standing(table) > self._standing:
                continue
            if _weight(table) < weight and not self.state.was_tried(table):
                self._check_limits()
                yield place, table

    def _gives(self, table: Table) -> bool:
        self._check_limits()
        self._count(table)
        return self.gives(self._trial(table))

    def _trial(self, table: Table) -> Trial:
        return Trial(json.dumps(table), self.finding.rule, self._by_bugs, self.state.by_itself)

    def _count(self, table: Table) -> None:
        self._runs += 1
        self.state.tried(table)

    def _check_limits(self) -> None:
        over = self.limits.runs is not None and self._runs >= self.limits.runs
        if over or (self._until is not None and time.monotonic() >= self._until):
            raise _Over


def _titled(scenario: Scenario, finding: Finding) -> Table:
    """The scenario's table with the finding as its title, and without keys on which the run does not depend."""
    table = scenario.to_table()
    for name in ("description", "tags"):
        table.pop(name, None)
    words = finding.statement.rpartition(": ")[2]
    return {**table, "title": words if finding.checker == EXPECTATION else f"{finding.checker}: {words}"}


def _after_healing(finding: Finding) -> bool:
    """Whether the finding is that a cluster did not get well once its faults had ended."""
    expected = isinstance(finding.part, Expect) and finding.part.converged
    return finding.checker == CONVERGED or bool(expected)


def _canonical(candidate: Mapping[str, Any]) -> Table | None:
    """The table as a scenario writes itself; None where it is not a scenario."""
    try:
        return Scenario.from_table(candidate).to_table()
    except (BadInput, KeyError, IndexError, TypeError, ValueError):
        return None


def _weight(table: Table) -> Weight:
    """The order of scenarios by size: the number of its parts, then its text, then its numbers."""
    *parts, _lines = Size.of(table)
    leaves, amount = _leaves(table)
    return (*parts, leaves, len(write_toml(table)), amount)


def _leaves(value: Any) -> tuple[int, int]:
    """The number of values, and their sum; times in milliseconds."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        found = [_leaves(item) for item in value]
        return sum(count for count, _ in found), sum(amount for _, amount in found)
    if isinstance(value, str):
        try:
            return 1, parse_duration(value) // 1000
        except BadInput:
            return 1, 0
    return 1, int(value)
