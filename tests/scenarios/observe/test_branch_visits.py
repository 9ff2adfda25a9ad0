"""The branches that a run visits do not depend on what its process has done before."""

from __future__ import annotations

import pytest

from brokers.metrics import shared
from brokers.partition.isr import committed_isr
from emulator.protocol.types import TopicPartition
from scenarios.language import Scenario
from scenarios.observe.branch_visits import BranchVisits, can_watch
from scenarios.runs.record import run_scenario

FILE = """
title = "A topic with settings of its own"

[cluster]
brokers = 3

[[topics]]
name = "orders"
assignment = [[0, 1, 2]]
config = { "segment.bytes" = 20000 }

[[workloads]]
topic = "orders"
producerRate = 10
stop = "2s"

[[method]]
at = "1s"
action = "broker.crash"
target = 0
"""


def test_what_earlier_runs_computed_for_later_ones_is_forgotten() -> None:
    run_scenario(Scenario.loads(FILE), figures=False)
    assert committed_isr.cache_info().currsize
    orders = TopicPartition.of("orders", 0)
    BranchVisits().forget()
    assert (committed_isr.cache_info().currsize, shared.cache_info().currsize) == (0, 0)
    assert TopicPartition.of("orders", 0) is orders


@pytest.mark.skipif(not can_watch(), reason="needs sys.monitoring, of Python 3.12")
def test_the_same_run_twice_visits_the_same_branches() -> None:
    visits, scenario = BranchVisits(), Scenario.loads(FILE)
    told = []
    for _ in range(2):
        of_run: list[int] = []
        visits.begin(of_run.append)
        try:
            run_scenario(scenario, figures=False)
        finally:
            visits.end()
        told.append(of_run)
    first, second = told
    assert first == second
    assert any("log_config.py" in visits.names[place] for place in first)
