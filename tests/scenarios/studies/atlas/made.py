"""A few real cells, done once for all tests that only look at them."""

from __future__ import annotations

from functools import cache

from scenarios.runs.dataset.table_rows import CellRow
from scenarios.studies.atlas.atlas import Atlas, Baseline, cell_chunks, work
from scenarios.studies.atlas.plans import DEFAULT

FEW = Atlas(protocols=("wiki",), plans=(DEFAULT,), actors=("controller",), faults=("crash",))
CELLS = 24


@cache
def baselines() -> tuple[Baseline, ...]:
    return tuple(FEW.baselines())


@cache
def rows() -> tuple[CellRow, ...]:
    return tuple(row for chunk in cell_chunks(baselines(), FEW.replay) for row in work(chunk).rows)
