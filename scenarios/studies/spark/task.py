"""One Spark task of a sweep: some runs of one strategy, executed one after the other and written as one
chunk.

The worker writes its own Parquet: of the ways that were measured it came nearest to bare processes. A run's
failure is the program's, not the machine's: it is reported and not retried, since the same seed fails again.
"""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from attrs import frozen
from pyspark import TaskContext

from scenarios.errors import BadInput
from scenarios.runs.dataset.record import RunRecord, RunSpec
from scenarios.runs.dataset.writer import chunk_name, part_path, write_chunk

Runner = Callable[[RunSpec], RunRecord]


@frozen(kw_only=True)
class Chunk:
    """Runs of one strategy that are done and written together. ``runner``: ``module:function``, see
    ``find_runner``."""

    root: str
    experiment: str
    strategy: str
    runner: str
    specs: tuple[RunSpec, ...]

    @property
    def name(self) -> str:
        return chunk_name([spec.run_id for spec in self.specs])

    def is_written(self) -> bool:
        """Does it count already?"""
        return part_path(Path(self.root), "runs", self.experiment, self.strategy, self.name).exists()


@frozen(kw_only=True)
class Failure:
    """A chunk that came to nothing. ``bad_input``: something the user can mend, in one line."""

    strategy: str
    seed: int
    what: str
    trace: str
    bad_input: bool


def find_runner(name: str) -> Runner:
    """The function ``module:function`` that turns a RunSpec into a RunRecord."""
    module, _, function = name.partition(":")
    runner: Runner = getattr(importlib.import_module(module), function)
    return runner


def run_chunk(chunk: Chunk) -> Failure | None:
    """Do the chunk's runs and write them, in a worker of Spark. Doing it twice changes nothing."""
    context = TaskContext.get()
    attempt = "0" if context is None else str(context.taskAttemptId())
    at: list[RunSpec] = list(chunk.specs[:1])

    def records() -> Iterator[RunRecord]:
        runner = find_runner(chunk.runner)
        for spec in chunk.specs:
            at[0] = spec
            yield runner(spec)

    try:
        write_chunk(Path(chunk.root), chunk.experiment, chunk.strategy, chunk.name, records(), attempt=attempt)
    except Exception as error:  # whatever a run raises becomes a line about its seed
        what = str(error) if isinstance(error, BadInput) else f"{type(error).__name__}: {error}"
        bad_input = isinstance(error, BadInput)
        return Failure(
            strategy=chunk.strategy,
            seed=at[0].seed,
            what=what,
            trace=traceback.format_exc(),
            bad_input=bad_input,
        )
    return None
