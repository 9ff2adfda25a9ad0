"""Findings of a run have one shape: equal for the same rule, however it was broken."""

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from scenarios.cli.report import verdict
from scenarios.language import Scenario
from scenarios.language.expect import Expect
from scenarios.observe.checkers import REGISTRY, Gravity, Violation
from scenarios.observe.findings.convergence_facts import CutOff
from scenarios.runs.finding import EXPECTATION, LIVELOCK, NOT_EXERCISED, UNFINISHED, Finding
from scenarios.runs.findings import also_found, findings, gravest, gravity
from scenarios.runs.headlines import at_faults
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
    assert found == Finding(EXPECTATION, Expect(leader={"orders-0": (2,)}))
    assert found.statement == "leader orders-0 [2]"


def test_faults_that_never_took_effect_show_nothing_of_the_cluster() -> None:
    never = {"when": {"step": "wiki.7", "occurrence": 2}, "action": "controller.crash"}
    run = play(scenario(plan={0: [0, 2]}, method=[EXECUTE, never], assignment=[[0, 1]], horizon="30s")).run
    assert (run.reason, findings(run)) == ("not exercised", ())


PASSED = play(scenario(rate=0)).run
VIOLATIONS = st.builds(
    Violation, invariant=st.sampled_from(list(REGISTRY)), t_us=st.just(1), seq=st.integers(1, 9),
    facts=st.builds(CutOff, st.text("ab ", min_size=1, max_size=200)),
)  # fmt: skip


@given(st.lists(VIOLATIONS, max_size=8), st.booleans())
def test_all_findings_are_listed_the_gravest_first(found: list[Violation], cut_off: bool) -> None:
    reason = LIVELOCK if cut_off else "violated" if found else UNFINISHED
    run = evolve(PASSED, verdict="failed", reason=reason, violations=tuple(found), cut_off="it goes on" * cut_off)
    every = findings(run)
    grave = [gravity(one.checker) for one in every]
    assert grave == sorted(grave)
    assert {one.checker for one in every} >= {violation.invariant for violation in found}
    others = list(also_found(run))[1:]
    explained = LIVELOCK if cut_off else every[0].checker
    assert [line.split(": ")[:2] for line in others] == [
        [f"  {gravity(one.checker)}", one.checker] for one in every if one.checker != explained
    ]
    if first := gravest(found):
        assert cut_off or first.invariant == every[0].checker


def test_lost_records_come_before_the_move_that_does_not_end() -> None:
    assert gravity("no_acked_record_lost") == Gravity.LOSS < gravity("leader_in_isr") == Gravity.SAFETY
    assert gravity("one_role") == Gravity.SAFETY < gravity("converged") == gravity(UNFINISHED) == Gravity.LIVENESS
    assert Gravity.LIVENESS < gravity("lag_true") == gravity(EXPECTATION) == Gravity.REST


def test_the_explanation_does_not_repeat_the_reason() -> None:
    crash = {"at": "1s", "action": "broker.crash", "target": 4}
    run = play(scenario(plan={0: (1, 2, 4)}, method=[crash, EXECUTE], horizon="20s")).run
    assert verdict(run).startswith("FAILED (unfinished)")
    assert run.explanation.startswith("FAILED: a move is open at ")
    assert NOT_EXERCISED not in run.explanation


@pytest.mark.parametrize("trace", [None, "kept/traces"])
def test_a_command_names_the_folder_that_was_written(trace: str | None) -> None:
    crashes = [{"at": f"{at}s", "action": "zk.expire", "target": 3} for at in range(3, 9)]
    run = play(scenario(plan={0: (1, 2, 3)}, size="64MiB", method=[{**EXECUTE, "throttle": "1MB/s"}, *crashes])).run
    *_, more = at_faults(run, trace)
    assert more.startswith("and at more faults: ./understudy state ")
    assert ("--trace" in more) == (trace is None)
    assert (f"{trace} --fault N" in more) == (trace is not None)
