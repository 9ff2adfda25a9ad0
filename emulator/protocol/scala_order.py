"""The order in which Kafka goes through sets and maps: that of the collections of Scala, in which Kafka is written.

Some lists that Kafka stores and sends were a ``Set`` on the way, and some of its loops go through a ``Map``, so their
order is the collection's:

- immutable (``set_order``): up to four members that of insertion (``Set1`` to ``Set4``), above a trie of hashes;
- ``mutable.Map`` (``map_order``): a hash table, read from its last slot to the first;
- ``mutable.Set`` (``flat_order``): a hash table without chains, read from its first slot to the last;
- the map that ``groupBy`` makes (``group_order``): immutable, filled in the order of a ``mutable.Map``; since Scala
  2.12.13, up to four groups are in the order in which they are met, as in a set.

Scala 2.13 has others, of the same names:

- immutable: up to four members as before, above a trie of another form (``champ_order``);
- ``mutable.Map`` and ``mutable.Set`` (``chain_order``): a hash table whose chains are sorted by hashes, read from its
  first slot to the last;
- the map that ``groupBy`` makes: that trie, however few the groups are.

``ScalaCollections`` holds those of one library. Which one a broker has is its build's (kafka_2.12, kafka_2.13).

A broker's id is its own hash code; that of a partition is made of its number and its topic's name, and that of a
replica of its partition and its broker, as of every case class (``PartitionAndReplica``, 1.1 and later).

Source: ``scala.collection.immutable.Set``, ``immutable.HashSet``, ``immutable.HashMap``, ``mutable.HashTable``,
``mutable.FlatHashTable`` and ``TraversableLike.groupBy``, alike in Scala 2.8.0, 2.11.12 and 2.12.4 to 2.12.12, with
which Kafka 0.8.0 to 2.7 was built; 2.12.13 to 2.12.19 (kafka_2.12 of 2.8 to 3.9) differ in ``groupBy`` alone.
``immutable.HashMap``, ``mutable.HashMap``, ``mutable.HashSet`` and ``IterableOps.groupBy`` of Scala 2.13 (kafka_2.13,
since 2.4).
"""

from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache
from typing import Any, TypeVar

from attrs import frozen

from emulator.protocol.types import TopicPartition

INSERTION_ORDER_UP_TO = 4
"""The most members of a set that keep the order of insertion."""

Key = TypeVar("Key", bound=Hashable)
"""A broker, a partition, or a replica: a partition and its broker."""

_BITS_PER_LEVEL = 5
_LEVELS = 7
_SLOTS = 16
"""A hash table's first size; it doubles where more than three quarters are full."""
_FLAT_SLOTS = 32
"""The first size of a table without chains; it doubles where 45 % are full."""
_WORD = 0xFFFFFFFF

REPLICA = "PartitionAndReplica"
"""The name of the only case class whose objects are keys here."""


@lru_cache(4096)
def set_order(members: tuple[Key, ...]) -> tuple[Key, ...]:
    """``members``, each once, as ``members.toSet.toSeq`` has them; so has an immutable ``Map`` with these keys."""
    once = tuple(dict.fromkeys(members))
    return once if len(once) <= INSERTION_ORDER_UP_TO else tuple(sorted(once, key=_place_in_trie))


def trie_order(members: Iterable[Key]) -> list[Key]:
    """``members`` as an immutable set has them that was once larger than four."""
    return sorted(members, key=_place_in_trie)


def group_order(keys: tuple[Key, ...]) -> tuple[Key, ...]:
    """``keys``, each once, in the order of the groups that ``groupBy`` makes of a sequence with these keys (up to
    2.12.12; since, as ``set_order``)."""
    return set_order(tuple(map_order(keys)))


def champ_order(keys: tuple[Key, ...]) -> tuple[Key, ...]:
    """``keys``, each once, as an immutable ``HashMap`` or ``HashSet`` of Scala 2.13 has them: in each node those that
    are alone in their slot before those that share one; those of one hash code in the order in which they were added
    (``HashCollisionMapNode``), as partition 1 of topic ``t00`` and partition 0 of ``t10``."""
    return tuple(_in_node(list(dict.fromkeys(keys)), 0))


def _in_node(keys: list[Key], level: int) -> list[Key]:
    if level == _LEVELS:
        return keys
    slots: dict[int, list[Key]] = {}
    for key in keys:
        slots.setdefault(_place_in_trie(key, named=True)[level], []).append(key)
    in_order = [slots[slot] for slot in sorted(slots)]
    nested = [key for shared in in_order if len(shared) > 1 for key in _in_node(shared, level + 1)]
    return [shared[0] for shared in in_order if len(shared) == 1] + nested


@lru_cache(4096)
def small_or_champ_order(members: tuple[Key, ...]) -> tuple[Key, ...]:
    """``set_order`` of Scala 2.13."""
    once = tuple(dict.fromkeys(members))
    return once if len(once) <= INSERTION_ORDER_UP_TO else champ_order(once)


def chain_order(keys: Iterable[Key]) -> list[Key]:
    """``keys``, each once, as a ``mutable.Map`` or ``mutable.Set`` of Scala 2.13 has them that held no more before: its
    table doubles as it is about to be three quarters full."""
    once = list(dict.fromkeys(keys))
    slots = _SLOTS
    while len(once) >= slots * 3 // 4:
        slots *= 2
    return sorted(once, key=lambda key: _in_chain(key, slots))


def _in_chain(key: Hashable, slots: int) -> tuple[int, int]:
    """The slot, and the hash by which its chain is sorted: with a sign, as all of Java's integers."""
    code = _hash_code(key, named=True)
    mixed = code ^ code >> 16
    return mixed & slots - 1, mixed - (mixed >> 31 << 32)


