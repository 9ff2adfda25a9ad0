"""Which of a broker's fetchers takes a partition, in Java's arithmetic (kafka-behaviour, 8.1)."""

from functools import lru_cache

from emulator.protocol.types import TopicPartition


@lru_cache(1024)
def java_string_hash(text: str) -> int:
    """``String.hashCode`` as a signed 32-bit integer."""
    value = 0
    for character in text:
        value = (31 * value + ord(character)) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


def fetcher_id(tp: TopicPartition, fetchers: int) -> int:
    """abs(31·hash(topic) + partition) mod ``fetchers``; abs(MIN_VALUE) is 0."""
    value = (31 * java_string_hash(tp.topic) + tp.partition) & 0xFFFFFFFF
    signed = value - (1 << 32) if value >= 1 << 31 else value
    return 0 if signed == -(1 << 31) else abs(signed) % fetchers
