"""``[study]``: a study is one file. What it says is read and written back, and is no part of what a run is."""

from __future__ import annotations

import pytest

from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.schema.overrides import parse_value, value_text
from scenarios.studies.design import Axis, Design
from tests.scenarios.language.builders import SMALL, small_and

LINES = (
    'seeds = "0:10"',
    'strategies = ["wiki", "kafka-6794"]',
    'compare = ["under_min_isr_s"]',
    'minimum = ["1%", "100ms"]',
)
GRID = ("[study.grid]", '"strategy.throttle" = ["10MB/s", "20MB/s"]', '"plan.partitions[0].replicas" = [[3, 4, 5]]')
STUDY = small_and("[study]", *LINES, *GRID)


def test_it_is_read_and_written_back() -> None:
    scenario = Scenario.loads(STUDY)
    assert scenario.study is not None
    assert scenario.study.seeds == range(10)
    assert scenario.study.grid["plan.partitions[0].replicas"] == ([3, 4, 5],)
    assert Scenario.loads(scenario.to_toml()) == scenario


def test_it_is_no_part_of_a_runs_identity() -> None:
    assert Scenario.loads(STUDY).digest() == Scenario.loads(SMALL).digest()
    assert Scenario.loads(STUDY).run().digest == Scenario.loads(SMALL).run().digest


def test_it_is_the_design_and_options_take_the_place_of_its_keys() -> None:
    scenario = Scenario.loads(STUDY)
    design = Design.of(scenario)
    assert (design.seeds, design.strategies) == (tuple(range(10)), ("wiki", "kafka-6794"))
    assert [arm.value_of("plan.partitions[0].replicas") for arm in design.arms()] == ["[3, 4, 5]"] * 4
    assert (design.compare, design.minimum) == (("under_min_isr_s",), ("1%", "100ms"))
    assert design.scenario_of(design.arms()[0]).study is None
    other = Design.of(scenario, seeds=[7], strategies=["wiki"], grid=[Axis("horizon", ("5m",))])
    assert [arm.name for arm in other.arms()] == ["wiki"]
    assert other.seeds == (7,)
    assert [axis.key for axis in other.grid] == ["horizon"]


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        (('seeds = "1-3"',), "study.seeds: '1-3' names no seeds; write A:B"),
        (("seeds = 3",), 'study.seeds: the number 3 does not fit; write seeds in quotes, such as "0:20"'),
        (('strategies = ["wikki"]',), "study.strategies[0]: unknown strategy 'wikki'; did you mean 'wiki'?"),
        (("strategies = []",), "study.strategies: the list is empty; name at least one"),
        (('profiles = ["kafka-2.3", "kafka-2.3"]',), "study.profiles[1]: kafka-2.3 is listed twice"),
        (('compare = ["under_min_isr"]',), "study.compare[0]: unknown metric 'under_min_isr'; did you mean"),
        (("[study.grid]", "strategy.throttle = [1]"), "study.grid.strategy: a table; write the path"),
        (("[study.grid]", '"horizon" = "5m"'), "study.grid.horizon: the text '5m' does not fit; write a list"),
        (("seed = 3",), "study.seed: unknown key 'seed'; did you mean 'seeds'?"),
    ],
)  # fmt: skip
def test_a_wrong_key_is_one_line_with_its_place(lines: tuple[str, ...], what: str) -> None:
    with pytest.raises(BadInput) as failure:
        Scenario.loads(small_and("[study]", *lines), source="mine.toml")
    assert what in str(failure.value)
    assert str(failure.value).startswith("mine.toml:")


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        (("[study.grid]", '"horizn" = ["5m"]'), "mine.toml study.grid horizn=5m: unknown key 'horizn'; did you"),
        (("[study.grid]", '"strategy.name" = ["wiki"]'), "mine.toml study.grid strategy.name: the strategy is no key"),
        ((), '--seeds: no seeds are named; name some such as 0:20, or write seeds = "0:20" under [study]'),
    ],
)  # fmt: skip
def test_a_grid_that_cannot_be_run_names_the_file(lines: tuple[str, ...], what: str) -> None:
    seeds = ('seeds = "0:3"',) if lines else ()
    scenario = Scenario.loads(small_and("[study]", *seeds, *lines), source="mine.toml")
    with pytest.raises(BadInput) as failure:
        Design.of(scenario)
    assert what in str(failure.value)


@pytest.mark.parametrize("value", ["5m", "10MB/s", "1", "true", "[3, 4]", 1, 2.5, True, [3, 4], {"a": 1}, "all", ""])
def test_a_value_survives_as_text(value: object) -> None:
    assert parse_value(value_text(value)) == value
