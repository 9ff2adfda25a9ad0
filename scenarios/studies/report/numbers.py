"""Numbers as the pages write them: those of the comparison's text, with units and a true minus sign. ``number`` in
assets/page.js writes the same."""

from __future__ import annotations

import re

from scenarios.studies.statistics import numbers as plain

MINUS = "\u2212"


def number(value: float | None, unit: str = "", *, signed: bool = False) -> str:
    """Four digits that count: 1234.56 in ms is ``1,235 ms``; None is ``none``."""
    text = "none" if value is None else plain.number(value, signed=signed).replace("-", MINUS)
    return f"{text} {unit}".rstrip()


def percent(share: float, *, signed: bool = False) -> str:
    """0.1234 is ``12%``, 12.34 is ``1,234%``."""
    text = plain.percent(share, signed=signed).replace("-", MINUS)
    return re.sub(r"\d{4,}", lambda found: f"{int(found[0]):,}", text)


def p_value(p: float) -> str:
    """``p < 0.001`` or ``p = 0.012``."""
    return plain.p_value(p).replace("p 0", "p = 0")
