"""Detached and attached tasks are one world: the same trace, the same end, the same number of events."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.streams import Stream
from tests.emulator.kernel.programs import Draw, play


def numbers(values: list[int]) -> Draw:
    """Choices from ``values``; zeros when they are used up."""
    left = iter(values)
    return lambda bound: next(left, 0) % bound


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 359), max_size=150))
def test_drawn_programs_leave_one_trace(values: list[int]) -> None:
    assert play(numbers(values), "detached") == play(numbers(values), "attached")


@pytest.mark.parametrize("block", range(6))
def test_seeded_programs_leave_one_trace(block: int) -> None:
    for seed in range(50 * block, 50 * block + 50):
        detached = play(Stream(seed).below, "detached")
        attached = play(Stream(seed).below, "attached")
        assert detached == attached, f"seed {seed}"


def test_the_programs_do_what_they_should_cover() -> None:
    rows = []
    ends = []
    for seed in range(100):
        trace, end, _events = play(Stream(seed).below, "detached")
        rows += [row[2:] for row in trace]
        ends.append(end)
    seen = {row[0] for row in rows}
    assert seen >= {
        "sleep",
        "get",
        "get_within",
        "wait",
        "nurse",
        "cancel",
        "spawn",
        "event",
        "pause",
        "timer",
    }
    assert any(row[0] == "raises" and "Cancelled" in str(row[1]) for row in rows)
    assert any(row[0] == "nurse" and "Planned" in str(row[1]) for row in rows)
    assert {end.split("(")[0].split("[")[0] for end in ends} >= {"returned", "Deadlock", "ExceptionGroup"}
