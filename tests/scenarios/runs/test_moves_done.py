"""A move is done if its partition had its target in ZooKeeper when it ended, whatever became of controllers."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emulator.protocol.events import MoveFinished
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import REASSIGN_PARTITIONS, decode_reassigning, decode_reassignment, decode_topic
from emulator.trace.events import ZkWritten
from scenarios.language import Scenario
from scenarios.observe.measures.moves import MoveRow
from scenarios.runs.headlines import moves
from scenarios.runs.known_findings import explained_findings
from tests.scenarios.runs.building import EXECUTE, Played, Table, play, scenario
from tests.scenarios.runs.test_known_control import UNREAD

SOME = settings(deadline=None, database=None, derandomize=True, suppress_health_check=(HealthCheck.too_slow,))
PROFILES = ("kafka-2.3", "kafka-0.8", "kafka-1.1", "kafka-2.3", "kafka-2.4", "kafka-2.7")
OLD, TARGET = (0, 1, 2), (3, 1, 4)

AGAIN: Table = {"at": "26s", "action": "controller.crash"}
"""After ``UNREAD``: the controller that has deleted the request is replaced."""


@st.composite
def failovers(draw: st.DrawFn) -> Scenario:
    """Moves that are asked for while one controller follows the other: some change the order alone, or nothing."""
    profile = draw(st.sampled_from(PROFILES))
    targets = st.sampled_from((TARGET, (3, 4), (0, 1, 2, 3), (2, 1, 0), OLD))
    plan = {partition: draw(targets) for partition in range(draw(st.integers(1, 3)))}
    execute = {"at": f"{draw(st.integers(6_000, 16_000))}ms", "action": "reassign.execute"}
    if profile in ("kafka-2.4", "kafka-2.7"):
        execute["via"] = draw(st.sampled_from(("zk", "api")))
    step = draw(st.sampled_from(("failover.F8", "failover.F9", "failover.F8")))
    method: list[Table] = [
        {"at": "1s", "action": "gate.hold", "gate": {"step": step, "edge": "before"}, "duration": "20s"},
        {"at": f"{draw(st.integers(2_000, 5_000))}ms", "action": "controller.crash", "duration": "30s"},
        execute,
    ]
    for at_ms in sorted(draw(st.lists(st.integers(17_000, 40_000), min_size=1, max_size=3, unique=True))):
        target = draw(st.sampled_from(("controller", "controller", 3)))
        crash = {"action": "broker.crash", "target": target, "duration": "4s", "optional": True}
        method.append({"at": f"{at_ms}ms", **crash})
    return scenario(
        brokers=7, controller=6, assignment=[OLD] * 3, plan=plan, method=method, rate=20, profile=profile,
        strategy="kafka-42" if profile == "kafka-0.8" else "kip-455" if "via" in execute else "wiki",
        seed=draw(st.integers(0, 1_000)), horizon="90s",
    )  # fmt: skip


def in_zookeeper(played: Played, row: MoveRow, until_us: int) -> tuple[tuple[int, ...], bool]:
    """The replicas of a move's partition at that time, and whether the partition was still to be moved."""
    tp = TopicPartition(row.topic, row.partition)
    replicas: tuple[int, ...] = ()
    moving, asked = False, ""
    for event in played.of(ZkWritten):
        if event.t_us > until_us:
            break
        if event.path == f"/brokers/topics/{row.topic}":
            replicas = decode_topic(event.data).get(row.partition, ())
            moving = row.partition in decode_reassigning(event.data)
        elif event.path == REASSIGN_PARTITIONS:
            asked = event.data
    return replicas, moving or (bool(asked) and tp in decode_reassignment(asked))


@settings(SOME, max_examples=5)
@given(failovers())
def test_what_counts_as_done_has_its_target_and_nothing_else_that_has_ended(wanted: Scenario) -> None:
    check_moves(wanted)


@pytest.mark.slow
@settings(SOME, max_examples=200)
@given(failovers())
def test_it_is_so_in_many_runs(wanted: Scenario) -> None:
    check_moves(wanted)


def check_moves(wanted: Scenario) -> None:
    played = play(wanted)
    rows: list[MoveRow] = played.stage.measures.tables()["moves"]
    for row in rows:
        replicas, moving = in_zookeeper(played, row, row.t_us + row.w_us)
        assert row.original != row.target
        if row.finished:
            assert replicas == row.target, played.run.replay
        else:
            assert moving or replicas != row.target, played.run.replay
    metrics = played.run.metrics
    assert (metrics["moves"], metrics["moves_finished"]) == (len(rows), sum(row.finished for row in rows))
    assert (metrics["time_to_complete_s"] is not None) == (bool(rows) and all(row.finished for row in rows))


def test_a_move_that_a_controller_has_deleted_unread_is_not_done_when_the_next_one_is_elected() -> None:
    played = play(scenario(brokers=4, controller=3, plan={0: (2, 1, 0)}, method=[*UNREAD, AGAIN], rate=0))
    assert played.assignment() == OLD
    assert played.of(MoveFinished) == []
    assert played.run.verdict == "failed"
    assert list(moves(played.run)) == [
        "0 of 1 done when the run ended; ended without the target: 1; begun by no controller: 1"
    ]
    assert played.run.virtual_s < 60, "what has failed is not waited for"
    assert explained_findings(played.run).new == ()


def test_moves_that_need_nothing_do_not_count() -> None:
    plan = {0: OLD, 1: TARGET, 2: OLD}
    hold = {"at": "1s", "action": "gate.hold", "gate": {"step": "move.start", "edge": "before"}}
    wanted = scenario(assignment=[OLD] * 3, plan=plan, method=[hold, EXECUTE], rate=0, horizon="20s")
    assert list(moves(play(wanted).run)) == ["0 of 1 done when the run ended"]


@pytest.mark.parametrize("step", ["A1", "A2", "wait", "B1", "B6"])
@pytest.mark.parametrize("edge", ["before", "after"])
def test_a_move_that_was_cancelled_is_said_to_be_back(step: str, edge: str) -> None:
    cancel = {"when": {"step": f"kip-455.{step}", "edge": edge}, "action": "reassign.cancel"}
    wanted = scenario(
        plan={0: TARGET}, strategy="kip-455", profile="kafka-2.6", method=[{**EXECUTE, "via": "api"}, cancel],
        size="20MiB", cluster={"network": {"egress": "20MiB/s", "ingress": "20MiB/s"}},
    )  # fmt: skip
    played = play(wanted)
    (said,) = moves(played.run)
    back = sorted(played.assignment()) == sorted(OLD)
    assert back or played.assignment() == TARGET
    assert said.endswith("; of these back on the replicas from before: 1") == back
