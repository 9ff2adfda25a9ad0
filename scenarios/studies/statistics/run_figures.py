"""The figures of one run: what every comparison is computed from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

from scenarios.observe.measures.figure import Value
from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.run_record import DONE

TIME_TO_COMPLETE = "time_to_complete_s"
"""The one metric that a run which did not finish bounds from below."""
LEAPT = "leapt_s"


@frozen(kw_only=True)
class RunFigures:
    """The figures of one run, computed by Spark or by the run itself.

    Attributes:
        arm: the arm, with its name.
        completed: whether every move finished; None when it had none.
        observed_s: the time of its moves, up to the run's end where they did not finish.
        metrics: name to value; empty for a run that failed.
        agrees: whether the run itself computed the same metrics.
        status: ``done``, or ``failed`` for a run that broke. error: why, in one line.
    """

    run_id: str
    arm: Arm
    seed: int
    completed: bool | None
    observed_s: float | None
    metrics: dict[str, Value]
    agrees: bool
    status: str = DONE
    error: str = ""

    def value(self, metric: str) -> Value:
        """The metric's value; of the time to complete, for a run that did not finish, its lower bound."""
        return self.observed_s if metric == TIME_TO_COMPLETE else self.metrics.get(metric)


def has_leapt(run: RunFigures) -> bool:
    """Whether it is a sampled run with leaps."""
    return bool(run.metrics.get(LEAPT))


def in_order(runs: Iterable[RunFigures], arms: Sequence[Arm]) -> list[RunFigures]:
    """Runs in the order of the arms and of their seeds."""
    places = {arm: place for place, arm in enumerate(arms)}
    return sorted(runs, key=lambda run: (places.get(run.arm, len(places)), run.seed, run.run_id))
