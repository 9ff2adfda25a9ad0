"""Several folders as one data set: what they share, when the folder is an axis, and what is refused in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from scenarios.errors import BadInput
from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.joined import open_data_sets
from scenarios.runs.dataset.manifest import write_manifest
from scenarios.runs.dataset.reader import read_specs, read_table
from scenarios.studies.statistics.own_figures import own_figures
from tests.scenarios.runs.dataset.runs import manifest, write, write_arm

WIKI, HOPS = Arm("wiki", "kafka-2.3"), Arm("kafka-6794", "kafka-2.3")


def test_folders_join_over_the_seeds_that_they_share(tmp_path: Path) -> None:
    write_arm(tmp_path / "a", WIKI, 0, 1, 2)
    write_arm(tmp_path / "b", HOPS, 1, 2, 3)
    both = open_data_sets([tmp_path / "a", tmp_path / "b"])
    assert both.manifest.seeds == (1, 2)
    runs = [(run.arm.name, run.row["seed"]) for run in read_specs(both)]
    assert runs == [("wiki", 1), ("wiki", 2), ("kafka-6794", 1), ("kafka-6794", 2)]
    assert set(read_table(both, "isr_events")["run_id"].to_pylist()) == set(both.run_ids)
    assert [run.run_id for run in own_figures(both)] == list(both.run_ids)


def test_a_run_that_two_folders_have_counts_once(tmp_path: Path) -> None:
    write_arm(tmp_path / "a", WIKI, 0, 1)
    write_arm(tmp_path / "b", WIKI, 0, 1, 2)
    write_arm(tmp_path / "b", HOPS, 0, 1, 2)
    both = open_data_sets([tmp_path / "a", tmp_path / "b"])
    assert [(run.arm.name, run.row["seed"]) for run in read_specs(both)] == [
        ("wiki", 0), ("wiki", 1), ("kafka-6794", 0), ("kafka-6794", 1),
    ]  # fmt: skip


def test_the_same_arm_of_two_scenarios_differs_in_its_folder(tmp_path: Path) -> None:
    write_arm(tmp_path / "a", WIKI, 0, 1)
    write_arm(tmp_path / "b", WIKI, 0, 1, scenario="other", title="another title")
    both = open_data_sets([tmp_path / "a", tmp_path / "b"])
    assert [arm.name for arm in both.manifest.arms] == [f"folder={tmp_path / 'a'}", f"folder={tmp_path / 'b'}"]
    assert [arm.name for arm in dict.fromkeys(run.arm for run in read_specs(both))] == [
        arm.name for arm in both.manifest.arms
    ]
    assert both.manifest.title == "a title; another title"
    assert "folder" not in " ".join(both.manifest.arms[0].options)


def test_an_axis_that_only_one_folder_has_is_what_the_others_scenario_says(tmp_path: Path) -> None:
    said = {"strategy": {"throttle": "5MB/s"}, "cluster": {"config": {"min.insync.replicas": 2}}}
    write_arm(tmp_path / "a", WIKI, 0, 1, scenario="other", document=said)
    grid = {"strategy.throttle": "9MB/s", "cluster.config.min.insync.replicas": "1", "topics[0].size": "1MiB"}
    write_arm(tmp_path / "b", Arm("wiki", "kafka-2.3", tuple(grid.items())), 0, 1)
    first, second = open_data_sets([tmp_path / "a", tmp_path / "b"]).manifest.arms
    assert [first.value_of(key) for key in grid] == ["5MB/s", "2", "default"]
    assert [second.value_of(key) for key in grid] == list(grid.values())


@pytest.mark.spark
def test_spark_reads_the_rows_that_count(spark: SparkSession, tmp_path: Path) -> None:
    from scenarios.studies.spark.tables import table

    write_arm(tmp_path / "a", WIKI, 0, 1)
    write_arm(tmp_path / "b", WIKI, 1, 2)
    write_arm(tmp_path / "b", HOPS, 1, 2)
    both = open_data_sets([tmp_path / "a", tmp_path / "b"])
    found = table(spark, both, "runs").select("strategy", "seed").collect()
    assert sorted((row.strategy, row.seed) for row in found) == [("kafka-6794", 1), ("wiki", 1)]


def test_folders_that_share_no_seed_are_one_line(tmp_path: Path) -> None:
    write(tmp_path / "a", 0, 1)
    write(tmp_path / "b", 5, 8)
    with pytest.raises(BadInput) as failure:
        open_data_sets([tmp_path / "a", tmp_path / "b"])
    assert str(failure.value) == (
        f"{tmp_path / 'b'}: has the seeds 5 to 8, and shares none with {tmp_path / 'a'} (0:2); "
        "runs are compared seed by seed: sweep both over the same seeds"
    )


def half(root: Path) -> None:
    write_manifest(root, manifest())


def older(root: Path) -> None:
    write(root, 0)
    path = root / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema": 4}))


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (None, "there is no such folder"),
        (Path.mkdir, "is no data set"),
        (half, "holds no finished run"),
        (older, "was written by an older version of Understudy"),
    ],
)
def test_each_folder_is_checked_and_named(tmp_path: Path, spoil: Callable[[Path], None] | None, what: str) -> None:
    write(tmp_path / "a", 0)
    if spoil is not None:
        spoil(tmp_path / "b")
    with pytest.raises(BadInput, match=what) as failure:
        open_data_sets([tmp_path / "a", tmp_path / "b"])
    assert str(tmp_path / "b") in str(failure.value)
