"""Why a run fails: not exercised, expectation, unfinished; and that an override changes the result."""

from typing import Any

import pytest

from scenarios.language import Scenario
from scenarios.runs import Run, run_scenario
from tests.scenarios.runs.building import EXECUTE, Table, play, scenario

LIBRARY = "scenarios/library/quick-move.toml"


def run(**wanted: Any) -> Run:
    return play(scenario(brokers=4, controller=3, assignment=[[0, 1]], **wanted)).run


def assert_failed(found: Run, reason: str, said: str) -> None:
    assert (found.verdict, found.reason, found.violations) == ("failed", reason, ())
    assert said in " ".join(found.explanation.split()), "lines are folded"
    assert found.replay in found.explanation
    assert not found.passed


def assert_passed(found: Run) -> None:
    assert (found.verdict, found.reason, found.explanation) == ("passed", "", "")


# -- not exercised ----------------------------------------------------------------------------------------------


def test_a_step_that_never_comes() -> None:
    """Without a failover no step comes twice."""
    never = {"when": {"step": "wiki.7", "occurrence": 2}, "action": "controller.crash"}
    found = run(plan={0: [0, 2]}, method=[EXECUTE, never], horizon="30s")
    assert_failed(found, "not exercised", "method[1] controller.crash")
    assert found.virtual_s == pytest.approx(30, abs=0.2)


STOPPED: Table = {"at": "1s", "action": "broker.stop", "target": 2}
AGAIN: Table = {"at": "2001ms", "action": "reassign.execute"}


@pytest.mark.parametrize(
    ("method", "said", "begins"),
    [
        ((STOPPED, {**EXECUTE, "at": "9s"}), "no such brokers now: 2: INVALID_REPLICA_ASSIGNMENT", "at 9.000000 s"),
        ((EXECUTE, AGAIN), "another reassignment is in progress: REASSIGNMENT_IN_PROGRESS", "at 2.001000 s"),
    ],
    ids=["a dead broker", "an overlapping plan"],
)
def test_a_plan_that_the_tool_refuses(method: tuple[Table, ...], said: str, begins: str) -> None:
    """Kafka's error code, and the explanation begins where the plan was refused."""
    found = run(plan={0: [0, 2]}, method=method, horizon="30s")
    assert_failed(found, "not exercised", said)
    assert begins in found.explanation
    assert "FAULT reassign.execute" in found.explanation.partition("its causes")[2]


def test_a_target_that_matches_no_broker() -> None:
    found = run(method=[{"at": "1s", "action": "broker.crash", "target": {"state": "paused"}}])
    assert_failed(found, "not exercised", "broker.crash: no broker is paused")


def test_a_second_reassignment_while_one_is_under_way() -> None:
    hold = {"at": "1s", "action": "gate.hold", "gate": {"step": "wiki.4", "edge": "before"}, "duration": "10s"}
    found = run(plan={0: [0, 2]}, method=[hold, EXECUTE, {"after": "1s", "action": "reassign.execute"}])
    assert_failed(found, "not exercised", "another reassignment is in progress")


def test_a_replica_that_is_not_there_cannot_fail() -> None:
    fail = {"at": "1s", "action": "fetcher.fail_partition", "target": 2, "partition": "orders-0"}
    assert_failed(run(method=[fail]), "not exercised", "broker 2 has no replica of orders-0")


# -- expectation ------------------------------------------------------------------------------------------------

UNMET: dict[str, tuple[Table, str]] = {
    "assignment": ({"assignment": {"orders-0": [2, 0]}}, "orders-0 [0, 2]"),
    "leader": ({"leader": {"orders-0": 2}}, "'orders-0': 0"),
    "isr": ({"isr": {"orders-0": [0, 1]}}, "orders-0 [0, 2]"),
    "metric": ({"metric": "isr_expands", "tolerance": 7}, "isr_expands"),
    "step": ({"step": "broker-failure.1"}, "not reached"),
    "failed_partitions": ({"failed_partitions": {"orders-0": [1]}}, "none"),
}


@pytest.mark.parametrize("name", UNMET)
def test_an_expectation_that_is_not_met(name: str) -> None:
    expect, said = UNMET[name]
    found = run(plan={0: [0, 2]}, method=[EXECUTE], expect=[expect])
    assert_failed(found, "expectation", said)
    assert [expectation.ok for expectation in found.expectations] == [False]


def test_too_late() -> None:
    hold = {"at": "1s", "action": "gate.hold", "gate": {"step": "wiki.4", "edge": "before"}, "duration": "10s"}
    late = {"within": "5s", "assignment": {"orders-0": [0, 2]}}
    found = run(plan={0: [0, 2]}, method=[hold, EXECUTE], expect=[late])
    assert_failed(found, "expectation", "not yet at 6.000 s, came true at 11.")


def test_true_for_a_moment_only() -> None:
    """``within`` has to hold at the end as well."""
    crash = {"at": "3s", "action": "broker.crash", "target": 1, "duration": "20s"}
    found = run(method=[crash], expect=[{"within": "20s", "isr": {"orders-0": [0]}}])
    assert_failed(found, "expectation", "was true, but at the end")


CUT: Table = {"at": "3s", "action": "link.cut", "target": 1, "duration": "30s"}
WHOLE: Table = {"isr": {"orders-0": [0, 1]}}


