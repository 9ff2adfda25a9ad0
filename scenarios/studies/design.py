"""The design of a study: which arms there are, and which seeds each of them runs.

Any value of a scenario can be an axis of the grid, by the path that ``--set`` takes: every combination of strategy,
profile and values is an arm. A design is checked whole, before anything is started or written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, Protocol

from attrs import evolve, field, frozen

from scenarios.errors import BadInput
from scenarios.language import Scenario, StudySpec
from scenarios.language.schema.overrides import value_text
from scenarios.language.strategies import parse_strategy
from scenarios.runs.dataset.arm import Arm, named

_NO_AXIS = {
    "strategy.name": "the strategy is no key of the grid; write --strategy once for each",
    **{
        f"strategy.{part}": f"the {part} is a part of a strategy's name; write --strategy wiki+{example} once for each"
        for part, example in (("admission", "window-4"), ("order", "largest-first"), ("poll", "poll-5s"))
    },
    "profile": "the profile is no key of the grid; write --profile once for each",
    "seed": "seeds are no key of the grid; write --seeds A:B",
    "schema": "it is the version of the file's format, and there is one",
}


class Sweepable(Protocol):
    """The parts of a scenario that a study uses."""

    @property
    def title(self) -> str: ...
    @property
    def profile(self) -> str: ...
    @property
    def source(self) -> str: ...
    def to_table(self) -> dict[str, Any]: ...
    def digest(self) -> str: ...
    def for_run(
        self,
        *,
        strategy: str | None = None,
        profile: str | None = None,
        changes: Mapping[str, object] | None = None,
    ) -> Any: ...


@frozen
class Words:
    """Names of the parts of a design in messages: the options of ``sweep``, or the keys of the file's ``[study]``.

    Attributes:
        source: the file.
    """

    seeds: str = "--seeds"
    strategies: str = "--strategy"
    profiles: str = "--profile"
    grid: str = "--grid"
    source: str = ""


@frozen
class Axis:
    """A key of the scenario and the values that it takes in turn, each as text as ``--set`` takes it."""

    key: str
    values: tuple[str, ...]


@frozen(kw_only=True)
class Design:
    """The runs of a study: every arm with every seed.

    Attributes:
        scenario: the scenario that all arms have in common.
        strategies: names in the order asked; none: each profile's own, or the one that the scenario states.
        profiles: names in the order asked.
        seeds: numbers in the order asked.
        compare, minimum: metrics of the comparison, and the smallest difference that matters (``StudySpec``).
    """

    scenario: Sweepable
    seeds: tuple[int, ...]
    strategies: tuple[str, ...]
    profiles: tuple[str, ...]
    grid: tuple[Axis, ...] = ()
    compare: tuple[str, ...] = ()
    minimum: tuple[str, ...] = ()
    words: Words = field(factory=Words, eq=False)

    @classmethod
    def of(
        cls,
        scenario: Sweepable,
        *,
        seeds: Sequence[int] = (),
        strategies: Sequence[str] = (),
        profiles: Sequence[str] = (),
        grid: Iterable[Axis] = (),
        words: Words | None = None,
    ) -> Design:
        """A design that was checked. What is not named is what the scenario's ``[study]`` says, else its own. Raises:
        BadInput."""
        study, words = StudySpec(), words or Words()
        if isinstance(scenario, Scenario):
            study, scenario = scenario.study or study, evolve(scenario, study=None)
        axes = tuple(grid)
        if not axes and study.grid:
            axes = tuple(Axis(key, tuple(map(value_text, values))) for key, values in study.grid.items())
            words = evolve(words, grid="study.grid", source=scenario.source)
        design = cls(
            words=words,
            scenario=scenario,
            seeds=tuple(seeds or study.seeds or ()),
            strategies=tuple(strategies or (parse_strategy(name).name for name in study.strategies)),
            profiles=tuple(profiles or study.profiles or (scenario.profile,)),
            grid=axes,
            compare=study.compare,
            minimum=study.minimum,
        )
        design.check()
        return design

    def arms(self) -> tuple[Arm, ...]:
        """Every combination, the first strategy's first: the arm that the others are compared with is the first."""
        keys = [axis.key for axis in self.grid]
        points = [tuple(zip(keys, values, strict=True)) for values in product(*(axis.values for axis in self.grid))]
        if self.strategies:
            pairs = list(product(self.strategies, self.profiles))
        else:
            pairs = [(self._own_strategy(profile), profile) for profile in self.profiles]
        return named(Arm(strategy, profile, point) for strategy, profile in pairs for point in points)

    def _own_strategy(self, profile: str) -> str:
        name: str = self.scenario.for_run(profile=profile).strategy.name
        return name

    def scenario_of(self, arm: Arm) -> Any:
        """The checked scenario that the arm's runs share, its strategy and profile included. Raises: BadInput."""
        try:
            return self.scenario.for_run(strategy=arm.strategy, profile=arm.profile, changes=dict(arm.grid))
        except BadInput as error:
            raise error.each(lambda one: self._located(one, arm)) from None

    def check(self) -> None:
        """Refuse a design of which not every run can be done. Raises: BadInput, one line."""
        if not self.seeds:
            what = 'no seeds are named; name some such as 0:20, or write seeds = "0:20" under [study]'
            raise BadInput(what, where=self.words.seeds)
        _check_each_once(self.words.seeds, self.seeds)
        if self.strategies:
            _check_each_once(self.words.strategies, self.strategies)
        _check_each_once(self.words.profiles, self.profiles)
        for axis in self.grid:
            try:
                _check_axis(axis, [other.key for other in self.grid])
            except BadInput as error:
                raise BadInput(error.what, where=f"{self.words.grid} {axis.key}", source=self.words.source) from None
        self._check_arms()

    def _check_arms(self) -> None:
        """Every arm's scenario can be run, and no two are the same."""
        found: dict[str, Arm] = {}
        for arm in self.arms():
            digest = self.scenario_of(arm).digest()
            if digest in found and self.grid:
                raise BadInput(
                    f"the arms {found[digest].name!r} and {arm.name!r} are the same scenario; leave one out",
                    where=self.words.grid,
                    source=self.words.source,
                )
            found[digest] = arm

    def _located(self, error: BadInput, arm: Arm) -> BadInput:
        """An error of an arm's scenario, at the value of the grid that it is about, else with the arm's name."""
        for key, value in arm.grid:
            if _plain(error.where).startswith(_plain(key)) or _plain(key).startswith(_plain(error.where) or "\0"):
                return BadInput(error.what, where=f"{self.words.grid} {key}={value}", source=self.words.source)
        if len(self.arms()) == 1:
            return error
        return BadInput(f"{error.what} (in the arm {arm.name!r})", where=error.where, source=error.source)


