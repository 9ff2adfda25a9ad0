"""The rules of every admission and every order, for any plan and any order in which moves end."""

from collections import Counter
from collections.abc import Callable
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.protocol.types import TopicPartition
from emulator.streams import Streams
from scenarios.language.strategies import PARTS, PlannedMove, PlanProgress
from scenarios.language.strategies.execution import parse_part
from scenarios.language.strategies.strategy_parts import ADMISSION, ORDER, Chosen, StrategyPart

ADMISSIONS = [name for name, part in PARTS.items() if part.axis == ADMISSION]
ORDERS = [name for name, part in PARTS.items() if part.axis == ORDER]
BROKERS = 6


def lists(size: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Replicas, as one choice: to shuffle the brokers takes five."""
    return st.sampled_from(list(permutations(range(BROKERS), size)))


@st.composite
def plans(draw: st.DrawFn) -> list[PlannedMove]:
    """Moves of several topics, some of which add or remove nothing."""
    count = draw(st.integers(0, 12))
    names = draw(st.permutations([TopicPartition(topic, p) for topic in ("b", "a") for p in range(6)]))
    return [
        PlannedMove(
            names[place], place, draw(lists(draw(st.integers(1, 3)))), draw(lists(draw(st.integers(1, 3)))),
            draw(st.integers(0, 3)),
        )
        for place in range(count)
    ]  # fmt: skip


def named(part: str, number: int) -> Chosen:
    return parse_part(part.replace("-N", f"-{number}"))


def touched(moves: tuple[PlannedMove, ...]) -> Counter[int]:
    return Counter(broker for move in moves for broker in (*move.added, *move.removed))


LIVES = st.lists(st.integers(1, 4), min_size=12, max_size=12)
"""For how many looks of the operator each move is under way, by its place."""


def carry_out(
    admission: Chosen, moves: list[PlannedMove], lives: list[int], look: Callable[[PlanProgress], object]
) -> list[tuple[PlannedMove, ...]]:
    """As an operator would; ``look`` sees every state after each request. Returns the requested moves, batch by
    batch."""
    progress, left = PlanProgress(tuple(moves)), dict(enumerate(lives))
    asked = []
    while True:
        batch = admission.admit(progress)
        if batch:
            asked.append(batch)
        assert batch or progress.in_flight or not moves, "nothing is under way, and nothing is asked for"
        waiting = tuple(move for move in progress.waiting if move not in batch)
        progress = PlanProgress(waiting, (*progress.in_flight, *batch), progress.ended)
        look(progress)
        if not waiting:
            return asked
        for move in progress.in_flight:
            left[move.place] -= 1
        going_on = tuple(move for move in progress.in_flight if left[move.place])
        progress = PlanProgress(waiting, going_on, progress.ended + len(progress.in_flight) - len(going_on))


@pytest.mark.parametrize("name", ADMISSIONS)
@given(plan=plans(), number=st.integers(1, 5), lives=LIVES)
@settings(deadline=None, max_examples=60)
def test_every_move_is_asked_for_once_and_the_bound_is_kept(
    name: str, plan: list[PlannedMove], number: int, lives: list[int]
) -> None:
    most_in_flight = {"serial": 1, "waves-N": number, "window-N": number}.get(name)

    def look(progress: PlanProgress) -> None:
        if most_in_flight is not None:
            assert len(progress.in_flight) <= most_in_flight
        if name == "per-broker-cap-N":
            assert all(count <= number for count in touched(progress.in_flight).values())

    asked = carry_out(named(name, number), plan, lives, look)
    together = [move for batch in asked for move in batch]
    assert sorted(move.place for move in together) == list(range(len(plan)))
    if name != "per-broker-cap-N":
        assert together == plan, "in the order in which they wait"


@given(plan=plans(), number=st.integers(1, 4), lives=LIVES)
@settings(deadline=None, max_examples=60)
def test_a_wave_ends_before_the_next_begins(plan: list[PlannedMove], number: int, lives: list[int]) -> None:
    under_way: list[PlannedMove] = []

    def look(progress: PlanProgress) -> None:
        new = [move for move in progress.in_flight if move not in under_way]
        assert not new or not [move for move in under_way if move in progress.in_flight], "nothing joins a wave"
        under_way[:] = progress.in_flight

    asked = carry_out(named("waves-N", number), plan, lives, look)
    assert all(len(batch) == number for batch in asked[:-1])


@given(plan=plans(), number=st.integers(1, 4), lives=LIVES)
def test_a_window_is_kept_full(plan: list[PlannedMove], number: int, lives: list[int]) -> None:
    def look(progress: PlanProgress) -> None:
        assert len(progress.in_flight) == number or not progress.waiting

    carry_out(named("window-N", number), plan, lives, look)


def test_a_broker_that_is_busy_does_not_hold_up_others() -> None:
    places = [((0, 1), (0, 2)), ((0, 1), (0, 2)), ((3, 4), (3, 5))]
    plan = [PlannedMove(TopicPartition("a", p), p, before, after) for p, (before, after) in enumerate(places)]
    assert [move.place for move in named("per-broker-cap-N", 1).admit(PlanProgress(tuple(plan)))] == [0, 2]


# -- orders -----------------------------------------------------------------------------------------------------------

KEYS: dict[str, Callable[[PlannedMove], object]] = {
    "plan": lambda move: move.place,
    "topic-partition": lambda move: move.tp,
    "smallest-first": lambda move: (move.bytes, move.place),
    "largest-first": lambda move: (-move.bytes, move.place),
    "leader-last": lambda move: (move.before[0] not in move.target, move.place),
}


@pytest.mark.parametrize("name", ORDERS)
@given(plan=plans(), data=st.data())
@settings(deadline=None, max_examples=60)
def test_an_order_keeps_every_move_and_does_not_ask_how_they_came(
    name: str, plan: list[PlannedMove], data: st.DataObject
) -> None:
    order = parse_part(name)
    found = order.sort(plan, Streams(1).stream("strategy"))
    assert sorted(move.place for move in found) == list(range(len(plan)))
    assert order.sort(data.draw(st.permutations(plan)), Streams(1).stream("strategy")) == found
    if name in KEYS:
        keys = [KEYS[name](move) for move in found]
        assert keys == sorted(keys)  # type: ignore[type-var]


def test_round_robin_takes_one_of_each_leading_broker_in_turn() -> None:
    leaders = [0, 0, 0, 1, 2, 1]
    plan = [PlannedMove(TopicPartition("a", p), p, (leader, 5), (5, 4)) for p, leader in enumerate(leaders)]
    found = parse_part("round-robin-by-broker").sort(plan, Streams(1).stream("x"))
    assert [move.before[0] for move in found] == [0, 1, 2, 0, 1, 0]


def test_random_is_the_seed_s() -> None:
    plan = [PlannedMove(TopicPartition("a", p), p, (0,), (1,)) for p in range(20)]
    one, same, other = (
        [move.place for move in parse_part("random").sort(plan, Streams(seed).stream("strategy"))] for seed in (1, 1, 2)
    )
    assert one == same != other
    assert one != list(range(20))


# -- broken parts -----------------------------------------------------------------------------------------------------

PLAN = [PlannedMove(TopicPartition("a", p), p, (0,), (1,)) for p in range(3)]


@pytest.mark.parametrize(
    "rule",
    [lambda progress: progress.waiting[:1] * 2, lambda _: [PlannedMove(TopicPartition("b", 0), 0, (0,), (1,))]],
)
def test_an_admission_that_doubles_or_invents_a_move_is_an_error(rule: Callable[[PlanProgress], object]) -> None:
    broken = Chosen(StrategyPart("broken", ADMISSION, "", rule))
    with pytest.raises(ValueError, match="admission 'broken' names a move twice, or one that does not wait"):
        broken.admit(PlanProgress(tuple(PLAN)))


@pytest.mark.parametrize("rule", [lambda moves, _: moves[1:], lambda moves, _: [*moves, moves[0]]])
def test_an_order_that_loses_or_doubles_a_move_is_an_error(rule: Callable[..., list[PlannedMove]]) -> None:
    with pytest.raises(ValueError, match="order 'broken' loses, doubles or invents a move"):
        Chosen(StrategyPart("broken", ORDER, "", rule)).sort(PLAN, Streams(1).stream("x"))
