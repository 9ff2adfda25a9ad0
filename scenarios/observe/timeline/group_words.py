"""The events of consumer groups in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from emulator.protocol import events as e
from scenarios.units import counted


def _loaded(event: e.GroupsLoaded) -> str:
    return (
        f"broker {event.node} coordinates the groups of {event.topic}-{event.partition} (epoch {event.leader_epoch}): "
        f"{counted(event.groups, 'groups')}, {counted(event.offsets, 'offsets')} in its log"
    )


def _unloaded(event: e.GroupsUnloaded) -> str:
    return (
        f"broker {event.node} no longer coordinates the groups of {event.topic}-{event.partition}: "
        f"{counted(event.groups, 'groups')}, {counted(event.offsets, 'offsets')}"
    )


def _state(event: e.GroupStateChanged) -> str:
    why = f": {event.reason}" if event.reason else ""
    return f"group {event.group} at broker {event.node}: {event.state}, generation {event.generation}{why}"


def _generation(event: e.GroupGeneration) -> str:
    if not event.members:
        return f"group {event.group} has no members in generation {event.generation}"
    return (
        f"group {event.group}, generation {event.generation}: {counted(len(event.members), 'members')}, "
        f"{event.leader} leads, protocol {event.protocol}"
    )


def _named(event: e.GroupMemberAdded | e.GroupMemberRemoved) -> str:
    return event.member + (f" ({event.instance})" if event.instance else "")


REASONS = {
    "left": "has left",
    "session": "has sent no heartbeat in time",
    "rebalance": "has not joined again in time",
    "sync": "has not asked for its assignment in time",
    "size": "had no place: the group is full",
    "replaced": "was replaced by another client with its instance id",
}
"""Why a member is gone, by the reason in ``GroupMemberRemoved``."""


def _rows(topics: tuple[str, ...], partitions: tuple[int, ...]) -> list[str]:
    return [f"{topic}-{partition}" for topic, partition in zip(topics, partitions, strict=True)]


def _committed(event: e.OffsetsCommitted) -> str:
    rows = zip(_rows(event.topics, event.partitions), event.offsets, strict=True)
    failed = "" if event.error == "NONE" else f": {event.error}"
    return f"group {event.group} commits " + ", ".join(f"{tp} at {offset}" for tp, offset in rows) + failed


def _removed(event: e.OffsetsRemoved) -> str:
    rows = _rows(event.topics, event.partitions)
    offsets = f"offsets of {', '.join(rows)}" if rows else "no offsets"
    return f"group {event.group}: {offsets} removed ({event.reason})" + (", and the group" if event.group_too else "")


GROUP_WORDS: dict[type, Callable[[Any], str]] = {
    e.GroupsLoaded: _loaded,
    e.GroupsUnloaded: _unloaded,
    e.GroupStateChanged: _state,
    e.GroupGeneration: _generation,
    e.GroupMemberAdded: lambda event: f"{_named(event)} joins group {event.group}",
    e.GroupMemberRemoved: lambda event: (
        f"{_named(event)} of group {event.group} {REASONS.get(event.reason, event.reason)}"
    ),
    e.OffsetsCommitted: _committed,
    e.OffsetsRemoved: _removed,
}
