"""The fetcher id of a partition, in Java's arithmetic (kafka-behaviour §8.1)."""

from collections.abc import Callable
from functools import lru_cache

from emulator.protocol.types import TopicPartition

Assignment = Callable[[TopicPartition, int], int]
"""A function from a partition and the number of fetchers to the fetcher id."""


@lru_cache(1024)
def java_string_hash(text: str) -> int:
    """``String.hashCode`` as a signed 32-bit integer."""
    value = 0
    for character in text:
        value = (31 * value + ord(character)) & 0xFFFFFFFF
    return _signed(value)


def fetcher_id(tp: TopicPartition, fetchers: int) -> int:
    """abs(31·hash(topic) + partition) mod ``fetchers``; abs(MIN_VALUE) is 0."""
    signed = _signed(31 * java_string_hash(tp.topic) + tp.partition)
    return 0 if signed == -(1 << 31) else abs(signed) % fetchers


def signed_fetcher_id(tp: TopicPartition, fetchers: int) -> int:
    """(hash(topic) + 31·partition) rem ``fetchers``, with the sign of the sum: ids may be negative, so
    there are up to twice as many threads (AbstractFetcherManager, 0.8.0)."""
    signed = _signed(java_string_hash(tp.topic) + 31 * tp.partition)
    return signed % fetchers if signed >= 0 else -(-signed % fetchers)


def _signed(value: int) -> int:
    """``value`` as a signed 32-bit integer."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value
