"""The controller dies at every edge of every step of a move, with real brokers under load: the next one finishes
it."""

from typing import Any

import pytest

from controller.reassignment.kafka_6794 import Kafka6794
from controller.reassignment.kip_455 import Kip455
from controller.reassignment.wiki import Wiki
from emulator.protocol.events import ControllerElected, MoveFinished, NodeCrashed, Produced
from emulator.trace.events import Step
from tests.scenarios.runs.building import EXECUTE, TP, at_step, play, scenario

OLD, NEW = (0, 1, 2), (1, 3, 4)
EDGES = ("before", "after")
LAST_HOP = 3
ONLY_LAST = "kafka-6794.12"
WIKI = [("wiki", step, edge, 0) for step in Wiki.procedure.steps for edge in EDGES]
ONE_BY_ONE = [
    ("kafka-6794", step, edge, hop)
    for hop in range(1, LAST_HOP + 1)
    for step in Kafka6794.procedure.steps
    for edge in EDGES
    if step != ONLY_LAST or hop == LAST_HOP
]
KIP_455 = [("kip-455", step, edge, 0) for step in Kip455.procedure.steps for edge in EDGES]
PLACES = {gate: place for place, gate in enumerate(dict.fromkeys((step, edge) for _, step, edge, _ in ONE_BY_ONE))}
Case = tuple[str, str, str, int]


def name(case: Case) -> str:
    return f"{case[1]}-{case[2]}" + (f"-hop-{case[3]}" if case[3] else "")


def parameters(cases: list[Case], *, slow: list[Case]) -> list[Any]:
    """The cases, those of ``slow`` with that mark."""
    return [pytest.param(case, id=name(case), marks=[pytest.mark.slow] * (case in slow)) for case in cases]


OTHER_HOPS = [case for case in ONE_BY_ONE if case[1] != ONLY_LAST and case[3] != 1 + PLACES[case[1:3]] % LAST_HOP]
"""Each edge of a step has one hop by default, the next edge the next one."""


def other_edges(cases: list[Case]) -> list[Case]:
    """The cases that are not run by default: each step has one edge, before it or after it."""
    return [case for place, case in enumerate(cases) if place % 4 in (1, 2)]


OF_KIP_455 = other_edges(KIP_455)
"""Run by default where the tool asks; the others where the API was asked."""
SLOW = [
    *other_edges(WIKI),
    *OTHER_HOPS,
    *other_edges([case for case in ONE_BY_ONE if case not in OTHER_HOPS]),
    *(case for case in KIP_455 if case not in OF_KIP_455),
]


@pytest.mark.parametrize("case", parameters(WIKI + ONE_BY_ONE + KIP_455, slow=SLOW))
def test_the_next_controller_finishes_the_move(case: Case) -> None:
    """Acknowledged records survive, and the replicas are in the requested order. Whether the ISR is right is not
    checked: KAFKA-6794 loses track of dropped replicas (readings §2)."""
    strategy, step, edge, hop = case
    crash = at_step(step, edge, "controller.crash", hop=hop)
    end = {"within": "1m", "assignment": {"orders-0": list(NEW)}}
    wanted = scenario(
        assignment=[OLD], plan={0: NEW}, method=[EXECUTE, crash], expect=[end], strategy=strategy, rate=100,
        config={"min.insync.replicas": 2},
    )  # fmt: skip
    played = play(wanted)
    played.run.assert_expectations()
    assert played.assignment() == NEW
    assert played.admin is None
    assert [event.node for event in played.of(NodeCrashed)] == [6]
    assert [event.controller_epoch for event in played.of(ControllerElected)] == [1, 2]
    assert len(played.of(MoveFinished)) == 1
    assert sorted(set(played.state().isr) & set(NEW)) != []
    check_crash_at_gate(played.of(Step), step, edge)
    assert {event.error for event in played.of(Produced)} == {"NONE"}


@pytest.mark.parametrize("case", parameters(KIP_455, slow=OF_KIP_455))
def test_what_the_api_asked_for_is_finished_too(case: Case) -> None:
    """Nothing but the topic's znode remembers it, and before that is written, the client that asks again. The run ends
    by itself: the move ends even where no controller is left to say so (after B6)."""
    _, step, edge, _ = case
    crash = at_step(step, edge, "controller.crash")
    execute = {**EXECUTE, "via": "api"}
    wanted = scenario(
        assignment=[OLD], plan={0: NEW}, method=[execute, crash], strategy="kip-455", rate=100, horizon="1m",
        config={"min.insync.replicas": 2},
    )  # fmt: skip
    played = play(wanted)
    assert played.run.passed, played.run.explanation
    assert played.assignment() == NEW
    assert sorted(played.state().isr) == sorted(NEW)
    assert played.state().leader in NEW
    assert [(row.original, row.target, row.finished) for row in played.stage.measures.tables()["moves"]] == [
        (OLD, NEW, True)
    ]
    check_crash_at_gate(played.of(Step), step, edge)


def check_crash_at_gate(steps: list[Step], step: str, edge: str) -> None:
    """The dead controller's last step of the move is the one it died at."""
    first = [event for event in steps if event.node == 6 and event.topic == TP.topic]
    assert (first[-1].step, first[-1].edge) == (step, edge)
