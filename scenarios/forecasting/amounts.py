"""Amounts of a forecast as people read them, to three digits: ``47.9 MB/s``, ``1.02 TB``, ``9 h 18 min``."""

from __future__ import annotations

from math import inf

from scenarios.progress import words

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def size(amount: float) -> str:
    """Bytes, in a decimal unit."""
    place = 0
    while amount >= 999.5 and place < len(_UNITS) - 1:
        amount, place = amount / 1000, place + 1
    return f"{amount:.3g} {_UNITS[place]}"


def rate(amount: float) -> str:
    """Bytes per second."""
    return f"{size(amount)}/s"


def time(seconds: float | None) -> str:
    """Seconds; ``never`` for None, and for a time without end."""
    return "never" if seconds is None or seconds == inf else words(seconds)
