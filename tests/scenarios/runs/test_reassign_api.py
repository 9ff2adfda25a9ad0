"""The operator's way to the controller's API (KIP-455): finding the controller, answers partition by partition, Kafka's
error codes; a refused request never counts as a move."""

import json
from typing import Any

import pytest

from controller.reassignment import by_api
from emulator.protocol.events import (
    ControllerElected,
    Fault,
    MoveAnswered,
    MoveCancelled,
    MoveFinished,
    MovesListed,
    MoveStarted,
    Violated,
)
from emulator.protocol.types import TopicPartition
from scenarios.errors import BadInput
from scenarios.language import PROFILES, Scenario
from tests.scenarios.runs.building import EXECUTE, TP, Played, Table, play, scenario

SLOW = {
    "config": {"follower.replication.throttled.rate": 8_000_000},
    "topic_config": {"follower.replication.throttled.replicas": "*"},
}
"""64 MiB take eight seconds."""


def moving(*method: Table, **more: Any) -> Scenario:
    """orders-0 moves from 0, 1 to 1, 2 for eight seconds from second 2 on; broker 3 is controller."""
    more = {
        "brokers": 5, "controller": 4, "assignment": [[0, 1], [1, 0]], "plan": {0: [1, 2]}, "strategy": "kip-455",
        "size": "64MiB", "rate": 50, **SLOW, **more,
    }  # fmt: skip
    return scenario(method=[{**EXECUTE, "via": "api"}, *method], **more)


def act(action: str, at: str = "3s", **more: object) -> Table:
    return {"at": at, "action": f"reassign.{action}", **more}


def to(*replicas: int, partition: int = 0) -> Table:
    return {"partitions": [{"topic": "orders", "partition": partition, "replicas": list(replicas)}]}


def answers(played: Played) -> list[tuple[int, str]]:
    return [(event.partition, event.error) for event in played.of(MoveAnswered)]


def moves(played: Played) -> list[tuple[tuple[int, ...], tuple[int, ...], bool]]:
    return [(row.original, row.target, row.finished) for row in played.stage.measures.tables()["moves"]]


def test_execute_by_the_api() -> None:
    played = play(moving(act("list")))
    assert played.run.passed, played.run.explanation
    assert answers(played) == [(0, "NONE")]
    assert [event.partitions for event in played.of(MovesListed)] == [1]
    assert played.assignment() == (1, 2)
    assert moves(played) == [((0, 1), (1, 2), True)]
    assert played.admin is None


def test_an_override_is_one_move_with_another_target() -> None:
    played = play(moving(act("execute", plan=to(0, 3), via="api")))
    assert played.run.passed, played.run.explanation
    assert answers(played) == [(0, "NONE"), (0, "NONE")]
    assert moves(played) == [((0, 1), (0, 3), True)]
    assert played.assignment() == (0, 3)
    assert sorted(played.state().isr) == [0, 3]
    having = [broker for broker, b in played.stage.cluster.brokers.items() if TP in b.replicas.partitions]
    assert having == [0, 3], "nothing is left of the first request"


def test_a_controller_that_dies_before_u3_leaves_a_stray_replica() -> None:
    """Broker 2 was being added and is not any more; the znode does not list it, and no StopReplica is sent to it. It
    goes on fetching from a leader that does not know it and sends it nothing (kafka-behaviour §6.4)."""
    gate = {"step": "kip-455.U3", "edge": "before", "occurrence": 2}
    crash = {"when": gate, "action": "controller.crash"}
    played = play(moving(act("execute", plan=to(0, 3), via="api"), crash))
    assert played.run.passed, played.run.explanation
    assert (played.assignment(), sorted(played.state().isr)) == ((0, 3), [0, 3])
    logs = {
        broker: b.replicas.partitions[TP].log_end_offset
        for broker, b in played.stage.cluster.brokers.items()
        if TP in b.replicas.partitions
    }
    assert list(logs) == [0, 2, 3]
    assert logs[2] < logs[0] == logs[3]


def test_the_roles_are_those_of_the_plan_that_was_executed_last() -> None:
    pause = {"at": "4s", "action": "broker.pause", "target": "adding(orders-0)", "duration": "1s"}
    played = play(moving(act("execute", plan=to(0, 3), via="api"), pause))
    assert [event.target for event in played.of(Fault) if event.action == "broker.pause"] == ["3"]


