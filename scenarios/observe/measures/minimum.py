"""The smallest difference that matters: a smaller one counts as no difference at all.

A share (``1%``) is of the larger of the two means. So it does not matter which of two arms is the baseline, and a
baseline of 0 has a minimum, too. A value with a unit (``100ms``, ``5 records``) is for the metrics in that unit; the
others keep the share.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import evolve, frozen

from scenarios.errors import BadInput, did_you_mean
from scenarios.observe.measures.figures import declared
from scenarios.units import MICROSECONDS, format_duration, parse_duration

FORM = "write a share such as 1%, or a value with a unit such as 100ms or 5 records"
_SHARE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*", re.ASCII)
_VALUE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z][a-z -]*[a-z])\s*", re.ASCII)
_PER_UNIT_US = {"s": MICROSECONDS["s"], "ms": MICROSECONDS["ms"]}


@frozen(kw_only=True)
class Minimum:
    """The smallest difference that matters.

    Attributes:
        share: a share of the larger mean: 0.01 is 1 %.
        time_us: a time, for metrics in seconds or milliseconds, instead of the share.
        values: a value for the metrics in each unit.
    """

    share: float = 0.01
    time_us: int | None = None
    values: tuple[tuple[str, float], ...] = ()

    def of(self, unit: str, one_mean: float, other_mean: float) -> float:
        """The smallest difference that matters between two means of a metric in ``unit``."""
        if self.time_us is not None and unit in _PER_UNIT_US:
            return self.time_us / _PER_UNIT_US[unit]
        return dict(self.values).get(unit, self.share * max(abs(one_mean), abs(other_mean)))

    def __str__(self) -> str:
        values = [f"{value:g} {unit}" for unit, value in self.values]
        times = [] if self.time_us is None else [format_duration(self.time_us)]
        return ", ".join([f"{self.share * 100:g}%", *times, *values])


def parse_minima(texts: Iterable[str]) -> Minimum:
    """The minimum in several texts; a later one overrides an earlier one. Raises: BadInput."""
    found = Minimum()
    for text in texts:
        found = parse_minimum(text, before=found)
    return found


def parse_minimum(text: str, *, before: Minimum | None = None) -> Minimum:
    """A minimum from one text, added to an earlier one.

    Raises: BadInput for a text that is neither a share nor a value with the unit of a metric.
    """
    found, units = before or Minimum(), dict.fromkeys(figure.unit for figure in declared().values())
    if share := _SHARE.fullmatch(text):
        percent = float(share[1])
        if percent >= 100:
            raise BadInput(f"{text!r} leaves no difference that matters; write less than 100%")
        return evolve(found, share=percent / 100)
    value = _VALUE.fullmatch(text)
    if value is None:
        raise BadInput(f"{text!r} is not understood; {FORM}")
    if value[2] in MICROSECONDS:
        return evolve(found, time_us=parse_duration(f"{value[1]}{value[2]}"))
    unit = next((unit for unit in units if value[2] in (unit, _one(unit))), None)
    if unit is None:
        known = ("%", *MICROSECONDS, *(unit for unit in units if unit not in MICROSECONDS))
        raise BadInput(f"{text!r} has the unknown unit {value[2]!r}; {did_you_mean(value[2], known)}")
    return evolve(found, values=(*((u, v) for u, v in found.values if u != unit), (unit, float(value[1]))))


def _one(units: str) -> str:
    """The singular of a unit: ``1 batch``, ``1 record``."""
    return units.removesuffix("es") if units.endswith("ches") else units.removesuffix("s")
