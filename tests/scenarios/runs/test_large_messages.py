"""The outage of the library's large-message-stops-followers: KIP-74 (0.10.1) ended it."""

import pytest

from scenarios.language.files import load
from scenarios.runs.record import run_scenario


@pytest.mark.parametrize(("profile", "stopped"), [("kafka-0.8", True), ("kafka-1.1", False)])
def test_followers_stop_at_a_message_that_no_fetch_may_hold(profile: str, stopped: bool) -> None:
    run = run_scenario(load("large-message-stops-followers"), profile=profile)
    assert run.violations == ()
    assert (run.verdict == "passed", bool(run.metrics["isr_shrinks"])) == (stopped, stopped)


def test_a_larger_fetch_heals_it() -> None:
    scenario = load("large-message-stops-followers", [("cluster.config.replica.fetch.max.bytes", 3_000_000)])
    assert run_scenario(scenario).metrics["isr_shrinks"] == 0


def test_the_probe_of_a_cluster_is_no_larger_than_what_its_followers_fetch() -> None:
    scenario = load(
        "large-message-stops-followers",
        [
            ("workloads[0].messageSize", 500),
            ("cluster.config.replica.fetch.max.bytes", 500),
            ("expect", [{"converged": True}]),
        ],
    )
    assert run_scenario(scenario).violations == ()
