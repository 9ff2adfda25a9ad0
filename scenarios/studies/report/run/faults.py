"""The actions of a scenario as spans over the time axis, and how soon the cluster recovered from each.

A fault lasts until the action that undoes it hits the same machines, or everything is healed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import frozen

from emulator.protocol.events import Fault
from scenarios.errors import BadInput
from scenarios.language.actions import all_actions, find_action
from scenarios.observe.measures.at_once import AtOnce
from scenarios.observe.measures.recoveries import NO_FAULTS, recovered_us
from scenarios.observe.timeline.words import words

_HEAL = "heal"
HARM = ("offline", "under_min_isr", "under_replicated_final")
"""Flags of ``isr_events``, the worst first: no leader, fewer in sync than min.insync.replicas, fewer in sync than
replicas that are not being added (KIP-352)."""
IN_WORDS = {
    "offline": "without a leader",
    "under_min_isr": "below min.insync.replicas",
    "under_replicated_final": "under-replicated",
}


@frozen
class Shade:
    """An action of the scenario.

    Attributes:
        kind: ``fault``, ``undo``, or ``operator`` for what an operator or an application does.
        end_us: when it was undone; None: it lasted until the end, or has no duration.
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
    """How the cluster got over a fault, as the measure ``recoveries`` counts it, but for all kinds of harm.

    Attributes:
        seq: of the fault.
        harm: the worst that held in any partition, in words; empty: none did.
        begun_us: when that began, or the fault, if it was so by then.
        partitions: how many were harmed.
        over_us: when no partition was harmed any more; None: some still was at the end of the run.
    """

    seq: int
    t_us: int
    harm: str
    begun_us: int
    partitions: int
    over_us: int | None


@frozen
class _Harmed:
    """A stretch of time in which a partition was harmed. ``worst``: a place in ``HARM``."""

    begin_us: int
    end_us: int
    worst: int
    partition: tuple[str, int]


def recoveries(found: Sequence[Shade], intervals: Iterable[Mapping[str, Any]], end_us: int) -> list[Recovery]:
    """For each fault. ``intervals``: the rows of ``isr_events``."""
    harmed = [
        _Harmed(row["t_us"], row["t_us"] + row["w_us"], held.index(True), (row["topic"], row["partition"]))
        for row in intervals
        if any(held := [bool(row[flag]) for flag in HARM])
    ]
    faults = [shade for shade in found if shade.action not in NO_FAULTS and shade.kind == "fault"]
    until = recovered_us([fault.t_us for fault in faults], _times(harmed))
    return [_recovery(fault, harmed, until_us, end_us) for fault, until_us in zip(faults, until, strict=True)]


def _times(harmed: Sequence[_Harmed]) -> list[list[int]]:
    """Begin and end of each time with any partition harmed."""
    at_once = AtOnce()
    changes = [change for one in harmed for change in ((one.begin_us, 1), (one.end_us, -1))]
    for t_us, by in sorted(changes):
        at_once.change(t_us, by)
    return at_once.episodes


def _recovery(fault: Shade, harmed: Sequence[_Harmed], until_us: int, end_us: int) -> Recovery:
    since = [one for one in harmed if one.end_us > fault.t_us and one.begin_us < until_us]
    if not since:
        return Recovery(fault.seq, fault.t_us, "", fault.t_us, 0, fault.t_us)
    worst = min(one.worst for one in since)
    return Recovery(
        fault.seq,
        fault.t_us,
        IN_WORDS[HARM[worst]],
        max(fault.t_us, min(one.begin_us for one in since if one.worst == worst)),
        len(dict.fromkeys(one.partition for one in since)),
        until_us if until_us < end_us else None,
    )
