"""The interval of a share that was counted."""

from __future__ import annotations

SURE = 1.959964
"""The standard deviations on either side of 95 %."""


def wilson(found: int, of: int) -> tuple[float, float]:
    """Wilson's interval of 95 % for the share ``found`` of ``of``, both ends included."""
    share, square = found / of, SURE**2 / of
    middle = share + square / 2
    half = SURE * (share * (1 - share) / of + square / of / 4) ** 0.5
    return max(0.0, (middle - half) / (1 + square)), min(1.0, (middle + half) / (1 + square))
