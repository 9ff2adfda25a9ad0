"""Scenario files as tests: ``FILE::STRATEGY[SEED]``, each a run that has to pass."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from scenarios import plugins
from scenarios.errors import BadInput, PartFailed
from scenarios.language import Scenario
from scenarios.runs.batch import end_with_parent
from scenarios.runs.known_findings import explained_findings, fails
from scenarios.testing.pytest_plugin.kept import Kept, folder_of
from scenarios.testing.pytest_plugin.plugin_options import Options
from scenarios.testing.verdict import KnownFinding, warn_of

if TYPE_CHECKING:
    from scenarios.runs.run import Run


class RunFailed(Exception):
    """A run did not pass. The text is the explanation."""


class ScenarioFile(pytest.File):
    """A file ``*.scenario.toml``: one test for each strategy and seed."""

    def collect(self) -> Iterable[pytest.Item]:
        options = self.config.stash[Options.KEY]
        try:
            plugins.load(options.plugins, "--understudy-plugin")
            scenario = Scenario.load(self.path)
            wanted = [scenario.for_run(strategy=name) for name in options.strategies] or [scenario]
        except BadInput as error:
            raise self.CollectError("\n".join(map(str, error.all))) from None
        for one in wanted:
            for seed in options.seeds or [one.seed]:
                name = f"{one.strategy.name}[{seed}]"
                yield ScenarioItem.from_parent(self, name=name, scenario=one, seed=seed)


class ScenarioItem(pytest.Item):
    """One run of a scenario file.

    Attributes:
        scenario, seed: the scenario with the strategy of this run, and the seed.
        result: the run, once it has ended.
        obj: nothing; pytest-trio looks at the function of every item.
    """

    obj = None

    def __init__(self, *, scenario: Scenario, seed: int, **more: Any) -> None:
        super().__init__(**more)
        self.scenario = scenario
        self.seed = seed
        self.result: Run | None = None

    def runtest(self) -> None:
        self.result = run = _runs(self.session).get(self)
        if fails(run, drawn=bool(self.scenario.chaos)):
            raise RunFailed(run.explanation)
        warn_of(KnownFinding.of(run.profile, run.known))
        self.add_report_section("call", "understudy", f"digest {run.digest}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        run = self.result
        if isinstance(excinfo.value, PartFailed):
            return "\n".join([f"no failure of the scenario: {excinfo.value}", "", f"seed {self.seed}: {self._again()}"])
        if run is None or not excinfo.errisinstance(RunFailed):
            return super().repr_failure(excinfo, style)
        kept = Kept(folder_of(self))
        found = explained_findings(run)
        lines = [run.explanation]
        if found.known:
            lines += ["", *map(str, KnownFinding.of(run.profile, found.known)), *(f"new: {one}" for one in found.new)]
        lines += ["", f"seed {self.seed}; in this session:", f"  {self._again()}"]
        try:
            lines += kept.write(run, self.config.stash[Options.KEY].shrink_s)
        except Exception as error:  # the failure itself is what has to be shown
            lines.append(f"not all could be kept: {type(error).__name__}: {error}")
        return "\n".join(lines)

    def _again(self) -> str:
        options = self.config.stash[Options.KEY]
        strategies = "".join(f" --understudy-strategy {name}" for name in options.strategies[:1])
        files = "".join(f" --understudy-plugin {shlex.quote(file)}" for file in options.plugins)
        return f"python -m pytest '{self.nodeid}' --understudy-seeds {self.seed}:{self.seed + 1}{strategies}{files}"

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.name


# -- the runs of a session --------------------------------------------------------------------------------------------


class _Runs:
    """The runs of one session, in this process or, with ``--understudy-jobs``, some ahead of time in others."""

    KEY = pytest.StashKey["_Runs"]()

    def __init__(self, session: pytest.Session, jobs: int) -> None:
        self._ahead: dict[ScenarioItem, Future[Run]] = {}
        self._pool = None if jobs == 1 else _pool(jobs)
        if self._pool is not None:
            session.config.add_cleanup(partial(self._pool.shutdown, cancel_futures=True))
            for item in session.items:
                if isinstance(item, ScenarioItem):
                    self._ahead[item] = self._pool.submit(_run, *_task(item))

    def get(self, item: ScenarioItem) -> Run:
        future = self._ahead.pop(item, None)
        if future is not None:
            return future.result()
        return _run(*_task(item))


def _pool(jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_begin, initargs=(plugins.loaded(),))


def _begin(loaded: tuple[plugins.Plugin, ...]) -> None:
    end_with_parent()
    plugins.restore(loaded)


def _runs(session: pytest.Session) -> _Runs:
    if _Runs.KEY not in session.stash:
        session.stash[_Runs.KEY] = _Runs(session, session.config.stash[Options.KEY].jobs)
    return session.stash[_Runs.KEY]


def _task(item: ScenarioItem) -> tuple[dict[str, Any], str, int]:
    return item.scenario.to_table(), item.scenario.source, item.seed


def _run(table: dict[str, Any], source: str, seed: int) -> Run:
    """One run, in any process: of the file, or of the scenario that the seed draws from it."""
    from scenarios.chaos.draw import concrete
    from scenarios.runs import run_scenario

    return run_scenario(concrete(Scenario.from_table(table, source=source), seed), seed=seed)
