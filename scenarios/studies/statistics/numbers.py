"""Numbers as the text of a comparison writes them."""

from __future__ import annotations

from collections.abc import Callable
from math import isinf

from scenarios.studies.statistics.result import Difference, Interval

_TINY_P = 0.001
_TINY = 1e-6
"""Below it a number has an exponent, and a share in percent is the rounding of sums."""
LARGEST_SHARE = 9.0
"""Of what is shown as a share: ten times the baseline."""


def number(value: float | None, *, signed: bool = False) -> str:
    """Four significant digits: ``9.613``, ``12,340``, ``0.00001234``, ``-`` for None."""
    if value is None:
        return "-"
    sign = "+" if signed and value > 0 else ""
    if isinf(value) or 0 < abs(value) < _TINY:
        return f"{sign}{value:.4g}"
    return f"{sign}{float(f'{value:.4g}'):,.10f}".rstrip("0").rstrip(".")


def percent(share: float, *, signed: bool = True) -> str:
    """``+28%``, ``-0.4%``; two digits below 10%."""
    value = 100 * share
    if abs(value) < _TINY:
        return "0%"
    digits = f"{value:.0f}" if abs(value) >= 10 else number(float(f"{value:.2g}"))
    return f"{'+' if signed and value > 0 else ''}{digits}%"


def change(cell: Difference, unit: str = "") -> str:
    """The difference with its interval: as a share, ``+28% [+27%, +29%]``, where it can be told as one; else in its
    unit, ``+1,010 [+990, +1,030] ms``."""
    if cell.mean is None:
        return "-"
    if cell.equal == cell.pairs:
        return "0"
    if is_shown_as_share(cell):
        assert cell.relative is not None
        ends = _ends(cell.relative_interval, percent)
        return f"{percent(cell.relative)}{ends}"
    ends = _ends(cell.interval, lambda end: number(end, signed=True))
    return f"{number(cell.mean, signed=True)}{ends} {unit}".rstrip()


def points(cell: Difference) -> str:
    """The difference of two shares, ``+37 [+12, +60] points``."""
    ends = _ends(cell.interval, lambda end: f"{100 * end:+.0f}")
    return f"{100 * (cell.mean or 0.0):+.0f}{ends} points"


def is_shown_as_share(cell: Difference) -> bool:
    """Not of a baseline that is 0 or next to nothing: 1 s against 7 ms is no +14,000%."""
    if cell.relative is None:
        return False
    ends = cell.relative_interval
    return all(abs(share) <= LARGEST_SHARE for share in (cell.relative, *((ends.low, ends.high) if ends else ())))


def _ends(interval: Interval | None, text: Callable[[float], str]) -> str:
    return "" if interval is None else f" [{text(interval.low)}, {text(interval.high)}]"


def p_value(p: float | None) -> str:
    """``p < 0.001``, ``p 0.021``; ``no test needed`` for None."""
    if p is None:
        return "no test needed"
    return f"p < {_TINY_P}" if p < _TINY_P else f"p {p:.3f}"
