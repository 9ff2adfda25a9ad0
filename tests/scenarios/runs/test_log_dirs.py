"""Moves between the log directories of a broker, on whole clusters: the operator's tool, throttles, crashes, epochs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brokers.requests import log_dirs
from emulator.protocol.events import (
    AlterLogDirAnswered,
    CopyFailed,
    CopyStarted,
    LogDirsVerified,
    LogReplaced,
    MovesVerified,
)
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.observe.findings.convergence_facts import Condition
from tests.scenarios.runs.building import HEAL, TP, Played, Table, play, scenario

MIB = 1 << 20


def moving(
    *method: Table,
    dirs: Sequence[str] = ("/data/1", "any", "any"),
    replicas: Sequence[int] = (0, 1, 2),
    execute: Table | None = None,
    **more: Any,
) -> Scenario:
    """orders-0 on brokers 0, 1, 2; at 2 s the tool is given ``replicas`` in ``dirs``."""
    move = {"topic": "orders", "partition": 0, "replicas": list(replicas), "log_dirs": list(dirs)}
    given = {"at": "2s", "action": "reassign.execute", **(execute or {})}
    found = scenario(
        brokers=5, controller=4, method=(given, *method), rollbacks=HEAL,
        **{"size": "20MiB", "horizon": "5m", "plan": {0: [0, 1, 2]}, **more},
    )  # fmt: skip
    table = found.to_table()
    table["cluster"]["log_dirs"] = 2
    table["plan"]["partitions"] = [move]
    return Scenario.from_table(table)


def homes(played: Played, *brokers: int) -> list[str]:
    """The directory of orders-0 on each of ``brokers``."""
    found = []
    for broker in brokers:
        log = played.stage.cluster.brokers[broker].replicas.partitions[TP].log
        assert log is not None
        found.append(log.directory.name)
    return found


def same_logs(played: Played, *brokers: int) -> bool:
    logs = [played.stage.cluster.brokers[broker].replicas.partitions[TP].log for broker in brokers]
    contents = [[batch.id for batch in log.batches] for log in logs if log is not None]
    return len(contents) == len(brokers) and all(each == contents[0] for each in contents)


def test_the_tool_moves_a_leader_to_its_other_directory() -> None:
    played = play(moving())
    assert played.run.passed, played.run.explanation
    assert homes(played, 0, 1, 2) == ["/data/1", "/data/0", "/data/0"]
    assert same_logs(played, 0, 1, 2)
    assert [(e.node, e.source, e.target) for e in played.of(LogReplaced)] == [(0, "/data/0", "/data/1")]
    assert [(e.node, e.target, e.error) for e in played.of(AlterLogDirAnswered)] == [(0, "/data/1", "NONE")]


def test_a_replica_that_the_plan_adds_begins_in_its_directory() -> None:
    """The tool's AlterReplicaLogDirs comes before the controller's LeaderAndIsr, and is repeated until the replica
    exists."""
    played = play(moving(replicas=(0, 1, 3), dirs=("any", "any", "/data/1")))
    assert played.run.passed, played.run.explanation
    assert played.assignment() == (0, 1, 3)
    assert homes(played, 3) == ["/data/1"]
    assert [e.error for e in played.of(AlterLogDirAnswered)] == ["REPLICA_NOT_AVAILABLE", "NONE"]
    assert played.of(CopyStarted) == []


def test_the_copies_of_a_broker_are_throttled_until_verify() -> None:
    verify: Table = {"at": "60s", "action": "reassign.verify"}
    played = play(moving(verify, execute={"log_dirs_throttle": "2MiB/s"}, rate=0))
    (begun,), (replaced,) = played.of(CopyStarted), played.of(LogReplaced)
    took_s = (replaced.t_us - begun.t_us) / 1e6
    assert took_s == pytest.approx(20 / 2, rel=0.2)
    assert [(e.done, e.open, e.failed) for e in played.of(LogDirsVerified)] == [(1, 0, 0)]
    assert [e.lifted for e in played.of(MovesVerified)] == [True]


def test_a_copy_takes_the_time_of_its_disks() -> None:
    """It is read and written piece after piece: ReplicaAlterLogDirsThread does both in its own thread (2.3)."""
    wanted = moving(rate=0).to_table()
    wanted["cluster"]["disk"] = {"read": "10MiB/s", "write": "5MiB/s"}
    played = play(Scenario.from_table(wanted))
    (begun,), (replaced,) = played.of(CopyStarted), played.of(LogReplaced)
    assert (replaced.t_us - begun.t_us) / 1e6 == pytest.approx(20 / 10 + 20 / 5, rel=0.1)


def test_verify_in_the_middle_leaves_the_throttle() -> None:
    verify: Table = {"at": "5s", "action": "reassign.verify"}
    played = play(moving(verify, execute={"log_dirs_throttle": "2MiB/s"}, rate=0))
    assert [(e.done, e.open, e.failed) for e in played.of(LogDirsVerified)] == [(0, 1, 0)]
    assert [e.lifted for e in played.of(MovesVerified)] == [False]


def test_a_broker_that_does_not_answer_keeps_the_plan_back() -> None:
    crash: Table = {"at": "1s", "action": "broker.crash", "target": 0}
    played = play(moving(crash, replicas=(0, 1, 3), execute={"expect_error": "REQUEST_TIMED_OUT"}))
    assert played.of(LogReplaced) == []
    assert played.assignment() == (0, 1, 2)


@pytest.mark.parametrize(("profile", "fails"), [("kafka-2.4", True), ("kafka-2.5", False)])
def test_a_new_leader_epoch_in_the_middle_of_a_copy(profile: str, fails: bool) -> None:
    """KAFKA-9654: up to 2.4 the copy fails until the broker is restarted."""
    crash: Table = {"at": "4s", "action": "broker.crash", "target": 1}
    wanted = moving(crash, execute={"log_dirs_throttle": "2MiB/s"}, profile=profile, strategy="kip-455", rate=20)
    played = play(wanted)
    assert [event.reason for event in played.of(CopyFailed)] == ["FENCED_LEADER_EPOCH"] * fails
    assert homes(played, 0) == ["/data/0" if fails else "/data/1"]


@pytest.mark.parametrize(("profile", "found"), [("kafka-2.4", [Condition.FETCHED]), ("kafka-2.5", [])])
def test_a_copy_that_has_failed_for_good_is_not_waited_for_as_long_as_is_allowed(
    profile: str, found: list[Condition]
) -> None:
    crash: Table = {"at": "4s", "action": "broker.crash", "target": 1, "duration": "2s"}
    well: Table = {"converged": True, "within": "4m"}
    slow: Table = {"log_dirs_throttle": "2MiB/s"}
    run = play(moving(crash, execute=slow, profile=profile, strategy="kip-455", rate=20, expect=[well])).run
    assert [broken.condition for broken in run.convergence.broken] == found
    assert run.virtual_s < 100


@settings(max_examples=12, deadline=None)
@given(st.integers(2_000, 9_000), st.sampled_from(["process", "host"]), st.sampled_from([0, 1]))
def test_whenever_the_broker_crashes_the_move_ends_after_the_restart(at_ms: int, kind: str, broker: int) -> None:
    crash: Table = {"at": f"{at_ms}ms", "action": "broker.crash", "target": broker, "kind": kind}
    start: Table = {"at": f"{at_ms + 8_000}ms", "action": "broker.start", "target": broker}
    dirs = ["/data/1" if place == broker else "any" for place in range(3)]
    wanted = moving(crash, start, dirs=dirs, execute={"log_dirs_throttle": "4MiB/s"}, rate=50)
    played = play(wanted)
    asked = any(event.error == "NONE" for event in played.of(AlterLogDirAnswered))
    assert homes(played, broker) == ["/data/1" if asked else "/data/0"]
    assert same_logs(played, 0, 1, 2)


def test_a_directory_that_no_broker_has_is_refused() -> None:
    with pytest.raises(BadInput, match="did you mean '/data/1'"):
        moving(dirs=("/dat/1", "any", "any"))


def test_a_copy_that_lacks_more_than_there_is_to_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    verify = {"after": "1s", "action": "reassign.verify"}
    wanted = moving(verify, execute={"log_dirs_throttle": "2MiB/s"}, rate=0)
    assert play(wanted).run.violations == ()
    described = log_dirs._info
    monkeypatch.setattr(log_dirs, "_info", lambda log, lag, future: described(log, lag + 10**9 * future, future))
    assert [violation.invariant for violation in play(wanted).run.violations] == ["log_dirs_true"]