def map_order(keys: Iterable[Key]) -> list[Key]:
    """``keys``, each once, as a ``mutable.Map`` to which they were added in this order has them.

    A slot's latest key comes first; where the table doubles, keys that stay in one slot are turned round. Keys in one
    slot are so in every smaller table, so that it is enough to turn round all of them, and to sort them by slot.
    """
    once = list(dict.fromkeys(keys))
    slots, found, at = _SLOTS, list[Key](), 0
    while len(once) > slots * 3 // 4:
        before, at = at, slots * 3 // 4 + 1
        found = [*reversed(found), *once[before:at]]
        slots *= 2
    latest_first = [*reversed(once[at:]), *found]
    shift = 32 - _bits(slots)
    return sorted(latest_first, key=lambda key: -(_in_table(key) >> shift))


def flat_order(keys: Iterable[Key]) -> list[Key]:
    """``keys``, each once, as a ``mutable.Set`` to which they were added in this order has them."""
    table: list[list[Key]] = [[] for _ in range(_FLAT_SLOTS)]
    seed = _bits(_FLAT_SLOTS)
    for count, key in enumerate(dict.fromkeys(keys), 1):
        _put(table, key, seed)
        if count >= len(table) * 450 // 1000:
            seed = _bits(len(table) * 2)
            table, old = [[] for _ in range(len(table) * 2)], table
            for slot in old:
                for each in slot:
                    _put(table, each, seed)
    return [key for slot in table for key in slot]


def _put(table: list[list[Key]], key: Key, seed: int) -> None:
    """Put a key into the first free slot, from its own slot on; ``seed`` is how many bits name a slot."""
    at = _in_table(key, seed) >> 32 - seed
    while table[at]:
        at = (at + 1) % len(table)
    table[at].append(key)


@lru_cache(65536)
def _place_in_trie(member: Hashable, *, named: bool = False) -> tuple[int, ...]:
    """The branch to take at each level, from the root; different for any two integers."""
    hashed = _improved(_hash_code(member, named=named))
    return tuple(hashed >> level * _BITS_PER_LEVEL & (1 << _BITS_PER_LEVEL) - 1 for level in range(_LEVELS))


def _improved(code: int) -> int:
    """``immutable.HashSet.improve``, in 32 bits."""
    code = code + ~(code << 9) & _WORD
    code ^= code >> 14
    code = code + (code << 4) & _WORD
    return code ^ code >> 10


@lru_cache(65536)
def _in_table(key: Hashable, seed: int = _SLOTS.bit_length() - 1) -> int:
    """A number whose first bits are the slot (``HashTable.index``): the code rotated to the right by ``seed``, which a
    table with chains keeps from its first size on."""
    swapped = int.from_bytes((_hash_code(key) * 0x9E3775CD & _WORD).to_bytes(4, "big"), "little")
    code = swapped * 0x9E3775CD & _WORD  # byteswap32
    return (code >> seed | code << 32 - seed) & _WORD


def _bits(slots: int) -> int:
    """The number of bits that name a slot."""
    return slots.bit_length() - 1


def _hash_code(key: Hashable, *, named: bool = False) -> int:
    """Java's hash code, in 32 bits: ``TopicPartition.hashCode`` (clients, 0.9 to 3.9), and that of case classes;
    ``named``: their names count, as since Scala 2.13."""
    if isinstance(key, int):
        return key & _WORD
    if isinstance(key, TopicPartition):
        return 31 * (31 + key.partition) + _hash_of_text(key.topic) & _WORD
    assert isinstance(key, tuple)
    name = [_hash_of_text(REPLICA)] if named else []
    return _hash_of_fields(name, [_hash_code(field) for field in key])


@lru_cache(1024)
def _hash_of_text(text: str) -> int:
    """``String.hashCode``."""
    code = 0
    for letter in text:
        code = code * 31 + ord(letter) & _WORD
    return code


def _hash_of_fields(name: list[int], codes: list[int]) -> int:
    """``scala.util.hashing.MurmurHash3.productHash``."""
    code = 0xCAFEBABE
    for each in (*name, *codes):
        mixed = _rotated_left(each * 0xCC9E2D51 & _WORD, 15) * 0x1B873593 & _WORD
        code = _rotated_left(code ^ mixed, 13) * 5 + 0xE6546B64 & _WORD
    code ^= len(codes)
    code = (code ^ code >> 16) * 0x85EBCA6B & _WORD
    code = (code ^ code >> 13) * 0xC2B2AE35 & _WORD
    return code ^ code >> 16


def _rotated_left(code: int, bits: int) -> int:
    return (code << bits | code >> 32 - bits) & _WORD


@frozen
class ScalaCollections:
    """The collections of one of Scala's libraries, each by the order of its members, which are added in that given.

    Attributes:
        set_order: an immutable ``Set``, and the keys of an immutable ``Map``.
        map_order: the keys of a ``mutable.Map``.
        mutable_set_order: a ``mutable.Set``.
        group_order: the keys of the map that ``groupBy`` makes of a sequence with these keys.
    """

    set_order: Callable[[tuple[Any, ...]], tuple[Any, ...]]
    map_order: Callable[[Iterable[Any]], list[Any]]
    mutable_set_order: Callable[[Iterable[Any]], list[Any]]
    group_order: Callable[[tuple[Any, ...]], tuple[Any, ...]]


SCALA_2_12 = ScalaCollections(set_order, map_order, flat_order, group_order)
SCALA_2_12_13 = ScalaCollections(set_order, map_order, flat_order, set_order)
SCALA_2_13 = ScalaCollections(small_or_champ_order, chain_order, chain_order, champ_order)
