"""The arithmetic of a forecast, case by case."""

from __future__ import annotations

import time
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.errors import BadInput
from scenarios.forecasting import fluid
from scenarios.forecasting.arithmetic import Outlook, forecast
from scenarios.forecasting.capacities import LimitKind, capacities_of
from scenarios.forecasting.lower_bound import at_least_s
from scenarios.forecasting.moving import demand_of
from scenarios.language import Scenario
from scenarios.language.files import load
from scenarios.language.strategies import Throttle, parse_strategy
from scenarios.language.strategies.strategy_parts import PARTS, RATE, StrategyPart

Table = dict[str, Any]
MB = 1_000_000
STUDIES = Path(fluid.__file__).parents[1] / "studies" / "library"


def move(
    *, partitions: int = 200, size: str = "5GB", rate: int = 40_000, linger: str = "500ms", card: str = "1250MB/s",
    strategy: str = "wiki", **more: Any,
) -> Scenario:  # fmt: skip
    """Brokers 0 to 2 give everything to brokers 3 to 5."""
    table: Table = {
        "title": "a move",
        "horizon": "12h",
        "cluster": {"brokers": 6, "network": {"egress": card, "ingress": card}},
        "topics": [{"name": "orders", "partitions": partitions, "brokers": [0, 1, 2], "size": size}],
        "strategy": {"name": strategy},
        "plan": {"to": [3, 4, 5]},
        "method": [{"at": "30s", "action": "reassign.execute"}],
        **more,
    }
    if rate:
        table["workloads"] = [{"topic": "orders", "producerRate": rate, "messageSize": 1000, "linger": linger}]
    return Scenario.from_table(table)


def outlook(scenario: Scenario, throttle: int | None = None, strategy: str = "wiki") -> Outlook:
    [found] = forecast(scenario, scenario.plans[0], [throttle], [strategy]).outlooks
    return found


def test_a_throttle_below_what_is_written_and_kept_in_sync_never_ends() -> None:
    """A leader's quota counts 2 x 13.4 MB/s to followers in sync and 3 x 13.4 MB/s of new data (67 partitions of
    0.2 MB/s each)."""
    found = outlook(move(), 50 * MB)
    assert found.never_ends
    assert found.ended == 0
    assert {full.broker for full in found.full} == {0, 1, 2}
    assert {full.kind for full in found.full} == {LimitKind.LEADER_QUOTA}
    assert found.full[0].in_sync == pytest.approx(26.8 * MB)
    assert found.full[0].new == pytest.approx(40.2 * MB)
    assert found.full[0].needed == pytest.approx(67 * MB)


def test_the_known_large_move_takes_what_a_sampled_run_of_it_took() -> None:
    """33,485 s, with leaps (an error of 1 to 4 % is expected of those)."""
    found = outlook(move(), 100 * MB)
    assert found.estimate_s == pytest.approx(33_485, rel=0.08)
    assert found.at_least_s < 33_485


def test_the_least_throttle_lies_between_one_that_ends_and_one_that_does_not() -> None:
    least = outlook(move(), 50 * MB).least_throttle
    assert least is not None
    assert outlook(move(), int(least * 0.97)).never_ends
    assert not outlook(move(), int(least * 1.03)).never_ends


def test_a_throttle_hardly_above_the_least_one_is_near() -> None:
    assert [outlook(move(), rate * MB).near for rate in (50, 80, 100, 110, 200)] == [False, True, True, False, False]


def test_fewer_moves_at_a_time_need_less_of_a_throttle() -> None:
    found = outlook(move(), 50 * MB, "wiki+waves-20")
    assert not found.never_ends
    assert found.ended == 200


def test_copies_that_end_between_two_looks_of_the_operator_end() -> None:
    """Without that they had less than nothing left, and the plan never ended."""
    study = load(str(STUDIES / "many-small-moves-at-size.toml"), []).for_run()
    polled = outlook(study, 60 * MB, "kip-455+per-broker-cap-5+poll-10s")
    assert polled.ended == 600
    assert polled.estimate_s == pytest.approx(3423, rel=0.05)


def test_a_throttle_of_kip_542_counts_no_follower_in_sync() -> None:
    scenario = move(profile="kip-352-draft", strategy="wiki+reassign-throttle-50MB")
    [found] = forecast(scenario, scenario.plans[0]).outlooks
    assert not found.never_ends


def test_without_load_a_card_decides() -> None:
    """Each of three leaders has to send 4 x 3 GB through a card of 100 MB/s."""
    found = outlook(move(partitions=12, size="1GB", rate=0, card="100MB/s"))
    assert found.estimate_s == pytest.approx(120, rel=0.03)
    assert found.at_least_s == pytest.approx(120, rel=0.001)
    assert LimitKind.EGRESS in {full.kind for full in found.full}


