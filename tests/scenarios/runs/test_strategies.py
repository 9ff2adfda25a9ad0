"""Strategies as compositions, end to end: the operator asks for moves as its half of the strategy says."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.protocol.events import MoveFinished, MovePlanned, MoveStarted
from emulator.protocol.types import TopicPartition
from scenarios.errors import BadInput
from scenarios.language import Scenario, StrategySpec
from scenarios.language.strategies import Throttle
from tests.scenarios.runs.building import EXECUTE, HEAL, Played, Table, play, scenario

ASSIGNMENT = [[0, 1], [1, 0], [2, 0], [0, 2], [1, 2]]
PLAN = {0: [0, 3], 1: [3, 0], 2: [2, 4], 3: [4, 2], 4: [1, 3]}


def carry_out(strategy: str, **more: object) -> Played:
    """Five partitions of orders move; broker 5 is controller."""
    wanted: Table = {"brokers": 6, "controller": 5, "assignment": ASSIGNMENT, "plan": PLAN, "rate": 50}
    return play(scenario(**{**wanted, "method": [EXECUTE], "strategy": strategy, "horizon": "3m", **more}))


def batches(played: Played) -> list[list[int]]:
    """The partitions that were asked for together, in order."""
    found: dict[int, list[int]] = {}
    for event in played.of(MoveStarted):
        found.setdefault(event.t_us, []).append(event.partition)
    return list(found.values())


def arrived(played: Played) -> bool:
    """Is every partition where the plan wants it?"""
    return all(played.assignment(TopicPartition("orders", p)) == tuple(target) for p, target in PLAN.items())


def check_barrier(played: Played) -> None:
    """ZooKeeper takes a batch only when the one before has ended."""
    under_way: set[int] = set()
    last = 0
    for event in [e for e in played.events if isinstance(e, MoveStarted | MoveFinished)]:
        if isinstance(event, MoveFinished):
            under_way.remove(event.partition)
        else:
            assert event.t_us == last or not under_way
            under_way.add(event.partition)
            last = event.t_us


SHAPES = ("wiki", "kafka-6794", "kip-455")
BATCHES = {
    "": [[0, 1, 2, 3, 4]],
    "+topic-partition": [[0, 1, 2, 3, 4]],
    "+serial": [[0], [1], [2], [3], [4]],
    "+waves-2": [[0, 1], [2, 3], [4]],
    "+window-3": [[0, 1, 2], [3, 4]],
    "+waves-2+leader-last": [[0, 2], [4, 1], [3]],
    # 0, 1, 4 and 2, 3 want the same brokers.
    "+per-broker-cap-1": [[0, 2], [1, 3], [4]],
    "+per-broker-cap-2": [[0, 1, 2, 3], [4]],
}


def in_turn(place: int) -> list[Any]:
    """The shapes for the parts at a place: all but one have the mark ``slow``."""
    return [
        pytest.param(shape, [*BATCHES][place], marks=[pytest.mark.slow] * (number != place % len(SHAPES)))
        for number, shape in enumerate(SHAPES)
    ]


@pytest.mark.parametrize(("shape", "parts"), [each for place in range(len(BATCHES)) for each in in_turn(place)])
def test_batches(shape: str, parts: str) -> None:
    played = carry_out(shape + parts)
    assert played.run.passed, played.run.explanation
    assert batches(played) == BATCHES[parts]
    assert played.run.metrics["moves_finished"] == 5
    assert arrived(played)
    check_barrier(played)


def test_the_whole_plan_in_the_plan_s_order_is_what_the_plain_shape_does() -> None:
    assert carry_out("wiki+whole-plan+plan").run.digest == carry_out("wiki").run.digest


def test_the_operator_looks_as_often_as_the_scenario_says() -> None:
    played = carry_out("wiki+serial+poll-7s")
    times = [event.t_us for event in played.of(MoveStarted)]
    assert all(6_990_000 < later - earlier < 7_010_000 for earlier, later in pairwise(times))
    assert [event.partition for event in played.of(MovePlanned)] == [0, 1, 2, 3, 4]


def test_random_s_order_is_drawn_from_the_seed() -> None:
    one, same, other = (batches(carry_out("wiki+serial+random", seed=seed)) for seed in (1, 1, 2))
    assert one == same != other


@pytest.mark.parametrize(
    ("order", "wanted"),
    [
        ("smallest-first", ["small-1", "small-0", "orders-0"]),
        ("largest-first", ["orders-0", "small-0", "small-1"]),
    ],
)
def test_sizes_are_those_of_the_topics(order: str, wanted: list[str]) -> None:
    """orders-0 copies its 4 MiB once; small-0 its 1 MiB twice, small-1 once."""
    moves = [("small", 0, [2, 3]), ("orders", 0, [0, 2]), ("small", 1, [0, 2])]
    table: Table = {
        "title": "sizes",
        "cluster": {"brokers": 5, "controller": 4},
        "topics": [
            {"name": "orders", "assignment": [[0, 1]], "size": "4MiB"},
            {"name": "small", "assignment": [[0, 1], [0, 1]], "size": "1MiB"},
        ],
        "strategy": {"name": "wiki", "admission": "serial", "order": order},
        "plan": {"partitions": [{"topic": t, "partition": p, "replicas": r} for t, p, r in moves]},
        "method": [EXECUTE],
    }
    played = play(Scenario.from_table(table))
    assert played.run.passed, played.run.explanation
    assert [f"{event.topic}-{event.partition}" for event in played.of(MoveStarted)] == wanted


def test_keys_of_the_table_say_the_same_as_the_name() -> None:
    named = scenario(strategy="wiki+window-4+largest-first+poll-3s", plan={0: [1]}).strategy
    keys = StrategySpec(name="wiki", admission="window-4", order="largest-first", poll_us=3_000_000)
    assert keys.parsed == named.parsed
    assert keys.name == named.name == "wiki+window-4+largest-first+poll-3s"
    assert StrategySpec(name="wiki+throttle-1MiB", throttle=5).limit == Throttle(1 << 20)
    assert StrategySpec(name="wiki", throttle=5).limit == Throttle(5)


def test_a_strategy_that_a_run_asks_for_replaces_the_file_s_whole() -> None:
    asked = scenario(strategy="wiki+waves-2", plan={0: [1]}).for_run(strategy="kafka-6794+serial")
    assert asked.strategy.name == "kafka-6794+serial"
    table = asked.to_table()
    table["strategy"] = {"name": "wiki", "admission": "waves-2", "poll": "9s"}
    again = Scenario.from_table(table).for_run(strategy="kafka-6794")
    assert again.strategy.name == "kafka-6794"
    with pytest.raises(BadInput, match="two parts set the admission"):
        Scenario.from_table({**table, "strategy": {"name": "wiki+serial", "admission": "waves-2"}})


LOST: Table = {"when": {"step": "move.start", "edge": "before"}, "action": "broker.stop", "target": 3}


# -- trouble ----------------------------------------------------------------------------------------------------------


def test_a_run_is_not_over_while_moves_wait() -> None:
    """Broker 3 dies when the first batch needs it: that one is stuck, and the second is never requested."""
    played = carry_out("wiki+waves-2", method=[EXECUTE, LOST], horizon="40s")
    assert (played.run.reason, played.run.virtual_s) == ("unfinished", 40.0)
    assert batches(played) == [[0, 1]]
    assert (played.run.metrics["moves"], played.run.metrics["moves_finished"]) == (5, 0)
    assert played.run.metrics["time_to_complete_s"] is None


def test_rollbacks_heal_a_batch_that_is_stuck_and_the_plan_goes_on() -> None:
    played = carry_out("wiki+waves-2+poll-5s", method=[EXECUTE, LOST], rollbacks=HEAL)
    assert played.run.passed, played.run.explanation
    assert batches(played) == [[0, 1], [2, 3], [4]]


def test_an_expectation_does_not_end_the_run_before_the_plan() -> None:
    early = {"within": "2m", "assignment": {"orders-0": [0, 3]}}
    played = carry_out("wiki+serial+poll-10s", expect=[early])
    assert played.run.passed, played.run.explanation
    assert len(played.of(MoveFinished)) == 5


def test_the_plan_goes_on_past_a_partition_that_is_refused_and_one_that_is_where_it_should_be() -> None:
    """The controller drops from the znode what it will not move."""
    played = carry_out("wiki+serial", plan={0: [0, 1], 1: [3, 0], 2: [2, 4]})
    assert played.run.passed, played.run.explanation
    assert batches(played) == [[0], [1], [2]]


def test_a_batch_that_the_tool_refuses_is_asked_for_move_by_move() -> None:
    """To the tool a broker that is down does not exist; orders-2 and orders-3 do not need broker 3."""
    stop: Table = {"at": "1s", "action": "broker.stop", "target": 3}
    played = carry_out("wiki+waves-3", method=[stop, EXECUTE])
    assert batches(played) == [[2], [3]]
    refused = "reassign.execute: no such brokers now: 3: INVALID_REPLICA_ASSIGNMENT"
    assert list(map(str, played.stage.performer.refused)) == [refused] * 3
    assert (played.run.metrics["moves"], played.run.metrics["moves_finished"]) == (2, 2)
    expected = {**EXECUTE, "expect_error": "INVALID_REPLICA_ASSIGNMENT"}
    assert carry_out("wiki+waves-3", method=[stop, expected]).run.passed


# -- by the API -------------------------------------------------------------------------------------------------------

BY_API: Table = {**EXECUTE, "via": "api"}
SLOWLY: Table = {"network": {"egress": "3MiB/s", "ingress": "3MiB/s"}}


def test_by_the_api_a_window_is_kept_full() -> None:
    """KIP-455 takes more while something is under way: one at each look at which another has ended."""
    sizes = {"assignment": ASSIGNMENT, "size": "8MiB", "cluster": {"brokers": 6, "controller": 5, **SLOWLY}}
    played = carry_out("kip-455+window-2+poll-100ms", method=[BY_API], controller=None, **sizes)
    assert played.run.passed, played.run.explanation
    under_way: dict[int, None] = {}
    most = overlaps = 0
    for event in [e for e in played.events if isinstance(e, MoveStarted | MoveFinished)]:
        if isinstance(event, MoveFinished):
            del under_way[event.partition]
        else:
            overlaps += bool(under_way)
            under_way[event.partition] = None
            most = max(most, len(under_way))
    assert most == 2
    assert overlaps >= 3, "what joins is not the first of its batch alone"
    assert arrived(played)
    znode = carry_out("kip-455+window-2+poll-500ms", controller=None, **sizes)
    check_barrier(znode)


def test_by_the_api_a_partition_that_is_refused_does_not_hold_up_the_others() -> None:
    stop: Table = {"at": "1s", "action": "broker.stop", "target": 3}
    played = carry_out("kip-455+waves-3", method=[stop, {**BY_API, "expect_error": "INVALID_REPLICA_ASSIGNMENT"}])
    assert played.run.passed, played.run.explanation
    assert played.run.metrics["moves_finished"] == 2
    assert [played.assignment(TopicPartition("orders", p)) for p in (2, 3)] == [(2, 4), (4, 2)]


def test_by_the_api_the_operator_finds_the_next_controller() -> None:
    crash = {"when": {"step": "move.done", "edge": "after"}, "action": "controller.crash"}
    played = carry_out("kip-455+serial", method=[BY_API, crash], rollbacks=HEAL)
    assert played.run.passed, played.run.explanation
    assert arrived(played)


# -- one after the other ----------------------------------------------------------------------------------------------


def test_another_s_moves_are_waited_for() -> None:
    """A second request while a plan is being carried out is refused."""
    hold = {"at": "1s", "action": "gate.hold", "gate": {"step": "move.start", "edge": "before"}, "duration": "9s"}
    twice = [{"at": at, "action": "reassign.execute"} for at in ("2s", "3s")]
    played = carry_out("wiki+waves-2", method=[hold, *twice])
    assert played.run.reason == "not exercised"
    assert "another reassignment is in progress" in played.run.explanation
    assert batches(played) == [[0, 1], [2, 3], [4]]


def test_the_controller_dies_between_two_batches_and_the_next_one_goes_on() -> None:
    crash = {"when": {"step": "move.done", "edge": "after"}, "action": "controller.crash"}
    played = carry_out("wiki+waves-2", method=[EXECUTE, crash], rollbacks=HEAL)
    assert played.run.passed, played.run.explanation
    assert [p for batch in batches(played) for p in batch] == [0, 1, 2, 3, 4]


@given(
    admission=st.sampled_from(["serial", "waves-2", "waves-3", "window-2", "per-broker-cap-1", "per-broker-cap-2"]),
    order=st.sampled_from(["plan", "leader-last", "random", "round-robin-by-broker"]),
    poll=st.sampled_from(["100ms", "1s", "4s"]),
    seed=st.integers(1, 99),
)
@settings(max_examples=6, deadline=None)
def test_every_partition_is_asked_for_once_and_arrives(admission: str, order: str, poll: str, seed: int) -> None:
    played = carry_out(f"wiki+{admission}+{order}+poll-{poll}", seed=seed)
    assert played.run.passed, played.run.explanation
    assert sorted(event.partition for event in played.of(MoveStarted)) == list(PLAN)
    assert arrived(played)
    check_barrier(played)
