"""The order for one run of a sweep, and the record of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import Factory, frozen

from scenarios.observe.measures import Figures
from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.identity import VERSION, run_id
from scenarios.runs.dataset.table_rows import FigureRow, RunRow
from scenarios.runs.dataset.table_schemas import FIGURES, RUNS

DONE, FAILED = "done", "failed"
"""The values of ``runs.status``."""


@frozen(kw_only=True)
class RunSpec:
    """One run to be done. Plain values only: it travels to Spark's executors.

    Attributes:
        scenario: the scenario as a JSON document, which ``Scenario.from_table(json.loads(...))`` reads; it includes the
            arm's values.
        scenario_digest: ``Scenario.digest()`` of the study's scenario, which all arms share.
        code: ``code_digest()`` of the program.
    """

    run_id: str
    scenario: str
    scenario_digest: str
    arm: Arm
    seed: int
    code: str
    version: str = VERSION

    @classmethod
    def plan(cls, *, scenario: str, scenario_digest: str, arm: Arm, seed: int, code: str) -> RunSpec:
        """A run with its identity."""
        identity = run_id(
            scenario=scenario_digest,
            profile=arm.profile,
            strategy=arm.strategy,
            seed=seed,
            grid=dict(arm.grid),
            code=code,
        )
        return cls(run_id=identity, scenario=scenario, scenario_digest=scenario_digest, arm=arm, seed=seed, code=code)


@frozen(kw_only=True)
class RunRecord:
    """One run that was done.

    Attributes:
        verdict, reason: passed or failed, and why it failed (violated, not exercised, unfinished).
        digest: the digest of the trace.
        virtual_us, events: the time when it ended, and the number of events of its trace.
        figures: the figures that were computed in the run.
        tables: the rows of each table (``Fold.TABLES`` has the columns); a table that is absent is empty.
    """

    spec: RunSpec
    verdict: str
    reason: str
    digest: str
    virtual_us: int
    events: int
    figures: Figures
    tables: Mapping[str, Sequence[Any]] = Factory(dict)

    def rows(self, table: str) -> Sequence[Any]:
        if table == RUNS:
            return (self._row(),)
        if table == FIGURES:
            return [FigureRow(name, value) for name, value in self.figures.metrics().items()]
        return self.tables.get(table, ())

    def _row(self) -> RunRow:
        figures = self.figures
        return _identity(self.spec)._replace(
            verdict=self.verdict,
            reason=self.reason,
            digest=self.digest,
            virtual_us=self.virtual_us,
            events=self.events,
            completed=figures.unfinished_moves == 0 if figures["moves"] else None,
        )


@frozen
class FailedRun:
    """One run in which the program raised: a row of ``runs`` and nothing else. The same seed raises again.

    Attributes:
        error: the error in one line.
    """

    spec: RunSpec
    error: str

    def rows(self, table: str) -> Sequence[Any]:
        error = " ".join(self.error.split())
        return (_identity(self.spec)._replace(status=FAILED, error=error),) if table == RUNS else ()


def _identity(spec: RunSpec) -> RunRow:
    return RunRow(
        seed=spec.seed,
        profile=spec.arm.profile,
        scenario=spec.scenario_digest,
        version=spec.version,
        code=spec.code,
        grid=spec.arm.grid_json,
        status=DONE,
    )
