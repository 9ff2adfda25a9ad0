"""Scenario files as tests: ``FILE::STRATEGY[SEED]``, each a run that has to pass."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
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
from scenarios.runs.dataset.identity import command_line
from scenarios.testing.pytest_plugin.options import Options

if TYPE_CHECKING:
    from scenarios.runs.run import Run


class RunFailed(Exception):
    """A run that did not pass. Its text is the explanation."""


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
        scenario: with the strategy that it is run with. seed: what it is run with.
        result: the run, once it is over.
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
        if not run.passed:
            raise RunFailed(run.explanation)
        self.add_report_section("call", "understudy", f"digest {run.digest}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        run = self.result
        if isinstance(excinfo.value, PartFailed):
            return "\n".join([f"no failure of the scenario: {excinfo.value}", "", f"seed {self.seed}: {self._again()}"])
        if run is None or not excinfo.errisinstance(RunFailed):
            return super().repr_failure(excinfo, style)
        kept = Kept(self.config.stash[Options.KEY].artifacts / _folder_name(self.nodeid))
        lines = [run.explanation, "", f"seed {self.seed}; in this session:", f"  {self._again()}"]
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


def _folder_name(nodeid: str) -> str:
    """A name that every file system takes, and a shell without quotes."""
    return "".join(letter if letter.isalnum() or letter in "-._" else "-" for letter in nodeid).strip("-")


class Kept:
    """What a failed run leaves behind, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, run: Run, shrink_s: float) -> Iterator[str]:
        """Write the file that was run, the trace, and the shrunk file; give the lines that name them."""
        from scenarios.runs import run_scenario

        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / "scenario.toml"
        file.write_text(run.scenario.to_toml(), encoding="utf-8")
        again = Scenario.load(file)
        yield "kept:"
        yield f"  the scenario, with everything that the seed has drawn: {command_line('run', _shown(file))}"
        run_scenario(again, trace_dir=self._folder / "trace", overwrite=True)
        yield f"  its trace: {command_line('timeline', _shown(self._folder / 'trace'))}"
        if shrink_s > 0:
            yield from self._shrunk(again, run, shrink_s)

    def _shrunk(self, scenario: Scenario, run: Run, within_s: float) -> Iterator[str]:
        from scenarios.runs.findings import findings
        from scenarios.studies.shrink import Limits, Shrinker
        from scenarios.studies.shrink.state import State

        found = findings(run)
        if not found:
            return
        file = self._folder / "shrunk.toml"
        state = State.at(self._folder / "shrunk.state", run.run_id)
        shrunk = Shrinker(scenario, found[0], Limits(seconds=within_s), state, lambda _: None).shrink()
        file.write_text(shrunk.scenario.to_toml(), encoding="utf-8")
        yield f"  the smallest scenario that shows it, after {shrunk.runs} runs: {command_line('run', _shown(file))}"


def _shown(path: Path) -> str:
    """As the user would write it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


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
    """One run, in any process: of the file, or of what the seed draws from it."""
    from scenarios.chaos.draw import concrete
    from scenarios.runs import run_scenario

    return run_scenario(concrete(Scenario.from_table(table, source=source), seed), seed=seed)
