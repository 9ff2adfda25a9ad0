"""The least throttle of a forecast, held to exact runs of drawn clusters: well below it no move ends, a little above it
each does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from scenarios.forecasting.arithmetic import Outlook, forecast
from scenarios.language import Scenario
from scenarios.language.files import load
from scenarios.runs import run_scenario

BEGINS_S = 5
ABOVE, BELOW = 1.1, 0.8
Drawn = tuple[int, int, int, int]
CLUSTERS = st.tuples(
    st.integers(1, 3),  # partitions
    st.integers(0, 2),  # followers of each
    st.integers(1_500, 3_000),  # kB/s that are written to all of them: far more than a fetch in a window
    st.integers(0, 1_000),  # the seed
)
ONE = CLUSTERS.map(lambda drawn: (1, *drawn[1:]))
"""One partition: of several, a lucky order may let some end."""


def cluster(drawn: Drawn, throttle: float, horizon_s: float = 60) -> Scenario:
    """All replicas move to other brokers. A partition holds more than what the first window lets through at once."""
    partitions, followers, written, seed = drawn
    replicas = followers + 1
    old = [[(first + step) % replicas for step in range(replicas)] for first in range(partitions)]
    plan: list[dict[str, Any]] = [
        {"topic": "orders", "partition": number, "replicas": [replicas + each for each in of]}
        for number, of in enumerate(old)
    ]
    return Scenario.from_table(
        {
            "title": "at the least throttle",
            "seed": seed,
            "horizon": f"{round(horizon_s)}s",
            "cluster": {"brokers": 2 * replicas + 1, "controller": 2 * replicas},
            "topics": [{"name": "orders", "assignment": old, "size": f"{20 * replicas * written}kB"}],
            "workloads": [{"topic": "orders", "producerRate": written, "messageSize": 1000, "linger": "500ms"}],
            "plan": {"partitions": plan},
            "method": [{"at": f"{BEGINS_S}s", "action": "reassign.execute", "throttle": f"{round(throttle)}B/s"}],
        }
    )


def outlook(drawn: Drawn, throttle: float) -> Outlook:
    scenario = cluster(drawn, throttle)
    [found] = forecast(scenario, scenario.plans[0]).outlooks
    return found


def least_of(drawn: Drawn) -> int:
    never = outlook(drawn, 10_000)
    assert never.never_ends
    assert never.least_throttle is not None
    return never.least_throttle


def holds(drawn: Drawn) -> None:
    """Within the time that the estimate gives it at 1.1 times the least throttle, no move ends at 0.8 times it."""
    least = least_of(drawn)
    above, below = outlook(drawn, ABOVE * least), outlook(drawn, BELOW * least)
    assert above.estimate_s is not None
    assert below.never_ends
    scenario = cluster(drawn, BELOW * least, BEGINS_S + above.estimate_s)
    assert run_scenario(scenario).metrics["moves_finished"] == 0


@given(ONE)
@settings(max_examples=3, deadline=None, derandomize=True, phases=[Phase.generate])
def test_no_run_ends_well_below_the_least_throttle(drawn: Drawn) -> None:
    holds(drawn)


def ends(drawn: Drawn) -> None:
    """At 1.1 times the least throttle a move ends, within three times the estimate."""
    throttle = ABOVE * least_of(drawn)
    estimate_s = outlook(drawn, throttle).estimate_s
    assert estimate_s is not None
    assert run_scenario(cluster(drawn, throttle, BEGINS_S + 3 * estimate_s)).metrics["moves_finished"] == 1


@given(ONE)
@settings(max_examples=3, deadline=None, derandomize=True, phases=[Phase.generate])
def test_a_run_ends_a_little_above_the_least_throttle(drawn: Drawn) -> None:
    ends(drawn)


@pytest.mark.slow
@given(ONE)
@settings(max_examples=60, deadline=None, phases=[Phase.generate])
def test_a_run_ends_a_little_above_the_least_throttle_in_many_clusters(drawn: Drawn) -> None:
    ends(drawn)


@pytest.mark.slow
@given(ONE)
@settings(max_examples=60, deadline=None, phases=[Phase.generate])
def test_no_run_ends_well_below_the_least_throttle_in_many_clusters(drawn: Drawn) -> None:
    holds(drawn)


@given(CLUSTERS)
@settings(max_examples=10, deadline=None)
def test_the_least_throttle_parts_what_ends_from_what_does_not(drawn: Drawn) -> None:
    """By arithmetic alone: at 1.1 times it a plan ends, at 0.8 times it does not."""
    least = least_of(drawn)
    assert not outlook(drawn, ABOVE * least).never_ends
    below = outlook(drawn, BELOW * least)
    assume(below.estimate_s is None or below.estimate_s > 11)  # all may pass in the first window
    assert below.never_ends


def test_an_answer_has_one_least_throttle_of_each_strategy() -> None:
    """Copies end in another order under each throttle, and what they need at most differs with it."""
    scenario, strategies = load("many-small-moves"), ("kip-455+window-2", "kafka-6794")
    outlooks = forecast(scenario, scenario.plans[0], (1_000_000, 10_000_000, 50_000_000), strategies).outlooks
    assert len(outlooks) == 6
    for strategy in strategies:
        assert len({one.least_throttle for one in outlooks if one.strategy == strategy}) == 1
