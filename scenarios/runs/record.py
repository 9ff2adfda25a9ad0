"""The three ways to run a scenario: for its verdict, for a data set, and for a comparison of its events.

Arrow is imported only where it is needed: a plain run does without it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emulator.kernel.collector import collector_off
from emulator.trace import Sink
from scenarios.language import Scenario
from scenarios.observe.measures import Figures
from scenarios.runs.run import Run
from scenarios.runs.runner import Stage, conclude, prepare

if TYPE_CHECKING:
    from scenarios.runs.dataset.run_record import RunRecord, RunSpec


@collector_off()
def run_scenario(
    scenario: Scenario,
    *,
    seed: int | None = None,
    strategy: str | None = None,
    profile: str | None = None,
    trace_dir: Path | None = None,
    overwrite: bool = False,
    on_event: Sink | None = None,
    on_time: Callable[[int], object] | None = None,
    counts_reach: bool = False,
    figures: bool = True,
    against_specification: bool = False,
    changes: Sequence[tuple[str, str]] = (),
) -> Run:
    """Run ``scenario`` and judge the run.

    Args:
        trace_dir: write the data set of the run there.
        overwrite: the run takes the place of the runs that the data set holds, which have to be of the same file; else
            it joins them.
        on_event: gets every chunk of events.
        on_time: gets the virtual time (us) with every chunk of events.
        counts_reach: fill ``Run.reach``.
        figures, against_specification: options of ``Stage``.
        changes: changes of ``scenario`` to its file, as keys and values of ``--set``: the replay command has them.

    Raises:
        BadInput: the scenario does not fit the strategy or the profile, or the folder cannot be written.
        KernelError: the tool failed, not the cluster.
    """
    if trace_dir is not None:
        from scenarios.extras import need_study

        need_study("a recorded run")
    asked = prepare(scenario, seed, strategy, profile)
    if trace_dir is not None and overwrite:
        from scenarios.runs.dataset.manifest import check_overwritable

        check_overwritable(trace_dir, scenario.source)
    stage = Stage(
        asked, keep_rows=trace_dir is not None, counts_reach=counts_reach, figures=figures,
        against_specification=against_specification,
    )  # fmt: skip
    recording = None if trace_dir is None else Recording(stage)
    if on_event is not None:
        stage.cluster.trace.sink(on_event)
    if on_time is not None:

        def take(chunk: list[Any]) -> None:
            on_time(chunk[-1].t_us)

        stage.cluster.trace.sink(take, as_rows=False)
    began = time.perf_counter()
    stage.play()
    run, measured = conclude(stage, scenario, time.perf_counter() - began, changes)
    if trace_dir is not None and recording is not None:
        write_trace(run, scenario, measured, recording.tables(run), trace_dir, overwrite=overwrite)
    return run


@collector_off()
def run_record(spec: RunSpec, *, recorded: bool = False) -> RunRecord:
    """Do one run of a sweep. Without ``recorded`` it leaves out the tables of a ``Recording``, which figures do not
    need."""
    scenario = Scenario.from_table(json.loads(spec.scenario))
    stage = Stage(prepare(scenario, spec.seed, spec.arm.strategy, spec.arm.profile), keep_rows=True)
    recording = Recording(stage) if recorded else None
    began = time.perf_counter()
    stage.play()
    run, figures = conclude(stage, scenario, time.perf_counter() - began)
    return _record(spec, run, figures, stage.measures.tables() if recording is None else recording.tables(run))


class Recording:
    """Records the tables that only the data set of a single run has: ``TABLES``. Created before the stage plays."""

    TABLES = ("broker_metrics", "events", "account")

    def __init__(self, stage: Stage) -> None:
        from scenarios.observe.exposition import MetricRows
        from scenarios.runs.dataset.events import EventRows

        self._stage = stage
        self._events = EventRows()
        self._metrics = MetricRows(stage.scenario.policies.brokers.lacks_metrics)
        stage.cluster.trace.sink(self._events)
        stage.cluster.trace.sink(self._metrics)

    def tables(self, run: Run) -> dict[str, Sequence[Any]]:
        """All tables of the run, after it was concluded."""
        from scenarios.runs.account import account

        return {
            **self._stage.measures.tables(),
            "broker_metrics": self._metrics.rows(self._stage.world.now),
            "events": self._events.rows,
            "account": account(run),
        }


def write_trace(
    run: Run,
    original: Scenario,
    figures: Figures,
    tables: Mapping[str, Sequence[Any]],
    folder: Path,
    *,
    overwrite: bool = False,
) -> None:
    """Write the data set of a single run, events included. ``original``: as for ``conclude``; ``overwrite``: as for
    ``run_scenario``."""
    spec = spec_of(original, run.strategy, run.profile, run.seed)
    write_record(_record(spec, run, figures, tables), original, folder, overwrite=overwrite)


def spec_of(original: Scenario, strategy: str, profile: str, seed: int) -> RunSpec:
    """The identity of a single run of ``original``."""
    from scenarios.runs.dataset.arm import Arm
    from scenarios.runs.dataset.identity import code_digest
    from scenarios.runs.dataset.run_record import RunSpec

    return RunSpec.plan(
        scenario=json.dumps(original.to_table()),
        scenario_digest=original.digest(),
        arm=Arm(strategy, profile),
        seed=seed,
        code=code_digest(),
    )


def write_record(record: RunRecord, original: Scenario, folder: Path, *, overwrite: bool = False) -> None:
    """Write the data set of one run that is done: ``record``, whose specification is that of ``spec_of``. Where that
    fails, as on a full disk, nothing of it is left."""
    from scenarios.runs.dataset import manifest, writer

    writer.check_writable(folder)
    spec = record.spec
    described = manifest.Manifest(
        experiment=manifest.SINGLE_RUN, file=original.source, scenario=original.digest(), document=original.to_table(),
        title=original.title, arms=(spec.arm,), seeds=(spec.seed,),
    )  # fmt: skip
    chunk = writer.chunk_name([spec.run_id])
    describe = partial(manifest.write_manifest, folder, described, overwrite=overwrite)
    try:
        writer.write_chunk(folder, manifest.SINGLE_RUN, spec.arm.strategy, chunk, [record], describe)
    except BaseException:
        writer.empty_staging(folder)
        if not writer.drop_chunk(folder, chunk):
            (folder / manifest.NAME).unlink(missing_ok=True)
        raise
    if overwrite:
        writer.keep_chunk(folder, chunk)
    writer.empty_staging(folder)


def _record(spec: RunSpec, run: Run, figures: Figures, tables: Mapping[str, Sequence[Any]]) -> RunRecord:
    from scenarios.runs.dataset.run_record import RunRecord

    return RunRecord(
        spec=spec,
        verdict=run.verdict,
        reason=run.reason,
        digest=run.digest,
        virtual_us=round(run.virtual_s * 1_000_000),
        events=run.events,
        figures=figures,
        tables=tables,
    )


def record_events(
    scenario: Scenario, path: Path, *, seed: int | None = None, strategy: str | None = None, profile: str | None = None
) -> str:
    """Run ``scenario`` and write its events to ``path``, one JSON object a line; return the digest."""
    from scenarios.runs.dataset.events import event_row

    with path.open("w", encoding="utf-8") as file:

        def take(chunk: list[Any]) -> None:
            file.writelines(json.dumps(event_row(event)._asdict()) + "\n" for event in chunk)

        return run_scenario(scenario, seed=seed, strategy=strategy, profile=profile, on_event=take).digest
