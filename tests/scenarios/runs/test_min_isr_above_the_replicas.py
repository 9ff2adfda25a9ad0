"""min.insync.replicas above the number of replicas: up to 3.6 no acks=all succeeds, later it counts as that number
(KAFKA-15583, 3.7). Brokers, checkers, measures and hints say the same of it."""

import pytest

from scenarios.language import Scenario
from scenarios.runs import run_scenario

FILE = """
schema = "scenario/1"
title = "one replica of two"
profile = "{profile}"
horizon = "20s"

[cluster]
brokers = 2
config = {{ "min.insync.replicas" = 2 }}

[[topics]]
name = "orders"
assignment = [[0]]

[[workloads]]
topic = "orders"
producerRate = 100
messageSize = 1000
acks = "all"
stop = "5s"
config = {{ "delivery.timeout.ms" = 8000, "request.timeout.ms" = 5000 }}
"""


@pytest.mark.parametrize(("profile", "counts"), [("kafka-3.6", False), ("kafka-3.9", True)])
def test_it_counts_as_the_replicas_there_are(profile: str, counts: bool) -> None:
    scenario = Scenario.loads(FILE.format(profile=profile))
    run = run_scenario(scenario)
    assert run.passed, run.explanation
    assert bool(run.metrics["acked_batches"]) is counts
    assert bool(run.metrics["under_min_isr_s"]) is not counts
    assert bool(run.metrics["failed_batches"]) is not counts
    (hint,) = scenario.topic_hints()
    assert hint.endswith("it counts as 1" if counts else "no write with acks=all can succeed")


def test_0_8_does_not_know_the_setting() -> None:
    """It came with 0.8.2 (KAFKA-1555). What the file asks for is measured all the same."""
    scenario = Scenario.loads(FILE.format(profile="kafka-0.8"))
    run = run_scenario(scenario)
    assert run.passed, run.explanation
    assert run.metrics["acked_batches"]
    assert not run.metrics["failed_batches"]
    assert run.metrics["under_min_isr_s"]
    (hint,) = scenario.topic_hints()
    assert hint == (
        "topics[0] orders: min.insync.replicas is 2, which brokers of this release do not know (0.8.2): "
        "it has no effect"
    )
