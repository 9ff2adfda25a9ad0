"""The axes in which the levels of a comparison differ, and short names: of a level no more than its values on them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import frozen

from scenarios.studies.statistics.result import Comparison

BETWEEN = " \u00b7 "
_BARE = re.compile(r"[-+\d.,]*|true|false")
"""Values that do not say by themselves what they are values of."""


@frozen
class ArmAxis:
    """An axis: its name, and the values that levels have on it, as short names say them, in the levels' order."""

    name: str
    values: tuple[str, ...]


@frozen
class ArmAxes:
    """The levels of a comparison, placed on axes.

    Attributes:
        axes: axes in which levels differ; where there are none, one that has the levels' names.
        places: a level's name to its place on each axis.
        labels: a level's name to its short name.
    """

    axes: tuple[ArmAxis, ...]
    places: Mapping[str, tuple[int, ...]]
    labels: Mapping[str, str]

    @classmethod
    def of(cls, comparison: Comparison) -> ArmAxes:
        """The axes that are compared, as far as they tell the levels apart."""
        names = comparison.by
        values = {
            level.name: tuple(_said(axis, level.values.get(axis, "")) for axis in names) for level in comparison.levels
        }
        known = all(axis in level.values for level in comparison.levels for axis in names)
        if not names or not known or len(set(map(BETWEEN.join, values.values()))) < len(values):
            names, values = ("arm",), {name: (name,) for name in values}
        axes = [
            ArmAxis(name, tuple(dict.fromkeys(own[at] for own in values.values()))) for at, name in enumerate(names)
        ]
        places = {
            name: tuple(axis.values.index(value) for axis, value in zip(axes, own, strict=True))
            for name, own in values.items()
        }
        return cls(tuple(axes), places, {name: BETWEEN.join(own) for name, own in values.items()})

    @property
    def heading(self) -> str:
        """The heading of a column of short names: the names of the axes in them."""
        return BETWEEN.join(axis.name for axis in self.axes)


def _said(axis: str, value: str) -> str:
    """The value, with the last word of its axis where it would not be understood without: ``brokers=5``, ``10MB/s``."""
    return f"{axis.rpartition('.')[2]}={value}" if _BARE.fullmatch(value) else value
