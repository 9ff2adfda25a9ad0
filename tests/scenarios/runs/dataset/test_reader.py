"""A data set that cannot be used is one line, which names the folder or file and what to do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from scenarios.errors import BadInput
from scenarios.runs.dataset.manifest import write_manifest
from scenarios.runs.dataset.reader import OwnFigures, open_data_set, read_figures, read_specs, read_table
from scenarios.runs.dataset.run_record import FailedRun
from scenarios.runs.dataset.table_schemas import VERSION, VERSION_KEY
from scenarios.runs.dataset.writer import write_chunk
from scenarios.studies.statistics.own_figures import own_figures
from tests.scenarios.runs.dataset.runs import manifest, record, spec, write


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


def test_other_columns_in_the_same_version(tmp_path: Path) -> None:
    write(tmp_path, 0)
    path = part(tmp_path, "isr_events")
    table = pq.read_table(path, partitioning=None)
    t_us = table.schema.get_field_index("t_us")
    changed = table.drop_columns(["w_us"]).set_column(t_us, "t_us", table["t_us"].cast("int32"))
    pq.write_table(changed.append_column("when", table["t_us"]).replace_schema_metadata(table.schema.metadata), path)
    what = r"\(lacks w_us; has when besides; t_us is int32, not int64\); run it again"
    assert str(path) in refused(tmp_path, f"has other columns than this version of Understudy writes {what}")


def test_columns_of_another_version(tmp_path: Path) -> None:
    write(tmp_path, 0)
    path = part(tmp_path, "replica_lag") if list(tmp_path.glob("replica_lag/*/*/*")) else part(tmp_path, "isr_events")
    table = pq.read_table(path, partitioning=None)
    pq.write_table(table.replace_schema_metadata({VERSION_KEY: b"0"}), path)
    refused(tmp_path, f"was written by an older version of Understudy .data set version 0, this one reads {VERSION}.")


def test_one_run_in_two_chunks(tmp_path: Path) -> None:
    write(tmp_path, 0)
    for path in tmp_path.glob("*/*/*/*.parquet"):
        shutil.copy(path, path.with_name("part-copy.parquet"))
    assert "holds the run of wiki with seed 0 twice" in refused(tmp_path, "twice")


@pytest.mark.parametrize("table", ["figures", "isr_events"])
def test_a_table_that_is_gone(tmp_path: Path, table: str) -> None:
    write(tmp_path, 0)
    shutil.rmtree(tmp_path / table)
    assert str(part(tmp_path, "runs")) in refused(tmp_path, f"lacks the part .* of the table {table}")


def test_figures_are_read_as_they_were_computed(tmp_path: Path) -> None:
    write(tmp_path, 0, 1)
    found = read_figures(open_data_set(tmp_path))
    for one in (record(0), record(1)):
        own = one.figures.metrics()
        assert found[one.spec.run_id] == own
        for name in ("peak_replicas", "under_min_isr_s", "time_to_complete_s"):
            assert type(found[one.spec.run_id][name]) is type(own[name])


def test_a_run_that_failed_is_a_row_with_its_error(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest())
    write_chunk(tmp_path, "e", "wiki", "chunk", [record(0), FailedRun(spec(1), "ValueError: out of\nluck")])
    data_set = open_data_set(tmp_path)
    done, failed = read_specs(data_set)
    assert (done.is_done, done.row["error"], done.row["verdict"]) == (True, None, "passed")
    assert (failed.is_done, failed.row["error"], failed.row["verdict"]) == (False, "ValueError: out of luck", None)
    assert failed.name == "wiki with seed 1"
    assert set(data_set.run_ids) == {spec(0).run_id, spec(1).run_id}
    assert [run.seed for run in own_figures(data_set)] == [0], "there is nothing to compare of a failed run"


def test_a_body_that_is_damaged_is_found_when_it_is_read(tmp_path: Path) -> None:
    write(tmp_path, 0)
    path = part(tmp_path, "isr_events")
    content = bytearray(path.read_bytes())
    content[4:80] = bytes(76)
    path.write_bytes(content)
    with pytest.raises(BadInput, match="corrupt or cut short"):
        read_table(open_data_set(tmp_path), "isr_events")


def test_a_figure_that_the_file_lacks_is_bad_input() -> None:
    own = OwnFigures({"moves": 3})
    assert own["moves"] == 3
    assert own.get("elections") is None
    with pytest.raises(BadInput, match="figures: a run lacks 'elections'"):
        own["elections"]
