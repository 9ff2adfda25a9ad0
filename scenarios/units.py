"""Durations, sizes and rates as people write them, and as the emulator counts them.

Durations are integer microseconds of virtual time, sizes integer bytes, rates integer bytes per second.
Binary (``KiB``, ``MiB``, ``GiB``) and decimal (``kB``, ``MB``, ``GB``) units are kept apart. Formatting picks the
largest unit that is exact, so that what is written reads back as the same integer.

Raises ``BadInput`` for a text that is not a number with a unit, is negative, or is not a whole number of the unit
that is counted (microseconds, bytes, bytes per second).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from scenarios.errors import BadInput, did_you_mean

MICROSECONDS: Mapping[str, int] = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "m": 60_000_000,
    "h": 3_600_000_000,
}
BYTES: Mapping[str, int] = {
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
LARGEST = 2**63 - 1
"""The largest count in a scenario: traces hold 64-bit integers."""
MOST_DIGITS = 100
"""The most digits of a number. A longer one is refused unread: Python raises ValueError for one of some thousand
digits."""
_WRITTEN_BYTES = ("TiB", "TB", "GiB", "GB", "MiB", "MB", "KiB", "kB", "B")
_QUANTITY = re.compile(r"\s*+(\d++(?:\.\d++)?+)\s*+([A-Za-zµ]*+)\s*+", re.ASCII | re.IGNORECASE)
_DURATION = 'a duration such as "500us", "90ms", "5s", "10m", "1h" or "2m30s"'
_WRITE = f"write {_DURATION}"
_COMPOUND = re.compile(r"(?:\s*+\d++(?:\.\d++)?+\s*+[A-Za-zµ]++){2,}+\s*+", re.ASCII | re.IGNORECASE)


def parse_duration(text: str) -> int:
    """The microseconds of a duration: ``"90ms"`` is 90000, ``"2m30s"`` 150 seconds."""
    if _COMPOUND.fullmatch(text) is None:
        return _parse(text, MICROSECONDS, _DURATION)
    total, larger = 0, LARGEST
    for part in _QUANTITY.finditer(text):
        unit = MICROSECONDS.get(part[2], 0)
        if unit >= larger:
            raise BadInput(f"{text!r} does not name its units from the largest to the smallest, each once; {_WRITE}")
        if "." in part[1] and part.end() < len(text):
            raise BadInput(f"{text!r} has a fraction before its last unit; {_WRITE}")
        total, larger = total + _parse(part[0], MICROSECONDS, _DURATION), unit
    if total > LARGEST:
        raise BadInput(f"{text!r} is too large; {_WRITE}")
    return total


def parse_size(text: str) -> int:
    """The bytes of a size: ``"1GiB"`` is 1073741824."""
    return _parse(text, BYTES, 'a size such as "512B", "64MiB" or "1GB"')


def parse_rate(text: str) -> int:
    """The bytes per second of a rate: ``"50MB/s"`` is 50000000."""
    form = 'a rate such as "200MiB/s" or "50MB/s"'
    stem, slash, second = text.strip().rpartition("/")
    if not slash or second.strip() != "s":
        raise BadInput(f"{text!r} is not a rate; write {form}")
    return _parse(stem, BYTES, form)


def counted(count: int, nouns: str) -> str:
    """A number with its noun: ``2,000 batches``, ``1 batch``; a unit that is no plural stays: ``1 ms``."""
    if count == 1 and len(nouns) > len("ms"):
        nouns = nouns.removesuffix("es") if nouns.endswith("ches") else nouns.removesuffix("s")
    return f"{count:,} {nouns}"


def number(value: float | None) -> str:
    """A figure as text; ``-`` for one that the run does not have."""
    if value is None:
        return "-"
    return f"{value:,.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"


def format_duration(duration_us: int) -> str:
    return _format(duration_us, MICROSECONDS, ("h", "m", "s", "ms", "us"), zero="0s")


def format_size(size_bytes: int) -> str:
    return _format(size_bytes, BYTES, _WRITTEN_BYTES, zero="0B")


def format_rate(bytes_per_s: int) -> str:
    return format_size(bytes_per_s) + "/s"


def _parse(text: str, units: Mapping[str, int], form: str) -> int:
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise BadInput(f"{text!r} is not understood; write {form}")
    stated, unit = match.groups()
    if not unit:
        raise BadInput(f"{text!r} has no unit; write {form}")
    if unit not in units:
        raise BadInput(f"{text!r} has the unknown unit {unit!r}; {did_you_mean(unit, units)}")
    whole, _, decimals = stated.partition(".")
    parts: int = 10 ** len(decimals)
    amount, finer = divmod(int((whole + decimals)[:MOST_DIGITS]) * units[unit], parts)
    if len(stated) > MOST_DIGITS or (amount, finer) > (LARGEST, 0):
        raise BadInput(f"{stated[:20]}... {unit} is too large; write {form}")
    if finer:
        raise BadInput(f"{text!r} is finer than the unit counted; write {form}")
    return amount


def _format(amount: int, units: Mapping[str, int], order: tuple[str, ...], *, zero: str) -> str:
    if amount == 0:
        return zero
    unit = whole_unit(amount, units, order)
    return f"{amount // units[unit]}{unit}"


def whole_unit(amount: int, units: Mapping[str, int], order: Iterable[str]) -> str:
    """The first unit in which the amount is a whole number."""
    return next(unit for unit in order if amount % units[unit] == 0)
