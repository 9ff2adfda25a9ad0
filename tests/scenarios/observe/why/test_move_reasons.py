"""Why a move waits: at each step of each protocol, for what the controller waits there."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from controller.procedures import STEPS
from controller.shapes import SHAPES
from emulator.protocol.events import ControllerElected
from emulator.trace.events import Step
from scenarios.language.strategies.strategy import one_of_each_shape, parse_strategy
from scenarios.observe.timeline.moment import OpenMove
from scenarios.observe.why.move_reasons import move, open_move
from scenarios.observe.why.partition_past import PartitionPast
from scenarios.runs import run_scenario
from tests.scenarios.runs.building import TP, scenario

WAITS = {"wiki.4", "kafka-42.3", "kip-455.wait", "kafka-6794.1", "kafka-6794.3"}


@cache
def events(strategy: str, *method: str) -> tuple[Any, ...]:
    """A move from brokers 0 and 1 to 3 and 4 at 20 s, when a broker that crashed at 1 s has no session any more, and
    the actions of ``method``. Under kafka-2.4, as KAFKA-9212 keeps replicas out of the ISR before."""
    stated = [one.split() for one in method]
    entries: list[dict[str, Any]] = [{"at": at, "action": action, "target": int(id)} for at, action, id in stated]
    entries.append({"at": "20s", "action": "reassign.execute"})
    found: list[Any] = []
    run_scenario(
        scenario(
            brokers=6, controller=5, assignment=[[0, 1]], plan={0: [3, 4]}, strategy=strategy, profile="kafka-2.4",
            size="1MiB",
            method=sorted(entries, key=lambda entry: float(str(entry["at"]).rstrip("s"))), horizon="60s",
        ),
        on_event=found.extend,
    )  # fmt: skip
    return tuple(found)


def asked(strategy: str, at_s: float, *method: str) -> str:
    """The sentence at that time, after what is said of the place."""
    answer = move(
        PartitionPast(events(strategy, *method), TP, round(at_s * 1e6), parse_strategy(strategy).make_protocol())
    )
    return answer.sentence.partition(" s: ")[2]


@pytest.mark.parametrize("strategy", one_of_each_shape())
def test_every_step_names_what_it_waits_for(strategy: str) -> None:
    """Those that wait for nothing are the controller's work, whatever the ISR is."""
    run, seen = events(strategy), set[str]()
    for index, event in enumerate(run):
        if type(event) is not Step or event.topic != TP.topic or not STEPS[event.step].reassignment:
            continue
        past = PartitionPast(run[: index + 1], TP, event.t_us, parse_strategy(strategy).make_protocol())
        waiting = open_move(past)
        if waiting is None:
            continue
        sentence = move(past).sentence
        if event.edge == "before" and event.step in WAITS:
            seen.add(event.step)
            assert "it waits until" in sentence or "has still to go on" in sentence or "are alive" in sentence
            assert_names_the_missing(sentence, past, waiting)
        elif "waits until" in sentence or "still to go on" in sentence or "are alive" in sentence:
            steps = list(STEPS[event.step].steps)
            assert event.edge == "after"
            assert steps[steps.index(event.step) + 1] in WAITS
        else:
            assert f"controller 5 {'began' if event.edge == 'before' else 'has done'} this step at" in sentence
    assert seen == {step for step in WAITS if STEPS[step] is SHAPES[_shape(strategy)].procedure}


def _shape(strategy: str) -> str:
    return "width-K" if strategy.startswith("width") else strategy


def assert_names_the_missing(sentence: str, past: PartitionPast, waiting: OpenMove) -> None:
    """The missing ones are of the present replicas where the step waits for those, of the target otherwise."""
    assert past.state is not None
    wanted = past.state.replicas if waiting.step == "kafka-6794.1" else waiting.target
    missing = [broker for broker in wanted if broker not in past.state.isr]
    if waiting.step != "kafka-6794.3" and missing:
        named = f"broker {missing[0]}" if len(missing) == 1 else f"brokers {missing}"
        assert f"it waits until {named}" in sentence


def test_one_by_one_waits_for_the_present_replicas_and_not_for_the_target() -> None:
    """Broker 1, which the move takes away, is out of sync: the first hop does not begin. The answer named 3 and 4."""
    said = asked("kafka-6794", 25, "1s broker.crash 1", "30s broker.start 1")
    assert said.startswith("it waits until broker 1, of the present replicas [0, 1], is in the ISR [0]. Broker 1: ")
    assert said.endswith("it has been down since 1.000 s.")


def test_one_by_one_waits_for_brokers_to_be_alive() -> None:
    """That of the hop alone: under ``width-2`` both that join."""
    late = ("1s broker.crash 1", "21s broker.crash 3", "21s broker.crash 4", "35s broker.start 1")
    back = ("50s broker.start 3", "50s broker.start 4")
    said = "it waits until broker 3 is alive. Broker 3: it has been down since 21.000 s."
    assert asked("kafka-6794", 45, *late, *back) == said
    assert asked("width-2", 45, *late, *back).startswith("it waits until brokers [3, 4] are alive. ")


@pytest.mark.parametrize("strategy", ["wiki", "kafka-6794", "kip-455"])
def test_a_controller_that_can_do_nothing_is_named_first(strategy: str) -> None:
    paused = asked(strategy, 21, "19.99s broker.pause 5", "23s broker.resume 5")
    assert paused == "controller 5 has been paused since 19.990 s."


def test_a_step_that_an_earlier_controller_began_is_not_that_of_the_next_one() -> None:
    run = events("wiki", "20.001s broker.crash 3", "21s broker.crash 5", "40s broker.start 3")
    elected = next(e for e in run if type(e).__name__ == "ControllerElected" and e.controller_epoch == 2)
    before = [event for event in run if event.seq <= elected.seq]
    sentence = move(PartitionPast(before, TP, elected.t_us)).sentence
    assert sentence.endswith(
        f"controller {elected.node}, elected at {elected.t_us / 1e6:.3f} s, has not taken it up yet."
    )


def test_a_controller_that_has_been_replaced_and_goes_on_does_not_say_where_the_move_is() -> None:
    """kafka-2.3, seed 45210: it had been paused."""
    run = events("wiki")
    at, waits = next(
        (place, event)
        for place, event in enumerate(run, start=1)
        if type(event) is Step and (event.step, event.edge) == ("wiki.4", "before")
    )
    goes_on = waits._replace(seq=waits.seq + 2, step="wiki.12")
    for controller, place in ((0, "wiki.4"), (5, "wiki.12")):
        elected = ControllerElected(waits.t_us, waits.seq + 1, 0, controller, 9)
        past = PartitionPast((*run[:at], elected, goes_on), TP, waits.t_us, parse_strategy("wiki").make_protocol())
        waiting = open_move(past)
        assert waiting is not None
        assert waiting.step == place
