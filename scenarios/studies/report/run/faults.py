"""The actions of a scenario as spans over the time axis, and what each did to partitions.

A fault lasts until the action that undoes it hits the same machines, or everything is healed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import frozen

from emulator.protocol.events import Fault
from scenarios.errors import BadInput
from scenarios.language.actions import all_actions, find_action
from scenarios.observe.measures.harms import Harm, harms
from scenarios.observe.measures.recoveries import NO_FAULTS
from scenarios.observe.timeline.words import words

_HEAL = "heal"


@frozen
class Shade:
    """An action of the scenario.

    Attributes:
        kind: ``fault``, ``undo``, or ``operator`` for what an operator or an application does.
        end_us: time at which it was undone; None: it lasted until the end, or has no duration.
        lasts: whether it is of the kind that lasts until it is undone.
    """

    t_us: int
    seq: int
    kind: str
    action: str
    target: str
    text: str
    end_us: int | None
    lasts: bool


def shades(faults: Sequence[Fault]) -> list[Shade]:
    """The actions in their order."""
    undoing = dict.fromkeys(kind.undo.name for kind in all_actions().values() if kind.undo is not None)
    return [_shade(fault, faults[place + 1 :], undoing) for place, fault in enumerate(faults)]


def _shade(fault: Fault, later: Iterable[Fault], undoing: Mapping[str, None]) -> Shade:
    undoes = fault.action == _HEAL or fault.action in undoing
    undo = None if undoes else _undo_of(fault.action)
    kind = "undo" if undoes else "operator" if undo is None and fault.action in NO_FAULTS else "fault"
    end = next((one.t_us for one in later if _ends(one, undo, fault.target)), None) if undo else None
    text = words(fault).removeprefix("FAULT ")
    return Shade(fault.t_us, fault.seq, kind, fault.action, fault.target, text, end, lasts=undo is not None)


def _undo_of(action: str) -> str | None:
    """The action that ends the effect of another one; None also for one of a plug-in that is not loaded."""
    try:
        undo = find_action(action).undo
    except BadInput:
        return None
    return None if undo is None else undo.name


def _ends(later: Fault, undo: str, target: str) -> bool:
    if later.action == _HEAL:
        return True
    wanted, hit = target.split(","), later.target.split(",")
    return later.action == undo and (not target or all(one in hit for one in wanted))


@frozen
class Recovery:
    """The harm that a fault did to partitions, the worst first, and for how long. ``seq``: the fault's event."""

    seq: int
    t_us: int
    harms: Sequence[Harm]


def recoveries(found: Sequence[Shade], intervals: Iterable[Mapping[str, Any]], end_us: int) -> list[Recovery]:
    """For each fault. ``intervals``: the rows of ``isr_events``."""
    faults = [shade for shade in found if shade.action not in NO_FAULTS and shade.kind == "fault"]
    followed = harms(intervals, [fault.t_us for fault in faults], end_us)
    return [Recovery(fault.seq, fault.t_us, harmed) for fault, harmed in zip(faults, followed, strict=True)]
