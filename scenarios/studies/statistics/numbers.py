"""Numbers as the text of a comparison writes them."""

from __future__ import annotations

from math import isinf

from scenarios.studies.statistics.result import Difference, Interval

_TINY_P = 0.001
_TINY = 1e-6
"""Below it a number has an exponent, and a share in percent is the rounding of sums."""


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


def change(cell: Difference) -> str:
    """The relative difference with its interval, ``+28% [+27%, +29%]``; the absolute one where there is no relative."""
    if cell.mean is None:
        return "-"
    if cell.relative is not None and cell.relative_interval is not None and _finite(cell.relative_interval):
        ends = (percent(cell.relative_interval.low), percent(cell.relative_interval.high))
        return f"{percent(cell.relative)} [{', '.join(ends)}]"
    if cell.interval is None:
        return number(cell.mean, signed=True)
    ends = (number(cell.interval.low, signed=True), number(cell.interval.high, signed=True))
    return f"{number(cell.mean, signed=True)} [{', '.join(ends)}]"


def _finite(interval: Interval) -> bool:
    return not (isinf(interval.low) or isinf(interval.high))


def p_value(p: float | None) -> str:
    """``p < 0.001``, ``p 0.021``; ``no test needed`` for None."""
    if p is None:
        return "no test needed"
    return f"p < {_TINY_P}" if p < _TINY_P else f"p {p:.3f}"
