"""Which partition a message goes to."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.streams import Streams
from scenarios.cluster.clients.producing.partitioner import (
    Keyed,
    Partitioner,
    RoundRobin,
    Skewed,
    Sticky,
    murmur2,
    partition_of,
)


@pytest.mark.parametrize(
    ("data", "hash"),
    [
        (b"21", -973932308), (b"foobar", -790332482), (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829), (b"abc", 479470107),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
    ],
)  # fmt: skip
def test_murmur2_is_kafkas(data: bytes, hash: int) -> None:
    """The values of Kafka's UtilsTest.testMurmur2."""
    assert murmur2(data) == hash & 0xFFFFFFFF


def dealt(partitioner: Partitioner, *ticks: int, width: int = 3) -> list[dict[int, int]]:
    return [dict(partitioner.deal(messages, range(width))) for messages in ticks]


def test_round_robin_goes_on_where_it_was() -> None:
    assert dealt(RoundRobin(), 4, 1, 0, 1) == [{0: 2, 1: 1, 2: 1}, {1: 1}, {}, {2: 1}]


def test_round_robin_leaves_out_what_has_no_leader() -> None:
    assert dict(RoundRobin().deal(6, [0, 2])) == {0: 3, 2: 3}


def test_a_sticky_partition_changes_with_each_batch() -> None:
    sticky = Sticky(Streams(1).stream("test"), 10)
    places = [place for tick in range(20) for place, _ in sticky.deal(5, range(3))]
    assert all(one != other for one, other in pairwise(places))
    assert set(places) == {0, 1, 2}
    assert [count for _, count in sticky.deal(25, range(3))] == [10, 10, 5]
    assert dict(sticky.deal(3, [1])) == {1: 3}, "there is no other"


@given(st.integers(1, 40), st.integers(1, 8), st.lists(st.integers(0, 100), max_size=6))
def test_each_key_is_always_in_one_partition(keys: int, width: int, ticks: list[int]) -> None:
    """Dealing messages in bulk gives the same as one by one."""
    homes = [partition_of(f"key-{key}".encode(), width) for key in range(keys)]
    turn, expected = 0, []
    for messages in ticks:
        counts: dict[int, int] = {}
        for message in range(turn, turn + messages):
            home = homes[message % keys]
            counts[home] = counts.get(home, 0) + 1
        turn += messages
        expected.append(counts)
    assert dealt(Keyed.of(keys, width), *ticks, width=width) == expected


@given(st.integers(1, 40), st.integers(1, 8), st.floats(0.1, 3), st.lists(st.integers(0, 100), max_size=30))
def test_skewed_keys_lose_no_message_and_keep_their_shares(
    keys: int, width: int, exponent: float, ticks: list[int]
) -> None:
    skewed = Skewed.of(keys, width, exponent, Streams(1).stream("key skew"))
    deals = [dict(skewed.deal(messages, range(width))) for messages in ticks]
    assert [sum(deal.values()) for deal in deals] == ticks
    homes = {partition_of(f"key-{key}".encode(), width) for key in range(keys)}
    for place in homes:
        due = sum(ticks) * skewed._shares[place] / skewed._all
        assert abs(sum(deal.get(place, 0) for deal in deals) - due) <= width, "never owes more than the others can get"


def test_another_seed_has_another_key_that_is_used_most() -> None:
    hottest = set()
    for seed in range(10):
        skewed = Skewed.of(100, 4, 1.5, Streams(seed).stream("key skew"))
        hottest.add(max(skewed._shares, key=lambda place: skewed._shares[place]))
    assert len(hottest) > 1
