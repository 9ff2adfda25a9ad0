"""Numbers as the pages write them: those of ``scenarios.studies.statistics.numbers``, with a true minus sign. What
assets/page.js writes by ``number`` is the same."""

from __future__ import annotations

import re

from scenarios.studies.statistics import numbers as plain

_MINUS = re.compile(r"(?<!\w)-(?=\d)")


def typeset(text: str) -> str:
    """The text with true minus signs before its numbers."""
    return _MINUS.sub("\u2212", text)


def number(value: float | None, unit: str = "", *, signed: bool = False) -> str:
    """Four significant digits, and the unit: ``1,235 ms``; ``none`` for None."""
    return typeset(plain.number(value, unit, signed=signed))


def percent(share: float, *, signed: bool = False) -> str:
    """``12%``, ``1,234%``."""
    return typeset(plain.percent(share, signed=signed))
