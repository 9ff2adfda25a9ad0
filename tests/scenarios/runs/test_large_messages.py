"""The outage of the library's large-message-stops-followers: KIP-74 (0.10.1) ended it."""

import pytest

from scenarios.language.files import load
from scenarios.museum.exhibits import exhibit
from scenarios.runs.known_findings import explained_findings
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


def test_what_a_stop_breaks_is_known_by_its_ticket() -> None:
    expected = load("large-message-stops-followers", [("expect", [{"converged": True}])])
    in_sync = exhibit("KAFKA-7128").scenario  # its messages are larger than its limit
    for scenario, checkers in ((expected, {"converged", "idle_changes_nothing"}), (in_sync, {"isr_logs_identical"})):
        explained = explained_findings(run_scenario(scenario, profile="kafka-0.8"))
        assert not explained.new
        assert {why.ticket for why, _ in explained.known} == {"KIP-74"}
        assert {one.checker for _, of in explained.known for one in of} == checkers
