"""Runs made up by hand, for tests of comparisons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import evolve

from scenarios.observe.measures.figure import Value
from scenarios.observe.measures.figures import declared
from scenarios.runs.dataset.arm import Arm, named
from scenarios.runs.dataset.run_record import FAILED
from scenarios.studies.statistics.run_figures import RunFigures

WIKI, HOPS = named([Arm("wiki", "kafka-2.3"), Arm("kafka-6794", "kafka-2.3")])


def run(
    arm: Arm, seed: int, *, completed: bool | None = True, took_s: float = 1.0, agrees: bool = True, **metrics: Value
) -> RunFigures:
    """A run; what is not said is 0."""
    zero: dict[str, Value] = dict.fromkeys((figure.metric for figure in declared().values()), 0)
    return RunFigures(
        run_id=f"{arm.name}/{seed}",
        arm=arm,
        seed=seed,
        completed=completed,
        observed_s=None if completed is None else took_s,
        metrics={**zero, "time_to_complete_s": took_s if completed else None, **metrics},
        agrees=agrees,
    )


def failed(arm: Arm, seed: int, error: str) -> RunFigures:
    """A run that broke."""
    return RunFigures(
        run_id=f"{arm.name}/{seed}", arm=arm, seed=seed, completed=None, observed_s=None, metrics={}, agrees=True,
        status=FAILED, error=error,
    )  # fmt: skip


def study(arms: Sequence[Arm], seeds: int, metrics: Callable[[Arm, int], Mapping[str, Value]]) -> list[RunFigures]:
    """Every arm with seeds from 0 on; ``metrics``: those of a run."""
    made = [(run(arm, seed), metrics(arm, seed)) for arm in arms for seed in range(seeds)]
    return [evolve(one, metrics={**one.metrics, **values}) for one, values in made]


def grid(*throttles: str, strategies: Sequence[str] = ("wiki", "kafka-6794")) -> tuple[Arm, ...]:
    """Every strategy with every throttle."""
    return named(Arm(one, "kafka-2.3", [("strategy.throttle", rate)]) for one in strategies for rate in throttles)
