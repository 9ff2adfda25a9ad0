"""The state of a cluster at a moment: controller, open moves and their steps, what is cut, leaders and ISRs."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from emulator.protocol.events import ControllerElected, Fault, NodeCrashed
from scenarios.observe.timeline.moment import at, before
from scenarios.observe.timeline.moment_words import cuts, lines
from tests.scenarios.runs.building import EXECUTE, play, scenario

CRASH = {"when": {"step": "wiki.4", "edge": "before"}, "action": "controller.crash"}
CUT = {"at": "1s", "action": "host.isolate", "target": 1, "from": ["brokers", "zookeeper"], "duration": "500ms"}


@cache
def played() -> tuple[Any, ...]:
    """orders-0 moves from [0,1,2] to [3,4,5]; its controller, 6, dies where it waits for the new replicas."""
    return tuple(play(scenario(plan={0: [3, 4, 5]}, method=[CUT, EXECUTE, CRASH], horizon="1m")).events)


def fault(action: str) -> Fault:
    return next(event for event in played() if type(event) is Fault and event.action == action)


def test_the_step_in_which_the_controller_died() -> None:
    moment = before(played(), fault("controller.crash").seq)
    assert (moment.controller, moment.controller_epoch, moment.down) == (6, 1, ())
    [move] = moment.moves
    assert (move.partition, move.original, move.target) == ("orders-0", (0, 1, 2), (3, 4, 5))
    assert (move.step, move.edge) == ("wiki.4", "before")
    assert [left.broker for left in move.left] == [3, 4, 5]
    text = list(lines(moment))
    assert text[1] == "  controller  broker 6, epoch 1"
    assert text[2].startswith("  move        orders-0 [0,1,2] -> [3,4,5], in wiki.4 (")
    assert text[-1] == "\tTopic: orders\tPartition: 0\tLeader: 0\tReplicas: 0,5,1,2,3,4\tIsr: 0,1,2"


def test_between_two_controllers_and_after_the_move() -> None:
    crash = next(event for event in played() if type(event) is NodeCrashed)
    between = at(played(), crash.t_us)
    assert (between.controller, between.controller_epoch, between.down) == (-1, 1, (6,))
    assert "  controller  none (the last one had epoch 1)" in lines(between)
    next_one = [event for event in played() if type(event) is ControllerElected][1]
    end = at(played(), played()[-1].t_us)
    assert (end.controller, end.controller_epoch, end.moves) == (next_one.node, 2, ())
    assert [(state.leader in (3, 4, 5), sorted(state.isr)) for state in end.partitions] == [(True, [3, 4, 5])]


def test_what_a_new_replica_has_still_to_copy() -> None:
    """The leader's log has 64 KiB of messages of 1 KiB from the start, and what was produced since."""
    crash_us = fault("controller.crash").t_us
    [move] = at(played(), crash_us).moves
    for left in move.left:
        assert left.records is not None
        assert left.bytes is not None
        assert left.records >= 64
        assert left.bytes == left.records * 1024


def test_what_is_cut_until_it_heals() -> None:
    isolated = fault("host.isolate")
    assert not before(played(), isolated.seq).cut
    [line] = [line for line in lines(at(played(), isolated.t_us)) if " cut " in line]
    assert line == "  cut         broker 1 <-> brokers 0, 2, 3, 4, 5, 6, ZooKeeper"
    assert not at(played(), isolated.t_us + 500_000).cut


def test_a_route_that_is_cut_one_way() -> None:
    assert list(cuts([(1, 2), (2, 1), (1, -1), (3, 1)])) == [
        "broker 1 <-> broker 2",
        "broker 1 -> ZooKeeper",
        "broker 3 -> broker 1",
    ]


def test_as_json_it_has_the_same_facts() -> None:
    moment = before(played(), fault("controller.crash").seq)
    found = json.loads(json.dumps(moment.to_json()))
    assert (found["controller"], found["moves"][0]["step"]) == (6, "wiki.4")
    assert found["partitions"][0]["isr"] == [0, 1, 2]
