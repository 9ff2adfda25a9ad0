"""A campaign's folder: what is in it is whole, stays there, and is not done again."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from scenarios.errors import BadInput
from scenarios.runs.dataset import cell_files as store
from scenarios.studies.atlas.atlas import CHUNK, Atlas, cell_chunks
from scenarios.studies.atlas.plans import DEFAULT
from tests.scenarios.studies.atlas.made import CELLS, FEW, baselines, rows

IDENTITY = FEW.identity()


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    store.begin(tmp_path, IDENTITY)
    store.write_cells(tmp_path, rows()[:10])
    store.write_cells(tmp_path, rows()[10:])
    assert sorted(store.read_cells(tmp_path)) == sorted(rows())


def test_the_same_cells_again_replace_themselves(tmp_path: Path) -> None:
    store.begin(tmp_path, IDENTITY)
    first = store.write_cells(tmp_path, rows()[:5])
    assert store.write_cells(tmp_path, rows()[:5]) == first
    assert len(store.read_cells(tmp_path)) == 5


def test_what_is_done_is_not_done_again() -> None:
    done = [row.cell for row in rows()[3:]]
    left = [cell.id for chunk in cell_chunks(baselines(), FEW.replay, done) for cell in chunk.items]
    assert left == [row.cell for row in rows()[:3]]


def test_chunks_hold_every_cell_once() -> None:
    more = evolve(FEW, actors=("controller", "removing"))
    found = list(cell_chunks(tuple(more.baselines()), more.replay))
    assert [len(chunk.items) for chunk in found] == [CHUNK, 2 * CELLS - CHUNK]
    ids = [cell.id for chunk in found for cell in chunk.items]
    assert len(set(ids)) == len(ids)
    assert {row.cell for row in rows()} < set(ids)


def test_the_same_atlas_goes_on(tmp_path: Path) -> None:
    store.begin(tmp_path, IDENTITY)
    store.begin(tmp_path, IDENTITY)


def test_an_atlas_of_another_seed_is_not_gone_on_with(tmp_path: Path) -> None:
    store.begin(tmp_path, IDENTITY)
    other = Atlas(protocols=("wiki",), plans=(DEFAULT,), seed=9)
    with pytest.raises(BadInput, match="holds an atlas with seed 1, not 9"):
        store.begin(tmp_path, other.identity())


def test_a_full_disk_costs_only_what_was_not_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.begin(tmp_path, IDENTITY)
    store.write_cells(tmp_path, rows()[:5])

    def full(_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadInput, match="No space left"):
        store.write_cells(tmp_path, rows()[5:9])
    monkeypatch.undo()
    assert sorted(store.read_cells(tmp_path)) == sorted(rows()[:5])


def test_a_part_that_is_cut_short_is_named(tmp_path: Path) -> None:
    store.begin(tmp_path, IDENTITY)
    part = store.write_cells(tmp_path, rows()[:5])
    part.write_bytes(part.read_bytes()[:100])
    with pytest.raises(BadInput, match="is corrupt; delete it; the same command makes its cells again"):
        store.read_cells(tmp_path)
