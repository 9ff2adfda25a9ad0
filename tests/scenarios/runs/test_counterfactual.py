"""Runs without a ticket: each reason is held against its switch."""

from __future__ import annotations

import json

import pytest
from attrs import evolve

from scenarios.chaos.draw import concrete
from scenarios.language import Scenario
from scenarios.profiles import PROFILES
from scenarios.profiles.tickets import TICKETS
from scenarios.runs.counterfactual import without
from scenarios.runs.known_findings import explained_findings
from scenarios.runs.record import run_scenario
from tests.scenarios.chaos.earlier_swarm import earlier_swarm

LEAST = 0.8
"""The share of findings that are gone without their ticket: a run that goes another way may find the same by chance."""


def drawn(profile: str, seed: int) -> Scenario:
    return evolve(concrete(earlier_swarm(profile), seed, {}), source="")


def test_a_finding_is_gone_with_the_policy_that_its_ticket_names() -> None:
    compared = without(drawn("kafka-1.1", 12043), TICKETS["KAFKA-3143"])
    assert {one.checker for one in compared.shown} == {"leader_completeness", "isr_complete", "log_matching"}
    assert set(compared.shown) <= set(compared.gone)
    assert compared.parting.index is not None
    assert not [name for name in PROFILES if "without" in name]
    assert any(line.startswith("  gone: isr_complete: ") for line in compared.lines())
    json.dumps(compared.to_json())


def test_one_of_another_ticket_stays() -> None:
    compared = without(drawn("kafka-1.1", 12043), TICKETS["KAFKA-2334"])
    assert not compared.shown
    assert {one.checker for one in compared.stay} >= {"isr_complete"}


@pytest.mark.parametrize(("ticket", "message"), [("KIP-966", "no policy of its own"), ("KAFKA-3143", "does not have")])
def test_what_cannot_be_left_out_is_refused(ticket: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        without(drawn("kafka-2.3", 0), TICKETS[ticket])


@pytest.mark.slow
def test_reasons_are_gone_with_their_switches() -> None:
    """Findings that a reason with a switch explains, in 400 seeds of 1.1 and 0.8 each."""
    explained, gone = 0, 0
    for profile in ("kafka-1.1", "kafka-0.8"):
        for seed in range(400):
            scenario = drawn(profile, seed)
            run = run_scenario(scenario)
            for key in dict.fromkeys(reason.ticket for reason, _ in explained_findings(run).known):
                if TICKETS[key].policies and not scenario.policies.have(TICKETS[key].without):
                    compared = without(scenario, TICKETS[key])
                    explained += len(compared.shown)
                    gone += len(set(compared.shown) & set(compared.gone))
    assert explained
    assert gone >= LEAST * explained, f"{gone} of {explained}"
