"""The order of Scala's sets and of groupBy's maps: as Scala printed them, and by collections that are built here.
test_real_scala.py holds drawn keys against the libraries themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.protocol.scala_order import SCALA_2_13, flat_order, group_order, map_order, set_order, trie_order
from emulator.protocol.types import TopicPartition

Ids = tuple[int, ...]
BROKERS = st.lists(st.integers(0, 100_000), unique=True, max_size=12).map(tuple)

SETS: tuple[tuple[Ids, Ids], ...] = (
    # What real Kafka 2.3.1 wrote for moves of [0,1,2] to [1,2,3], [0,1,3], [2,1,3] and [3,4,5].
    ((1, 2, 3, 0, 1, 2), (1, 2, 3, 0)),
    ((0, 1, 3, 0, 1, 2), (0, 1, 3, 2)),
    ((2, 1, 3, 0, 1, 2), (2, 1, 3, 0)),
    ((3, 4, 5, 0, 1, 2), (0, 5, 1, 2, 3, 4)),
    # What ``toSet`` gives in Scala 2.12.10, for five to twelve members.
    ((3, 4, 6, 2, 5), (5, 6, 2, 3, 4)),
    ((13, 8, 4, 10, 1), (10, 1, 13, 8, 4)),
    ((5, 49, 56, 33, 57), (5, 56, 57, 33, 49)),
    ((3, 8, 6, 0, 18, 12), (0, 6, 12, 3, 18, 8)),
    ((12, 10, 19, 18, 40, 46, 23), (10, 46, 12, 18, 40, 23, 19)),
    ((5, 6, 4, 1, 8, 7, 3, 2), (5, 1, 6, 2, 7, 3, 8, 4)),
    ((1752, 1978, 819, 194, 158, 234, 1875, 1271), (234, 1875, 1978, 819, 1752, 1271, 194, 158)),
    ((8, 4, 0, 2, 9, 6, 1, 3, 5), (0, 5, 1, 6, 9, 2, 3, 8, 4)),
    ((9, 15, 13, 3, 5, 18, 17, 2, 12, 11), (5, 9, 13, 2, 17, 12, 3, 18, 11, 15)),
    ((11, 2, 9, 10, 0, 4, 3, 6, 1, 5, 7), (0, 5, 10, 1, 6, 9, 2, 7, 3, 11, 4)),
    ((6, 3, 10, 7, 4, 2, 9, 11, 8, 12, 5, 0), (0, 5, 10, 6, 9, 2, 12, 7, 3, 11, 8, 4)),
)
GROUPS: tuple[tuple[Ids, Ids], ...] = (
    # Real Kafka 2.3.1 and 2.4.1 dropped brokers from ISRs in the first of these orders.
    ((0, 1, 2), (2, 1, 0)),
    # What ``groupBy`` gives in Scala 2.12.10. 10 and 16 below are in one slot with 11 and 33.
    ((1, 2), (2, 1)),
    ((1, 2, 3, 0), (2, 1, 3, 0)),
    ((7, 3, 5), (5, 7, 3)),
    ((0, 16, 5, 9), (5, 16, 9, 0)),
    ((10, 11, 12, 13), (11, 13, 10, 12)),
    ((16, 15, 33, 13), (13, 16, 33, 15)),
    ((100, 200, 300, 400), (200, 400, 100, 300)),
    ((1125, 1879, 592, 1639), (1879, 1125, 1639, 592)),
    ((0, 1, 2, 3, 4), (0, 1, 2, 3, 4)),
    ((3, 4, 5, 0, 1, 2), (0, 5, 1, 2, 3, 4)),
)
LATER_GROUPS: tuple[tuple[Ids, Ids], ...] = (
    # Real Kafka 2.8.2 dropped brokers from ISRs in the first two of these orders.
    ((0, 1, 2), (0, 1, 2)),
    ((1, 2), (1, 2)),
    # What ``groupBy`` gives in Scala 2.12.13 and 2.12.14.
    ((7, 3, 5), (7, 3, 5)),
    ((1125, 1879, 592, 1639), (1125, 1879, 592, 1639)),
    ((3, 4, 5, 0, 1, 2), (0, 5, 1, 2, 3, 4)),
    ((40, 7, 33, 1, 64, 1000), (1, 33, 64, 7, 1000, 40)),
    ((70000, 5, 65541, 131077, 3), (5, 131077, 65541, 70000, 3)),
)
GROUPS_OF_2_13: tuple[tuple[Ids, Ids], ...] = (
    # Real Kafka 3.9.1 dropped brokers from ISRs in the first of these orders, whichever it met first.
    ((1, 2, 0), (0, 1, 2)),
    # What ``groupBy`` gives in Scala 2.13.8 and 2.13.15.
    ((7, 3, 5), (5, 7, 3)),
    ((10, 11, 12, 13), (10, 13, 12, 11)),
    ((16, 15, 33, 13), (33, 13, 16, 15)),
    ((100, 200, 300, 400), (300, 400, 200, 100)),
    ((3, 4, 5, 0, 1, 2), (0, 5, 1, 2, 3, 4)),
    # Those that share a slot come after those that are alone in theirs.
    ((156485374, 80993404, 615376089), (80993404, 156485374, 615376089)),
)


@pytest.mark.parametrize(("members", "expected"), SETS)
def test_a_set_is_in_scalas_order(members: Ids, expected: Ids) -> None:
    assert set_order(members) == expected


@pytest.mark.parametrize(("keys", "expected"), GROUPS)
def test_groups_are_in_scalas_order(keys: Ids, expected: Ids) -> None:
    assert group_order(keys) == expected


@pytest.mark.parametrize(("keys", "expected"), LATER_GROUPS)
def test_groups_since_2_12_13_are_in_the_order_of_a_set(keys: Ids, expected: Ids) -> None:
    assert set_order(keys) == expected


@pytest.mark.parametrize(("keys", "expected"), GROUPS_OF_2_13)
def test_groups_of_2_13_are_in_the_order_of_a_hash_map(keys: Ids, expected: Ids) -> None:
    assert SCALA_2_13.group_order(keys) == expected


PARTITIONS: tuple[tuple[str, str, str, str], ...] = (
    # In the order of insertion; what ``mutable.Map``, ``mutable.Set`` and ``Map`` make of it in Scala 2.12.8, with the
    # ``TopicPartition`` of Kafka 2.3.1. The tables grow with the 13th and 25th, and with the 15th and 29th key.
    (
        "orders-64 payments-61",
        "payments-61 orders-64",
        "orders-64 payments-61",
        "orders-64 payments-61",
    ),
    (
        "payments-34 orders-104 payments-125 orders-31 orders-22",
        "payments-34 orders-31 orders-104 orders-22 payments-125",
        "orders-31 payments-34 payments-125 orders-22 orders-104",
        "payments-34 payments-125 orders-31 orders-22 orders-104",
    ),
    (
        "payments-21 a-32 orders-29 a-140 payments-27 a-48",
        "orders-29 a-32 a-48 payments-27 a-140 payments-21",
        "payments-21 a-140 a-48 orders-29 payments-27 a-32",
        "payments-21 a-48 payments-27 orders-29 a-32 a-140",
    ),
    (
        (
            "a-153 payments-139 a-69 orders-28 payments-35 orders-181 a-163 a-198 orders-185 orders-93 a-164 "
            "payments-61 orders-33 orders-72 orders-85"
        ),
        (
            "a-153 a-164 orders-185 payments-61 a-163 a-198 orders-72 orders-28 payments-35 orders-181 "
            "payments-139 orders-85 a-69 orders-33 orders-93"
        ),
        (
            "orders-93 payments-139 a-198 a-69 orders-28 orders-72 a-163 orders-185 orders-33 orders-85 "
            "payments-35 orders-181 payments-61 a-153 a-164"
        ),
        (
            "payments-35 a-164 payments-139 orders-72 a-163 a-153 orders-181 a-69 orders-33 orders-93 a-198 "
            "orders-185 payments-61 orders-85 orders-28"
        ),
    ),
    (
        (
            "orders-40 a-16 orders-74 payments-189 orders-150 orders-128 payments-149 orders-117 payments-187 "
            "orders-78 a-184 a-163 payments-29 a-179 orders-83 payments-73 payments-173 payments-102 a-177 a-147 "
            "a-68 payments-83 orders-110 orders-46 orders-12 orders-14 orders-93 a-23 orders-192 payments-45"
        ),
        (
            "payments-29 payments-45 orders-46 payments-149 orders-128 orders-117 a-68 payments-187 a-16 a-177 "
            "payments-102 orders-40 a-147 payments-173 payments-83 a-163 orders-78 orders-83 orders-192 "
            "payments-189 orders-12 a-23 a-179 a-184 orders-110 orders-14 orders-74 payments-73 orders-150 "
            "orders-93"
        ),
        (
            "payments-73 orders-83 orders-46 orders-150 a-177 orders-117 payments-45 orders-14 a-163 orders-40 "
            "a-23 payments-83 payments-102 payments-187 a-68 orders-93 a-179 orders-12 payments-173 payments-29 "
            "a-184 a-147 orders-128 orders-110 payments-189 orders-192 payments-149 orders-74 orders-78 a-16"
        ),
        (
            "payments-187 a-16 orders-14 orders-83 payments-29 orders-117 payments-102 payments-149 payments-173 "
            "orders-192 a-68 payments-83 a-147 a-163 orders-78 orders-128 orders-40 payments-45 payments-73 a-23 "
            "payments-189 orders-93 orders-46 a-184 a-177 orders-150 a-179 orders-74 orders-12 orders-110"
        ),
    ),
)


def partitions(text: str) -> list[TopicPartition]:
    return [TopicPartition.parse(each) for each in text.split()]


@pytest.mark.parametrize(("inserted", "in_map", "in_set", "in_trie"), PARTITIONS)
def test_partitions_are_in_scalas_order(inserted: str, in_map: str, in_set: str, in_trie: str) -> None:
    assert map_order(partitions(inserted)) == partitions(in_map)
    assert flat_order(partitions(inserted)) == partitions(in_set)
    assert list(set_order(tuple(partitions(inserted)))) == partitions(in_trie)


IN_2_13: tuple[tuple[str, str, str], ...] = (
    # In the order of insertion; what ``Set`` and ``mutable.Map`` make of it in Scala 2.13.11, with the classes of Kafka
    # 3.6.2. The table doubles with the 12th key.
    ("3 4 5 0 1 2", "0 5 1 2 3 4", "0 1 2 3 4 5"),
    ("7 3 5", "7 3 5", "3 5 7"),
    ("40 7 33 1 64 1000", "1 33 64 7 1000 40", "64 1 33 7 40 1000"),
    (
        (
            "a-153 payments-139 a-69 orders-28 payments-35 orders-181 a-163 a-198 orders-185 orders-93 a-164 "
            "payments-61 orders-33 orders-72 orders-85"
        ),
        (
            "payments-35 a-164 payments-139 orders-72 a-163 a-153 orders-181 a-69 orders-33 orders-93 a-198 "
            "orders-185 payments-61 orders-85 orders-28"
        ),
        (
            "orders-72 payments-35 a-153 payments-139 orders-85 orders-181 orders-185 orders-28 orders-93 orders-33 "
            "payments-61 a-198 a-69 a-164 a-163"
        ),
    ),
)


@pytest.mark.parametrize(("inserted", "in_set", "in_map"), IN_2_13)
def test_the_collections_of_2_13_have_their_order(inserted: str, in_set: str, in_map: str) -> None:
    keys = tuple(TopicPartition.parse(each) if "-" in each else int(each) for each in inserted.split())
    for found, expected in ((SCALA_2_13.set_order, in_set), (SCALA_2_13.map_order, in_map)):
        assert " ".join(map(str, found(keys))) == expected
    assert SCALA_2_13.mutable_set_order(keys) == SCALA_2_13.map_order(keys)


ORDERS, PAYMENTS = TopicPartition("orders", 64), TopicPartition("payments", 61)
REPLICAS = [(tp, broker) for tp in (ORDERS, PAYMENTS) for broker in range(3)]


def test_keys_of_one_hash_code_are_in_the_order_of_insertion() -> None:
    """Java's hash codes of t00-1 and t10-0 are equal, so no level of the trie parts them (HashCollisionMapNode)."""
    one, other = TopicPartition("t00", 1), TopicPartition("t10", 0)
    more = tuple(TopicPartition("t05", number) for number in range(5))
    for first, second in ((one, other), (other, one)):
        for order in (SCALA_2_13.set_order, SCALA_2_13.group_order, SCALA_2_13.map_order):
            found = list(order((first, *more, second)))
            assert found.index(first) + 1 == found.index(second)


