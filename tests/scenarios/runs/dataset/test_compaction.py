"""Joining chunks changes no row, whenever it is interrupted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scenarios.errors import BadInput
from scenarios.runs.dataset import compaction
from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.compaction import drop_what_does_not_count, join_chunks, small_chunks
from scenarios.runs.dataset.reader import DataSetPart, committed, finished_runs
from scenarios.runs.dataset.table_schemas import SCHEMAS
from tests.scenarios.runs.dataset.runs import files, rows, write, write_arm


def join_all(root: Path) -> None:
    for parts in small_chunks(root):
        join_chunks(root, parts)


def test_chunks_are_joined_by_strategy_and_no_row_changes(tmp_path: Path) -> None:
    for seed in range(4):
        write_arm(tmp_path, Arm(("wiki", "kafka-6794")[seed % 2], "kafka-2.3"), seed)
    before, tables = rows(tmp_path), {Path(name).parts[0] for name in files(tmp_path)}
    assert len(committed(tmp_path)) == 4
    join_all(tmp_path)
    assert [part.place.parent.name for part in committed(tmp_path)] == ["strategy=kafka-6794", "strategy=wiki"]
    assert rows(tmp_path) == before
    assert len(files(tmp_path)) == 2 * len(tables)
    assert small_chunks(tmp_path) == [], "nothing is left to join"


def test_what_was_joined_is_joined_with_what_came_later(tmp_path: Path) -> None:
    for seed in range(4):
        write(tmp_path, seed)
        join_all(tmp_path)
    (part,) = committed(tmp_path)
    assert len(part.replaces) == 4 + 2, "the chunks of one run, and those that were joined before"
    assert len(finished_runs(tmp_path)) == 4


def test_a_large_chunk_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(5):
        write(tmp_path, seed)
    sizes = [sum(path.stat().st_size for path in tmp_path.glob(f"*/{part.place}")) for part in committed(tmp_path)]
    monkeypatch.setattr(compaction, "LARGE", 2 * max(sizes))
    assert [len(group) for group in small_chunks(tmp_path)] == [2, 2]
    monkeypatch.setattr(compaction, "LARGE", min(sizes))
    assert small_chunks(tmp_path) == []


def test_killed_before_it_counts(tmp_path: Path) -> None:
    for seed in range(3):
        write(tmp_path, seed)
    before = files(tmp_path)

    def killed() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        join_chunks(tmp_path, committed(tmp_path), killed)
    assert len(files(tmp_path)) > len(before)
    assert len(finished_runs(tmp_path)) == 3
    drop_what_does_not_count(tmp_path)
    assert files(tmp_path) == before


def test_killed_before_the_old_chunks_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(3):
        write(tmp_path, seed)
    before, old = rows(tmp_path), files(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(compaction, "drop_what_does_not_count", lambda root: None)
        join_all(tmp_path)
    assert len(files(tmp_path)) > len(old), "the old ones and the joined one"
    assert rows(tmp_path) == before, "each row once"
    drop_what_does_not_count(tmp_path)
    assert len(committed(tmp_path)) == 1
    assert rows(tmp_path) == before


def test_a_worker_that_is_late_writes_a_chunk_that_does_not_count(tmp_path: Path) -> None:
    write(tmp_path, 0)
    shutil.copytree(tmp_path, late := tmp_path.with_name("late"))
    write(tmp_path, 1)
    before = rows(tmp_path)
    join_all(tmp_path)
    for path in late.glob("*/*/*/*.parquet"):
        shutil.copy(path, tmp_path / path.relative_to(late))
    assert rows(tmp_path) == before


def test_a_chunk_with_a_table_of_a_plugin_that_is_not_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(2):
        write(tmp_path, seed)
    known = dict(SCHEMAS)
    del known["isr_events"]
    monkeypatch.setattr(compaction, "SCHEMAS", known)
    assert small_chunks(tmp_path) == [], "its rows would be lost"


def test_a_damaged_chunk_is_named_and_nothing_changes(tmp_path: Path) -> None:
    for seed in range(2):
        write(tmp_path, seed)
    damaged: DataSetPart = committed(tmp_path)[0]
    path = tmp_path / "isr_events" / damaged.place
    path.write_bytes(path.read_bytes()[:-20])
    before = files(tmp_path)
    with pytest.raises(BadInput, match="corrupt or cut short"):
        join_all(tmp_path)
    assert set(files(tmp_path)) >= set(before)
    assert len(finished_runs(tmp_path)) == 2
