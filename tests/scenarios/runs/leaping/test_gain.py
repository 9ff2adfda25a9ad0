"""Where leaps gain too little: short moves, and copies that hardly come nearer to their ends."""

import math

import pytest

from scenarios.runs import run_scenario
from scenarios.runs.leaping.gain import CHEAP_EVENTS, DEAR_EVENTS, HARDLY, SHORT_CYCLES, small_gain
from tests.scenarios.runs.leaping.test_sampled_runs import leaps, throttled

CYCLE_US = 11_000_000
LONG_US = SHORT_CYCLES * CYCLE_US


def test_a_move_of_a_minute_is_the_exact_run_and_says_why() -> None:
    sampled, exact = leaps(throttled()), run_scenario(throttled(fidelity="exact"))
    assert sampled.leaping is not None
    assert (sampled.leaping.leaps, sampled.leaping.leapt_us) == (0, 0)
    assert "cost little to simulate" in str(sampled.leaping)
    assert {**sampled.metrics} == {**exact.metrics}


@pytest.mark.parametrize(
    ("lasts_us", "longest_us", "events", "margin", "why"),
    [
        (LONG_US, LONG_US, 1e5, 1.0, ""),
        (LONG_US - 1, LONG_US, 1e5, 1.0, "cost little to simulate"),
        (LONG_US - 1, LONG_US, 1.01 * CHEAP_EVENTS, 1.0, ""),
        (LONG_US, 5 * CYCLE_US, 1e7, 1.0, "all copies end"),
        (LONG_US, LONG_US, 0.99 * DEAR_EVENTS, HARDLY / 2, "gain less than 3% of a throttle"),
        (LONG_US, math.inf, math.inf, HARDLY / 2, ""),
    ],
)
def test_leaps_gain_little(lasts_us: float, longest_us: float, events: float, margin: float, why: str) -> None:
    """A short move leaps where it costs much, and a long one unless it is nearly over, or late and cheap."""
    found = small_gain(lasts_us, longest_us, CYCLE_US, events, margin)
    assert why in found
    assert bool(found) is bool(why)


def test_no_leap_comes_late_where_the_rest_is_cheap() -> None:
    assert small_gain(LONG_US, LONG_US, CYCLE_US, 1e5, 1.0, late=True)
    assert not small_gain(LONG_US, LONG_US, CYCLE_US, 1.01 * CHEAP_EVENTS, 1.0, late=True)