def test_the_hash_of_a_replica_has_the_name_of_its_class_since_2_13() -> None:
    """``PartitionAndReplica`` of Kafka 3.6.2 in a ``mutable.Map`` of Scala 2.13.11."""
    assert SCALA_2_13.map_order(REPLICAS) == [
        (PAYMENTS, 1), (PAYMENTS, 0), (ORDERS, 0), (ORDERS, 2), (ORDERS, 1), (PAYMENTS, 2)
    ]  # fmt: skip


def test_replicas_are_in_scalas_order() -> None:
    """``PartitionAndReplica`` of Kafka 2.3.1 in a ``mutable.Map`` of Scala 2.12.8."""
    orders, payments, inserted = ORDERS, PAYMENTS, REPLICAS
    assert map_order(inserted) == [
        (orders, 0), (payments, 1), (payments, 2), (payments, 0), (orders, 1), (orders, 2)
    ]  # fmt: skip


def test_a_set_that_was_larger_stays_a_trie() -> None:
    assert trie_order((3, 4, 0)) == [0, 3, 4]
    assert set_order((3, 4, 0)) == (3, 4, 0)


# -- the same order by building the collection --------------------------------------------------------------------


class Trie:
    """``HashSet.HashTrieSet`` as a tree of nodes with 32 branches, into which members are inserted one by one."""

    def __init__(self) -> None:
        self.branches: dict[int, int | Trie] = {}

    def insert(self, member: int, level: int = 0) -> None:
        branch = hash_code(member) // 32**level % 32
        there = self.branches.setdefault(branch, member)
        if isinstance(there, int):
            if there == member:
                return
            node = self.branches[branch] = Trie()
            node.insert(there, level + 1)
            there = node
        there.insert(member, level + 1)

    def members(self) -> list[int]:
        found: list[int] = []
        for branch in sorted(self.branches):
            node = self.branches[branch]
            found += [node] if isinstance(node, int) else node.members()
        return found


