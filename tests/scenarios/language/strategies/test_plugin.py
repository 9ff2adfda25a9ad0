"""Parts of a strategy from outside the package: one file, which only has to be imported."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module, reload

import pytest

from emulator.protocol.events import MoveStarted
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.scenario_reference import sections
from scenarios.language.strategies import PARTS
from tests.scenarios.runs.building import play

PLUGIN = "tests.scenarios.language.strategies.plugins.others_first"
FILE = """
schema = "scenario/1"
title = "Five moves, two at a time, the last ones first"

[cluster]
brokers = 4
controller = 0

[[topics]]
name = "orders"
assignment = [[0, 1], [0, 1], [0, 1], [0, 1], [0, 1]]

[strategy]
name = "wiki+pairs-1+last-first"

[plan]
partitions = [
  { topic = "orders", partition = 0, replicas = [0, 2] },
  { topic = "orders", partition = 1, replicas = [0, 2] },
  { topic = "orders", partition = 2, replicas = [0, 2] },
  { topic = "orders", partition = 3, replicas = [0, 2] },
  { topic = "orders", partition = 4, replicas = [0, 2] },
]

[[method]]
at = "1s"
action = "reassign.execute"
"""


@pytest.fixture
def plugin() -> Iterator[None]:
    """The parts are registered for one test."""
    before = dict(PARTS)
    module = import_module(PLUGIN)
    if before == PARTS:
        reload(module)
    yield
    PARTS.clear()
    PARTS.update(before)


@pytest.mark.usefixtures("plugin")
def test_a_scenario_file_names_the_parts_and_the_operator_keeps_to_them() -> None:
    started = play(Scenario.loads(FILE)).of(MoveStarted)
    assert [event.partition for event in started] == [4, 3, 2, 1, 0]
    times = [event.t_us for event in started]
    assert times[0] == times[1] < times[2] == times[3] < times[4]


@pytest.mark.usefixtures("plugin")
def test_the_parts_are_in_the_rendered_table() -> None:
    assert "| `+pairs-N` | admission | N pairs of moves at a time" in sections()["strategies.parts"]


def test_a_part_that_was_not_imported_is_unknown() -> None:
    with pytest.raises(BadInput, match="unknown part of a strategy 'pairs-1'"):
        Scenario.loads(FILE)