def _check_each_once(what: str, values: Sequence[object]) -> None:
    seen: set[object] = set()
    for value in values:
        if value in seen:
            raise BadInput(f"names {value} twice; name it once", where=what)
        seen.add(value)


def _check_axis(axis: Axis, keys: Sequence[str]) -> None:
    plain = _plain(axis.key)
    if plain in _NO_AXIS:
        raise BadInput(_NO_AXIS[plain])
    if plain.partition(".")[0] == "study":
        raise BadInput("a study cannot be a key of its own grid; name a key such as strategy.throttle")
    if [_plain(key) for key in keys].count(plain) > 1:
        raise BadInput("the grid has this key twice; name all its values at once: key=a,b")
    if not axis.values:
        raise BadInput("names no value; write key=a,b")
    twice = [value for index, value in enumerate(axis.values) if value in axis.values[:index]]
    if twice:
        raise BadInput(f"names the value {twice[0]} twice; name it once")


def _plain(path: str) -> str:
    """A path without the quotes that it may have around a part."""
    return path.replace('"', "")


def split_values(text: str) -> tuple[str, ...]:
    """``a,b`` at its commas, except for those in brackets, braces and quotes: ``[1, 2],[3]`` are two values."""
    values, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        depth += (letter in "[{") - (letter in "]}") if not quote else 0
        if letter == "," and not depth and not quote:
            values.append("")
        else:
            values[-1] += letter
    return tuple(value.strip() for value in values)
