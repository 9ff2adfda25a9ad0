"""A few real cells, done once for all tests that only look at them."""

from __future__ import annotations

from functools import cache

from scenarios.runs.dataset.rows import CellRow
from scenarios.studies.atlas.campaign import Atlas, Sheet, plan, work
from scenarios.studies.atlas.courses import DEFAULT

FEW = Atlas(protocols=("wiki",), courses=(DEFAULT,), actors=("controller", "removing"), faults=("crash",))
CELLS = 48


@cache
def sheets() -> tuple[Sheet, ...]:
    return tuple(FEW.sheets())


@cache
def rows() -> tuple[CellRow, ...]:
    return tuple(row for chunk in plan(sheets(), FEW.replay) for row in work(chunk).rows)
