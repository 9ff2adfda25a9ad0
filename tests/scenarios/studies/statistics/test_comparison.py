"""The table: pairs, censored runs, significance and warnings, from figures made up by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenarios.errors import BadInput
from scenarios.observe.measures.figure import Value
from scenarios.runs.dataset.manifest import Manifest
from scenarios.studies.spark.compare import compare
from scenarios.studies.statistics.comparison import compared, comparison
from scenarios.studies.statistics.comparison_table import Comparison, Row, RunFigures
from scenarios.studies.statistics.own_figures import quick_comparison


def run(strategy: str, seed: int, *, completed: bool = True, took_s: float = 1.0, **metrics: Value) -> RunFigures:
    zero: dict[str, Value] = dict.fromkeys(compared(consumers=True), 0)
    return RunFigures(
        run_id=f"{strategy}-{seed}",
        strategy=strategy,
        seed=seed,
        completed=completed,
        observed_s=took_s,
        metrics={**zero, "time_to_complete_s": took_s if completed else None, **metrics},
        agrees=True,
    )


def table_of(runs: list[RunFigures], seeds: int) -> Comparison:
    manifest = Manifest(
        experiment="e",
        scenario="abc",
        title="a title",
        profile="kafka-2.3",
        strategies=("wiki", "kafka-6794"),
        seeds=tuple(range(seeds)),
    )
    return comparison(manifest, runs)


def row(found: Comparison, metric: str) -> Row:
    (one,) = [row for row in found.rows if row.metric == metric]
    return one


def test_a_difference_on_every_seed_is_significant_and_equal_metrics_are_not_tested() -> None:
    runs = [run("wiki", seed, under_min_isr_s=float(seed)) for seed in range(20)]
    runs += [run("kafka-6794", seed, under_min_isr_s=seed + 2.0 + seed / 100) for seed in range(20)]
    found = table_of(runs, 20)
    line = row(found, "under_min_isr_s")
    assert line.differences["kafka-6794"].median == pytest.approx(2.095)
    p = line.p["kafka-6794"]
    assert p is not None
    assert p < 0.001
    assert row(found, "offline_s").p["kafka-6794"] is None
    text = [line for line in found.text.splitlines() if line.startswith("under_min_isr_s")]
    assert "+2.095" in text[0]
    assert "~" not in text[0]
    assert found.warnings == ()


def test_censored_runs_are_counted_and_bound_the_median_from_below() -> None:
    runs = [run("wiki", seed, took_s=5.0) for seed in range(10)]
    runs += [run("kafka-6794", seed, completed=seed < 4, took_s=5.0 if seed < 4 else 60.0) for seed in range(10)]
    found = table_of(runs, 10)
    assert found.completed == {"wiki": (10, 10), "kafka-6794": (4, 10)}
    sample = row(found, "time_to_complete_s").samples["kafka-6794"]
    assert (sample.median, sample.censored) == (60.0, True)
    assert not row(found, "time_to_complete_s").samples["wiki"].censored
    assert "kafka-6794: 4 of 10 runs completed their moves" in found.text
    assert "≥60" in found.text


def test_only_seeds_that_both_have_are_paired_and_it_is_said() -> None:
    runs = [run("wiki", seed) for seed in range(12)] + [run("kafka-6794", seed, took_s=2.0) for seed in range(4)]
    found = table_of(runs, 12)
    assert row(found, "time_to_complete_s").differences["kafka-6794"].pairs == 4
    assert found.warnings == (
        "kafka-6794: 4 of 12 runs are here; the sweep did not end",
        "4 seeds in common, fewer than 10: intervals and p values say little",
    )


def test_a_metric_that_a_run_lacks_is_left_out_of_the_pairs() -> None:
    runs = [run("wiki", seed, lag_p50=None if seed == 3 else 1.0) for seed in range(10)]
    runs += [run("kafka-6794", seed, lag_p50=2.0) for seed in range(10)]
    line = row(table_of(runs, 10), "lag_p50")
    assert (line.samples["wiki"].runs, line.differences["kafka-6794"].pairs) == (9, 9)


def test_one_strategy_alone_has_medians_and_no_differences() -> None:
    found = table_of([run("wiki", seed, took_s=3.0) for seed in range(10)], 10)
    assert row(found, "time_to_complete_s").differences == {}
    assert row(found, "time_to_complete_s").samples["wiki"].median == 3.0
    assert found.text


def test_the_json_holds_every_run() -> None:
    runs = [run("wiki", 0), run("kafka-6794", 0)]
    said = json.loads(table_of(runs, 1).to_json())
    assert [one["run_id"] for one in said["runs"]] == ["wiki-0", "kafka-6794-0"]
    assert {one["metric"] for one in said["rows"]} == set(compared(consumers=False))


def test_consumers_have_rows_where_something_was_read() -> None:
    runs = [run("wiki", 0, consumed_messages=7), run("kafka-6794", 0)]
    assert [one.metric for one in table_of(runs, 1).rows] == compared(consumers=True)


def test_a_run_that_disagrees_with_itself_is_a_warning() -> None:
    from attrs import evolve

    found = table_of([evolve(run("wiki", 0), agrees=False), run("kafka-6794", 0)], 1)
    assert any("differ from their own account: wiki-0" in warning for warning in found.warnings)


def test_a_missing_data_set_is_refused_before_spark_starts(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such folder"):
        quick_comparison(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="there is no such folder"):
        compare(tmp_path / "nowhere", master="spark://nobody:1")
