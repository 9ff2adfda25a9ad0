"""``schedule = "pct-3"``: the names of schedules, and the schedule that a name stands for (``emulator.schedules``)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scenarios.errors import BadInput, did_you_mean
from scenarios.language.schema.kinds import Text

if TYPE_CHECKING:
    from emulator.schedules import Schedule

FIFO = "fifo"
DEEPEST = 20
"""The largest D of ``pct-D``. The papers' bugs need at most 5."""

SCHEDULES = {
    FIFO: "a delivery takes the network's time; what is due at one instant happens in the order in which it was "
    "scheduled",
    "random": "each delivery is kept back for a time of its own",
    "pct-D": "some connections, or some processes, are slower than others for a long time; at D - 1 drawn steps one of "
    "them becomes the slowest (probabilistic concurrency testing)",
    "pos": "of the messages that have arrived, the one with the highest priority is delivered next; one that races "
    "with it draws its priority again (partial-order sampling)",
}
"""The schedules by name, each with its effect in words."""

_PCT = re.compile(r"pct-([1-9]\d?)")


def check_schedule(name: str) -> str:
    """``name`` itself when there is such a schedule; ``BadInput`` otherwise."""
    _parsed(name)
    return name


SCHEDULE = Text(check_schedule, "a schedule")


def parse_schedule(name: str, bound_us: int) -> Schedule | None:
    """The schedule ``name``, which keeps deliveries back for up to ``bound_us``; None: first in, first out."""
    kind, depth = _parsed(name)
    if kind == "fifo":
        return None

    from emulator.schedules import Schedule  # few runs have one

    return Schedule(kind, bound_us, depth)  # type: ignore[arg-type]  # one of the three


def _parsed(name: str) -> tuple[str, int]:
    pct = _PCT.fullmatch(name)
    if pct is not None and int(pct[1]) <= DEEPEST:
        return "pct", int(pct[1])
    if name in SCHEDULES and name != "pct-D":
        return name, 1
    if name.startswith("pct"):
        raise BadInput(f"unknown schedule {name!r}; write pct-1 to pct-{DEEPEST}")
    raise BadInput(f"unknown schedule {name!r}; {did_you_mean(name, tuple(SCHEDULES))}")
