"""A sweep: every strategy over every seed, the runs as Spark tasks, their tables in one data set.

What is in the data set already is not run again, so a sweep that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

from attrs import define, field, frozen

from scenarios.errors import BadInput
from scenarios.progress import Progress
from scenarios.runs import run_record
from scenarios.runs.batch import Chunk, Failure, Workers, attempt, chunks, refuse_bad_input
from scenarios.runs.dataset.manifest import Manifest, write_manifest
from scenarios.runs.dataset.reader import finished_runs
from scenarios.runs.dataset.record import RunRecord, RunSpec
from scenarios.runs.dataset.writer import check_writable, chunk_name, empty_staging, part_path, write_chunk
from scenarios.studies.spark.session import LOCAL, PROGRAM, session
from scenarios.studies.spark.task import SparkTasks

RUNNER = f"{run_record.__module__}:{run_record.__name__}"
_CHUNKS_PER_STRATEGY = 8
_RUNS_PER_CHUNK = 25

Runner = Callable[[RunSpec], RunRecord]


class Sweepable(Protocol):
    """The part of a scenario that a sweep uses."""

    @property
    def title(self) -> str: ...
    @property
    def profile(self) -> str: ...
    @property
    def source(self) -> str: ...
    def to_table(self) -> dict[str, Any]: ...
    def digest(self) -> str: ...


@frozen
class Swept:
    """A sweep that is done: ``runs`` were executed, ``skipped`` were in the data set before."""

    root: Path
    runs: int
    skipped: int


class SweepInterrupted(KeyboardInterrupt):
    """Ctrl-C: ``finished`` of ``total`` runs are in the data set and can be compared."""

    def __init__(self, finished: int, total: int) -> None:
        super().__init__(f"interrupted; {finished} of {total} runs are written and can be compared")
        self.finished = finished
        self.total = total


class SweepFailed(Exception):
    """A run failed (``failures`` says which and how), or Spark gave up. What was written stays."""

    exit_code = 4

    def __init__(self, what: str, failures: Sequence[Failure[RunSpec]] = ()) -> None:
        super().__init__(what)
        self.failures = tuple(failures)


def sweep(
    scenario: Sweepable,
    seeds: Sequence[int],
    strategies: Sequence[str],
    out: str | Path,
    *,
    master: str = LOCAL,
    experiment: str = "sweep",
    grid: Mapping[str, object] | None = None,
    runner: str = RUNNER,
    progress: Callable[[str], object] = lambda line: None,
) -> Swept:
    """Run ``scenario`` under every strategy with every seed and write the tables under ``out``.

    Args:
        grid: the overrides that ``scenario`` already carries.
        runner: the function that does a run, as ``module:function``.
        progress: called with a line whenever a chunk is finished.

    Raises: BadInput; JavaMissing; SweepInterrupted on Ctrl-C; SweepFailed.
    """
    root = Path(out).absolute()
    _check(seeds, strategies)
    check_writable(root)
    write_manifest(root, _manifest(scenario, seeds, strategies, experiment))
    done = finished_runs(root)
    tasks = plan(scenario, seeds, strategies, root, experiment=experiment, grid=grid, runner=runner, done=done)
    total = len(seeds) * len(strategies)
    missing = sum(len(task.items) for task in tasks)
    if tasks:
        with session(master, _packages(runner)) as spark:
            failures = _run(tasks, SparkTasks(spark), _Progress(progress, total, total - missing))
        empty_staging(root)
        _raise(failures)
    return Swept(root, missing, total - missing)


@frozen(kw_only=True)
class Part:
    """The settings that the runs of a chunk share. ``runner``: ``module:function``."""

    root: str
    experiment: str
    strategy: str
    runner: str


RunChunk = Chunk[Part, RunSpec]


def plan(
    scenario: Sweepable,
    seeds: Sequence[int],
    strategies: Sequence[str],
    root: Path,
    *,
    experiment: str,
    grid: Mapping[str, object] | None = None,
    runner: str = RUNNER,
    done: Container[str] = (),
) -> list[RunChunk]:
    """The chunks that have to be done. Neighbours have the same seeds, each under another strategy, so an interrupted
    sweep has pairs to compare."""
    document = json.dumps(scenario.to_table(), sort_keys=True)
    digest = scenario.digest()
    size = min(_RUNS_PER_CHUNK, -(-len(seeds) // _CHUNKS_PER_STRATEGY))
    found: list[RunChunk] = []
    for start in range(0, len(seeds), size):
        for strategy in strategies:
            specs = [
                RunSpec.plan(
                    scenario=document,
                    scenario_digest=digest,
                    profile=scenario.profile,
                    strategy=strategy,
                    seed=seed,
                    grid=grid,
                )
                for seed in seeds[start : start + size]
            ]
            part = Part(root=str(root), experiment=experiment, strategy=strategy, runner=runner)
            found += chunks(part, specs, size, lambda spec: spec.run_id, done)
    return found


def run_chunk(chunk: RunChunk) -> Failure[RunSpec] | None:
    """Do the chunk's runs and write them, in any process. Doing it twice changes nothing.

    A run that fails is not tried again, since the same seed fails again: the chunk's result is a ``Failure``.
    """
    part = chunk.common

    def write(specs: Iterator[RunSpec]) -> None:
        runner = _find_runner(part.runner)
        write_chunk(Path(part.root), part.experiment, part.strategy, _name(chunk), map(runner, specs))

    return attempt(write, chunk.items)


def _find_runner(name: str) -> Runner:
    module, _, function = name.partition(":")
    runner: Runner = getattr(importlib.import_module(module), function)
    return runner


def _name(chunk: RunChunk) -> str:
    return chunk_name([spec.run_id for spec in chunk.items])


def _is_written(chunk: RunChunk) -> bool:
    part = chunk.common
    return part_path(Path(part.root), "runs", part.experiment, part.strategy, _name(chunk)).exists()


@define
class _Progress:
    """Counts the runs that are finished, those of earlier sweeps included."""

    show: Callable[[str], object]
    total: int
    finished: int
    _progress: Progress = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._progress = Progress("sweep", self.show, self.total, self.finished)

    def add(self, runs: int) -> None:
        self.finished += runs
        self._progress.report(self.finished, f"{self.finished} of {self.total} runs")


def _run(tasks: Sequence[RunChunk], workers: Workers, progress: _Progress) -> list[Failure[RunSpec]]:
    """Do all chunks. Raises: SweepInterrupted, SweepFailed."""
    before, failures = progress.finished, []

    def written() -> int:
        """Chunks can be written whose turn to be reported had not come."""
        return before + sum(len(task.items) for task in tasks if _is_written(task))

    try:
        with closing(workers.in_order(run_chunk, tasks)) as results:
            for task, failure in zip(tasks, results, strict=True):
                if failure is None:
                    progress.add(len(task.items))
                else:
                    failures.append(failure)
    except KeyboardInterrupt:
        raise SweepInterrupted(written(), progress.total) from None
    except Exception as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        account = f"{written()} of {progress.total} runs are written and can be compared"
        raise SweepFailed(f"Spark gave up: {reason[0]}; {account}") from error
    return failures


def _raise(failures: Sequence[Failure[RunSpec]]) -> None:
    refuse_bad_input(failures)
    if failures:
        first = failures[0]
        raise SweepFailed(
            f"the run of strategy {first.item.strategy} with seed {first.item.seed} failed: {first.what} "
            f"({len(failures)} chunks lost, the others are written)\n{first.trace}",
            failures,
        )


def _packages(runner: str) -> tuple[str, ...]:
    """The top-level packages that executors import: the program's, and the runner's if that is a different one."""
    return tuple(dict.fromkeys((*PROGRAM, runner.partition(":")[0].partition(".")[0])))


def _check(seeds: Sequence[int], strategies: Sequence[str]) -> None:
    for what, values in (("--seeds", seeds), ("--strategy", strategies)):
        if not values:
            raise BadInput("names none; name at least one", where=what)
        twice = [value for index, value in enumerate(values) if value in values[:index]]
        if twice:
            raise BadInput(f"names {twice[0]} twice; name it once", where=what)


def _manifest(scenario: Sweepable, seeds: Sequence[int], strategies: Sequence[str], experiment: str) -> Manifest:
    return Manifest(
        experiment=experiment,
        file=scenario.source,
        scenario=scenario.digest(),
        document=scenario.to_table(),
        title=scenario.title,
        profile=scenario.profile,
        strategies=tuple(strategies),
        seeds=tuple(sorted(seeds)),
    )
