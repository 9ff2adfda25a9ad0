"""A producer's load from rates in bytes: whole messages per second of one size, and how they are shared."""

from __future__ import annotations

import math
from collections.abc import Mapping

from attrs import frozen

from scenarios.importing.found import FoundRate
from scenarios.units import number

GUESSED_BYTES = 1024
"""The size of a message where no source has a rate of messages."""
MOST_BYTES = 500_000
FEW = 100
"""The messages per second from which on a rounded number of them is near enough."""
MOST_PER_S = 1_000_000_000


@frozen
class Load:
    """A load of one topic. ``shares``: bytes per second of each partition; empty: all alike."""

    rate: int
    message_size: int
    shares: tuple[int, ...]
    bytes_per_s: float
    is_guessed: bool
    """Whether the size of a message is a guess."""


def load_of(topic: str, partitions: int, rates: Mapping[int | None, FoundRate], notes: list[str]) -> Load | None:
    """The load; None where nothing is written. Rates of partitions go before the one of the whole topic."""
    whole, each = rates.get(None), {key: rate for key, rate in rates.items() if key is not None}
    if unknown := [str(key) for key in each if key >= partitions]:
        notes.append(f"rates of partitions that it does not have, left out: {', '.join(unknown[:5])}")
        each = {key: rate for key, rate in each.items() if key < partitions}
    if whole is not None and whole.bytes_per_s is not None and each:
        if all(rate.bytes_per_s is None for rate in each.values()):
            each = _spread(whole.bytes_per_s, whole.messages_per_s, each)
        else:
            parts_say = number(math.fsum(map(_bytes, each.values())))
            notes.append(
                f"{number(whole.bytes_per_s)} bytes/s in all and {parts_say} of its partitions; the latter are taken"
            )
    parts = list(each.values()) or ([] if whole is None else [whole])
    total = math.fsum(map(_bytes, parts))
    if total < 0.5:
        return None
    known = [part.messages_per_s for part in parts if part.messages_per_s is not None]
    messages = math.fsum(known) if len(known) == len(parts) else 0.0
    rate, size = _whole_messages(total, messages)
    shares = tuple(round(_bytes(each[key])) if key in each else 0 for key in range(partitions)) if each else ()
    alike = len(set(shares)) <= 1 or not any(shares)
    is_guessed = not messages or any(part.bytes_per_s is None for part in parts)
    return Load(rate, size, () if alike else shares, total, is_guessed)


def _bytes(rate: FoundRate) -> float:
    """Bytes per second; a guess where only messages are known."""
    return (rate.messages_per_s or 0.0) * GUESSED_BYTES if rate.bytes_per_s is None else rate.bytes_per_s


def _spread(bytes_per_s: float, messages_per_s: float | None, each: Mapping[int, FoundRate]) -> dict[int, FoundRate]:
    """The bytes of a topic spread over its partitions by their messages; none, where these are all 0."""
    messages = {key: rate.messages_per_s or 0.0 for key, rate in each.items()}
    every = math.fsum(messages.values())
    if not every:
        return {}
    mean, more = bytes_per_s / every, (every if messages_per_s is None else messages_per_s) / every
    return {key: FoundRate(mean * its, more * its) for key, its in messages.items()}


def _whole_messages(bytes_per_s: float, messages_per_s: float) -> tuple[int, int]:
    """Messages per second and their size, both whole, whose product is near the rate in bytes."""
    size = bytes_per_s / messages_per_s if messages_per_s else min(GUESSED_BYTES, bytes_per_s)
    size = min(max(1.0, size), MOST_BYTES)
    rate = min(MOST_PER_S, max(1, round(bytes_per_s / size)))
    if rate < FEW:
        return rate, min(MOST_BYTES, max(1, round(bytes_per_s / rate)))
    size = max(1, round(size))
    return max(1, round(bytes_per_s / size)), int(size)
