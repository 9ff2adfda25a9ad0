"""Gain: whether leaps save enough for what they leave uncertain.

A copy ends in a burst of its quota, and a leap knows the time of the burst in which it ends within half a cycle of the
quota. That is much of a short time. And where copies get hardly more than what is written meanwhile, a small error of
what a quota lets pass is a large one of the time.
"""

from __future__ import annotations

CYCLES_LEFT = 6
"""No leap follows a window when all copies end within so many cycles: each gets its bursts then, and what is left is
simulated soon."""
SHORT_CYCLES = 30
"""The cycles within which moves are short: half a cycle is more than 1.7 % of their time."""
CHEAP_EVENTS = 1_000_000
"""The events, about half a minute of CPU, up to which short moves are simulated."""
HARDLY = 0.03
"""The part of what a quota lets pass by which its copies come nearer to their ends. An error of 0.05 % in the former is
one of 1.7 % in the time where it is no more than this,"""
DEAR_EVENTS = 5 * CHEAP_EVENTS
"""and is simulated where that takes up to so many events: not where the copies never come to their ends."""


def small_gain(
    lasts_us: float, longest_us: float, cycle_us: float, events: float, margin: float, *, late: bool = False
) -> str:
    """Why the rest of the moves is simulated; empty: leaps are worth it.

    Args:
        lasts_us: how long copies are under way in all.
        longest_us: in what time the last one ends, by its rate alone.
        cycle_us: the cycle of the quotas.
        events: how many there are until then if all is simulated.
        margin: see ``Sharing.margin``.
        late: whether half of the time has passed without a leap.
    """
    if longest_us < CYCLES_LEFT * cycle_us:
        return f"all copies end within {CYCLES_LEFT} cycles of the quotas"
    if (late or lasts_us < SHORT_CYCLES * cycle_us) and events < CHEAP_EVENTS:
        return f"the rest, or moves of less than {SHORT_CYCLES} cycles of the quotas, cost little to simulate"
    if margin < HARDLY and events < DEAR_EVENTS:
        return f"copies gain less than {HARDLY:.0%} of a throttle on what is written"
    return ""
