"""The order of Scala's sets and of groupBy's maps: as Scala 2.12.10 printed them, and by a trie that is built here."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.protocol.scala_order import group_order, set_order

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


@pytest.mark.parametrize(("members", "expected"), SETS)
def test_a_set_is_in_scalas_order(members: Ids, expected: Ids) -> None:
    assert set_order(members) == expected


@pytest.mark.parametrize(("keys", "expected"), GROUPS)
def test_groups_are_in_scalas_order(keys: Ids, expected: Ids) -> None:
    assert group_order(keys) == expected


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
