"""One run of a scenario, with the folds that an experiment adds."""

from collections.abc import Callable

from attrs import frozen

from scenarios.language import Scenario
from scenarios.observe.measures.figure import Value
from scenarios.runs import Run
from scenarios.runs.runner import Stage, conclude, prepare

Watch = Callable[[Stage], object]


@frozen
class Emulated:
    """A run and the stage at its end."""

    run: Run
    stage: Stage

    def seconds(self, metric: str) -> float:
        """A metric of the run; infinite if the run ended before the metric had a value."""
        value: Value = self.run.metrics[metric]
        return float("inf") if value is None else float(value)


def emulate(scenario: Scenario, *watches: Watch, may_fail: str = "", keep_rows: bool = False) -> Emulated:
    """Run ``scenario``; each of ``watches`` sees the stage before it begins. ``keep_rows``: the measures have tables.

    Raises: AssertionError with the explanation where the run fails for another reason than ``may_fail``.
    """
    stage = Stage(prepare(scenario), keep_rows)
    for watch in watches:
        watch(stage)
    stage.play()
    run, _ = conclude(stage, scenario, 0.0)
    assert run.passed or run.reason == may_fail, run.explanation
    return Emulated(run, stage)
