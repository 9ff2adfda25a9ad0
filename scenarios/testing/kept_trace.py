"""The trace of a cluster that a test has driven, in the form of ``run --trace``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve

from emulator.kernel import World
from emulator.trace import Trace, rows
from scenarios.language import Scenario
from scenarios.observe.exposition import MetricRows
from scenarios.observe.measures import Measures
from scenarios.runs.account import EXPLANATION, REPLAY
from scenarios.runs.dataset.events import EventRows
from scenarios.runs.dataset.run_record import RunRecord
from scenarios.runs.dataset.table_rows import AccountRow
from scenarios.runs.finding import EXPECTATION
from scenarios.runs.record import spec_of, write_record
from scenarios.runs.runner import measured_of


def write_trace_of_test(
    folder: Path,
    *,
    scenario: Scenario,
    seed: int,
    events: Sequence[Any],
    digest: str,
    now_us: int,
    why: Iterable[str],
    replay: str,
) -> None:
    """Write what a cluster has done up to now, in the place of an earlier trace. It is measured only here, as few tests
    fail.

    Args:
        scenario: the cluster. seed: of its world.
        why: lines that say how the test has failed. replay: the command that runs it again.

    Raises: BadInput where the folder cannot be written.
    """
    chunk, seen, metrics = rows(events), EventRows(), MetricRows(scenario.policies.brokers.lacks_metrics)
    seen(chunk)
    metrics(chunk)
    trace = Trace(World(seed))
    measures = Measures(trace, measured_of(scenario))
    trace.retrace(events)
    figures = measures.finish(now_us)
    account = [*(AccountRow(None, EXPLANATION, "", line) for line in why), AccountRow(None, REPLAY, "", replay)]
    driven = evolve(scenario, seed=seed)
    record = RunRecord(
        spec=spec_of(driven, driven.strategy.name, driven.profile, seed),
        verdict="failed",
        reason=EXPECTATION,
        digest=digest,
        virtual_us=now_us,
        events=len(chunk),
        figures=figures,
        tables={**measures.tables(), "events": seen.rows, "broker_metrics": metrics.rows(now_us), "account": account},
    )
    write_record(record, driven, folder, overwrite=True)