def test_a_cancelled_move_goes_back() -> None:
    played = play(moving(act("cancel", partitions=["orders-0"])))
    assert played.run.passed, played.run.explanation
    assert len(played.of(MoveCancelled)) == 1
    assert moves(played) == [((0, 1), (0, 1), True)]
    assert sorted(played.assignment()) == [0, 1]


@pytest.mark.parametrize(
    ("profile", "target", "cancelled"),
    [
        ("kafka-2.6", (1, 2), ["orders-0"]),
        ("kafka-3.6", (0, 1, 2), ["orders-0"]),
        ("kafka-3.9", (1, 2), ["orders-0"]),
        ("kafka-3.9", (0, 1, 2), []),
    ],
)
def test_the_tool_of_2_6_leaves_out_what_is_not_in_progress(
    profile: str, target: tuple[int, ...], cancelled: list[str]
) -> None:
    """That of 3.7 to 3.9 also a move that only adds replicas (ReassignPartitionsCommand.cancelAssignment)."""
    asked = act("cancel", partitions=["orders-0", "orders-1"]), act("cancel", at="20s", partitions=["orders-0"])
    played = play(moving(*asked, plan={0: list(target)}, profile=profile))
    assert played.run.passed, played.run.explanation
    assert [f"{event.topic}-{event.partition}" for event in played.of(MoveCancelled)] == cancelled
    assert sorted(played.assignment()) == (sorted(target) if not cancelled else [0, 1])


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        (act("cancel", partitions=["orders-1"]), "NO_REASSIGNMENT_IN_PROGRESS"),
        (act("cancel", at="1500ms"), "NO_REASSIGNMENT_IN_PROGRESS"),
        (act("execute", plan=to(3, 0, partition=1), via="zk", at="1500ms"), "INVALID_REPLICA_ASSIGNMENT"),
        (act("execute", plan=to(3, 0, partition=1), via="api", at="1500ms"), "INVALID_REPLICA_ASSIGNMENT"),
    ],
    ids=["cancel-one", "cancel-all", "dead-broker-zk", "dead-broker-api"],
)
def test_what_is_refused(entry: Table, error: str) -> None:
    """With ``expect_error`` the run passes, without it the verdict names the refusal. Broker 3 is dead."""
    down = {"at": "1ms", "action": "broker.stop", "target": 3}
    for wanted in (error, None):
        asked = entry if wanted is None else {**entry, "expect_error": wanted}
        played = play(moving(down, asked))
        assert len(played.of(MoveFinished)) == 1
        assert moves(played) == [((0, 1), (1, 2), True)], "what was refused is no move"
        assert played.run.passed is (wanted is not None), played.run.explanation
        if wanted is None:
            assert played.run.reason == "not exercised"
            assert error in played.run.explanation


@pytest.mark.parametrize(
    ("replicas", "checks"), [([], True), ([1, 1], True), ([0, -1], True), ([1, 1], False), ([0, -1], False)]
)
def test_a_mistake_is_refused(monkeypatch: pytest.MonkeyPatch, replicas: list[int], checks: bool) -> None:
    """A controller that does not check takes it up, which a checker sees."""
    if not checks:
        monkeypatch.setattr(by_api, "valid", lambda *_: True)
    played = play(moving(act("mistake", partition="orders-1", replicas=replicas)))
    assert ("refusals_have_reasons" not in {event.invariant for event in played.of(Violated)}) is checks
    assert played.run.passed or not checks, played.run.explanation


def test_what_a_partition_can_have_is_no_mistake() -> None:
    with pytest.raises(BadInput, match=r"can have the replicas \[1, 2\]; use reassign.execute"):
        moving(act("mistake", partition="orders-1", replicas=[1, 2]))


def test_an_error_that_does_not_come_fails_the_run() -> None:
    played = play(moving(act("cancel", expect_error="NO_REASSIGNMENT_IN_PROGRESS")))
    assert played.run.reason == "not exercised"
    assert "NO_REASSIGNMENT_IN_PROGRESS was expected and not answered" in played.run.explanation


def test_by_way_of_zookeeper_one_request_at_a_time() -> None:
    other = act("execute", plan=to(2, 0, partition=1), via="zk", expect_error="REASSIGNMENT_IN_PROGRESS")
    first = {**EXECUTE, "via": "zk"}
    played = play(evolved(moving(other), first))
    assert played.run.passed, played.run.explanation
    assert played.assignment(TopicPartition("orders", 1)) == (1, 0)


