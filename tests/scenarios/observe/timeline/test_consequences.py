"""Consequences of the first event that differs between two runs."""

from __future__ import annotations

from typing import Any

from emulator.protocol.events import Fault, IsrChanged, LeaderElected, MoveFinished
from scenarios.language.files import load
from scenarios.observe.timeline.consequences import followed, lines
from scenarios.observe.timeline.divergence import divergence
from scenarios.runs import run_scenario

CUT = Fault(1_000, 1, 0, "link.cut", "1", "")


def elected(seq: int, cause: int, leader: int, t_us: int = 2_000) -> LeaderElected:
    return LeaderElected(t_us, seq, cause, "orders", 0, leader, seq, (leader,), "offline", 1, False)


def shrunk(seq: int, cause: int, partition: int = 0) -> IsrChanged:
    return IsrChanged(3_000, seq, cause, 0, "orders", partition, 1, "shrink", (0, 2), seq)


def test_only_what_one_run_has_and_the_other_has_not() -> None:
    first = [CUT, elected(2, 1, leader=2), shrunk(3, 0, partition=1), shrunk(4, 0)]
    second = [elected(1, 0, leader=2, t_us=9_000), shrunk(2, 0), MoveFinished(5_000, 3, 0, "audit", 4, (1,))]
    left, right = followed(first, second, 0)
    assert left.events == (shrunk(3, 0, partition=1),), "an election is the same at another time"
    assert (left.partitions, left.brokers) == (("orders-1",), (0,))
    assert (right.partitions, right.brokers) == (("audit-4",), ())


def test_the_chain_of_causes_is_followed_over_several_events() -> None:
    first = [CUT, elected(2, 1, leader=2), shrunk(3, 2), shrunk(4, 0, partition=7)]
    left, right = followed(first, [], 0)
    assert [event.seq in left.caused for event in left.events] == [True, True, False]
    assert list(lines(left, right)) == [
        "what followed, times aside, in one run and not in the other:",
        "  < 1 election, first at 0.002000 s: leader 2 of orders-0 elected (offline), epoch 2, isr [2]",
        "  < 2 ISR changes, first at 0.003000 s: shrink of the isr of orders-0 by leader 0 to [0,2], epoch 1 (v3)",
        "  > nothing",
        "it concerns partitions orders-0, orders-7 and brokers 0, 2",
        "2 of these 3 have the event above among their causes (a chain of causes ends at a timer)",
    ]


def test_a_library_run_and_the_same_without_its_faults() -> None:
    def events(**changes: Any) -> list[Any]:
        found: list[Any] = []
        run_scenario(load("unclean-election").with_overrides(changes), on_event=found.extend)
        return found

    found = divergence(events(), events(method=[]))
    shown = list(found.lines())
    for line in (
        "  < 1 crash, first at 40.000000 s: crash of broker 0 (process)",
        "  < 1 expired session, first at 46.024285 s: zk session 2 of broker 0 expired",
        "  < 1 election, first at 110.008358 s: leader 1 of orders-0 elected (offline, unclean), epoch 2, isr [1]",
        "it concerns partition orders-0 and brokers 0, 1",
    ):
        assert line in shown
    assert found.to_json()["followed"]["first"]["partitions"] == ("orders-0",)


def test_nothing_follows_from_another_delay() -> None:
    left, right = followed([CUT, elected(2, 1, 1)], [elected(1, 0, 1, t_us=50)], 0)
    assert list(lines(left, right)) == [
        "nothing followed from it: times aside, the runs have the same elections, ISR changes, moves and losses"
    ]
