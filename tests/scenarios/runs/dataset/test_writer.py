"""A chunk counts whole or not at all, and writing it again changes nothing."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from attrs import evolve

from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.manifest import read_manifest, write_manifest
from scenarios.runs.dataset.reader import finished_runs, open_data_set, read_table
from scenarios.runs.dataset.run_record import RunRecord
from scenarios.runs.dataset.writer import STAGING, check_writable, empty_staging, put, write_chunk
from scenarios.runs.record import write_record
from tests.scenarios.language.builders import SMALL
from tests.scenarios.runs.dataset.runs import files, manifest, record, spec, write


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    write(tmp_path, 0, 1)
    data_set = open_data_set(tmp_path)
    assert data_set.run_ids == (spec(0).run_id, spec(1).run_id)
    rows = read_table(data_set, "isr_events").to_pylist()
    assert [(row["run_id"], row["w_us"]) for row in rows if row["isr"] == [0]] == [
        (spec(0).run_id, 9_000_000),
        (spec(1).run_id, 8_000_000),
    ]


def test_a_retry_replaces_files_by_equal_ones(tmp_path: Path) -> None:
    write(tmp_path, 0, 1)
    before = files(tmp_path)
    write(tmp_path, 0, 1)
    assert files(tmp_path) == before


def test_a_chunk_without_its_runs_does_not_count(tmp_path: Path) -> None:
    write(tmp_path, 0)
    chunk = write(tmp_path, 1)
    (tmp_path / "runs" / "experiment=e" / "strategy=wiki" / f"part-{chunk}.parquet").unlink()
    data_set = open_data_set(tmp_path)
    assert data_set.run_ids == (spec(0).run_id,)
    assert set(read_table(data_set, "isr_events").column("run_id").to_pylist()) == {spec(0).run_id}
    assert finished_runs(tmp_path) == {spec(0).run_id}


def test_a_run_that_breaks_leaves_nothing_of_its_chunk(tmp_path: Path) -> None:
    def broken() -> Iterator[RunRecord]:
        yield record(0)
        raise ValueError("out of luck")

    with pytest.raises(ValueError, match="out of luck"):
        write_chunk(tmp_path, "e", "wiki", "chunk", broken())
    assert files(tmp_path) == {}


def test_a_full_disk_is_one_line_and_nothing_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = pq.write_table, []

    def full(*arguments: Any, **options: Any) -> None:
        calls.append(arguments)
        if len(calls) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(*arguments, **options)

    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(BadInput, match=r"cannot be written .No space left on device.") as failure:
        write(tmp_path, 0)
    assert str(tmp_path) in str(failure.value)
    assert finished_runs(tmp_path) == set()


@pytest.mark.parametrize("held", [False, True])
def test_a_trace_for_which_the_disk_has_no_room_leaves_what_was_there(
    held: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever of its files is the first without room, the manifest too; the trace of another run then stays."""
    original, real = Scenario.loads(SMALL), os.fsync
    room = left = 0
    if held:
        write_record(record(0), original, tmp_path)
    before = files(tmp_path)

    def full(opened: int) -> None:
        nonlocal left
        left -= stat.S_ISREG(os.fstat(opened).st_mode)
        if left < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(opened)

    monkeypatch.setattr(os, "fsync", full)
    while True:
        left = room
        try:
            write_record(record(1), original, tmp_path, overwrite=True)
            break
        except BadInput:
            assert files(tmp_path) == before
            assert held or list(tmp_path.iterdir()) == []
        room += 1
    assert room > 3
    assert open_data_set(tmp_path).run_ids == (spec(1).run_id,)


def die(staged: Path) -> None:
    staged.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)


def test_what_a_killed_process_was_writing_is_removed(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=put, args=(tmp_path, tmp_path / "final", die))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert [left.read_text() for left in (tmp_path / STAGING).iterdir()] == ["half"]
    empty_staging(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_another_process_is_writing_stays(tmp_path: Path) -> None:
    def meanwhile(staged: Path) -> None:
        staged.write_text("whole")
        empty_staging(tmp_path)

    assert put(tmp_path, tmp_path / "final", meanwhile).read_text() == "whole"


def test_a_file_that_cannot_be_written_is_not_left(tmp_path: Path) -> None:
    def interrupted(staged: Path) -> None:
        staged.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        put(tmp_path, tmp_path / "final", interrupted)
    assert list((tmp_path / STAGING).iterdir()) == []


def test_a_folder_that_is_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    for action in (lambda: check_writable(tmp_path / "out"), lambda: write(tmp_path / "out", 0)):
        with pytest.raises(BadInput, match="cannot be written"):
            action()


def test_later_sweeps_join_the_manifest_and_other_scenarios_are_refused(tmp_path: Path) -> None:
    write(tmp_path, 0)
    write(tmp_path, 1)
    assert open_data_set(tmp_path).manifest.seeds == (0, 1)
    with pytest.raises(BadInput, match="holds runs of the scenario 'a title' as it was before a change; name"):
        write_manifest(tmp_path, manifest(scenario="other"))


def test_a_refusal_names_files_and_the_keys_that_changed(tmp_path: Path) -> None:
    document: dict[str, Any] = {"horizon": "5m", "topics": [{"name": "orders", "size": "1MiB"}]}
    held = manifest(file="mine.toml", document=document)
    write_manifest(tmp_path, held)
    changed = {"seed": 3, "topics": [{"name": "orders", "size": "2MiB"}]}
    for other, words in (
        (evolve(held, scenario="x", file="other.toml"), "holds runs of mine.toml, not of other.toml"),
        (
            evolve(held, scenario="x", document=changed),
            r"holds runs of mine.toml as it was before a change \(horizon, topics\[0\].size, seed\); name",
        ),
        (evolve(held, experiment="f"), "holds the sweep 'e', not the sweep 'f'"),
        (
            evolve(held, arms=[Arm("wiki", "kafka-2.3", (("seed", "1"),))]),
            "holds runs over no grid, not over the grid of seed; name another folder, and compare both",
        ),
    ):
        with pytest.raises(BadInput, match=words):
            write_manifest(tmp_path, other)
    assert read_manifest(tmp_path) == held
