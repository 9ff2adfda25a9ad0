"""Hints of ``validate`` about loads that cannot be accepted, and what happens to them."""

from collections.abc import Mapping
from typing import Any

import pytest

from scenarios.language.scenario import Scenario
from scenarios.language.sizes import hints
from scenarios.runs.record import run_scenario

TEXT = """
schema = "scenario/1"
title = "large messages"
description = "one load"
horizon = "5s"
[cluster]
brokers = 3
[[topics]]
name = "orders"
partitions = 1
replication_factor = 3
"""


def scenario(load: Mapping[str, Any], most: int = 1_000_012, profile: str = "kafka-2.3") -> Scenario:
    keys = "".join(f"{name} = {value}\n" for name, value in load.items())
    text = (
        f'profile = "{profile}"\n{TEXT}config = {{ "max.message.bytes" = {most} }}\n[[workloads]]\ntopic = "orders"\n'
    )
    return Scenario.loads(text + keys)


LARGE = {"producerRate": 10, "messageSize": '"10kB"'}


@pytest.mark.parametrize(
    ("load", "most", "profile", "said"),
    [
        (LARGE, 500, "kafka-2.3", "no message is ever accepted"),
        ({**LARGE, "messageSize": '"2MB"'}, 500, "kafka-2.3", "no message is ever sent"),
        ({**LARGE, "producerRate": 100}, 50_000, "kafka-2.3", "a batch may have 100000 bytes"),
        ({**LARGE, "producerRate": 100}, 50_000, "kafka-0.8", ""),
        ({**LARGE, "producerRate": 100, "config": '{ "batch.size" = 50_000 }'}, 50_000, "kafka-2.3", ""),
        (LARGE, 10_000, "kafka-2.3", ""),
    ],
)
def test_a_load_that_cannot_be_accepted_is_named(load: Mapping[str, Any], most: int, profile: str, said: str) -> None:
    found = list(hints(scenario(load, most, profile)))
    assert [said in line and line.startswith("workloads[0] orders: ") for line in found] == ([True] if said else [])


@pytest.mark.parametrize(
    ("load", "most", "accepted"),
    [
        (LARGE, 500, False),
        ({**LARGE, "messageSize": '"2MB"'}, 3_000_000, False),
        ({**LARGE, "messageSize": '"2MB"', "config": '{ "max.request.size" = 3_000_000 }'}, 3_000_000, True),
        ({**LARGE, "producerRate": 100, "config": '{ "batch.size" = 50_000 }'}, 50_000, True),
    ],
)
def test_what_is_too_large_is_never_acknowledged(load: Mapping[str, Any], most: int, accepted: bool) -> None:
    figures = run_scenario(scenario(load, most)).metrics
    assert (bool(figures["acked_batches"]), bool(figures["failed_batches"])) == (accepted, not accepted)
