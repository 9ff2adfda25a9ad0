"""The order for one run of a sweep, and the record that the run leaves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import Factory, frozen

from scenarios.observe.measures import Figures
from scenarios.runs.dataset.identity import VERSION, code_digest, run_id
from scenarios.runs.dataset.rows import RunRow


@frozen(kw_only=True)
class RunSpec:
    """One run to do. Plain values only: it travels to Spark's executors.

    Attributes:
        scenario: the scenario as a JSON document, ``Scenario.from_table(json.loads(...))`` reads it.
        scenario_digest: ``Scenario.digest()``.
        grid: the overrides of the sweep (``--set``) that are already in ``scenario``, as JSON.
    """

    run_id: str
    scenario: str
    scenario_digest: str
    profile: str
    strategy: str
    seed: int
    version: str
    code: str
    grid: str = "{}"

    @classmethod
    def plan(
        cls,
        *,
        scenario: str,
        scenario_digest: str,
        profile: str,
        strategy: str,
        seed: int,
        grid: Mapping[str, object] | None = None,
    ) -> RunSpec:
        """A run of this program as it is on disk now."""
        code, grid = code_digest(), grid or {}
        identity = run_id(scenario=scenario_digest, profile=profile, strategy=strategy, seed=seed, grid=grid, code=code)
        return cls(
            run_id=identity,
            scenario=scenario,
            scenario_digest=scenario_digest,
            profile=profile,
            strategy=strategy,
            seed=seed,
            version=VERSION,
            code=code,
            grid=json.dumps(dict(grid), sort_keys=True),
        )


@frozen(kw_only=True)
class RunRecord:
    """One run that was done.

    Attributes:
        verdict: passed or failed; ``reason``: why it failed (violated, not exercised, unfinished).
        digest: of the trace.
        virtual_us: when it ended. events: how many its trace has.
        figures: as computed in the run.
        tables: table name to its rows (``Fold.TABLES`` has the columns); a table that is absent is empty.
    """

    spec: RunSpec
    verdict: str
    reason: str
    digest: str
    virtual_us: int
    events: int
    figures: Figures
    tables: Mapping[str, Sequence[Any]] = Factory(dict)

    def row(self) -> RunRow:
        """Its row of ``runs``."""
        figures = self.figures
        return RunRow(
            seed=self.spec.seed,
            profile=self.spec.profile,
            scenario=self.spec.scenario_digest,
            version=self.spec.version,
            code=self.spec.code,
            grid=self.spec.grid,
            verdict=self.verdict,
            reason=self.reason,
            digest=self.digest,
            virtual_us=self.virtual_us,
            events=self.events,
            completed=figures.unfinished_moves == 0 if figures["moves"] else None,
            metrics=json.dumps(figures.metrics()),
        )
