"""A release from outside the package: one file. Once registered it can be named, is listed and described, and runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.scenario_reference import sections as scenario_sections
from scenarios.profiles import PROFILES, register
from scenarios.profiles.profiles_reference import sections
from tests.scenarios.profiles.plugins.acme_2_7 import PROFILE
from tests.scenarios.runs.building import play

FILE = """
schema = "scenario/1"
title = "A follower that is down leaves the ISR after the build's own lag time"
profile = "acme-2.7"
horizon = "2m"

[cluster]
brokers = 4
controller = 0

[[topics]]
name = "orders"
assignment = [[0, 1, 2]]

[[workloads]]
topic = "orders"
producerRate = 10

[plan]
version = 1
partitions = [{ topic = "orders", partition = 0, replicas = [1, 2, 3] }]

[[method]]
at = "5s"
action = "reassign.execute"

[[expect]]
assignment = { orders-0 = [1, 2, 3] }

[[expect]]
invariant = "no_acked_record_lost"
"""


@pytest.fixture
def acme() -> Iterator[None]:
    """The release is registered for one test."""
    register(PROFILE)
    yield
    del PROFILES[PROFILE.name]


@pytest.mark.usefixtures("acme")
def test_a_scenario_file_names_the_release_and_runs_under_it() -> None:
    scenario = Scenario.loads(FILE)
    assert (scenario.strategy.name, scenario.reassigns_by) == ("kip-455", "api")
    assert scenario.settings()["replica.lag.time.max.ms"] == 5_000
    assert scenario.session_timeout_us == 18_000_000
    played = play(scenario)
    assert played.assignment() == (1, 2, 3)
    assert sorted(played.state().isr) == [1, 2, 3]
    assert not played.run.violations


@pytest.mark.usefixtures("acme")
def test_the_release_is_in_the_rendered_tables() -> None:
    assert "| `acme-2.7` | Acme's build of 2.7" in scenario_sections()["profiles"]
    found = sections()
    assert "| leaves it like one that does not fetch, as in 3.0 |" in found["acme-2.7"]
    assert "| a control request that failed is sent again | after 50 ms | ACME-1 |" in found["acme-2.7"]
    assert "| a control request that failed is sent again | after 100 ms | ACME-1 |" in found["kafka-2.3"]
    assert "a control request that failed" not in found["kafka-0.8"]
    assert "- Acme's own log format" in found["acme-2.7"]


def test_a_release_that_is_not_registered_is_unknown() -> None:
    with pytest.raises(BadInput, match=r"unknown profile 'acme-2\.7'"):
        Scenario.loads(FILE)