def evolved(wanted: Scenario, first: Table) -> Scenario:
    """The scenario ``wanted`` with another first entry."""
    table = wanted.to_table()
    return Scenario.from_table(json.loads(json.dumps({**table, "method": [first, *table["method"][1:]]})))


def test_the_client_finds_the_next_controller() -> None:
    """The controller dies while the request waits at its gate; the client asks the brokers until there is another."""
    crash = {"when": {"step": "kip-455.U1", "edge": "before"}, "action": "controller.crash"}
    played = play(moving(crash))
    assert played.run.passed, played.run.explanation
    assert answers(played) == [(0, "NONE")]
    [started] = played.of(MoveStarted)
    assert played.of(MoveAnswered)[0].t_us - started.t_us > 5_000_000, "the dead one's session had to expire"
    assert played.assignment() == (1, 2)


def test_an_event_that_fails_is_never_answered() -> None:
    """The controller's session expires while it is about to write. It resigns and does not answer the client, whose
    request.timeout.ms ends its wait; the next controller begins the move."""
    gate = {"step": "kip-455.U1", "edge": "before"}
    hold = {"at": "1s", "action": "gate.hold", "gate": gate, "duration": "5s"}
    expire = {"at": "3s", "action": "zk.expire", "target": 4}
    played = play(moving(hold, expire))
    assert played.run.passed, played.run.explanation
    [answered] = played.of(MoveAnswered)
    assert (answered.error, round(answered.t_us / 1e6)) == ("NONE", 32)
    assert [event.controller_epoch for event in played.of(ControllerElected)] == [1, 2]
    assert played.assignment() == (1, 2)


@pytest.mark.parametrize(("profile", "answered_at"), [("kafka-2.6", 32), ("kafka-2.7", 3)])
def test_a_request_that_is_dropped_from_the_queue(profile: str, answered_at: int) -> None:
    """Another event is being processed when the session expires; the request waits in the queue and is dropped with it.
    Since 2.7 the client gets NOT_CONTROLLER and finds the next controller (KAFKA-10193)."""
    gate = {"step": "new-partition.1", "edge": "before"}
    hold = {"at": "1s", "action": "gate.hold", "gate": gate, "duration": "8s"}
    create = {"at": "1500ms", "action": "topic.create", "topic": {"name": "late"}}
    expire = {"at": "3s", "action": "zk.expire", "target": 4}
    played = play(moving(hold, create, expire, profile=profile))
    assert played.run.passed, played.run.explanation
    assert [(event.error, round(event.t_us / 1e6)) for event in played.of(MoveAnswered)] == [("NONE", answered_at)]


@pytest.mark.parametrize("down_ms", [10, 20, 30, 40, 50, 60])
def test_a_broker_that_has_just_begun_to_listen_keeps_the_request(down_ms: int) -> None:
    """The client knows no other controller than the one that died, which is back and has not started that part yet."""
    gate = {"step": "kip-455.U1", "edge": "before"}
    crash = {"when": gate, "action": "controller.crash", "duration": f"{down_ms}ms"}
    played = play(moving(crash))
    assert played.run.passed, played.run.explanation
    assert played.assignment() == (1, 2)


def test_without_a_controller_the_client_gives_up() -> None:
    """No broker has a session with ZooKeeper, so no controller is elected; a minute later the answer is
    REQUEST_TIMED_OUT."""
    cut = {"at": "1ms", "action": "link.cut", "target": {"mode": "all"}, "peer": "zookeeper"}
    played = play(
        evolved(moving(cut, horizon="3m"), {**EXECUTE, "at": "30s", "via": "api", "expect_error": "REQUEST_TIMED_OUT"})
    )
    assert answers(played) == [(0, "REQUEST_TIMED_OUT")]
    assert 88 < played.of(MoveAnswered)[0].t_us / 1e6 < 92


@pytest.mark.parametrize("profile", PROFILES)
def test_the_tool_asks_as_the_release_does(profile: str) -> None:
    """By the API since 2.6 (KAFKA-8820)."""
    played = play(evolved(moving(profile=profile, size="1MiB"), EXECUTE))
    assert played.run.passed, played.run.explanation
    assert bool(played.of(MoveAnswered)) is (
        profile in ("kafka-2.6", "kafka-2.7", "kafka-2.8", "kafka-3.0", "kafka-3.3", "kafka-3.6", "kafka-3.9")
    )
