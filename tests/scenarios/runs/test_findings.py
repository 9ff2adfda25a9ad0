"""What is wrong with a run, in one shape: equal for the same rule, however it was broken."""

from typing import Any

from scenarios.language import Scenario
from scenarios.runs.finding import EXPECTATION, UNFINISHED, Finding
from scenarios.runs.findings import findings
from tests.scenarios.runs.building import EXECUTE, play, scenario

STOPS: tuple[dict[str, Any], ...] = (
    {"at": "1s", "action": "broker.crash", "target": 1},
    {"at": "15s", "action": "broker.controlled_shutdown", "target": 0},
)


def last_replica_stops(**more: Any) -> Scenario:
    """KAFKA-1028: under 0.8 the last in-sync replica that stops leaves an empty ISR."""
    wanted: dict[str, Any] = {"brokers": 3, "controller": 2, "profile": "kafka-0.8", "strategy": "kafka-42"}
    return scenario(method=STOPS, assignment=[(0, 1)], horizon="30s", **{**wanted, **more})


def test_a_violation_is_a_finding_and_two_that_differ_in_details_are_equal() -> None:
    one, other = findings(play(last_replica_stops()).run), findings(play(last_replica_stops(seed=5, rate=80)).run)
    assert [found.checker for found in one] == ["leader_in_isr"]
    assert one == other
    assert "orders-0" in one[0].state
    assert one[0].state in str(one[0])


def test_a_run_that_passed_has_none() -> None:
    assert findings(play(scenario(rate=0)).run) == ()


def test_a_move_that_does_not_end_is_a_finding() -> None:
    crash = {"at": "1s", "action": "broker.crash", "target": 4}
    (found,) = findings(play(scenario(plan={0: (1, 2, 4)}, method=[crash, EXECUTE], horizon="20s")).run)
    assert found.checker == UNFINISHED


def test_an_expectation_that_is_not_met_is_a_finding() -> None:
    (found,) = findings(play(scenario(expect=[{"leader": {"orders-0": 2}}], horizon="5s", rate=0)).run)
    assert found == Finding(EXPECTATION, "leader orders-0 [2]")


def test_faults_that_never_took_effect_show_nothing_of_the_cluster() -> None:
    never = {"when": {"step": "wiki.7", "occurrence": 2}, "action": "controller.crash"}
    run = play(scenario(plan={0: [0, 2]}, method=[EXECUTE, never], assignment=[[0, 1]], horizon="30s")).run
    assert (run.reason, findings(run)) == ("not exercised", ())
