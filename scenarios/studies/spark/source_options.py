"""The options of ``spark.read.format("understudy")``, checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TypeVar

from attrs import define

from scenarios.errors import BadInput, did_you_mean
from scenarios.language import Scenario
from scenarios.language.strategies import parse_strategy
from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.identity import code_digest
from scenarios.runs.dataset.run_record import RunSpec
from scenarios.runs.dataset.table_schemas import RUNS, SCHEMAS
from scenarios.runs.record import Recording
from scenarios.studies.design import Axis, Design, Words, split_values

OPTIONS: Mapping[str, str] = {
    "scenario": "the scenario's file; `load(FILE)` says the same",
    "seeds": "`A:B`, B not included, or one number; by default those of `[study]`, else the scenario's own seed",
    "strategies": "reassignment strategies, divided by commas; by default those of `[study]`, else the scenario's own",
    "profiles": "Kafka releases, divided by commas; by default those of `[study]`, else the scenario's own",
    "grid": "keys of the scenario with their values, `KEY=A,B; KEY=C,D`; by default that of `[study]`, else none",
    "table": "the table of the data set whose rows are wanted; by default `runs`",
    "experiment": "what the column `experiment` holds; by default `sweep`",
    "runsPerPartition": "how many runs a Spark task does; by default such that there are 64 tasks, 25 runs at most",
    "runsPerBatch": "`readStream` only: how many runs a micro-batch has; by default 100",
}
"""The meaning of each option, as in docs/use/spark.md. Spark does not distinguish upper and lower case."""

T = TypeVar("T")
_PATH = "path"
_WORDS = Words(seeds="option seeds", strategies="option strategies", profiles="option profiles", grid="option grid")
_TASKS = 64
_RUNS_PER_TASK = 25
_RUNS_PER_BATCH = 100
_MOST = 10_000_000


@define(frozen=True, slots=False)
class SourceOptions:
    """The options as values.

    Attributes:
        design: the arms and seeds, checked.
        runs_per_partition, runs_per_batch: the number of runs of a Spark task, and of a micro-batch of a stream.
    """

    design: Design
    table: str
    experiment: str
    runs_per_partition: int
    runs_per_batch: int

    @classmethod
    def of(cls, options: Mapping[str, str]) -> SourceOptions:
        """The values of options. Raises: BadInput, one line that names the option."""
        given = _by_name(options)
        design = _design(given, _scenario(given))
        runs = len(design.seeds) * len(design.arms())
        size = min(_RUNS_PER_TASK, -(-runs // _TASKS))
        return cls(
            design=design,
            table=_table(given.get("table", RUNS)),
            experiment=given.get("experiment", "sweep"),
            runs_per_partition=_count(given, "runsPerPartition", size),
            runs_per_batch=_count(given, "runsPerBatch", _RUNS_PER_BATCH),
        )

    @property
    def runs(self) -> int:
        return len(self.design.seeds) * len(self._documents)

    @property
    def is_recorded(self) -> bool:
        """Whether the table is one that a run records only on request."""
        return self.table in Recording.TABLES

    def specs(self, first: int, stop: int) -> tuple[RunSpec, ...]:
        """The runs with the numbers from ``first`` to ``stop``, excluded: a seed under every arm, then the next
        seed."""
        digest, code = self.design.scenario.digest(), code_digest()
        found = []
        for number in range(first, stop):
            seed, place = divmod(number, len(self._documents))
            arm, document = self._documents[place]
            found.append(
                RunSpec.plan(
                    scenario=document, scenario_digest=digest, arm=arm, seed=self.design.seeds[seed], code=code
                )
            )
        return tuple(found)

    @cached_property
    def _documents(self) -> tuple[tuple[Arm, str], ...]:
        """Every arm with its scenario, in the order of the arms."""
        design = self.design
        return tuple((arm, json.dumps(design.scenario_of(arm).to_table(), sort_keys=True)) for arm in design.arms())


def _by_name(options: Mapping[str, str]) -> dict[str, str]:
    names = {name.lower(): name for name in OPTIONS}
    given: dict[str, str] = {}
    for key, value in options.items():
        name = "scenario" if key.lower() == _PATH else names.get(key.lower())
        if name is None:
            raise BadInput(f"there is no option {key!r}; {did_you_mean(key, OPTIONS)}", where="option")
        if name in given:
            raise BadInput("is named twice, by the option and by load(FILE); leave one out", where=f"option {name}")
        given[name] = value
    return given


def _scenario(given: Mapping[str, str]) -> Scenario:
    if "scenario" not in given:
        raise BadInput("is missing; name the file of a scenario", where="option scenario")
    return Scenario.load(given["scenario"])


def _design(given: Mapping[str, str], scenario: Scenario) -> Design:
    names = _names(given, "strategies")
    profiles = _names(given, "profiles")
    for profile in profiles:
        _under("profiles", partial(scenario.for_run, profile=profile))
    strategies = [_under("strategies", partial(parse_strategy, name)).name for name in names]
    seeds: Sequence[int] = _seeds(given["seeds"]) if "seeds" in given else ()
    if not seeds and not (scenario.study and scenario.study.seeds):
        seeds = (scenario.seed,)
    return Design.of(
        scenario,
        seeds=seeds,
        strategies=strategies,
        profiles=profiles,
        grid=[_axis(part) for part in given.get("grid", "").split(";") if part.strip()],
        words=_WORDS,
    )


def _names(given: Mapping[str, str], option: str) -> list[str]:
    return [part.strip() for part in given[option].split(",")] if option in given else []


def _axis(text: str) -> Axis:
    key, equals, values = text.partition("=")
    if not equals or not key.strip() or not values.strip():
        hint = "write KEY=A,B such as strategy.throttle=10MB/s,20MB/s"
        raise BadInput(f"{text.strip()!r} names no key with its values; {hint}", where="option grid")
    return Axis(key.strip(), tuple(value.strip() for value in split_values(values)))


def _under(option: str, read: Callable[[], T]) -> T:
    """The result of ``read()``; an error in the option's value names the option."""
    try:
        return read()
    except BadInput as error:
        if error.where not in ("", "strategy", "profile"):
            raise
        raise BadInput(error.what, where=f"option {option}") from None


def _seeds(text: str) -> range:
    first, colon, stop = (part.strip() for part in text.partition(":"))
    if not first.isdecimal() or (colon and not stop.isdecimal()):
        raise BadInput(f"{text!r} names no seeds; write A:B such as 0:20, or one number", where="option seeds")
    found = range(int(first), int(stop) if colon else int(first) + 1)
    if not 0 < len(found) <= _MOST:
        raise BadInput(f"{text!r} are {len(found)} seeds; write at least one, at most {_MOST}", where="option seeds")
    return found


def _table(name: str) -> str:
    if name not in SCHEMAS:
        raise BadInput(f"there is no table {name!r}; {did_you_mean(name, SCHEMAS)}", where="option table")
    return name


def _count(given: Mapping[str, str], name: str, default: int) -> int:
    text = given.get(name)
    if text is None:
        return default
    if not text.isdecimal() or not 0 < int(text) <= _MOST:
        raise BadInput(f"{text!r} is no number from 1; write one such as {default}", where=f"option {name}")
    return int(text)
