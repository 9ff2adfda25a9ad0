"""A cluster that is left without a controller, as no broker competes, or has two for a moment."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.protocol import events as e
from emulator.trace.events import Step, ZkWritten
from scenarios.runs import Run, run_scenario
from scenarios.runs.findings import findings
from tests.scenarios.runs.building import scenario
from tests.scenarios.runs.stated import CONTROLLED, IN_SYNC, LED, NOTHING_ASKED, stated
from tests.scenarios.runs.test_known_findings import quiet, tickets, told

__all__ = ["quiet"]

NONE_COMPETES = "KafkaController.processControllerChange (1.1.0 to 2.7.2)"


@pytest.mark.parametrize(
    ("profile", "strategy", "after_ms", "known"),
    [
        ("kafka-0.8", "kafka-42", 5, []),
        ("kafka-1.1", "wiki", 5, [NONE_COMPETES]),
        ("kafka-2.3", "wiki", 5, [NONE_COMPETES]),
        ("kafka-2.7", "kip-455", 5, [NONE_COMPETES]),
        ("kafka-2.3", "wiki", 9, []),
    ],
)
def test_a_controller_that_is_deleted_at_once_is_the_last(
    profile: str, strategy: str, after_ms: int, known: list[str]
) -> None:
    """Seed 45162 of kafka-2.3 and kafka-2.4: an operator deletes /controller twice. All brokers have learned of the
    deletion and of the creation, and none has looked at the node before it is gone again."""
    method: list[dict[str, Any]] = [
        {"at": "5s", "action": "controller.resign"},
        {"at": f"{5000 + after_ms}ms", "action": "controller.resign"},
        {"at": "6s", "action": "heal"},
    ]
    run = run_scenario(
        scenario(
            brokers=3, controller=2, assignment=[[0, 1]], rate=0, profile=profile, strategy=strategy, method=method,
            horizon="60s", expect=[{"converged": True, "within": "30s"}],
        )
    )  # fmt: skip
    assert tickets(run) == known
    assert [finding.part is CONTROLLED for finding in findings(run)] == [True] * len(known)


def test_only_one_that_had_not_looked_explains_that_there_is_none(quiet: Run) -> None:
    def written(seq: int, op: str, path: str = "/controller", client: int = 2) -> ZkWritten:
        return ZkWritten(seq, seq, 0, client, op, path, 0, seq, "")

    def ends(seq: int, node: int = 2) -> Step:
        return Step(seq, seq, 0, "failover.F9", "after", "", -1, -1, 0, node, "")

    found = [
        stated("converged", statement, 90, 90, state)
        for statement, state in (
            (CONTROLLED, "/controller names no broker"),
            (NOTHING_ASKED, "/admin/reassign_partitions is still there"),
            (LED, "orders-0: no leader, isr [1]"),
        )
    ]
    marks: list[Any] = [written(10, "create"), written(20, "delete", client=-2), ends(30)]
    for profile, ticket in (("kafka-0.8", None), ("kafka-1.1", NONE_COMPETES), ("kafka-2.7", NONE_COMPETES)):
        assert tickets(told(quiet, profile, marks, *found)) == [ticket] * 3
    assert tickets(told(quiet, "kafka-2.3", [ends(15, node=1), *marks], *found)) == [NONE_COMPETES] * 3
    others: list[list[Any]] = [
        marks[:1],
        marks[1:],
        [marks[0], ends(15), marks[1]],
        [*marks, written(40, "create", client=1)],
        [*marks, written(40, "create", "/brokers/ids/1", client=1)],
        [*marks, e.NodeCrashed(40, 40, 0, 2, 1, "process")],
        [marks[0], written(91, "delete", client=-2)],
    ]
    for events in others:
        events.sort(key=lambda event: event.seq)
        assert tickets(told(quiet, "kafka-2.3", events, *found)) == [None] * 3
    stays = stated("converged", IN_SYNC, 90, 90, "orders-0: isr [0], assignment [0, 1], leader 0", brokers=(1,))
    assert tickets(told(quiet, "kafka-2.3", marks, stays)) == [None]


def test_a_failover_that_fails_late_takes_the_controller_of_another_broker_away(quiet: Run) -> None:
    """kafka-1.1, seed 52025: an operator deletes /controller twice, and broker 1 cannot raise the epoch after that."""

    def written(seq: int, op: str, client: int) -> ZkWritten:
        return ZkWritten(seq, seq, 0, client, op, "/controller", 0, seq, "")

    two = "brokers 0, 2 show that they are the controller"
    found = stated("one_active_controller", "…", 9, 9, two, brokers=(0, 2))
    marks: list[Any] = [written(1, "create", 1), written(2, "delete", -2), written(3, "create", 2)]
    marks += [written(4, "delete", 1), written(5, "create", 0)]
    for profile, ticket in (("kafka-0.8", "KAFKA-6082"), ("kafka-1.1", "KAFKA-6082"), ("kafka-2.3", None)):
        assert tickets(told(quiet, profile, marks, found)) == [ticket]
    earlier = e.ControllerResigned(2, 2, 0, 2, 1)
    assert tickets(told(quiet, "kafka-1.1", [*marks[:2], earlier, *marks[2:]], found)) == ["KAFKA-6082"]
    for others in (
        [*marks[:3], written(4, "delete", 2), marks[4]],  # by its owner
        [*marks[:3], written(4, "delete", -2), marks[4]],  # by an operator
        [*marks[:3], written(4, "delete", -1), marks[4]],  # as its session is over
        [*marks[:3], written(4, "delete", 3), marks[4]],  # by a broker that has never created one
        [*marks[:4], earlier._replace(seq=6), marks[4]],
        [*marks[:4], written(5, "create", 3)],
        marks[:4],
        marks[1:],
    ):
        assert tickets(told(quiet, "kafka-1.1", others, found)) == [None]
    still = stated("one_active_controller", "…", 9, 9, "broker 2 has resigned, and shows that it is the controller")
    assert tickets(told(quiet, "kafka-1.1", marks, still)) == [None]
