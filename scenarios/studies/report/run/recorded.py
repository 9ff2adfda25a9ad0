"""A run as its trace has it: tables, events and what was said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from attrs import frozen

from scenarios.errors import BadInput
from scenarios.observe.measures.figure import Value
from scenarios.observe.timeline.log_changes import DATA, METRICS
from scenarios.runs.dataset.events import read_events
from scenarios.runs.dataset.reader import DataSet, OwnFigures, read_figures, read_specs, read_table

MOST_DATA = 200_000
"""In a run with more events of logs and batches, these are read as columns only: an explanation then lacks how much a
replica has still to copy, and a chain of causes can begin later."""

OF_LOGS = ("Appended", "HighWatermark", "LogLoaded", "LogRecovered", "Truncated", "ReplicaStopped")
"""The kinds of events that say where logs and their high watermarks end."""
_NEEDED = ("account", "elections", "fetchers", "isr_events", "losses", "moves", "produce", "steps", "violations")


@frozen(kw_only=True)
class RecordedRun:
    """A run of ``run --trace``.

    Attributes:
        title, file: title and file of the scenario.
        row: the run's row of ``runs``; strategy: the folder it was in.
        figures: figures that the run computed of itself, by metric.
        tables: the rows of the tables that pages show, by name.
        lags, metrics, logs: ``replica_lag``, the meters of ``broker_metrics`` and the events of ``OF_LOGS`` as columns.
        events: events in their order, without metrics; without data events where ``has_data`` is false.
    """

    title: str
    file: str
    strategy: str
    row: Mapping[str, Any]
    figures: Mapping[str, Value]
    tables: Mapping[str, Sequence[Mapping[str, Any]]]
    lags: pa.Table
    metrics: pa.Table
    logs: pa.Table
    events: Sequence[Any]
    has_data: bool

    @property
    def end_us(self) -> int:
        return int(self.row["virtual_us"])


def read_recorded(data_set: DataSet, run_id: str) -> RecordedRun:
    """Raises: BadInput for a run that is not in the folder, or was written without its events."""
    found = [run for run in read_specs(data_set) if run.row["run_id"] == run_id]
    source = data_set.place
    if not found:
        raise BadInput(f"holds no run {run_id}; it holds {', '.join(data_set.run_ids[:8])}", source=source)
    [run] = found
    strategy, row = run.arm.strategy, run.row

    def of_run(table: str) -> pa.Table:
        whole = read_table(data_set, table)
        return whole.filter(pc.equal(whole["run_id"], pa.scalar(run_id)))

    events = of_run("events").sort_by("seq")
    if not events.num_rows:
        raise BadInput(f"holds no events of the run of {run.name}; run it again with run --trace", source=source)
    kinds = events["kind"]
    is_data = pc.is_in(kinds, pa.array([kind.__name__ for kind in DATA]))
    has_data = events.filter(is_data).num_rows <= MOST_DATA
    left_out = [kind.__name__ for kind in (METRICS if has_data else (*METRICS, *DATA))]
    try:
        shown = list(read_events(events.filter(pc.invert(pc.is_in(kinds, pa.array(left_out))))))
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"holds an event that this version does not know ({error}); run it again", source=source
        ) from error
    metrics = of_run("broker_metrics")
    return RecordedRun(
        title=data_set.manifest.title,
        file=data_set.manifest.file,
        strategy=strategy,
        row=row,
        figures=read_figures(data_set).get(run_id, OwnFigures()),
        tables={name: of_run(name).to_pylist() for name in _NEEDED},
        lags=of_run("replica_lag"),
        metrics=metrics.filter(pc.equal(metrics["kind"], pa.scalar("meter"))),
        logs=events.filter(pc.is_in(kinds, pa.array(OF_LOGS))),
        events=shown,
        has_data=has_data,
    )
