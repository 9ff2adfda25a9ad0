"""Replicas that a move has dropped, and that their brokers keep although the topic is deleted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from emulator.protocol.types import TopicPartition
from scenarios.observe.history.left_replicas import LeftReplicas
from scenarios.observe.past.changes import AssignmentWritten
from scenarios.runs import run_scenario
from tests.scenarios.runs.building import Table, scenario

TP = TopicPartition.of("orders", 0)


def left(*assignments: tuple[int, ...], replaced: bool = False, interrupted: bool = False) -> bool:
    """Whether the replica of broker 0 may stay after controller 3 has written ``assignments``."""
    writes = {"create": SimpleNamespace(seq=1)}
    cluster = SimpleNamespace(controller=3, controller_writes=writes, was_interrupted=lambda _broker: interrupted)
    replicas = LeftReplicas(cast("Any", cluster))
    before: tuple[int, ...] = ()
    for seq, after in enumerate(assignments, 2):
        replicas.on_assigned(AssignmentWritten(seq, seq, 0, TP, after, before, 3))
        before = after
    if replaced:
        writes["create"] = SimpleNamespace(seq=100)
    return replicas.may_stay(0, TP)


def test_a_dropped_replica_may_stay_where_its_broker_or_its_controller_was_away_and_no_assigned_one() -> None:
    for away in ({"replaced": True}, {"interrupted": True}):
        assert left((0, 1), (1,), **away)
        assert left((0, 1), (1,), (), **away)
        assert not left((0, 1), (), **away), "the controller has deleted it"
        assert not left((0, 1), (1,), (0, 1), (), **away)
    assert not left((0, 1), (1,))


@pytest.mark.parametrize(
    ("profile", "strategy"), [("kafka-1.1", "wiki"), ("kafka-2.4", "kip-455"), ("kafka-3.9", "kip-455")]
)
def test_a_broker_that_is_away_as_a_move_drops_its_replica_keeps_it_though_the_topic_is_deleted(
    profile: str, strategy: str
) -> None:
    """The broker of kafka-2.4, seed 713 of the default swarm, had lost its session, which its controller did not know
    yet."""
    method: tuple[Table, ...] = (
        {"at": "1s", "action": "broker.crash", "target": 0},
        {"at": "20s", "action": "reassign.execute"},
        {"at": "30s", "action": "topic.delete", "topic": "orders"},
        {"at": "40s", "action": "heal"},
    )
    run = run_scenario(
        scenario(
            brokers=4, controller=3, assignment=[[0, 1]], plan={0: (1, 2)}, method=method,
            expect=[{"converged": True, "within": "30s"}], profile=profile, strategy=strategy, rate=0, horizon="3m",
        )
    )  # fmt: skip
    assert run.passed
