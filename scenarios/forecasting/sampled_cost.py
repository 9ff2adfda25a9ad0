"""The share of a sampled run that is simulated message by message, and the pieces of its leaps: what such a run costs
follows from these.

Windows come after growing times, and as copies end (``scenarios.runs.leaping.leaper`` decides); this is its rule in one
line each, fitted to measured runs (``python -m benchmarks.cost``).
"""

from __future__ import annotations

from math import inf, log

from attrs import frozen

CYCLES_A_WINDOW = 1.65
"""The cycles of the quotas that go by for each window: one to get into step, one that is measured, and some of both are
cut short."""
ENDS_A_WINDOW = 1.5
"""A third of the copies has ended when half of the windows that this calls for are due anyway."""
MOST = 0.6
"""However often windows are due, so much of the time is simulated."""
PIECES_A_COPY, APART_S = 0.6, 10.0
"""The pieces for each copy, as some ends share one, and how far apart they are at least."""

EVENT_S = 30e-6
"""The processor time of an event of a run, about."""


@frozen
class Simulated:
    """The part of a sampled run that is simulated.

    Attributes:
        seconds: virtual seconds of which every message is simulated.
        pieces: how often some partitions are brought to now within a leap.
    """

    seconds: float
    pieces: float


def simulated(
    moves_s: float, copies: int, at_a_time: int, cycle_s: float, requests: int = 1, exact_cpu_s: float = inf
) -> Simulated:
    """The part that is simulated of moves that take so long.

    Args:
        copies: how many copies there are, ``at_a_time`` of them at the same time.
        cycle_s: the length of a quota's cycle.
        requests: how often moves are requested: what a new copy gets is measured.
        exact_cpu_s: the processor time of all of them in an exact run.
    """
    from scenarios.runs.leaping.gain import CYCLES_LEFT, small_gain
    from scenarios.runs.leaping.leaper import (  # with all that runs need
        COPIES,
        CYCLES_BETWEEN,
        FEW,
        SHARE_BETWEEN,
    )

    if not copies or small_gain(moves_s, moves_s, cycle_s, exact_cpu_s / EVENT_S, margin=1.0):
        return Simulated(moves_s, 0.0)
    share, by_time, now_s = max(SHARE_BETWEEN, at_a_time / COPIES), 0, 2 * cycle_s
    while now_s < moves_s - CYCLES_LEFT * cycle_s:
        by_time += 1
        now_s += max(CYCLES_BETWEEN * cycle_s, share * (now_s - 2 * cycle_s)) + 2 * cycle_s
    by_ends = log(copies) / log(ENDS_A_WINDOW) / 2
    windows = requests + by_time + by_ends
    seconds = min(MOST * moves_s, CYCLES_A_WINDOW * cycle_s * windows)
    pieces = min(PIECES_A_COPY * copies, moves_s / APART_S) if at_a_time > FEW else 0.0
    return Simulated(seconds, pieces)