def hash_code(member: int) -> int:
    """``improve`` with the signed 32-bit integers of the JVM."""
    code = int32(member + ~int32(member * 512))
    code = int32(code ^ unsigned(code) // 2**14)
    code = int32(code * 17)
    return unsigned(int32(code ^ unsigned(code) // 2**10))


def int32(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def unsigned(value: int) -> int:
    return value % 2**32


@given(BROKERS)
def test_a_set_is_in_the_order_of_its_trie(members: Ids) -> None:
    trie = Trie()
    for member in members:
        trie.insert(member)
    assert set_order(members) == (members if len(members) <= 4 else tuple(trie.members()))


@given(BROKERS)
def test_groups_are_in_the_order_of_the_table_or_of_the_trie(keys: Ids) -> None:
    """A table of 16 chains, each with the latest key at its head, read from the last slot to the first."""
    slots: list[list[int]] = [[] for _ in range(16)]
    for key in keys:
        swapped = int.from_bytes(unsigned(key * 0x9E3775CD).to_bytes(4, "little"), "big")
        slots[slot_of(unsigned(swapped * 0x9E3775CD))].insert(0, key)
    by_table = tuple(key for slot in reversed(slots) for key in slot)
    assert group_order(keys) == (by_table if len(keys) <= 4 else set_order(keys))


def slot_of(code: int) -> int:
    """Rotated to the right by four, the first four bits: those that were the last."""
    return code % 16


@given(st.lists(st.integers(0, 100_000), unique=True, max_size=120))
def test_a_map_is_in_the_order_of_its_table(keys: list[int]) -> None:
    """Chains with the latest key at their heads; the table doubles where more than three quarters are full, from its
    last slot to its first."""
    table: list[list[int]] = [[] for _ in range(16)]
    for count, key in enumerate(keys, 1):
        table[slot_in(table, key)].insert(0, key)
        if count > len(table) * 3 / 4:
            old, table = table, [[] for _ in range(len(table) * 2)]
            for chain in reversed(old):
                for each in chain:
                    table[slot_in(table, each)].insert(0, each)
    assert map_order(keys) == [key for chain in reversed(table) for key in chain]


def slot_in(table: list[list[int]], key: int) -> int:
    """The first bits of the code, rotated to the right by four whatever the size of the table."""
    swapped = int.from_bytes(unsigned(key * 0x9E3775CD).to_bytes(4, "little"), "big")
    bits = f"{unsigned(swapped * 0x9E3775CD):032b}"
    return int((bits[-4:] + bits)[: (len(table) - 1).bit_length()], 2)
