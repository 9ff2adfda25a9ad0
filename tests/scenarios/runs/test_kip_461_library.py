"""KIP-461 in the library's scenarios: the cost of one failed partition, before it and since."""

from pathlib import Path

import pytest

from understudy import Scenario

LIBRARY = Path(__file__).parents[3] / "scenarios" / "library"


@pytest.mark.parametrize(
    ("name", "profile", "shrinks"),
    [("kip-461-thread-dies", "kafka-1.1", 20), ("kip-461-one-of-twenty", "kafka-2.3", 1)],
)
def test_one_of_twenty_partitions_fails(name: str, profile: str, shrinks: int) -> None:
    run = Scenario.load(LIBRARY / f"{name}.toml").run()
    assert run.passed, run.explanation
    assert (run.profile, run.metrics["isr_shrinks"]) == (profile, shrinks)


@pytest.mark.parametrize(
    ("name", "other"), [("kip-461-thread-dies", "kafka-2.3"), ("kip-461-one-of-twenty", "kafka-1.1")]
)
def test_neither_scenario_passes_under_the_other_release(name: str, other: str) -> None:
    table = Scenario.load(LIBRARY / f"{name}.toml").to_table()
    assert not Scenario.from_table({**table, "profile": other}).run().passed