def test_what_held_before_the_fault_and_broke_has_to_recover() -> None:
    """The ISR is whole when the follower is cut off (3 s), shrinks at 14 s, is whole again soon after 33 s."""
    expect: list[Table] = [
        {**WHOLE, "within": "60s", "after": "link.heal"},
        {**WHOLE, "within": "60s"},
        {"leader": {"orders-0": 0}, "within": "5s", "after": "link.cut"},
    ]
    again, anyhow, leader = run(method=[CUT], expect=expect).expectations
    assert again.ok
    assert again.t_us is not None
    assert 33_000_000 < again.t_us < 40_000_000
    took = (again.t_us - 33_000_000) / 1e6
    assert again.detail == f"recovered at {again.t_us / 1e6:.3f} s, {took:.3f} s after link.heal"
    assert anyhow.detail == f"recovered at {again.t_us / 1e6:.3f} s"
    assert leader.detail == "held throughout"


def test_what_held_before_the_fault_does_not_meet_an_expectation() -> None:
    found = run(method=[CUT], expect=[{**WHOLE, "within": "20s"}])
    assert_failed(found, "expectation", "not yet at 23.000 s, recovered at 3")


def test_an_expectation_after_an_action_that_was_never_performed() -> None:
    never = {"when": {"step": "wiki.7", "occurrence": 2}, "action": "broker.crash", "target": 1}
    wanted = scenario(
        brokers=4, controller=3, assignment=[[0, 1]], plan={0: [0, 2]}, method=[EXECUTE, never], horizon="20s",
        expect=[{**WHOLE, "after": "broker.crash"}],
    )  # fmt: skip
    [found] = play(wanted).run.expectations
    assert (found.ok, found.detail) == (False, "broker.crash was never performed")


@pytest.mark.parametrize(("mode", "holds"), [("continuous", False), ("start", True), ("end", True), ("edge", True)])
def test_the_steady_state_is_looked_at_when_it_says(mode: str, holds: bool) -> None:
    """A follower is away for a while in the middle of the run."""
    crash = {"at": "3s", "action": "broker.crash", "target": 1, "duration": "20s"}
    steady = {"metric": "under_replicated_partitions", "tolerance": 0, "mode": mode}
    found = run(method=[crash], steady_state=[steady])
    assert found.passed is holds
    if not holds:
        assert_failed(found, "expectation", "under_replicated_partitions = 1, wanted 0")


# -- unfinished -------------------------------------------------------------------------------------------------


def test_a_move_that_the_horizon_finds_open() -> None:
    """Its new replica's broker is down for good."""
    crash = {"at": "1s", "action": "broker.crash", "target": 2}
    found = run(plan={0: [0, 2]}, method=[crash, EXECUTE], horizon="40s")
    assert_failed(found, "unfinished", "a move is open at 40.0")


def test_a_move_that_takes_longer_than_the_method_is_waited_for() -> None:
    link = {"egress": "1MiB/s"}
    wanted = scenario(
        assignment=[[0, 1]], plan={0: [0, 2]}, method=[EXECUTE], size="32MiB", rate=20,
        cluster={"brokers": 4, "controller": 3, "network": link}, controller=None,
    )  # fmt: skip
    found = play(wanted).run
    assert_passed(found)
    assert found.virtual_s > 30


# -- overrides --------------------------------------------------------------------------------------------------


def test_an_override_changes_what_comes_of_it() -> None:
    scenario = Scenario.load(LIBRARY)
    as_it_is = scenario.run()
    assert_passed(as_it_is)
    changed = scenario.with_overrides({"plan.partitions[0].replicas": [2, 3]}).run()
    assert_failed(changed, "expectation", "orders-0 [2, 3]")
    assert changed.digest != as_it_is.digest
    assert changed.run_id != as_it_is.run_id


def test_an_override_of_a_setting_reaches_the_brokers() -> None:
    cut = {"at": "3s", "action": "link.cut", "target": 1, "duration": "8s"}
    wanted = scenario(brokers=3, controller=2, assignment=[[0, 1]], method=[cut])
    assert play(wanted).run.metrics["isr_shrinks"] == 0
    quick = wanted.with_overrides({"cluster.config.replica.lag.time.max.ms": "2000"})
    assert play(quick).run.metrics["isr_shrinks"] == 1


def test_seed_strategy_and_profile_of_a_run_are_in_its_replay() -> None:
    found = Scenario.load(LIBRARY).run(seed=5, strategy="kafka-6794", profile="wiki-text")
    assert (found.seed, found.strategy, found.profile) == (5, "kafka-6794", "wiki-text")
    assert found.replay.endswith("quick-move.toml --seed 5 --strategy kafka-6794 --profile wiki-text")


CRASH: Table = {"at": "3s", "action": "broker.crash", "target": 1}


def test_without_figures_a_run_is_the_same_and_has_those_that_it_goes_by() -> None:
    """A campaign of chaos asks for none."""
    asked = scenario(brokers=3, controller=2, method=[CRASH])
    whole, bare = run_scenario(asked), run_scenario(asked, figures=False)
    assert (bare.digest, bare.verdict) == (whole.digest, whole.verdict)
    assert bare.metrics == {name: whole.metrics[name] for name in bare.metrics}
    assert 0 < len(bare.metrics) < len(whole.metrics)


def test_a_scenario_that_names_a_metric_has_all_figures() -> None:
    asked = scenario(brokers=3, controller=2, expect=[{"metric": "isr_expands", "tolerance": 0}])
    assert asked.names_metrics
    assert run_scenario(asked, figures=False).metrics == run_scenario(asked).metrics
    when = {"metric": "offline_partitions", "above": 0}
    assert scenario(method=[{"when": when, "action": "broker.crash", "target": 1}]).names_metrics
    assert not scenario(method=[CRASH]).names_metrics
