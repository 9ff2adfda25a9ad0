"""Several ways on from one instant of a run: the run is played once up to it, and forked there.

Each way on has the events of a run of its file from the start: the scenario with that branch. Where a process cannot be
forked, that is how it is played.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from attrs import define, evolve, field

from emulator.kernel.collector import collector_off
from scenarios.language import Scenario
from scenarios.language.entries import Branch
from scenarios.runs.forking import Fork, can_fork_runs, fork_run
from scenarios.runs.record import run_scenario
from scenarios.runs.run import Run
from scenarios.runs.runner import Stage, conclude, prepare

T = TypeVar("T")
W = TypeVar("W")


class Enough(Exception):
    """The run itself need not go on: all its continuations are done."""


@define(eq=False)
class ForkingStage(Stage):
    """A stage that is forked.

    Attributes:
        results: those of its forks.
        own: in a fork, the way to its parent.
    """

    results: list[Any] = field(factory=list, kw_only=True)
    own: Fork | None = field(default=None, kw_only=True)

    def fork_each(self, ways: Sequence[W]) -> W | None:
        """Fork the run for each of the ways, and wait for its result. Returns the way in a fork, None otherwise."""
        for way in ways:
            fork = fork_run()
            if fork.is_child:
                self.own, self.results = fork, []
                return way
            self.results.append(fork.result())
        return None


@define(eq=False)
class _ContinuedStage(ForkingStage):
    """A stage that is forked at one instant, once for each branch."""

    branches: Sequence[Branch] = field(kw_only=True)

    def begin(self) -> None:
        super().begin()
        self.world.call_first(max(self.branches[0].at_us, self.world.now + 1), self._split)

    def _split(self, _: object) -> None:
        branch = self.fork_each(self.branches)
        if branch is None:
            raise Enough
        self.go_on(branch)


def continuations(
    scenario: Scenario,
    branches: Sequence[Branch],
    judge: Callable[[Run], T],
    *,
    figures: bool = False,
    forks: bool | None = None,
) -> list[T]:
    """``judge`` of the run of each way on. All ``branches`` begin at one instant, after those that ``scenario`` has.

    Args:
        figures: option of ``Stage``.
        forks: whether the process is forked; None: where that is possible.

    Raises: BadInput, ChildFailed.
    """
    if not branches:
        return []
    if not (can_fork_runs() if forks is None else forks):
        return [judge(run_scenario(with_branch(scenario, one), figures=figures)) for one in branches]
    return _forked(scenario, branches, judge, figures)


@collector_off()
def _forked(scenario: Scenario, branches: Sequence[Branch], judge: Callable[[Run], T], figures: bool) -> list[T]:
    stage = _ContinuedStage(prepare(scenario), figures=figures, branches=branches)
    try:
        stage.play()
    except Enough:
        return stage.results
    except BaseException as error:
        if stage.own is None:
            raise
        failure = error
        stage.own.finish(lambda: _raised(failure))
    if stage.own is not None:
        stage.own.finish(lambda: judge(conclude(stage, scenario, 0.0)[0]))
    # The run has ended before that instant: none of the branches changes it.
    return [judge(conclude(stage, scenario, 0.0)[0])] * len(branches)


def _raised(error: BaseException) -> None:
    raise error


def with_branch(scenario: Scenario, branch: Branch) -> Scenario:
    """The scenario with one more branch."""
    return evolve(scenario, branches=(*scenario.branches, branch))
