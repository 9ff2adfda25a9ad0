"""Detached and attached tasks are one world: the same trace, the same end, the same number of events, under each
schedule."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.schedules import Schedule
from emulator.streams import Stream
from tests.emulator.kernel.programs import Draw, play


def numbers(values: list[int]) -> Draw:
    """Choices from ``values``; zeros when they are used up."""
    left = iter(values)
    return lambda bound: next(left, 0) % bound


SCHEDULES = (None, Schedule("random", 10), Schedule("pct", 10, 3), Schedule("pos", 10))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 359), max_size=150), st.sampled_from(SCHEDULES))
def test_drawn_programs_leave_one_trace(values: list[int], schedule: Schedule | None) -> None:
    assert play(numbers(values), "detached", schedule) == play(numbers(values), "attached", schedule)


@pytest.mark.parametrize("block", range(6))
def test_seeded_programs_leave_one_trace(block: int) -> None:
    for seed in range(50 * block, 50 * block + 50):
        schedule = SCHEDULES[seed % len(SCHEDULES)]
        detached = play(Stream(seed).below, "detached", schedule)
        attached = play(Stream(seed).below, "attached", schedule)
        assert detached == attached, f"seed {seed}"


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_trace_does_not_depend_on_where_turns_end(schedule: Schedule | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ticks with nothing to do count as events of a turn where they are simulated. At the end of a turn Trio starts the
    tasks that were spawned in it."""
    for seed in range(30):
        monkeypatch.undo()
        whole = play(Stream(seed).below, "detached", schedule)
        for turn in (1, 2, 3, 7):
            monkeypatch.setattr("emulator.kernel.world.TURN", turn)
            assert play(Stream(seed).below, "detached", schedule) == whole, f"seed {seed}, turns of {turn} events"


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
