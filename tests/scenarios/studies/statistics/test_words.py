"""Words against figures: what a comparison says agrees with its intervals, its p and its number of seeds."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.runs.dataset.arm import Arm
from scenarios.studies.statistics.result import (
    DIFFERENT,
    FEWEST_PAIRS,
    SIGNIFICANT,
    Comparison,
    MetricDifference,
    MetricVerdict,
    Row,
)
from scenarios.studies.statistics.said import leaves_out_0
from scenarios.studies.statistics.sentences import change
from scenarios.studies.statistics.study_comparison import ComparisonSpec, compare_runs
from tests.scenarios.studies.statistics.made import HOPS, WIKI, study

METRICS = ("under_min_isr_s", "produce_p99_ms", "extra_replica_s")
OTHERS = ("offline_s", "zk_writes", "lag_p99", "lag_p50", "failed_batches", "steps")
LEVEL = "kafka-6794"


def compared(values: Mapping[str, list[tuple[float, float]]], metrics: tuple[str, ...] = METRICS) -> Comparison:
    """Two arms, with pairs of values of the metrics; a metric without any is 0."""
    seeds = max(map(len, values.values()))

    def metric(arm: Arm, seed: int) -> dict[str, float]:
        return {name: pairs[seed][arm is HOPS] for name, pairs in values.items() if seed < len(pairs)}

    return compare_runs(study((WIKI, HOPS), seeds, metric), asked=ComparisonSpec(metrics=metrics))


def test_three_seeds_show_no_interval_and_one_sentence_says_what_they_can_show() -> None:
    found = compared({"produce_p99_ms": [(100.0 + seed, 13.0 + seed) for seed in range(3)]})
    [few] = found.headlines
    assert few == (
        "3 seeds can show a direction and no finding: of 3 pairs no p is below 0.25. "
        "At least 6 seeds are needed for one metric."
    )
    [line] = [line for line in found.text.splitlines() if line.startswith("produce_p99_ms")]
    assert line.split() == ["produce_p99_ms", "101", "14", "-86%", "3", "of", "3", "seeds"]
    assert "[" not in found.text
    assert not found.doubts


def test_no_difference_is_not_said_above_an_interval_that_leaves_out_0() -> None:
    """Seven seeds all show it; p is not small enough for all metrics together."""
    clear = [(100.0 + seed, 13.0 + seed % 3) for seed in range(7)]
    noise = [(100.0 + 7 * seed % 5, 100.0 + 3 * seed % 4) for seed in range(7)]
    found = compared({"produce_p99_ms": clear, **dict.fromkeys(OTHERS, noise)}, ("produce_p99_ms", *OTHERS))
    cell = found.row("produce_p99_ms").differences[LEVEL]
    assert cell.verdict is MetricVerdict.UNKNOWN
    [said] = found.headlines
    assert said.startswith(
        f"{LEVEL} against wiki: not settled, though the intervals leave out 0, in produce_p99_ms -87% [-87%, -86%]"
    )
    assert "(7 of 7 seeds, p = 0.109)" in said


def test_a_share_of_almost_nothing_is_shown_as_a_difference_with_its_unit() -> None:
    found = compared({"produce_p99_ms": [(7.0 + seed % 3, 1_010.0 + 10 * seed) for seed in range(20)]})
    [said, *_] = found.headlines
    assert said.startswith(f"{LEVEL} is worse than wiki in produce_p99_ms +1,0")
    assert " ms, from 7.95 ms (20 of 20 seeds, p < 0.001)." in said
    assert "%" not in said.partition(" (")[0]


def test_p_is_not_shown_for_seeds_that_are_alike() -> None:
    found = compared({"produce_p99_ms": [(100.0 + seed / 1e4, 50.0 + seed / 1e4) for seed in range(20)]})
    assert (
        f"{LEVEL} is better than wiki in produce_p99_ms -50% [-50%, -50%] (20 of 20 seeds, the seeds are alike)."
        in found.headlines
    )
    assert "better, seeds alike" in found.text
    [doubt] = found.doubts
    assert doubt.kind == "deterministic"


WHOLE = st.integers(0, 1_000).map(float)


@st.composite
def pairs(draw: st.DrawFn, seeds: int) -> list[tuple[float, float]]:
    """Equal arms, shifted ones, a baseline next to 0, and anything."""
    shift, size = draw(st.sampled_from([0.0, 1.0, 30.0, 900.0])), draw(st.sampled_from([1.0, 50.0, 1_000.0]))
    values = draw(st.lists(st.tuples(WHOLE, WHOLE), min_size=seeds, max_size=seeds))
    return [(size * a / 1_000, size * b / 1_000 + shift) for a, b in values]


@settings(deadline=None, max_examples=40)
@given(st.data(), st.integers(1, 14))
def test_words_agree_with_interval_and_p_in_every_comparison(data: st.DataObject, seeds: int) -> None:
    found = compared({metric: data.draw(pairs(seeds), label=metric) for metric in METRICS})
    cells = {row.metric: (row, row.differences[LEVEL]) for row in found.rows}
    for row, cell in cells.values():
        check_verdict(cell.telling if cell.telling.pairs else cell, cell.verdict)
        if cell.pairs < FEWEST_PAIRS:
            assert "[" not in change(cell, row.unit)
        for number in re.findall(r"([-+][\d,.]+)%", change(cell, row.unit)):
            assert abs(float(number.replace(",", ""))) <= 900
    for line in found.headlines:
        check_line(line, cells, seeds)
    if seeds < FEWEST_PAIRS:
        assert len(found.headlines) == 1
        assert "[" not in found.text


def check_verdict(cell: MetricDifference, verdict: MetricVerdict) -> None:
    if verdict in DIFFERENT:
        assert leaves_out_0(cell)
        assert cell.p_adjusted is not None
        assert cell.p_adjusted < SIGNIFICANT
        assert cell.pairs >= FEWEST_PAIRS
        assert cell.mean is not None
        assert (cell.mean > 0) is (verdict in (MetricVerdict.WORSE, MetricVerdict.HIGHER)), (
            "of all METRICS less is better"
        )
    if verdict is MetricVerdict.SAME:
        assert cell.interval is not None
        assert -cell.minimum <= cell.interval.low <= cell.interval.high <= cell.minimum


def check_line(line: str, cells: Mapping[str, tuple[Row, MetricDifference]], seeds: int) -> None:
    named = [metric for metric in METRICS if f" {metric} " in line]
    verdicts = {metric: cell.verdict for metric, (_row, cell) in cells.items()}
    if word := re.search(r"kafka-6794 is (\w+) than wiki in ", line):
        assert named
        assert {verdicts[metric].value for metric in named} == {word[1]}
    elif "no difference that matters" in line:
        assert set(verdicts.values()) == {MetricVerdict.SAME}
    elif "no difference is shown" in line:
        assert not any(
            leaves_out_0(cell.telling) for _, cell in cells.values() if cell.verdict is MetricVerdict.UNKNOWN
        )
    elif "not settled" in line:
        assert named
        assert all(leaves_out_0(cells[metric][1].telling) for metric in named)
    elif "can show a direction" in line:
        assert seeds < FEWEST_PAIRS
    else:
        assert line.startswith(("None is best", "By the means", "At "))
        assert any(verdict in DIFFERENT for verdict in verdicts.values())


@pytest.mark.parametrize(("seeds", "least"), [(1, "1"), (2, "0.5"), (5, "0.0625")])
def test_the_smallest_p_of_so_few_seeds_is_shown(seeds: int, least: str) -> None:
    found = compared({"produce_p99_ms": [(100.0, 13.0)] * seeds})
    assert f"no p is below {least}." in found.headlines[0]
