"""A comparison of runs made up by hand: levels, pairs, unfinished and failed runs, doubts and refusals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from scenarios.errors import BadInput
from scenarios.observe.measures.figure import Better
from scenarios.observe.measures.minimum import Minimum
from scenarios.runs.dataset.arm import Arm, named
from scenarios.studies.spark.compare import compare
from scenarios.studies.statistics.of_data_set import compare_folders
from scenarios.studies.statistics.result import Comparison, MetricVerdict
from scenarios.studies.statistics.run_figures import RunFigures
from scenarios.studies.statistics.study_comparison import ComparisonSpec, compare_runs, compared
from tests.scenarios.studies.statistics.made import HOPS, WIKI, failed, grid, run, study

TIME = ComparisonSpec(metrics=("time_to_complete_s",))
UNDER = ComparisonSpec(metrics=("under_min_isr_s",))


def kinds(found: Comparison) -> list[str]:
    return [doubt.kind for doubt in found.doubts]


def two(seeds: int, more_s: float) -> list[RunFigures]:
    """The second arm is under min ISR for longer, by about as much on every seed."""
    return study(
        (WIKI, HOPS),
        seeds,
        lambda arm, seed: {"under_min_isr_s": 10.0 + seed % 7 + (more_s + seed % 3 / 10 if arm is HOPS else 0.0)},
    )


def test_a_difference_on_every_seed_is_a_finding() -> None:
    found = compare_runs(two(20, 2.0), asked=UNDER)
    cell = found.row("under_min_isr_s").differences["kafka-6794"]
    assert cell.mean == pytest.approx(2.095)
    assert (cell.verdict, cell.higher, cell.pairs) == (MetricVerdict.WORSE, 20, 20)
    assert cell.p_adjusted is not None
    assert cell.p_adjusted < 0.001
    assert found.headlines == (
        "kafka-6794 is worse than wiki in under_min_isr_s +16% [+15%, +17%] (20 of 20 seeds, p < 0.001).",
    )
    assert kinds(found) == []


def test_all_metrics_are_rows_and_those_of_consumers_where_something_was_read() -> None:
    runs = study((WIKI, HOPS), 3, lambda arm, seed: {})
    assert [row.metric for row in compare_runs(runs).rows] == compared(consumers=False)
    runs = study((WIKI, HOPS), 3, lambda arm, seed: {"consumed_messages": seed})
    assert [row.metric for row in compare_runs(runs).rows] == compared(consumers=True)


def test_runs_that_did_not_finish_count_to_the_common_end_and_are_counted() -> None:
    runs = [run(WIKI, seed, took_s=5.0 + seed / 100) for seed in range(12)]
    runs += [run(HOPS, seed, completed=seed < 6, took_s=5.5 if seed < 6 else 60.0) for seed in range(12)]
    found = compare_runs(runs, asked=TIME)
    assert [(level.name, level.finished, level.moved) for level in found.levels] == [
        ("wiki", 12, 12),
        ("kafka-6794", 6, 12),
    ]
    sample = found.row("time_to_complete_s").samples["kafka-6794"]
    assert sample.mean == pytest.approx((5.5 + 60) / 2)
    assert sample.censored == 6
    assert found.completions is not None
    times = found.completions.levels["kafka-6794"]
    assert (found.completions.horizon_s, times.restricted_mean_s) == (60.0, sample.mean)
    assert times.p_adjusted is not None
    assert times.p_adjusted < 0.001
    assert kinds(found)[0] == "unfinished"
    assert "50% ≥ 60" in found.text


def test_no_run_that_finished_is_said() -> None:
    found = compare_runs([run(arm, seed, completed=False) for arm in (WIKI, HOPS) for seed in range(3)], asked=TIME)
    assert kinds(found)[0] == "all-unfinished"
    assert "no run finished its moves" in found.text


def test_failed_runs_are_counted_and_named_and_break_their_pair() -> None:
    runs = two(12, 2.0)
    runs[-1] = failed(HOPS, 11, "ZeroDivisionError: division by zero")
    found = compare_runs(runs, asked=UNDER, planned={WIKI: 12, HOPS: 12})
    assert [(level.runs, level.failed) for level in found.levels] == [(12, 0), (11, 1)]
    assert found.row("under_min_isr_s").differences["kafka-6794"].pairs == 11
    assert found.doubts[0].text == (
        "1 run failed and has no figures; the first: kafka-6794, seed 11: ZeroDivisionError: division by zero"
    )


def test_only_seeds_that_both_have_are_paired_and_it_is_said() -> None:
    runs = [one for one in two(12, 2.0) if one.arm is WIKI or one.seed < 4]
    found = compare_runs(runs, asked=UNDER, planned={WIKI: 12, HOPS: 12})
    assert found.row("under_min_isr_s").differences["kafka-6794"].pairs == 4
    assert kinds(found) == ["incomplete"]
    [few] = found.headlines
    assert few == (
        "4 seeds can show a direction and no finding: of 4 pairs no p is below 0.125. "
        "At least 6 seeds are needed for one metric."
    )
    assert found.doubts[0].text == "kafka-6794: 4 of 12 runs are here; the sweep did not end"


def test_a_metric_that_a_run_lacks_is_left_out_of_the_pairs() -> None:
    runs = study((WIKI, HOPS), 10, lambda arm, seed: {"lag_p50": None if (arm is WIKI and seed == 3) else float(seed)})
    row = compare_runs(runs, asked=ComparisonSpec(metrics=("lag_p50",))).row("lag_p50")
    assert (row.samples["wiki"].seeds, row.differences["kafka-6794"].pairs) == (9, 9)


def test_one_arm_alone_has_means_and_nothing_to_compare_with() -> None:
    found = compare_runs([run(WIKI, seed, took_s=3.0) for seed in range(10)], asked=TIME)
    assert found.row("time_to_complete_s").differences == {}
    assert found.row("time_to_complete_s").samples["wiki"].mean == 3.0
    assert kinds(found) == ["one-level"]
    assert "95% of the median" in found.text


def test_figures_that_a_run_computed_otherwise_itself_are_a_doubt() -> None:
    runs = [run(WIKI, 0, agrees=False), run(WIKI, 1), run(HOPS, 0), run(HOPS, 1)]
    assert "disagree" in kinds(compare_runs(runs, asked=TIME))


def test_a_nearly_deterministic_program_is_said_to_be_one() -> None:
    runs = study((WIKI, HOPS), 50, lambda arm, seed: {"under_min_isr_s": 2.0 + seed * 2e-5 + 0.001 * (arm is HOPS)})
    found = compare_runs(runs, asked=UNDER)
    assert found.row("under_min_isr_s").differences["kafka-6794"].verdict is MetricVerdict.SAME
    assert found.headlines == ("kafka-6794 against wiki: no difference that matters (all are below 1%).",)
    [doubt] = found.doubts
    assert (doubt.kind, doubt.metrics) == ("deterministic", ("under_min_isr_s",))
    smaller = compare_runs(runs, asked=ComparisonSpec(metrics=UNDER.metrics, minimum=Minimum(share=0.0001)))
    assert smaller.row("under_min_isr_s").differences["kafka-6794"].verdict is MetricVerdict.WORSE


# -- a grid ----------------------------------------------------------------------------------------------------------


def over_grid(seeds: int = 12) -> list[RunFigures]:
    """Twice as long at half the throttle; the second strategy takes a third more at 10MB/s, and no more at 20MB/s."""

    def metrics(arm: Arm, seed: int) -> dict[str, float]:
        slow = arm.value_of("strategy.throttle") == "10MB/s"
        factor = 2.0 if slow else 1.0
        if slow and arm.strategy != "wiki":
            factor *= 1.33
        return {"under_min_isr_s": factor * (10 + seed % 5 / 10)}

    return study(grid("10MB/s", "20MB/s"), seeds, metrics)


def test_an_arm_is_compared_with_the_one_that_differs_in_a_single_axis_the_questions_first() -> None:
    found = compare_runs(over_grid(), asked=UNDER)
    slow, fast = "strategy.throttle=10MB/s", "strategy.throttle=20MB/s"
    assert [(level.name, level.against, level.along) for level in found.levels] == [
        (f"wiki, {slow}", None, None),
        (f"wiki, {fast}", f"wiki, {slow}", "strategy.throttle"),
        (f"kafka-6794, {slow}", f"wiki, {slow}", "strategy"),
        (f"kafka-6794, {fast}", f"wiki, {fast}", "strategy"),
    ]
    assert found.by == ("strategy", "strategy.throttle")
    row = found.row("under_min_isr_s")
    assert row.differences[f"kafka-6794, {slow}"].relative == pytest.approx(0.33)
    assert row.differences[f"kafka-6794, {fast}"].verdict is MetricVerdict.SAME
    assert [level for _metric, level in found.told][:2] == [f"kafka-6794, {slow}", f"kafka-6794, {fast}"]
    assert found.headlines[0].startswith(f"kafka-6794 is worse than wiki at {slow} in under_min_isr_s +33%")
    assert found.headlines[-1].startswith(f"{fast} is better than {slow} at wiki in under_min_isr_s -50%")


def test_releases_come_after_what_the_grid_asks() -> None:
    arms = named(
        Arm("wiki", profile, [("strategy.throttle", rate)])
        for profile in ("kafka-2.3", "kafka-2.4") for rate in ("5MB/s", "10MB/s", "20MB/s")
    )  # fmt: skip
    found = compare_runs(study(arms, 6, lambda arm, seed: {"under_min_isr_s": float(seed)}), asked=UNDER)
    differing = [
        sum(one.arm.value_of(axis) != other.arm.value_of(axis) for axis in found.by)
        for level in found.levels[1:]
        for one in found.runs if one.arm.name == level.name and one.seed == 0
        for other in found.runs if other.arm.name == level.against and other.seed == 0
    ]  # fmt: skip
    assert differing == [1] * 5
    assert found.by == ("strategy.throttle", "profile")
    assert [level.along for level in found.levels[1:]] == [
        *["strategy.throttle"] * 2,
        "profile",
        *["strategy.throttle"] * 2,
    ]


def test_a_named_baseline_is_what_all_arms_are_compared_with() -> None:
    base = "kafka-6794, strategy.throttle=20MB/s"
    found = compare_runs(over_grid(), asked=ComparisonSpec(baseline=base, metrics=UNDER.metrics))
    assert [level.against for level in found.levels] == [None, base, base, base]


def test_the_values_of_one_axis_are_paired_at_each_point_of_the_others() -> None:
    found = compare_runs(over_grid(), asked=ComparisonSpec(by="strategy", metrics=UNDER.metrics))
    cell = found.row("under_min_isr_s").differences["kafka-6794"]
    assert cell.pairs == 12
    assert cell.relative == pytest.approx(0.33 * 2 / 3)
    assert found.levels[0].values == {"strategy": "wiki", "profile": "kafka-2.3"}
    by_rate = compare_runs(over_grid(), asked=ComparisonSpec(by="strategy.throttle", metrics=UNDER.metrics))
    assert by_rate.row("under_min_isr_s").differences["20MB/s"].verdict is MetricVerdict.BETTER


def test_arms_are_chosen_by_their_values() -> None:
    where = (("strategy.throttle", "20MB/s"),)
    found = compare_runs(over_grid(), asked=ComparisonSpec(where=where, metrics=UNDER.metrics))
    assert [level.values["strategy"] for level in found.levels] == ["wiki", "kafka-6794"]
    assert found.row("under_min_isr_s").differences[found.levels[1].name].verdict is MetricVerdict.SAME


def test_another_baseline_turns_the_verdicts_round() -> None:
    asked = ComparisonSpec(by="strategy.throttle", baseline="20MB/s", metrics=UNDER.metrics)
    found = compare_runs(over_grid(), asked=asked)
    assert found.baseline == "20MB/s"
    assert found.row("under_min_isr_s").differences["10MB/s"].verdict is MetricVerdict.WORSE


def test_the_effects_of_axes_and_of_two_together_add_up() -> None:
    [found] = compare_runs(over_grid(), asked=UNDER).effects
    assert [effect.axes for effect in found.effects] == [
        ("strategy",),
        ("strategy.throttle",),
        ("strategy", "strategy.throttle"),
    ]
    shares = [effect.share for effect in found.effects]
    assert sum(shares) + found.seeds + found.rest == pytest.approx(1)
    assert shares[1] > shares[0] > 0.03
    assert shares[2] == pytest.approx(shares[0], rel=0.01)
    assert found.effects[1].means == pytest.approx({"10MB/s": 10.2 * 2 * 1.165, "20MB/s": 10.2}, rel=0.01)
    assert found.effects[2].p_adjusted is not None
    assert found.effects[2].p_adjusted < 0.001


# -- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        (ComparisonSpec(by="strategie"), "--by: unknown axis 'strategie'; did you mean 'strategy'?"),
        (
            ComparisonSpec(where=(("strategy.throttle", "30MB/s"),)),
            "--where: no arm has strategy.throttle '30MB/s'; did you",
        ),
        (
            ComparisonSpec(where=(("throttle", "x"),)),
            "--where: unknown axis 'throttle'; did you mean 'strategy.throttle'?",
        ),
        (
            ComparisonSpec(metrics=("under_min_isr",)),
            "--metric: unknown metric 'under_min_isr'; did you mean 'under_min_isr_s'",
        ),
        (ComparisonSpec(by="strategy", baseline="wikki"), "--baseline: unknown baseline 'wikki'; did you mean 'wiki'?"),
    ],
)
def test_what_is_not_there_is_refused_in_one_line(asked: ComparisonSpec, problem: str) -> None:
    with pytest.raises(BadInput) as refused:
        compare_runs(over_grid(2), asked=asked)
    assert str(refused.value).startswith(problem)


def refused(runs: Sequence[RunFigures]) -> str:
    with pytest.raises(BadInput) as error:
        compare_runs(runs)
    return str(error.value)


def test_nothing_to_compare_is_refused() -> None:
    assert refused([failed(WIKI, 0, "broken")]) == "no run has figures; there is nothing to compare"
    apart = [run(WIKI, 0), run(WIKI, 1), run(HOPS, 2)]
    assert refused(apart).startswith("no seed is in 'wiki' and in another arm too; run the same seeds in each")


def test_a_missing_data_set_is_refused_before_spark_starts(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such folder"):
        compare_folders(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="there is no such folder"):
        compare(tmp_path / "nowhere", master="spark://nobody:1")


# -- views -----------------------------------------------------------------------------------------------------------


def test_the_json_holds_everything_and_no_number_that_json_lacks() -> None:
    runs = study((WIKI, HOPS), 6, lambda arm, seed: {"failed_batches": seed if arm is HOPS else 0})
    said = json.loads(compare_runs(runs, title="a title").to_json())
    assert [one["run_id"] for one in said["runs"]] == [
        f"{arm}/{seed}" for arm in ("wiki", "kafka-6794") for seed in range(6)
    ]
    assert said["runs"][0]["arm"] == {"name": "wiki", "strategy": "wiki", "profile": "kafka-2.3", "grid": {}}
    cells = {row["metric"]: row["differences"]["kafka-6794"] for row in said["rows"]}
    assert list(cells) == compared(consumers=False)
    assert (cells["failed_batches"]["mean"], cells["offline_s"]["verdict"]) == (2.5, "no difference that matters")


def test_lines_of_the_text_keep_to_80_columns_where_names_do() -> None:
    text = compare_runs(two(12, 2.0), title="a title").text
    assert max(map(len, text.splitlines())) <= 80


def test_ten_differences_are_shown_unless_all_are_asked_for() -> None:
    from scenarios.studies.statistics.text import as_text

    found = compare_runs(two(12, 2.0))
    shown = [row.metric for row in found.rows if f"\n{row.metric}  " in found.text]
    assert len(shown) == 10
    assert "under_min_isr_s" in shown
    assert all(f"\n{row.metric}  " in as_text(found, every=True) for row in found.rows)


def test_levels_that_none_beats_are_the_front() -> None:
    arms = named([Arm(name, "kafka-2.3") for name in ("slow", "fast", "bad")])
    took = {"slow": 9.0, "fast": 3.0, "bad": 9.0}
    extra = {"slow": 1.0, "fast": 5.0, "bad": 6.0}
    runs = [run(arm, seed, took_s=took[arm.name], extra_replica_s=extra[arm.name]) for arm in arms for seed in (0, 1)]
    front = compare_runs(runs).front
    assert front is not None
    assert (front.metrics, front.best) == (("time_to_complete_s", "extra_replica_s"), ("slow", "fast"))
    assert front.beaten_by == {"bad": "slow"}
    assert compare_runs(runs, asked=TIME).front is None


def test_every_objective_has_a_direction() -> None:
    from scenarios.studies.statistics.front import front

    with pytest.raises(ValueError, match="an objective needs a direction"):
        front({"steps": Better.NEITHER}, {"one": [1.0]}, [0.0])


def test_seeds_are_asked_for_only_where_they_would_settle_something() -> None:
    """A difference of 2 % is within what sampled runs are off by; one of 400 % drowns in what the seeds differ by."""

    def metrics(arm: Arm, seed: int) -> dict[str, float]:
        longer, wilder = 2.0 * (arm is HOPS), 4000.0 * (seed % 10 == 0)
        return {"extra_replica_s": 100.0 + longer, "under_min_isr_s": 100.0 + wilder * (arm is HOPS), "leapt_s": 50.0}

    asked = ComparisonSpec(metrics=("extra_replica_s", "under_min_isr_s"))
    found = compare_runs(study((WIKI, HOPS), 20, metrics), asked=asked)
    needed = found.row("under_min_isr_s").differences["kafka-6794"].seeds_needed
    assert needed is not None
    settled = f"about {needed} seeds would settle one of them (now 20), and hardly the others"
    assert found.doubts[0].text == f"2 of 2 differences are not known; {settled}"


def test_arms_with_leaps_have_wider_intervals_and_it_is_said() -> None:
    """The difference of 2 % is a finding of exact runs, and within what sampled ones are off by."""

    def times(leapt_s: float) -> list[RunFigures]:
        return study(
            (WIKI, HOPS),
            20,
            lambda arm, seed: {"extra_replica_s": 100.0 + seed % 3 + 2.0 * (arm is HOPS), "leapt_s": leapt_s},
        )

    asked = ComparisonSpec(metrics=("extra_replica_s",))
    exact, sampled = compare_runs(times(0.0), asked=asked), compare_runs(times(50.0), asked=asked)
    assert exact.row("extra_replica_s").differences["kafka-6794"].verdict is MetricVerdict.WORSE
    assert sampled.row("extra_replica_s").differences["kafka-6794"].verdict is MetricVerdict.UNKNOWN
    assert sampled.doubts[0].text == "1 of 1 differences are not known; more seeds than 20 would hardly settle them"
    assert kinds(sampled) == ["more-seeds", "sampled"]
    assert sampled.doubts[-1].text.startswith("40 runs leapt over a part of the messages")
