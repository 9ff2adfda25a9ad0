"""A sweep: every arm of a design over every seed, the runs as Spark tasks, their tables in one data set.

Runs that are in the data set already are not done again, so a sweep that was interrupted or killed goes on where it
stopped. A run in which the program raises is a result. A run that kills its worker is tried once more by itself, and is
a result then.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from attrs import define, field, frozen

from scenarios.errors import BadInput
from scenarios.progress import Progress
from scenarios.resuming import Interrupted
from scenarios.runs.batch import FailedItem
from scenarios.runs.dataset.compaction import drop_what_does_not_count, join_chunks, small_chunks
from scenarios.runs.dataset.manifest import write_manifest
from scenarios.runs.dataset.reader import finished_runs
from scenarios.runs.dataset.run_record import RunSpec
from scenarios.runs.dataset.writer import check_writable, empty_staging, put_text
from scenarios.studies.design import Design
from scenarios.studies.planning import manifest_of, plan_runs
from scenarios.studies.spark import claims, far_side
from scenarios.studies.spark.chunk import (
    RUNNER,
    ChunkSettings,
    DoneChunk,
    RunChunk,
    is_written,
    run_chunk,
    write_failed,
)
from scenarios.studies.spark.dealing import Dealing, without
from scenarios.studies.spark.session import LOCAL, logged, session
from scenarios.studies.spark.shipping import PROGRAM
from scenarios.studies.spark.task_waves import Came, Lost, Waves

_TRIES = 2
_LOSSES = 8
"""The number of lost tasks, with none done, after which the cause cannot be the runs."""
_PATIENCE_S = 120.0
"""The longest wait of a sweep for the first executor."""


@frozen
class Swept:
    """The result of a sweep.

    Attributes:
        runs, skipped: the numbers of runs that were done, and that were in the data set before.
        failures: the runs in which the program raised, each with its traceback. They are rows of the table ``runs``
            with the status ``failed``, and are not run again: the same seed raises again.
        errors: the file with all tracebacks; None where there is none.
    """

    root: Path
    runs: int
    skipped: int
    failures: tuple[FailedItem[RunSpec], ...] = ()
    errors: Path | None = None


class SweepInterrupted(Interrupted):
    """Ctrl-C interrupted the sweep: ``finished`` of ``total`` runs are in the data set and can be compared."""

    def __init__(self, finished: int, total: int, root: Path) -> None:
        super().__init__(f"{finished} of {total} runs", root)
        self.finished = finished
        self.total = total


class SweepFailed(Exception):
    """Spark gave up. The written runs stay."""

    exit_code = 4


def sweep(
    design: Design,
    out: str | Path,
    *,
    master: str = LOCAL,
    experiment: str = "sweep",
    runner: str = RUNNER,
    progress: Callable[[str], object] = lambda line: None,
) -> Swept:
    """Run every arm of ``design`` with every seed and write the tables under ``out``.

    Args:
        runner: the function that does a run, as ``module:function``.
        progress: called with a line now and then, and at the end.

    Raises: BadInput; JavaMissing; SweepInterrupted on Ctrl-C; SweepFailed.
    """
    root = Path(out).absolute()
    check_writable(root)
    write_manifest(root, manifest_of(design, experiment))
    claimed = claims.begin(root)
    planned = plan_runs(design)
    dealing = Dealing(without(planned.specs, finished_runs(root)))
    missing = len(dealing)
    skipped = len(planned) - missing
    failures: tuple[FailedItem[RunSpec], ...] = ()
    if missing:
        with session(master, _packages(runner), quiet=True) as spark:
            sweeping = _Sweeping(
                dealing=dealing,
                workers=Waves(spark),
                part=ChunkSettings(root=str(root), experiment=experiment, strategy="", runner=runner),
                claims=claimed,
                progress=_Progress(progress, len(planned), skipped),
            )
            _carry_out(sweeping, {spec.run_id for specs in planned.specs.values() for spec in specs})
        failures = tuple(sweeping.failures)
    _tidy(root, claimed)
    return Swept(root, missing, skipped, failures, _write_down(root, failures))


@define
class _Progress:
    """Counts the runs that are finished, those of earlier sweeps included."""

    show: Callable[[str], object]
    total: int
    finished: int
    failed: int = 0
    _said: int = field(init=False)
    _progress: Progress = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._said = self.finished
        self._progress = Progress("sweep", self.show, self.total, self.finished)

    def add(self, runs: int, failed: int = 0) -> None:
        self.finished += runs
        self.failed += failed
        if self.finished == self.total:
            self._progress.report(self.finished, self._text())
        else:
            self.look()

    def look(self) -> None:
        """Report progress that was not reported, once it is time: the next run may take long."""
        if self._said != self.finished:
            self._progress.report_seldom(self.finished, self._text)

    def _text(self, seconds: float = 0) -> str:
        self._said = self.finished
        failures = f", {self.failed} failed" if self.failed else ""
        return f"{self.finished} of {self.total} runs{failures}"


@define
class _Sweeping:
    """A sweep in progress.

    Attributes:
        part: the settings that all chunks share; each gets its own strategy and claim.
        claims: the folder of this sweep's claims.
        losses: the number of tasks that Spark gave up while none was done.
    """

    dealing: Dealing
    workers: Waves
    part: ChunkSettings
    claims: Path
    progress: _Progress
    failures: list[FailedItem[RunSpec]] = field(factory=list)
    losses: int = 0
    _done: int = 0
    _tries: Counter[str] = field(factory=Counter)
    _began: float = field(factory=time.monotonic)

    def carry_out(self) -> None:
        """Do all runs. Raises: BadInput where the folder cannot be written; Spark's exception where it gave up."""
        with closing(self.workers.results(run_chunk, self._deal)) as results:
            for came in results:
                if came is None:
                    self.progress.look()
                    self._check_executors()
                elif isinstance(came, Lost):
                    self._lost(came.task, came.error)
                else:
                    self._came(came)

    def _deal(self, most: int) -> list[RunChunk]:
        dealt: list[RunChunk] = []
        while len(dealt) < most and (specs := self.dealing.deal(self.workers.cores)):
            dealt.append(RunChunk(self.part.of(specs[0].arm.strategy, claims.claim(self.claims)), specs))
        return dealt

    def _came(self, came: Came[RunChunk, DoneChunk | FailedItem[RunSpec] | None]) -> None:
        chunk, result = came.task, came.result
        if isinstance(result, DoneChunk):
            self._finish(chunk, result.failures)
            self.dealing.took(chunk.items[0].arm, len(chunk.items), result.seconds)
        elif result is not None and result.bad_input:
            raise BadInput(result.what)
        else:
            self._again(chunk, result or _failure(chunk, "its worker was lost as it wrote the rows"))

    def _lost(self, chunk: RunChunk, error: Exception) -> None:
        self.losses += not self._done
        if self.losses >= _LOSSES or far_side.is_environment(error, self.workers.spark):
            raise error
        self._again(chunk, _failure(chunk, far_side.reason(error), str(error)))

    def _again(self, chunk: RunChunk, failure: FailedItem[RunSpec]) -> None:
        """Hand out the runs of a chunk again, each by itself, so that one of them does not end the others."""
        if claims.revoke(chunk.common.claim, lambda: is_written(chunk)):
            self._finish(chunk)
            return
        (first, *others) = chunk.items
        if others:
            self.dealing.again(chunk.items)
            return
        self._tries[first.run_id] += 1
        if self._tries[first.run_id] < _TRIES:
            self.dealing.again(chunk.items)
        else:
            write_failed(chunk, failure.what)
            self._finish(chunk, (failure,))

    def _finish(self, chunk: RunChunk, failures: Sequence[FailedItem[RunSpec]] = ()) -> None:
        self._done += 1
        self.failures += failures
        self.progress.add(len(chunk.items), len(failures))

    def _check_executors(self) -> None:
        if self._done or self.losses or time.monotonic() - self._began < _PATIENCE_S:
            return
        context = self.workers.spark.sparkContext
        if context._jsc.sc().getExecutorMemoryStatus().size() <= 1 and not str(context.master).startswith("local"):
            raise BadInput(
                f"{context.master} has given no executor for {_PATIENCE_S:.0f} s; it needs a worker with a free core "
                "and 1 GiB of memory",
                where="--master",
            )


