"""Connections take turns, and time moves on while very much comes in."""

from collections import Counter, defaultdict
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from scenarios.wire.inputs import Closed, Frame, Input, Operation
from scenarios.wire.live_inputs import HURRY, STALL_NS, TURN_NS, LiveInputs

MOST = 6
COMES = st.one_of(
    st.builds(Frame, st.integers(1, MOST), st.binary(max_size=2)),
    st.builds(Closed, st.integers(1, MOST)),
    st.builds(Operation, st.just("{}")),
)


def of(given: Input) -> Any:
    return "operations" if isinstance(given, Operation) else given.connection


@given(steps=st.lists(st.one_of(COMES, st.none()), max_size=60))
def test_an_input_waits_for_one_of_each_other_connection_and_for_those_before_it(steps: list[Input | None]) -> None:
    """``None`` takes the next one."""
    inputs, waiting = LiveInputs(wall_ns=lambda: 0), defaultdict[Any, list[Input]](list)
    passed: Counter[Any] = Counter()
    """How many inputs of others were taken while one of a connection waited for its turn."""
    for step in [*steps, *[None] * len(steps)]:
        if step is not None:
            inputs.put(step)
            waiting[of(step)].append(step)
            continue
        found = inputs.take(0)
        if found is None:
            assert not any(waiting.values())
            continue
        assert found is waiting[of(found)].pop(0)
        passed[of(found)] = 0
        for connection, left in waiting.items():
            passed[connection] += bool(left) and connection != of(found)
            assert passed[connection] <= MOST


def test_while_very_much_comes_in_the_clock_is_looked_at() -> None:
    wall = [0]

    def wall_ns() -> int:
        wall[0] += TURN_NS // 10
        return wall[0]

    inputs = LiveInputs(wall_ns=wall_ns)
    inputs.begin(0)
    for number in range(100):
        inputs.put(Frame(1, bytes(number)))
    taken, horizons = 0, list[int]()
    while taken < 100:
        horizons.append(inputs.horizon_us(float("inf")))
        while inputs.take(0) is not None:
            taken += 1
        assert inputs.seconds_until(float("inf")) == 0 or taken == 100
    assert len(horizons) > 8
    assert horizons == sorted(horizons)


@given(
    rate=st.sampled_from([0.5, 1.0, 4.0]),
    stalls_ms=st.lists(st.integers(0, 5_000), min_size=1, max_size=2),
    every_us=st.sampled_from([250_000, 3_000_000]),
)
def test_time_that_is_late_catches_up_no_faster_than_clients_can_follow(
    rate: float, stalls_ms: list[int], every_us: int
) -> None:
    """Clients' heartbeats are in real time: an hour of brokers' time in a minute would end every session. The process
    does not run for each of ``stalls_ms``."""
    wall = [0]
    inputs = LiveInputs(rate, wall_ns=lambda: wall[0])
    inputs.begin(0)
    reached, next_us, slept_ns = 0, float(every_us), 0
    for stall_ms in [*stalls_ms, *[0] * 400]:
        wall[0] += stall_ms * 1_000_000
        before, reached = reached, inputs.horizon_us(next_us)
        assert reached - before <= rate * HURRY * (STALL_NS + slept_ns) / 1000 + 1
        while next_us <= reached:
            next_us += every_us
        late_us = wall[0] * rate / 1000 - reached
        slept_ns = int(inputs.seconds_until(next_us) * 1e9) + 1000
        wall[0] += slept_ns
    assert late_us < every_us, "it has caught up"


def test_time_that_is_late_moves_on_by_turns() -> None:
    wall = [0]
    inputs = LiveInputs(wall_ns=lambda: wall[0])
    inputs.begin(0)
    wall[0] = 10**10
    assert inputs.horizon_us(5000.0) == 5000 + TURN_NS // 1000
    wall[0] += TURN_NS
    assert inputs.horizon_us(float("inf")) == 5000 + TURN_NS // 1000 + HURRY * TURN_NS // 1000
