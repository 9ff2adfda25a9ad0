"""The design of a study: its arms and their names, and what is refused before anything starts."""

from __future__ import annotations

import pytest
from attrs import evolve

from scenarios.errors import BadInput
from scenarios.language import StrategySpec
from scenarios.runs.dataset.arm import Arm, named
from scenarios.studies.design import Axis, Design, split_values
from scenarios.studies.planning import manifest_of, plan_runs
from tests.scenarios.language.builders import built

THROTTLE = Axis("strategy.throttle", ("10MB/s", "20MB/s"))
MIN_ISR = Axis("cluster.config.min.insync.replicas", ("2",))


def test_every_combination_is_an_arm_named_by_what_differs() -> None:
    design = Design.of(
        built(), seeds=range(2), strategies=("wiki", "kafka-6794"), profiles=("kafka-2.3", "kafka-1.1"), grid=[THROTTLE]
    )
    arms = design.arms()
    assert [arm.name for arm in arms] == [
        f"{strategy}, {profile}, strategy.throttle={throttle}"
        for strategy in ("wiki", "kafka-6794")
        for profile in ("kafka-2.3", "kafka-1.1")
        for throttle in THROTTLE.values
    ]
    last = arms[-1]
    assert [last.value_of(axis) for axis in last.axes] == ["kafka-6794", "kafka-1.1", "20MB/s"]
    scenario = design.scenario_of(last)
    assert (scenario.strategy.name, scenario.profile, scenario.strategy.throttle) == (
        "kafka-6794",
        "kafka-1.1",
        20_000_000,
    )


def test_names_have_what_differs_and_nothing_else() -> None:
    assert [arm.name for arm in Design.of(built(), seeds=[1]).arms()] == ["wiki"]
    assert [arm.name for arm in Design.of(built(), seeds=[1], grid=[THROTTLE]).arms()] == [
        "strategy.throttle=10MB/s",
        "strategy.throttle=20MB/s",
    ]
    profiles = named([Arm("wiki", "kafka-2.3"), Arm("wiki", "kafka-1.1")])
    assert [arm.name for arm in profiles] == ["kafka-2.3", "kafka-1.1"]
    assert profiles[0] == Arm("wiki", "kafka-2.3"), "a name is no part of what an arm is"


def test_each_release_has_its_own_strategy_where_none_is_named() -> None:
    scenario = evolve(built(), strategy=StrategySpec())
    arms = Design.of(scenario, seeds=[1], profiles=("kafka-2.3", "kafka-2.4")).arms()
    assert [(arm.strategy, arm.profile) for arm in arms] == [("wiki", "kafka-2.3"), ("kip-455", "kafka-2.4")]


def test_an_unknown_axis_is_refused_with_a_suggestion() -> None:
    with pytest.raises(BadInput, match="unknown axis 'stratgy'; did you mean 'strategy'"):
        Arm("wiki", "kafka-2.3").value_of("stratgy")


def test_the_options_of_a_run_repeat_an_arm() -> None:
    arm = Arm("wiki", "kafka-2.3", (("horizon", "5m"),))
    assert arm.options == ("--strategy", "wiki", "--profile", "kafka-2.3", "--set", "horizon=5m")
    assert Arm(**arm.to_json()) == arm


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"seeds": ()}, "--seeds: no seeds are named; name some such as 0:20"),
        ({"seeds": (1, 2, 1)}, "--seeds: names 1 twice; name it once"),
        ({"strategies": ("wiki", "wiki")}, "--strategy: names wiki twice"),
        ({"profiles": ("kafka-2.3", "kafka-2.3")}, "--profile: names kafka-2.3 twice"),
        ({"profiles": ("kafka-9",)}, "unknown profile 'kafka-9'"),
        ({"grid": [Axis("strategy.throtle", ("1MB/s",))]}, "unknown key 'throtle'; did you mean 'throttle'?"),
        ({"grid": [Axis("strategy.throttle", ("1MB/s", "fast"))]}, "--grid strategy.throttle=fast: "),
        ({"grid": [Axis("topics[7].partitions", ("1",))]}, "--grid topics[7].partitions=1: there is nothing to set"),
        ({"grid": [Axis("cluster.brokers", ("9", "2"))]}, "(in the arm 'cluster.brokers=2')"),
        ({"grid": [THROTTLE, THROTTLE]}, "--grid strategy.throttle: the grid has this key twice"),
        (
            {"grid": [Axis('cluster.config."min.insync.replicas"', ("1",)), MIN_ISR]},
            "the grid has this key twice",
        ),
        ({"grid": [Axis("horizon", ("5m", "5m"))]}, "--grid horizon: names the value 5m twice"),
        ({"grid": [Axis("horizon", ("5m", "300s"))]}, "--grid: the arms 'horizon=5m' and 'horizon=300s' are the same"),
        ({"grid": [Axis("horizon", ())]}, "--grid horizon: names no value"),
        ({"grid": [Axis("strategy.name", ("wiki",))]}, "--grid strategy.name: the strategy is no key of the grid"),
        ({"grid": [Axis("strategy.order", ("plan",))]}, "write --strategy wiki+largest-first"),
        ({"grid": [Axis("profile", ("kafka-2.3",))]}, "write --profile once for each"),
        ({"grid": [Axis("seed", ("1", "2"))]}, "write --seeds A:B"),
    ],
)  # fmt: skip
def test_a_design_that_cannot_be_run_is_one_line(options: dict[str, object], what: str) -> None:
    asked: dict[str, object] = {"seeds": (1,), **options}
    with pytest.raises(BadInput) as failure:
        Design.of(built(), **asked)  # type: ignore[arg-type]
    assert what in str(failure.value)
    assert "\n" not in str(failure.value)


def test_a_setting_with_dots_may_be_in_quotes() -> None:
    axis = Axis('cluster.config."min.insync.replicas"', ("1", "2"))
    design = Design.of(built(), seeds=[1], grid=[axis])
    assert [design.scenario_of(arm).cluster.config for arm in design.arms()] == [
        {"min.insync.replicas": 1},
        {"min.insync.replicas": 2},
    ]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("10MB/s,20MB/s", ("10MB/s", "20MB/s")),
        ("[1, 2],[3]", ("[1, 2]", "[3]")),
        ("{ a = 1, b = 2 }, 3", ("{ a = 1, b = 2 }", "3")),
        ('"a,b",c', ('"a,b"', "c")),
        ("5m", ("5m",)),
    ],
)
def test_values_are_split_at_commas_outside_of_brackets(text: str, values: tuple[str, ...]) -> None:
    assert split_values(text) == values


def test_runs_are_planned_once_each_and_neighbours_have_the_same_seeds() -> None:
    design = Design.of(built(), seeds=range(5), strategies=("wiki", "kafka-6794"), grid=[THROTTLE])
    planned = plan_runs(design)
    specs = [spec for arm_specs in planned.specs.values() for spec in arm_specs]
    assert len(planned) == len({spec.run_id for spec in specs}) == 20
    blocks = list(planned.blocks(2))
    assert [arm for arm, _specs in blocks] == [*design.arms()] * 3
    assert [[spec.seed for spec in found] for _arm, found in blocks] == [[0, 1]] * 4 + [[2, 3]] * 4 + [[4]] * 4
    manifest = manifest_of(design, "e")
    assert manifest.values("strategy.throttle") == THROTTLE.values
    assert manifest.axes == ("strategy", "profile", "strategy.throttle")
