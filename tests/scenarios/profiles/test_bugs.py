"""Bugs of Kafka as switches of a scenario."""

import pytest

from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.profiles import PROFILES
from scenarios.profiles.bugs import BUGS, register

SMALL = {"title": "t", "cluster": {"brokers": 3}}


def test_a_scenario_without_bugs_has_the_policies_of_its_profile() -> None:
    assert Scenario.from_table(SMALL).policies is PROFILES["kafka-2.3"].policies


def test_a_bug_puts_back_the_policy_from_before_its_fix() -> None:
    scenario = Scenario.from_table({**SMALL, "bugs": ["KAFKA-7128"]})
    assert scenario.policies.brokers.join_needs_epoch_start is False
    assert Scenario.loads(scenario.to_toml(), source="again").bugs == ("KAFKA-7128",)


def test_an_unknown_bug_is_refused_with_the_nearest() -> None:
    with pytest.raises(BadInput, match=r"bugs\[0\]: unknown bug 'KAFKA-71288'; did you mean 'KAFKA-7128'\?"):
        Scenario.from_table({**SMALL, "bugs": ["KAFKA-71288"]})


def test_a_ticket_is_taken_once() -> None:
    with pytest.raises(ValueError, match="there is a bug 'KAFKA-7128' already"):
        register(BUGS["KAFKA-7128"])
