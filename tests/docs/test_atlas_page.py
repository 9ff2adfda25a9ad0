"""docs/use/atlas.md: it names every actor, fault, outcome and harm, and its cells exist."""

from __future__ import annotations

import re
from functools import cache

import pytest

from scenarios.language.strategies.strategy import one_of_each_shape
from scenarios.runs.dataset.table_rows import CellRow
from scenarios.studies.atlas.atlas import Atlas, Baseline, run_cell
from scenarios.studies.atlas.cells import ACTORS, FAULTS
from scenarios.studies.atlas.maps import LETTERS
from scenarios.studies.atlas.outcome import HARMS, OUTCOMES
from scenarios.studies.atlas.plans import PLANS, protocols
from tests.docs.pages import text_of

PAGE = text_of("atlas.md")
SHOWN = dict(re.findall(r"--cell (\S+)  # (.*)", PAGE))
"""Cell -> what the page says of it."""
NAMED = sorted(set(re.findall(r"--cell ([\w,/.+-]+/[\w-]+)", PAGE)))
CELLS = [name for name in NAMED if name.partition("/")[0] in one_of_each_shape()]


@pytest.mark.parametrize("name", [*ACTORS, *FAULTS, *OUTCOMES, *HARMS])
def test_every_name_has_a_row(name: str) -> None:
    assert re.search(rf"^\| `{name}` \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize("harm", HARMS)
def test_letters_are_those_of_the_map(harm: str) -> None:
    assert f"| `{harm}` | {LETTERS[harm]} |" in PAGE


@pytest.mark.parametrize("name", [name for name in CellRow._fields if name != "profile"])
def test_every_column_is_named(name: str) -> None:
    assert f"`{name}`" in PAGE


@cache
def baseline(protocol: str, plan: str) -> tuple[Atlas, Baseline]:
    """That of several cells."""
    atlas = Atlas(protocols=(protocol,), plans=tuple(one for one in PLANS if one.id == plan))
    (found,) = atlas.baselines()
    return atlas, found


@pytest.mark.parametrize("name", CELLS)
def test_the_cells_it_names_are_what_it_says(name: str) -> None:
    protocol, plan, *_ = name.split("/")
    atlas, undisturbed = baseline(protocol, plan)
    (cell,) = (cell for cell in undisturbed.cells if cell.id == name)
    if name in SHOWN:
        row = run_cell(undisturbed, cell, atlas.replay)
        assert row is not None
        assert SHOWN[name] == row.outcome + (f": {', '.join(row.harms)}" if row.harms else "")


def test_it_shows_some_of_every_protocol_there_is() -> None:
    assert {name.partition("/")[0] for name in SHOWN} >= set(protocols())
