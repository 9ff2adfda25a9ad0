"""KAFKA-42 with real brokers: the move ends, the command waits and reports, and the cases that need a broker which gets
something wrong (readings §3)."""

from typing import Any

import pytest

from emulator.metrics.metric_events import GaugeSet
from emulator.protocol.errors import Errors
from emulator.protocol.events import BecameFollower, BecameLeader, ControlResponse, MoveReported, Produced
from emulator.trace.events import Step
from scenarios.observe.mbeans import UNDER_REPLICATED
from tests.scenarios.runs.building import EXECUTE, Played, Table, at_step, play, scenario

PROFILE = "kafka-0.8"


def played(*method: Table, plan: tuple[int, ...] = (1, 3, 4), **more: Any) -> Played:
    more = {"rate": 100, "profile": PROFILE, **more}
    return play(scenario(plan={0: plan}, method=method, strategy="kafka-42", **more))


def steps(run: Played) -> list[str]:
    return [e.step for e in run.of(Step, lambda e: e.step.startswith("kafka-42") and e.edge == "after")]


def reports(run: Played) -> list[tuple[bool, bool]]:
    return [(event.done, event.interrupted) for event in run.of(MoveReported)]


@pytest.mark.parametrize("plan", [(0, 1, 3), (1, 3, 4), (3, 4, 5), (2, 1, 0), (0, 1), (0, 1, 2, 3)])
@pytest.mark.parametrize("profile", [PROFILE, "kafka-2.3"])
def test_the_move_ends_and_is_reported_done(plan: tuple[int, ...], profile: str) -> None:
    """The leader does not receive the new replicas, so it has to accept every broker that fetches."""
    run = played(EXECUTE, plan=plan, profile=profile)
    assert run.run.verdict == "passed", run.run.explanation
    assert run.assignment() == plan
    assert set(plan) <= set(run.state().isr)
    assert run.state().leader in plan
    assert run.admin is None
    assert reports(run) == [(True, False)]
    shown = run.of(GaugeSet, lambda event: event.metric == UNDER_REPLICATED and event.node == run.state().leader)
    assert profile != PROFILE or len(plan) < 3 or not shown or shown[-1].value == 0


def test_without_taking_them_in_the_move_never_ends() -> None:
    """The check that KAFKA-1097 added would have stopped it."""
    from attrs import evolve

    def check_assignments(stage: Any) -> None:
        broker = stage.cluster.setup.broker
        policies = evolve(broker.policies, checks_assignment=True)
        stage.cluster.setup = evolve(stage.cluster.setup, broker=evolve(broker, policies=policies))

    wanted = scenario(plan={0: (1, 3, 4)}, method=[EXECUTE], strategy="kafka-42", profile=PROFILE, horizon="1m")
    run = play(wanted, check_assignments)
    assert {one.invariant for one in run.run.violations} == {"counts_true"}, "no release makes partitions without a log"
    assert steps(run) == ["kafka-42.1", "kafka-42.2"]


# -- 2b: a new replica is not started -----------------------------------------------------------------------------

FAIL_START: Table = {"at": "1s", "action": "broker.fail_start_replica", "target": 3, "partition": "orders-0"}
GIVEN_UP: Table = {**EXECUTE, "give_up_after": "20s"}
AGAIN: Table = {"at": "30s", "action": "reassign.execute"}
STAYS: Table = {"assignment": {"orders-0": [0, 1, 2]}}


def test_kafka_42_case_2b() -> None:
    """The ISR listener never fires; the command is interrupted, reports failure, and deletes the admin path."""
    run = played(FAIL_START, GIVEN_UP, expect=[STAYS])
    assert run.run.verdict == "passed", run.run.explanation
    assert reports(run) == [(False, True)]
    assert run.admin is None
    assert steps(run) == ["kafka-42.1", "kafka-42.2"]
    assert run.of(BecameFollower, lambda event: event.node == 3) == []
    refused = run.of(ControlResponse, lambda e: (e.node, e.api, e.refused) == (3, "LeaderAndIsr", ("orders-0",)))
    assert len(refused) == 1


