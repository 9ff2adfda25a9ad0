"""A producer's load from rates in bytes: whole messages per second of one size, and how they are shared."""

from __future__ import annotations

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
    total = sum(rate.bytes_per_s for rate in each.values()) if each else whole.bytes_per_s if whole else 0.0
    if each and whole is not None:
        notes.append(
            f"{number(whole.bytes_per_s)} bytes/s in all and {number(total)} of its partitions; the latter are taken"
        )
    if total < 0.5:
        return None
    counted = each.values() if each else [whole] if whole else []
    messages = sum(rate.messages_per_s or 0.0 for rate in counted)
    rate, size = _whole_messages(total, messages)
    shares = tuple(round(each[key].bytes_per_s) if key in each else 0 for key in range(partitions)) if each else ()
    alike = len(set(shares)) <= 1 or not any(shares)
    return Load(rate, size, () if alike else shares, total, not messages)


def _whole_messages(bytes_per_s: float, messages_per_s: float) -> tuple[int, int]:
    """Messages per second and their size, both whole, whose product is near the rate in bytes."""
    size = bytes_per_s / messages_per_s if messages_per_s else min(GUESSED_BYTES, bytes_per_s)
    size = min(max(1.0, size), MOST_BYTES)
    rate = min(MOST_PER_S, max(1, round(bytes_per_s / size)))
    if rate < FEW:
        return rate, min(MOST_BYTES, max(1, round(bytes_per_s / rate)))
    size = max(1, round(size))
    return max(1, round(bytes_per_s / size)), int(size)
