"""An arm of a study: the runs that differ only in their seed.

It is below the design of a study (``scenarios.studies.design``), since the rows of a data set name their arm.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from attrs import Factory, evolve, field, frozen
from attrs.validators import instance_of

from scenarios.errors import BadInput, did_you_mean

STRATEGY = "strategy"
PROFILE = "profile"
FOLDER = "folder"
"""The axis that distinguishes arms of several folders; it is no key of a scenario."""
UNSTATED = "default"
"""The value on an axis of another folder, where the scenario says nothing."""


def _pairs(value: Iterable[Iterable[str]]) -> tuple[tuple[str, str], ...]:
    pairs = tuple((key, text) for key, text in value)
    if not all(isinstance(part, str) for pair in pairs for part in pair):
        raise TypeError("an axis and its value are texts")
    return pairs


@frozen
class Arm:
    """One strategy under one profile at one point of the grid.

    Attributes:
        grid: the scenario's keys that the grid sets, each with its value as ``--set`` takes it.
        name: distinguishes it from the other arms of its study, in as few words as possible; without other arms, all of
            its parts. Arms with different names are equal where the rest is.
    """

    strategy: str = field(validator=instance_of(str))
    profile: str = field(validator=instance_of(str))
    grid: tuple[tuple[str, str], ...] = field(default=(), converter=_pairs)
    name: str = field(
        default=Factory(lambda self: ", ".join(self.part(axis) for axis in self.axes), takes_self=True), eq=False
    )

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of ``value_of``: ``strategy``, ``profile`` and the keys of the grid."""
        return STRATEGY, PROFILE, *(key for key, _value in self.grid)

    def value_of(self, axis: str) -> str:
        """The arm's value on an axis, as text. Raises: BadInput for an axis that the study does not have."""
        values = {STRATEGY: self.strategy, PROFILE: self.profile, **dict(self.grid)}
        if axis not in values:
            raise BadInput(f"unknown axis {axis!r}; {did_you_mean(axis, values)}")
        return values[axis]

    def part(self, axis: str) -> str:
        """The arm's value in a name: ``wiki``, ``kafka-2.4``, ``strategy.throttle=10MB/s``."""
        value = self.value_of(axis)
        return value if axis in (STRATEGY, PROFILE) else f"{axis}={value}"

    @property
    def grid_json(self) -> str:
        """The grid's keys and values as a JSON object: a cell of ``runs.grid``."""
        return json.dumps(dict(self.grid))

    @property
    def options(self) -> tuple[str, ...]:
        """The options of ``understudy run`` for a run of this arm."""
        stated = (f"{key}={value}" for key, value in self.grid if key != FOLDER and value != UNSTATED)
        changes = (part for change in stated for part in ("--set", change))
        return "--strategy", self.strategy, "--profile", self.profile, *changes

    def to_json(self) -> dict[str, Any]:
        """The arm without its name; ``Arm(**content)`` reads it."""
        return {"strategy": self.strategy, "profile": self.profile, "grid": [list(pair) for pair in self.grid]}


def named(arms: Iterable[Arm]) -> tuple[Arm, ...]:
    """The arms of a study, each with the shortest name that distinguishes it from the others: its values on the axes on
    which arms differ. All of them have the same axes."""
    found = tuple(arms)
    axes = found[0].axes if found else ()
    differing = [axis for axis in axes if len({arm.value_of(axis) for arm in found}) > 1]
    shown = differing or [STRATEGY]
    return tuple(evolve(arm, name=", ".join(arm.part(axis) for axis in shown)) for arm in found)