def _tidy(root: Path, claimed: Path) -> None:
    """Remove chunks that do not count and join those that do, unless another sweep has taken the folder over, which
    then does it. Chunks that cannot be joined, as on a full disk, stay in many files."""
    if not claimed.exists():
        return
    with suppress(BadInput, claims.Revoked):
        drop_what_does_not_count(root)
        for parts in small_chunks(root):
            claim = claims.claim(claimed)
            join_chunks(root, parts, partial(claims.use, claim, lambda: False))
    empty_staging(root)
    claims.end(claimed)


def _failure(chunk: RunChunk, what: str, trace: str = "") -> FailedItem[RunSpec]:
    return FailedItem(item=chunk.items[0], what=what, trace=trace, bad_input=False)


def _carry_out(sweeping: _Sweeping, run_ids: set[str]) -> None:
    """Carry out the sweep. Raises: BadInput, SweepInterrupted, SweepFailed."""
    root, total = sweeping.part.folder, len(run_ids)
    try:
        sweeping.carry_out()
    except BadInput:
        raise
    except KeyboardInterrupt:
        raise SweepInterrupted(len(run_ids & finished_runs(root)), total, root) from None
    except Exception as error:
        log = logged(sweeping.workers.spark)
        account = f"{len(run_ids & finished_runs(root))} of {total} runs are written and can be compared"
        place = far_side.write_down(root, error, log)
        raise SweepFailed(f"Spark gave up: {far_side.reason(error, log)}; {account}; see {place}") from error


def _write_down(root: Path, failures: Sequence[FailedItem[RunSpec]]) -> Path | None:
    if not failures:
        return None
    texts = (f"{one.item.arm.name}, seed {one.item.seed}: {one.what}\n{one.trace}" for one in failures)
    return put_text(root, root / far_side.ERRORS / "runs.txt", "\n\n".join(texts))


def _packages(runner: str) -> tuple[str, ...]:
    """The top-level packages that executors import: the program's, and the runner's if that is a different one."""
    return tuple(dict.fromkeys((*PROGRAM, runner.partition(":")[0].partition(".")[0])))
