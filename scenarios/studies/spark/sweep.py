"""A sweep: every strategy over every seed, the runs as Spark tasks, their tables in one data set.

What is already in the data set is not run again, so a sweep that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TextIO

from attrs import frozen
from pyspark.sql import SparkSession

from scenarios.errors import BadInput
from scenarios.runs.dataset.identity import PACKAGES
from scenarios.runs.dataset.manifest import Manifest, write_manifest
from scenarios.runs.dataset.reader import finished_runs
from scenarios.runs.dataset.record import RunSpec
from scenarios.runs.dataset.writer import STAGING, check_writable
from scenarios.studies.spark.session import LOCAL, session
from scenarios.studies.spark.task import Chunk, Failure, run_chunk

RUNNER = "scenarios.runs:run_record"
_CHUNKS_PER_STRATEGY = 8
_RUNS_PER_CHUNK = 25
_POLL_S = 0.2


class Sweepable(Protocol):
    """What a sweep needs of a scenario."""

    @property
    def title(self) -> str: ...
    @property
    def profile(self) -> str: ...
    def to_table(self) -> dict[str, Any]: ...
    def digest(self) -> str: ...


@frozen
class Swept:
    """What a sweep did. ``skipped`` runs were in the data set before."""

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
    """A run failed (``failures`` says where and how), or Spark gave up. What was written stays."""

    exit_code = 4

    def __init__(self, what: str, failures: Sequence[Failure] = ()) -> None:
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
    progress: TextIO | None = None,
) -> Swept:
    """Run ``scenario`` under every strategy with every seed and write the tables under ``out``.

    ``progress`` gets a line as chunks are finished. ``grid``: the overrides that ``scenario`` already
    carries.
    Raises: BadInput; JavaMissing; SweepInterrupted on Ctrl-C; SweepFailed.
    """
    root = Path(out).absolute()
    _check(seeds, strategies)
    check_writable(root)
    write_manifest(root, _manifest(scenario, seeds, strategies, experiment))
    done = finished_runs(root)
    chunks = plan(scenario, seeds, strategies, root, experiment=experiment, grid=grid, runner=runner, done=done)
    total = len(seeds) * len(strategies)
    missing = sum(len(chunk.specs) for chunk in chunks)
    if chunks:
        with session(master, _packages(runner)) as spark:
            failures = _run(spark, chunks, _Progress(progress, chunks, total))
        shutil.rmtree(root / STAGING, ignore_errors=True)
        _raise(failures)
    return Swept(root, missing, total - missing)


def plan(
    scenario: Sweepable,
    seeds: Sequence[int],
    strategies: Sequence[str],
    root: Path,
    *,
    experiment: str,
    grid: Mapping[str, object] | None = None,
    runner: str = RUNNER,
    done: set[str] | frozenset[str] = frozenset(),
) -> list[Chunk]:
    """The chunks that are still to do. Their size depends on the seeds alone, so that every master writes
    the same files; neighbours hold the same seeds under each strategy, so that an interrupted sweep has
    pairs.
    """
    document = json.dumps(scenario.to_table(), sort_keys=True)
    digest = scenario.digest()
    size = min(_RUNS_PER_CHUNK, -(-len(seeds) // _CHUNKS_PER_STRATEGY))
    chunks = []
    for start in range(0, len(seeds), size):
        for strategy in strategies:
            planned = [
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
            specs = tuple(spec for spec in planned if spec.run_id not in done)
            if specs:
                chunks.append(
                    Chunk(root=str(root), experiment=experiment, strategy=strategy, runner=runner, specs=specs)
                )
    return chunks


class _Progress:
    """Counts the runs that are written, by looking at the data set."""

    def __init__(self, stream: TextIO | None, chunks: Sequence[Chunk], total: int) -> None:
        self._stream = stream
        self._waiting = list(chunks)
        self._total = total
        self.finished = total - sum(len(chunk.specs) for chunk in chunks)
        self._began = time.monotonic()  # the wall's time is for the person who waits; no run sees it

    def look(self) -> None:
        written = [chunk for chunk in self._waiting if chunk.is_written()]
        if not written:
            return
        self._waiting = [chunk for chunk in self._waiting if chunk not in written]
        self.finished += sum(len(chunk.specs) for chunk in written)
        if self._stream is not None:
            seconds = time.monotonic() - self._began
            self._stream.write(f"sweep: {self.finished} of {self._total} runs, {seconds:.0f} s\n")
            self._stream.flush()

    def interrupted(self) -> SweepInterrupted:
        self.look()
        return SweepInterrupted(self.finished, self._total)

    def account(self) -> str:
        self.look()
        return f"{self.finished} of {self._total} runs are written and can be compared"


def _run(spark: SparkSession, chunks: Sequence[Chunk], progress: _Progress) -> list[Failure]:
    """All chunks as tasks of one job. The job waits in a thread of its own: this one hears Ctrl-C."""
    context = spark.sparkContext
    results: list[Failure | None] = []
    errors: list[BaseException] = []

    def job() -> None:
        try:
            results.extend(context.parallelize(chunks, len(chunks)).map(run_chunk).collect())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=job, name="sweep", daemon=True)
    try:
        thread.start()
        while thread.is_alive():
            thread.join(_POLL_S)
            progress.look()
    except KeyboardInterrupt:
        context.cancelAllJobs()
        thread.join(10)
        raise progress.interrupted() from None
    if errors:
        reason = str(errors[0]).strip().splitlines() or [type(errors[0]).__name__]
        raise SweepFailed(f"Spark gave up: {reason[0]}; {progress.account()}") from errors[0]
    return [failure for failure in results if failure is not None]


def _raise(failures: Sequence[Failure]) -> None:
    for failure in failures:
        if failure.bad_input:
            raise BadInput(failure.what)
    if failures:
        first = failures[0]
        raise SweepFailed(
            f"the run of strategy {first.strategy} with seed {first.seed} failed: {first.what} "
            f"({len(failures)} chunks lost, the others are written)\n{first.trace}",
            failures,
        )


def _packages(runner: str) -> tuple[str, ...]:
    """What executors import: the program, and the package of the runner if that is another one."""
    package = runner.partition(":")[0].partition(".")[0]
    return PACKAGES if package in PACKAGES else (*PACKAGES, package)


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
        scenario=scenario.digest(),
        title=scenario.title,
        profile=scenario.profile,
        strategies=tuple(strategies),
        seeds=tuple(sorted(seeds)),
    )
