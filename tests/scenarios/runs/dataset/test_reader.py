"""A data set that cannot be used is one line, which names the folder or file and what to do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from scenarios.errors import BadInput
from scenarios.runs.dataset.manifest import write_manifest
from scenarios.runs.dataset.reader import open_data_set, read_table
from scenarios.runs.dataset.schema import VERSION, VERSION_KEY
from tests.scenarios.runs.dataset.runs import manifest, write


def refused(root: Path, what: str) -> str:
    with pytest.raises(BadInput, match=what) as failure:
        open_data_set(root)
    line = str(failure.value)
    assert "\n" not in line
    assert str(root) in line
    return line


def part(root: Path, table: str) -> Path:
    (path,) = root.glob(f"{table}/*/*/*.parquet")
    return path


def test_a_missing_folder(tmp_path: Path) -> None:
    refused(tmp_path / "nowhere", "there is no such folder")


def test_a_folder_that_is_no_data_set(tmp_path: Path) -> None:
    refused(tmp_path, "is no data set")


def test_an_empty_data_set(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest())
    refused(tmp_path, "holds no finished run")


def test_a_corrupt_manifest(tmp_path: Path) -> None:
    write(tmp_path, 0)
    (tmp_path / "manifest.json").write_text('{"schema": 1')
    refused(tmp_path, "is corrupt")


def test_another_version_of_the_layout(tmp_path: Path) -> None:
    write(tmp_path, 0)
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema": 99}))
    refused(tmp_path, f"was written by another version of Understudy .data set version 99, this one reads {VERSION}.")


@pytest.mark.parametrize("table", ["runs", "isr_events"])
def test_a_truncated_file(tmp_path: Path, table: str) -> None:
    write(tmp_path, 0)
    path = part(tmp_path, table)
    path.write_bytes(path.read_bytes()[:-20])
    assert str(path) in refused(tmp_path, "corrupt or cut short")


def test_columns_of_another_version(tmp_path: Path) -> None:
    write(tmp_path, 0)
    path = part(tmp_path, "replica_lag") if list(tmp_path.glob("replica_lag/*/*/*")) else part(tmp_path, "isr_events")
    table = pq.read_table(path, partitioning=None)
    pq.write_table(table.replace_schema_metadata({VERSION_KEY: b"0"}), path)
    refused(tmp_path, f"was written by an older version of Understudy .data set version 0, this one reads {VERSION}.")


def test_one_run_in_two_chunks(tmp_path: Path) -> None:
    write(tmp_path, 0)
    path = part(tmp_path, "runs")
    shutil.copy(path, path.with_name("part-copy.parquet"))
    refused(tmp_path, "twice")


def test_a_body_that_is_damaged_is_found_when_it_is_read(tmp_path: Path) -> None:
    write(tmp_path, 0)
    path = part(tmp_path, "isr_events")
    content = bytearray(path.read_bytes())
    content[4:80] = bytes(76)
    path.write_bytes(content)
    with pytest.raises(BadInput, match="corrupt or cut short"):
        read_table(open_data_set(tmp_path), "isr_events")
