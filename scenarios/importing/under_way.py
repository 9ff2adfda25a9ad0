"""The state in which a real cluster was seen and no scenario begins: copies under way, and brokers that look dead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen

from scenarios.importing.found import Found


@frozen
class CopiedPartition:
    """A partition that is being moved. ``before``: the replicas that it had, leader first; ``adding``: those copied."""

    before: tuple[int, ...]
    adding: tuple[int, ...]


Copied = Mapping[tuple[str, int], CopiedPartition]
"""By topic and partition."""


def unthrottled(copies: Copied, configs: Mapping[str, Mapping[str, str]], sides: Iterable[str]) -> list[str]:
    """The replicas being copied that no quota holds back: neither that of their leader nor their own.

    Args:
        configs: the settings of each topic.
        sides: the sides that have a rate: leader, follower.
    """
    found = []
    for (topic, number), its in copies.items():
        lists = {
            side: configs.get(topic, {}).get(f"{side}.replication.throttled.replicas", "").strip() for side in sides
        }
        if not _is_listed(lists.get("leader", ""), number, its.before[0]):
            free = (broker for broker in its.adding if not _is_listed(lists.get("follower", ""), number, broker))
            found += [f"{topic}-{number} on {broker}" for broker in free]
    return found


def _is_listed(text: str, number: int, broker: int) -> bool:
    return text == "*" or f"{number}:{broker}" in text.split(",")


def already_copied(copies: Copied, found: Found) -> int:
    """The bytes of the copies under way that are on disks."""
    on = {key: found.replicas.get(key, {}) for key in copies}
    return sum(on[key][broker].size for key, its in copies.items() for broker in its.adding if broker in on[key])


def looking_dead(found: Found, copies: Copied) -> list[int]:
    """The brokers that have replicas and are in no ISR of a leader, apart from those that get their first replicas."""
    stay: dict[int, None] = {}
    in_sync: set[int] = set()
    for topic, its in found.topics.items():
        for number, each in its.items():
            if each.in_sync is None:
                return []
            new = copies[topic, number].adding if (topic, number) in copies else ()
            stay |= dict.fromkeys(broker for broker in each.replicas if broker not in new)
            if each.leader is not None:  # without one the last ISR stands there, of brokers that died
                in_sync |= {each.leader, *each.in_sync}
    return [broker for broker in sorted(stay) if broker not in in_sync]
