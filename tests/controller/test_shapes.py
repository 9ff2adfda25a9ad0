"""A reassignment protocol from outside the package: once registered it is a strategy, and its steps are triggers."""

from collections.abc import Iterator
from typing import Any

import pytest

from controller import procedures, shapes
from controller.reassignment.wiki import Wiki
from controller.steps import Procedure, phases
from emulator.protocol.events import Fault, MoveFinished
from emulator.trace.events import Step
from scenarios.errors import BadInput
from scenarios.language import Scenario
from tests.controller.plugins.drop_first import DROP_FIRST, SHAPE
from tests.scenarios.runs.building import play

FILE = """
schema = "scenario/1"
title = "Old replicas are deleted first, and two faults hit the move"
horizon = "2m"

[cluster]
brokers = 4
controller = 0

[[topics]]
name = "orders"
assignment = [[0, 1, 2]]

[strategy]
name = "drop-first"

[plan]
version = 1
partitions = [{ topic = "orders", partition = 0, replicas = [0, 1, 3] }]

[[method]]
at = "5s"
action = "reassign.execute"

[[method]]
when = { step = "drop-first.3", edge = "before", partition = "orders-0" }
action = "broker.crash"
target = 3
duration = "3s"

[[method]]
when = { step = "move.stop", edge = "after", partition = "orders-0" }
action = "broker.pause"
target = 1
duration = "1s"
"""


@pytest.fixture
def drop_first() -> Iterator[None]:
    """The protocol is registered for one test."""
    tables: tuple[dict[str, Any], ...] = (procedures.PROCEDURES, procedures.STEPS, procedures.ALIASES, shapes.SHAPES)
    before = [dict(table) for table in tables]
    shapes.register(SHAPE)
    yield
    for table, entries in zip(tables, before, strict=True):
        table.clear()
        table.update(entries)


@pytest.mark.usefixtures("drop_first")
def test_a_scenario_file_names_the_strategy_and_stops_at_its_steps() -> None:
    played = play(Scenario.loads(FILE))
    steps = [step.step for step in played.of(Step) if step.edge == "before" and step.step in DROP_FIRST.steps]
    assert list(dict.fromkeys(steps)) == list(DROP_FIRST.steps)
    faults = [fault.action for fault in played.of(Fault)]
    assert faults[:3] == ["reassign.execute", "broker.pause", "broker.crash"]
    assert [end.partition for end in played.of(MoveFinished)] == [0]
    assert set(played.state().isr) == {0, 1, 3}


def test_a_protocol_that_is_not_registered_is_unknown() -> None:
    with pytest.raises(BadInput, match="unknown strategy 'drop-first'"):
        Scenario.loads(FILE)


@pytest.mark.usefixtures("drop_first")
def test_a_name_is_registered_once() -> None:
    with pytest.raises(ValueError, match="there is a shape 'drop-first' already"):
        shapes.register(SHAPE)


@pytest.mark.parametrize(
    ("procedure", "reason"),
    [
        (Procedure("wiki", {}), "there is a procedure 'wiki' already"),
        (Procedure("mine", {"yours.1": "start"}), "a step of 'mine' is not called mine"),
        (
            Procedure.numbered("mine", "start", phases=phases("mine", start="1")),
            "has to name a step for each of the phases",
        ),
    ],
)
def test_a_procedure_that_does_not_fit_is_refused(procedure: Procedure, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        procedures.register(procedure)
    assert procedures.PROCEDURES["wiki"] is Wiki.procedure
    assert "mine" not in procedures.STEPS