def test_a_load_that_stops_lets_the_move_end() -> None:
    load = {"topic": "orders", "producerRate": 40_000, "messageSize": 1000, "stop": "1h"}
    scenario = move(rate=0, workloads=[load])
    found = outlook(scenario, 50 * MB)
    assert found.estimate_s is not None
    assert found.estimate_s > 3600 - 30


def test_a_plan_that_copies_nothing_is_over_at_once() -> None:
    plan = {"partitions": [{"topic": "orders", "partition": 0, "replicas": [1, 0, 2]}]}
    assert outlook(move(partitions=1, plan=plan), 50 * MB).estimate_s == 0.0


def test_bytes_by_partition_and_broker() -> None:
    scenario = move(partitions=4, size="1GB", rate=4000, method=[{"at": "0s", "action": "reassign.execute"}])
    found = forecast(scenario, scenario.plans[0])
    assert found.copied == 12_000 * MB
    assert [one.copied for one in found.moving] == [3000 * MB] * 4
    assert [one.copied_out for one in found.brokers] == [6000 * MB, 3000 * MB, 3000 * MB, 0, 0, 0]
    assert [one.copied_in for one in found.brokers] == [0, 0, 0, 4000 * MB, 4000 * MB, 4000 * MB]
    assert found.brokers[0].counted == found.brokers[0].in_sync_out == 4 * MB


def test_partitions_may_differ_in_size_and_in_what_is_written() -> None:
    load = {"topic": "orders", "producerRate": 4000, "messageSize": 1000, "shares": [3, 1]}
    topics = [{"name": "orders", "partitions": 2, "brokers": [0, 1, 2], "sizes": ["2GB", "1GB"]}]
    scenario = move(rate=0, topics=topics, workloads=[load], method=[{"at": "0s", "action": "reassign.execute"}])
    moving = forecast(scenario, scenario.plans[0]).moving
    assert [(one.size, one.written) for one in moving] == [(2000 * MB, 3 * MB), (1000 * MB, MB)]


def test_what_was_written_before_the_request_moves_too() -> None:
    scenario = move(partitions=1, size="1GB", rate=1000, method=[{"at": "100s", "action": "reassign.execute"}])
    assert forecast(scenario, scenario.plans[0]).moving[0].size == 1100 * MB


def test_a_rule_that_chooses_rates_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PARTS, "careful", StrategyPart("careful", RATE, "a rate", lambda look: 1))
    scenario = move(strategy="wiki+careful")
    with pytest.raises(BadInput, match="careful chooses its rate"):
        forecast(scenario, scenario.plans[0])


@given(
    throttle=st.integers(20, 400), partitions=st.integers(1, 30), rate=st.integers(0, 30_000),
    strategy=st.sampled_from(("wiki", "kafka-6794", "wiki+waves-3", "kip-455+window-4", "width-2", "wiki+serial")),
)  # fmt: skip
def test_a_wider_throttle_takes_no_longer_and_no_estimate_is_below_its_bound(
    throttle: int, partitions: int, rate: int, strategy: str
) -> None:
    scenario = move(partitions=partitions, size="2GB", rate=rate)
    found = [outlook(scenario, rate_mb * MB, strategy) for rate_mb in (throttle, 2 * throttle)]
    times = [inf if one.estimate_s is None else one.estimate_s for one in found]
    assert times[1] <= times[0] * 1.02 + 12
    demand, capacities = demand_of(scenario, scenario.plans[0]), capacities_of(scenario)
    for rate_mb, time_s in zip((throttle, 2 * throttle), times, strict=True):
        bound = at_least_s(demand, capacities, parse_strategy(strategy), Throttle(rate_mb * MB))
        assert bound <= time_s * 1.02


def test_ends_that_are_taken_together_change_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Topics of twenty sizes, so that copies end one after the other."""
    topics = [
        {"name": f"t{number}", "partitions": 20, "brokers": [0, 1, 2], "size": f"{100 + 37 * number}MB"}
        for number in range(20)
    ]
    scenario = move(rate=0, topics=topics)
    together = outlook(scenario, 100 * MB)
    monkeypatch.setattr(fluid, "MANY", 1000)
    one_by_one = outlook(scenario, 100 * MB)
    assert together.ended == one_by_one.ended == 400
    assert together.estimate_s == pytest.approx(one_by_one.estimate_s, rel=0.02)


def test_five_thousand_partitions_take_a_second() -> None:
    draw = Random(7)
    old = [draw.sample(range(30), 3) for _ in range(5000)]
    new = [[*replicas[:2], draw.choice(range(30, 40))] for replicas in old]
    moves = [{"topic": "orders", "partition": n, "replicas": replicas} for n, replicas in enumerate(new)]
    scenario = move(
        rate=300_000,
        cluster={"brokers": 40},
        topics=[{"name": "orders", "assignment": old, "size": "2GB"}],
        plan={"partitions": moves},
    )
    began = time.process_time()
    found = outlook(scenario, 200 * MB)
    assert time.process_time() - began < 2
    assert found.ended == 5000
