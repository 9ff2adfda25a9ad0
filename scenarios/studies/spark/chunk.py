"""A chunk of a sweep: some runs of one arm that one worker does, and that count together."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Container, Iterator
from pathlib import Path

from attrs import evolve, frozen

from scenarios.runs import run_record
from scenarios.runs.batch import Chunk, FailedItem, attempt, chunks, failure_of
from scenarios.runs.dataset.run_record import FailedRun, RunRecord, RunSpec
from scenarios.runs.dataset.writer import chunk_name, part_path, write_chunk
from scenarios.studies.design import Design
from scenarios.studies.planning import plan_runs
from scenarios.studies.spark import claims

RUNNER = f"{run_record.__module__}:{run_record.__name__}"
_CHUNKS_PER_ARM = 8
_RUNS_PER_CHUNK = 25

Runner = Callable[[RunSpec], RunRecord]


@frozen(kw_only=True)
class ChunkSettings:
    """The settings that the runs of a chunk share.

    Attributes:
        runner: ``module:function``.
        claim: see ``claims``; empty: none is needed, as only one worker does it.
    """

    root: str
    experiment: str
    strategy: str
    runner: str
    claim: str = ""

    @property
    def folder(self) -> Path:
        return Path(self.root)

    def of(self, strategy: str, claim: str) -> ChunkSettings:
        """The settings for another chunk, with its strategy and claim."""
        return evolve(self, strategy=strategy, claim=claim)


RunChunk = Chunk[ChunkSettings, RunSpec]


@frozen
class DoneChunk:
    """The result of a chunk.

    Attributes:
        seconds: the time that its runs took.
        failures: the runs in which the program raised; the same seed raises again.
    """

    seconds: float
    failures: tuple[FailedItem[RunSpec], ...] = ()


def run_chunk(chunk: RunChunk) -> DoneChunk | FailedItem[RunSpec] | None:
    """Do the chunk's runs and write them, in any process. Doing it twice changes nothing.

    Returns a ``FailedItem`` if the runs could not be written; None: the driver does not wait for them any more.
    """
    part, failures = chunk.common, list[FailedItem[RunSpec]]()

    def records(specs: Iterator[RunSpec]) -> Iterator[RunRecord | FailedRun]:
        runner = _find_runner(part.runner)
        for spec in specs:
            try:
                yield runner(spec)
            except Exception as error:
                failures.append(failure_of(spec, error))
                yield FailedRun(spec, failures[-1].what)

    def write(specs: Iterator[RunSpec]) -> DoneChunk:
        began = time.perf_counter()
        write_chunk(part.folder, part.experiment, part.strategy, _name(chunk), records(specs), may_count)
        return DoneChunk(time.perf_counter() - began, tuple(failures))

    def may_count() -> None:
        if part.claim:
            claims.use(part.claim, lambda: is_written(chunk))

    try:
        return attempt(write, chunk.items)
    except claims.Revoked:
        return None


def write_failed(chunk: RunChunk, what: str) -> None:
    """Write the runs of a chunk as failed, because its worker was lost. Raises: BadInput."""
    part = chunk.common
    records = [FailedRun(spec, what) for spec in chunk.items]
    write_chunk(part.folder, part.experiment, part.strategy, _name(chunk), records)


def plan(
    design: Design, root: Path, *, experiment: str, runner: str = RUNNER, done: Container[str] = ()
) -> list[RunChunk]:
    """The chunks that are missing, for workers other than Spark's: the division depends on the design alone."""
    size = min(_RUNS_PER_CHUNK, -(-len(design.seeds) // _CHUNKS_PER_ARM))
    found: list[RunChunk] = []
    for arm, specs in plan_runs(design).blocks(size):
        part = ChunkSettings(root=str(root), experiment=experiment, strategy=arm.strategy, runner=runner)
        found += chunks(part, specs, size, lambda spec: spec.run_id, done)
    return found


def is_written(chunk: RunChunk) -> bool:
    part = chunk.common
    return part_path(part.folder, "runs", part.experiment, part.strategy, _name(chunk)).exists()


def _name(chunk: RunChunk) -> str:
    return chunk_name([spec.run_id for spec in chunk.items])


def _find_runner(name: str) -> Runner:
    module, _, function = name.partition(":")  # by name: a function is sent to another process by it
    runner: Runner = getattr(importlib.import_module(module), function)
    return runner
