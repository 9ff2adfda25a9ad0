"""The batches of ticks that are divided at once are as many as those of the ticks one by one."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.streams import Streams
from scenarios.cluster.clients.producing.closed_batches import closed_batches
from scenarios.cluster.clients.producing.partitioner import Keyed, Partitioner, RoundRobin, Skewed, Sticky

MAKERS: dict[str, Callable[[int, int], Partitioner]] = {
    "in turn": lambda partitions, full: RoundRobin(),
    "keys": lambda partitions, full: Keyed.of(4 * partitions, partitions),
    "skewed keys": lambda partitions, full: Skewed.of(5 * partitions, partitions, 0.8, Streams(1).stream("skew")),
    "sticky": lambda partitions, full: Sticky(Streams(1).stream("sticky"), full),
}


def one_by_one(partitioner: Partitioner, partitions: int, per_tick: int, ticks: int, full: int) -> int:
    """The batches of the ticks, each divided alone."""
    open_to = range(partitions)
    shares = [count for _ in range(ticks) for _place, count in partitioner.deal(per_tick, open_to)]
    return sum(-(-count // full) for count in shares)


@pytest.mark.parametrize("kind", MAKERS)
@settings(max_examples=40, deadline=None)
@given(
    partitions=st.integers(1, 30), per_tick=st.integers(1, 500), ticks=st.integers(100, 400), full=st.integers(5, 100)
)
def test_ticks_close_as_many_batches_together(kind: str, partitions: int, per_tick: int, ticks: int, full: int) -> None:
    made = MAKERS[kind]
    if kind == "keys":  # how unevenly keys fill batches is not looked at
        full = max(full, per_tick)
    wanted = one_by_one(made(partitions, full), partitions, per_tick, ticks, full)
    partitioner = made(partitions, full)
    shares = list(partitioner.deal(per_tick * ticks, range(partitions)))
    assert closed_batches(partitioner, shares, ticks, full) == pytest.approx(wanted, rel=0.01, abs=2 * partitions)


def test_without_ticks_all_is_closed() -> None:
    assert closed_batches(RoundRobin(), [(0, 7), (1, 3)], 0, 5) == 3
    assert closed_batches(RoundRobin(), [], 0, 5) == 0