def test_kafka_42_case_2b_asked_again() -> None:
    """The controller is still waiting for the first move: the second request stays where it is."""
    run = played(FAIL_START, GIVEN_UP, AGAIN, expect=[STAYS], horizon="2m")
    assert run.admin is not None
    assert steps(run) == ["kafka-42.1", "kafka-42.2"]
    assert reports(run) == [(False, True)]


def test_kafka_42_case_2b_asked_again_after_a_failover() -> None:
    """The next controller reads the path and starts the move again."""
    crash: Table = {"at": "40s", "action": "controller.crash"}
    run = played(FAIL_START, GIVEN_UP, AGAIN, crash, expect=[{"assignment": {"orders-0": [1, 3, 4]}}])
    assert run.run.verdict == "passed", run.run.explanation
    assert run.assignment() == (1, 3, 4)
    assert reports(run) == [(False, True), (True, False)]


def test_interrupted_too_late() -> None:
    """A move that is done by then is reported done; nothing is deleted."""
    run = played({**EXECUTE, "give_up_after": "3s"})
    assert run.assignment() == (1, 3, 4)
    assert reports(run) == [(True, False)]


def test_a_refused_move_is_reported_failed() -> None:
    """The path is gone at once, and AR is not RAR."""
    dead: Table = {"at": "1s", "action": "broker.crash", "target": 3}
    run = played(dead, {**EXECUTE, "at": "20s"}, expect=[STAYS])
    assert run.run.verdict == "passed", run.run.explanation
    assert reports(run) == [(False, False)]
    assert steps(run) == []


# -- 4b: the new leader does not lead -----------------------------------------------------------------------------


def ignored(times: int) -> Table:
    target = {"target": 3, "partition": "orders-0", "times": times}
    return {"at": "1s", "action": "broker.ignore_become_leader", **target}


def test_kafka_42_case_4b() -> None:
    """ZooKeeper names the new leader and the move goes on to its end; no broker serves the partition. The leader gets a
    LeaderAndIsr for the election and for each of the three removals from the ISR."""
    run = played(ignored(times=4), EXECUTE, plan=(3, 4, 5), horizon="1m")
    assert run.assignment() == (3, 4, 5)
    assert reports(run) == [(True, False)]
    assert run.state().leader == 3
    assert [event.node for event in run.of(BecameLeader)] == [0]
    end = max(event.t_us for event in run.of(MoveReported))
    assert run.of(Produced, lambda event: event.t_us > end + 1_000_000 and event.error == Errors.NONE.name) == []


def test_case_4b_ends_when_the_leader_gets_another_request() -> None:
    """To miss only the election's request does no harm while old replicas have yet to leave the ISR: each removal
    raises the epoch."""
    run = played(ignored(times=1), EXECUTE, plan=(3, 4, 5))
    assert [(event.node, event.leader_epoch) for event in run.of(BecameLeader)] == [(0, 0), (3, 2), (3, 3), (3, 4)]
    assert run.run.verdict == "passed", run.run.explanation


@pytest.mark.parametrize("action", ["broker.fail_start_replica", "broker.ignore_become_leader"])
def test_a_fault_that_never_strikes_is_not_exercised(action: str) -> None:
    run = played({"at": "1s", "action": action, "target": 6, "partition": "orders-0"}, EXECUTE)
    assert run.run.reason == "not exercised"
    assert f"{action}: orders-0 never asked for it" in run.run.explanation


# -- KAFKA-1097 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("strategy", "isr"), [("kafka-42", {0, 1, 2, 3}), ("wiki", {0, 1, 3})])
def test_kafka_1097_a_dropped_replica_comes_back_into_the_isr(strategy: str, isr: set[int]) -> None:
    """Its StopReplica is late, it fetches on, and a leader that does not check the assignment adds it again. The
    controller page's protocol sends the leader the assigned replicas."""
    slow: Table = {"delay": {"latency": "2s"}, "target": 2, "peer": 6, "direction": "to"}
    late = at_step("move.stop", "before", "link.delay", **slow)
    wanted = scenario(plan={0: (0, 1, 3)}, method=[EXECUTE, late], strategy=strategy, profile="kafka-1.1", rate=0)
    run = play(wanted)
    assert run.assignment() == (0, 1, 3)
    assert set(run.state().isr) == isr
