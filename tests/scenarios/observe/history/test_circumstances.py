"""Circumstances: since when nothing excuses a delay."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from emulator.protocol.events import Fault
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from scenarios.observe.history.circumstances import ANNOUNCED_US, CLOCK, Circumstances
from scenarios.observe.past.changes import StateWritten

TPS = tuple(TopicPartition.of("orders", number) for number in range(3))
LEADERS = dict(zip(TPS, (0, 0, 1), strict=True))


def written(t_us: int, tp: TopicPartition) -> StateWritten:
    return StateWritten(t_us, 1, 0, tp, LeaderAndIsr(LEADERS[tp], 0, (LEADERS[tp], 2), 1), None, LEADERS[tp])


def test_a_leader_announces_an_isr_when_none_of_its_isrs_has_changed_for_a_time() -> None:
    cluster = SimpleNamespace(leader=LEADERS.__getitem__)
    circumstances = Circumstances(cast("Any", cluster), lambda _action: None)
    for t_us, tp in ((0, TPS[0]), (4_000_000, TPS[1]), (9_000_000, TPS[2])):
        circumstances.on_state(written(t_us, tp))
    at_us = ANNOUNCED_US + 1
    assert [circumstances.isr_announced(tp, at_us) for tp in TPS] == [False, False, False]
    assert [circumstances.isr_announced(tp, at_us + 4_000_000) for tp in TPS] == [True, True, False]


def test_nothing_is_known_of_what_a_leader_announces_once_a_fault_has_set_its_clock() -> None:
    circumstances = Circumstances(cast("Any", SimpleNamespace(leader=LEADERS.__getitem__)), lambda _action: None)
    circumstances.on_fault(Fault(0, 1, 0, CLOCK, "0", "step 5s"))
    found = [circumstances.isr_announced(tp, 10 * ANNOUNCED_US) for tp in TPS]
    assert found == [False, False, True]
