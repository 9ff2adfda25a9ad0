"""Where two runs part: by events, and by the states of their partitions."""

from __future__ import annotations

from typing import Any

from scenarios.language.files import load
from scenarios.observe.timeline.divergence import divergence
from scenarios.runs import run_scenario


def events(**options: Any) -> list[Any]:
    found: list[Any] = []
    run_scenario(load("leader-dies-mid-move"), on_event=found.extend, **options)
    return found


def test_the_same_run_twice() -> None:
    first = events(seed=1)
    found = divergence(first, events(seed=1))
    assert (found.index, found.parted) == (None, ())
    assert list(found.lines()) == [f"equal: {len(first):,} events"]


def test_another_seed_differs_in_its_delays_and_not_in_what_the_cluster_decides() -> None:
    found = divergence(events(seed=1), events(seed=2))
    assert found.index is not None
    *_rest, last = found.lines()
    assert found.parted == ()
    assert last == "times aside, the states in ZooKeeper are the same ones (1 partition)"


def test_another_strategy_parts_where_it_writes_another_state() -> None:
    found = divergence(events(seed=1, strategy="wiki"), events(seed=1, strategy="kafka-6794"))
    [(name, left, right)] = found.parted
    assert name == "orders-0"
    assert left is not None
    assert right is not None
    assert left.decided != right.decided
    text = "\n".join(found.lines())
    assert "times aside, the states in ZooKeeper part first in orders-0:" in text
    assert str(left) in text
    assert str(right) in text
    assert "the other 0 of 1 have equal states" in text


def test_a_run_that_ends_earlier() -> None:
    whole = events(seed=1)
    found = divergence(whole, whole[:10])
    assert found.index == 10
    assert found.pair == (whole[10], None)
    assert "  > the run has ended" in list(found.lines())
