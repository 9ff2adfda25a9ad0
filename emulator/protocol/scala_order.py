"""The order in which Kafka goes through a set of brokers: that of the collections of Scala, in which Kafka is written.

Some lists that Kafka stores and sends were a ``Set`` on the way, so their order is the set's. Up to four members an
immutable set has the order of insertion (``Set1`` to ``Set4``); above, it is a trie of hashes (``HashSet``). A map
that ``groupBy`` makes has the order of that trie above four keys; up to four, that of the hash table in which the
groups were collected. A broker's id is its own hash code.

Source: ``scala.collection.immutable.Set``, ``immutable.HashSet``, ``immutable.HashMap``, ``mutable.HashTable`` and
``TraversableLike.groupBy``, alike in Scala 2.8.0, 2.11.12 and 2.12.4 to 2.12.12, with which Kafka 0.8.0 to 2.7 was
built. The builds for Scala 2.13 (kafka_2.13, since 2.4) have other collections, whose order is not emulated.
"""

from functools import lru_cache

from emulator.protocol.assignments import Replicas

INSERTION_ORDER_UP_TO = 4
"""The most members of a set that keep the order of insertion."""

_BITS_PER_LEVEL = 5
_LEVELS = 7
_SLOTS = 16
"""A hash table's first size; it grows with the thirteenth key only."""
_WORD = 0xFFFFFFFF


@lru_cache(4096)
def set_order(members: Replicas) -> Replicas:
    """``members``, each once, as ``members.toSet.toSeq`` has them."""
    once = tuple(dict.fromkeys(members))
    return once if len(once) <= INSERTION_ORDER_UP_TO else tuple(sorted(once, key=_place_in_trie))


def group_order(keys: Replicas) -> Replicas:
    """``keys``, each once, in the order of the groups that ``groupBy`` makes of a sequence with these keys."""
    once = tuple(dict.fromkeys(keys))
    if len(once) > INSERTION_ORDER_UP_TO:
        return set_order(once)
    # A table is read from its last slot to the first, and a slot from the newest key to the oldest.
    return tuple(sorted(once, key=_slot)[::-1])


def _place_in_trie(member: int) -> tuple[int, ...]:
    """The branch to take at each level, from the root; no two integers have the same."""
    hashed = _improved(member)
    return tuple(hashed >> level * _BITS_PER_LEVEL & (1 << _BITS_PER_LEVEL) - 1 for level in range(_LEVELS))


def _improved(code: int) -> int:
    """``immutable.HashSet.improve``, in 32 bits."""
    code = code + ~(code << 9) & _WORD
    code ^= code >> 14
    code = code + (code << 4) & _WORD
    return code ^ code >> 10


def _slot(key: int) -> int:
    """``mutable.HashTable.index``: the first bits of ``byteswap32`` rotated to the right by as many, so its last."""
    swapped = int.from_bytes((key * 0x9E3775CD & _WORD).to_bytes(4, "big"), "little")
    return swapped * 0x9E3775CD % _SLOTS
