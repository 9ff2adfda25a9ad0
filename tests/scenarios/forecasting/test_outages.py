"""Brokers that die while a plan is carried out: what a file says of it, and what the arithmetic makes of it."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from benchmarks.forecast.cases import drawn
from scenarios.forecasting.arithmetic import Outlook, forecast
from scenarios.forecasting.forecast_words import lines
from scenarios.forecasting.outages import Outage, Scripted, scripted
from scenarios.language import Scenario
from tests.scenarios.runs.building import play

Table = dict[str, Any]
MB = 1_000_000


def move(*entries: Table, keep: int = 0, replicas: int = 3, rate: int = 1000, **more: Any) -> Scenario:
    """Six partitions leave brokers 0 to 2 for brokers 3 to 5 under 20 MB/s, 10 s after the start."""
    old = [[(first + step) % 3 for step in range(replicas)] for first in range(6)]
    new = [[*of[:keep], *(3 + (first + step) % 3 for step in range(replicas - keep))] for first, of in enumerate(old)]
    return Scenario.from_table(
        {
            "title": "a broker dies",
            "profile": "kafka-2.6",
            "horizon": "10m",
            "cluster": {"brokers": 7, "controller": 6, "zk": {"session_timeout": "6s"}},
            "topics": [{"name": "orders", "assignment": old, "size": "150MB"}],
            "strategy": {"name": "kip-455"},
            "workloads": [{"topic": "orders", "producerRate": rate, "messageSize": 1000}],
            "plan": {"partitions": [{"topic": "orders", "partition": n, "replicas": to} for n, to in enumerate(new)]},
            "method": [{"at": "10s", "action": "reassign.execute", "throttle": "20MB/s"}, *entries],
            **more,
        }
    )


def crash(broker: Any, at: str = "40s", **more: Any) -> Table:
    return {"at": at, "action": "broker.crash", "target": broker, **more}


def outlook(scenario: Scenario) -> Outlook:
    [found] = forecast(scenario, scenario.plans[0]).outlooks
    return found


def of(scenario: Scenario) -> Scripted:
    return scripted(scenario, scenario.assignments())


# -- what the file says -----------------------------------------------------------------------------------------------


def test_a_crash_is_noticed_when_the_session_expires_and_ends_with_its_duration() -> None:
    assert of(move(crash(3, duration="1m"))).outages == (Outage(3, 40.0, 46.0, 100.0),)


def test_a_broker_that_is_back_soon_is_noticed_then() -> None:
    assert of(move(crash(3, duration="2s"))).outages == (Outage(3, 40.0, 42.0, 42.0),)


def test_a_stop_is_noticed_at_once() -> None:
    assert of(move({**crash(3), "action": "broker.stop"})).outages == (Outage(3, 40.0, 40.0, inf),)


def test_an_entry_that_starts_what_is_down_ends_the_outage() -> None:
    start = {"after": "20s", "action": "broker.start", "target": {"mode": "all", "state": "down"}}
    assert of(move(crash([3, 4]), start)).outages == (Outage(3, 40.0, 46.0, 60.0), Outage(4, 40.0, 46.0, 60.0))


def test_the_first_leader_and_the_controller_are_known_brokers() -> None:
    assert [one.broker for one in of(move(crash("leader(orders-1)"))).outages] == [1]
    assert [one.broker for one in of(move({"at": "40s", "action": "controller.crash"})).outages] == [6]


@pytest.mark.parametrize(
    "entry",
    [
        crash("any isr(orders-0)"),
        crash("adding(orders-0)"),
        {"when": {"step": "move.start"}, "action": "broker.crash", "target": 0},
    ],
)
def test_what_only_a_run_knows_is_left_out_and_named(entry: Table) -> None:
    scenario = move(entry)
    assert of(scenario) == Scripted((), ("broker.crash",))
    assert forecast(scenario, scenario.plans[0]).left_out == ("broker.crash",)


def test_who_leads_after_a_death_is_left_to_the_run() -> None:
    assert of(move(crash(0), crash("leader(orders-0)", at="1m"))).left_out == ("broker.crash",)


# -- what follows from it ---------------------------------------------------------------------------------------------


def test_after_a_leader_s_death_its_copies_come_from_another_which_has_more_to_send() -> None:
    calm, dying = outlook(move()), outlook(move(crash(0)))
    assert calm.estimate_s is not None
    assert dying.estimate_s is not None
    assert dying.estimate_s > 1.3 * calm.estimate_s


def test_copies_to_a_dead_broker_wait_until_it_is_back() -> None:
    short, long = outlook(move(crash(3, duration="1m"))), outlook(move(crash(3, duration="3m")))
    assert short.estimate_s is not None
    assert long.estimate_s is not None
    assert short.estimate_s + 120 <= long.estimate_s <= short.estimate_s + 130  # what is written then is copied too


@pytest.mark.parametrize("keep", [0, 1])
def test_a_move_never_ends_whose_broker_is_never_back(keep: int) -> None:
    """A receiver; or a replica that stays, which has to be in sync at the end."""
    scenario = move(crash(0 if keep else 3, at="20s"), keep=keep)
    found = outlook(scenario)
    assert found.never_ends
    assert found.waits_for == (0 if keep else 3,)
    said = list(lines(forecast(scenario, scenario.plans[0])))
    assert any("never ends: moves wait for it, as broker" in line for line in said)
    assert not any("it ends with a throttle above" in line for line in said)


def test_a_partition_without_another_replica_waits_for_its_leader() -> None:
    calm, dying = outlook(move(replicas=1)), outlook(move(crash(1, at="11s", duration="2m"), replicas=1))
    assert calm.estimate_s is not None
    assert dying.estimate_s is not None
    assert dying.estimate_s > 120 > calm.estimate_s


def test_a_follower_that_dies_takes_its_traffic_off_the_throttle() -> None:
    """Without it more of the leaders' quotas is left to copies."""
    calm, dying = outlook(move(rate=4000, replicas=2)), outlook(move(crash(6, at="5s"), rate=4000, replicas=2))
    assert calm.estimate_s == dying.estimate_s
    leaves = outlook(move(crash(2, at="5s"), rate=4000, plan=_only(0)))
    stays = outlook(move(rate=4000, plan=_only(0)))
    assert leaves.estimate_s is not None
    assert stays.estimate_s is not None
    assert leaves.estimate_s < stays.estimate_s


def _only(partition: int) -> Table:
    return {"partitions": [{"topic": "orders", "partition": partition, "replicas": [3, 4, 5]}]}


def test_a_line_says_that_the_estimates_have_it() -> None:
    scenario = move(crash(3, duration="1m"))
    assert "broker 3 is down from 30 s after the request, for 60 s: the estimates have that" in [
        *lines(forecast(scenario, scenario.plans[0]))
    ]


@pytest.mark.parametrize("number", [1, 12, *(pytest.param(each, marks=pytest.mark.slow) for each in (4, 7, 8, 13))])
def test_a_run_is_near_the_estimate_and_above_the_bound(number: int) -> None:
    """``python -m benchmarks.forecast --kind "a broker dies"`` has more of them."""
    scenario = list(drawn("a broker dies", number + 1))[number].scenario
    found, took_s = outlook(scenario), play(scenario).run.metrics["time_to_complete_s"]
    assert isinstance(took_s, float)
    assert found.estimate_s == pytest.approx(took_s, rel=0.12)
    assert found.at_least_s <= took_s


def test_a_run_ends_no_move_that_waits_for_a_dead_broker() -> None:
    scenario = move(crash(3), horizon="90s")
    assert play(scenario).run.metrics["moves_finished"] == outlook(scenario).ended == 0
