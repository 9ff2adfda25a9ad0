"""A small valid scenario, as text and as objects, for tests that break or change one thing in it."""

from __future__ import annotations

from scenarios.language import ClusterSpec, MethodEntry, Move, Plan, Scenario, StrategySpec, TopicSpec, WorkloadSpec
from scenarios.language.triggers import At

SMALL = """\
schema = "scenario/1"
title = "small"
horizon = "1m"

[cluster]
brokers = 7
controller = 6

[[topics]]
name = "orders"
assignment = [[0, 1, 2], [1, 2, 3]]

[[workloads]]
topic = "orders"
producerRate = 100

[strategy]
name = "wiki"

[plan]
version = 1
partitions = [{ topic = "orders", partition = 0, replicas = [3, 4, 5] }]

[[method]]
at = "1s"
action = "reassign.execute"
"""


def small_with(old: str, new: str) -> str:
    """The small scenario with a piece of text replaced; without the piece the test would test nothing."""
    assert old in SMALL
    return SMALL.replace(old, new)


def small_and(*lines: str) -> str:
    """The small scenario with lines added at its end."""
    return SMALL + "\n" + "\n".join(lines) + "\n"


def built() -> Scenario:
    """The scenario ``SMALL``, built in Python."""
    return Scenario(
        title="small",
        horizon_us=60_000_000,
        cluster=ClusterSpec(brokers=7, controller=6),
        topics=[TopicSpec(name="orders", assignment=[[0, 1, 2], [1, 2, 3]])],
        workloads=[WorkloadSpec(topic="orders", producer_rate=100)],
        strategy=StrategySpec(name="wiki"),
        plan=Plan(partitions=[Move(topic="orders", partition=0, replicas=[3, 4, 5])]),
        method=[MethodEntry(action="reassign.execute", trigger=At(1_000_000))],
    )
