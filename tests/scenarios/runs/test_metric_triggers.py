"""Entries that wait until a metric crosses a limit."""

from typing import Any

import pytest

from emulator.protocol.events import Fault, IsrChanged
from scenarios.errors import BadInput
from tests.scenarios.runs.building import Played, Table, play, scenario

STOP: Table = {"at": "5s", "action": "broker.stop", "target": 2, "duration": "10s"}


def run(when: Table, *more: Table, **keys: Any) -> Played:
    entry: Table = {"when": when, "action": "link.delay", "target": 1, "delay": {"latency": "1ms"}, "duration": "1s"}
    return play(scenario(brokers=4, controller=3, rate=50, size="0B", horizon="2m", method=[entry, *more], **keys))


def acted_us(played: Played) -> list[int]:
    return [fault.t_us for fault in played.of(Fault) if fault.action == "link.delay"]


def test_it_acts_within_100_ms_of_the_change() -> None:
    cut: Table = {"at": "5s", "action": "link.cut", "target": 2, "duration": "30s"}
    played = run({"metric": "under_replicated_partitions", "above": 0}, cut)
    shrunk_us = played.of(IsrChanged, lambda event: 2 not in event.isr)[0].t_us
    [acted] = acted_us(played)
    assert 0 <= acted - shrunk_us <= 100_000
    assert played.run.passed


def test_it_may_have_to_last() -> None:
    first = acted_us(run({"metric": "under_replicated_partitions", "above": 0}, STOP))[0]
    later = acted_us(run({"metric": "under_replicated_partitions", "above": 0, "for": "4s"}, STOP))[0]
    assert later - first == 4_000_000
    never = run({"metric": "under_replicated_partitions", "above": 0, "for": "1m"}, STOP)
    assert never.run.reason == "not exercised"


def test_the_second_time_and_below() -> None:
    again: Table = {"at": "40s", "action": "broker.stop", "target": 2, "duration": "10s"}
    second = acted_us(run({"metric": "under_replicated_partitions", "above": 0, "occurrence": 2}, STOP, again))
    assert second[0] > 40_000_000
    below = acted_us(run({"metric": "under_replicated_partitions", "below": 1, "occurrence": 2}, STOP))
    assert 15_000_000 < below[0] < 40_000_000, "at first, and when the follower is back"


def test_heal_disarms_it() -> None:
    heal: Table = {"at": "2s", "action": "heal"}
    assert acted_us(run({"metric": "under_replicated_partitions", "above": 0}, heal, STOP)) == []


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ({"metric": "under_replicated_partition", "above": 0}, "did you mean 'under_replicated_partitions'?"),
        ({"metric": "under_replicated_partitions"}, "write one limit"),
        ({"metric": "under_replicated_partitions", "above": 1, "below": 3}, "write one limit"),
        ({"metric": "lag_p99", "above": 1}, "known at the end of a run only"),
        ({"metric": "under_replicated_partitions", "over": 1}, "unknown key 'over'"),
    ],
)
def test_limits_that_are_refused(when: Table, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        run(when)
    assert said in str(refused.value)
