"""Numbers as a comparison writes them, on the console, on the page and in a notebook."""

from __future__ import annotations

from math import isinf

_TINY_P = 0.001
_TINY = 1e-6
"""Below it a number has an exponent, and a share in percent is the rounding of sums."""


def number(value: float | None, unit: str = "", *, signed: bool = False) -> str:
    """Four significant digits, and the unit: ``9.613 s``, ``12,340``, ``0.00001234``; ``none`` for None."""
    if value is None:
        return "none"
    sign = "+" if signed and value > 0 else ""
    if isinf(value) or 0 < abs(value) < _TINY:
        return f"{sign}{value:.4g} {unit}".rstrip()
    digits = f"{float(f'{value:.4g}'):,.10f}".rstrip("0").rstrip(".")
    return f"{sign}{digits} {unit}".rstrip()


def percent(share: float, *, signed: bool = False) -> str:
    """``28%``, ``-0.4%``, ``1,234%``; two digits below 10%."""
    value = 100 * share
    if abs(value) < _TINY:
        return "0%"
    digits = f"{value:,.0f}" if abs(value) >= 10 else number(float(f"{value:.2g}"))
    return f"{'+' if signed and value > 0 else ''}{digits}%"


def p_value(p: float | None) -> str:
    """``p < 0.001``, ``p = 0.021``; ``no test needed`` for None."""
    if p is None:
        return "no test needed"
    return f"p < {_TINY_P}" if p < _TINY_P else f"p = {p:.3f}"
