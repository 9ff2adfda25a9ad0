"""Tickets: what Kafka did wrong, as switches of a scenario and as what releases do otherwise."""

import pytest

from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.profiles import PROFILES
from scenarios.profiles.profile import in_short, is_before
from scenarios.profiles.ticket import Ticket
from scenarios.profiles.tickets import BUGS, TICKETS, register

SMALL = {"title": "t", "cluster": {"brokers": 3}}


def test_a_scenario_without_bugs_has_the_policies_of_its_profile() -> None:
    assert Scenario.from_table(SMALL).policies is PROFILES["kafka-2.3"].policies


def test_a_bug_puts_back_the_policy_from_before_its_fix() -> None:
    scenario = Scenario.from_table({**SMALL, "bugs": ["KAFKA-9539"]})
    assert scenario.policies.controller.stops_name_epochs is False
    assert Scenario.loads(scenario.to_toml(), source="again").bugs == ("KAFKA-9539",)


def test_an_unknown_bug_is_refused_with_the_nearest() -> None:
    with pytest.raises(BadInput, match=r"bugs\[0\]: unknown bug 'KAFKA-95399'; did you mean 'KAFKA-9539'\?"):
        Scenario.from_table({**SMALL, "bugs": ["KAFKA-95399"]})


def test_a_ticket_is_taken_once() -> None:
    with pytest.raises(ValueError, match="there is a ticket 'KAFKA-9539' already"):
        register(BUGS["KAFKA-9539"])


RELEASES = [profile for name, profile in PROFILES.items() if name.startswith("kafka-")]
WORDED = [ticket for ticket in TICKETS.values() if ticket.differences]


@pytest.mark.parametrize("ticket", WORDED, ids=lambda ticket: ticket.key)
def test_a_release_differs_where_its_tickets_say_so(ticket: Ticket) -> None:
    """Those that have it say so, or something else of the same title, which is nearer; none from its end on has it."""
    for profile in RELEASES:
        had = profile.policies.have(ticket.policies)
        if ticket.had_by(profile.release):
            said = [one.title for link in profile.chain() for one in link.differences]
            assert had or {one.title for one in ticket.differences} <= set(said), profile.name
        elif ticket.until and not is_before(profile.release, ticket.until[0]):
            assert not had, profile.name


@pytest.mark.parametrize("ticket", BUGS.values(), ids=BUGS)
def test_the_switch_of_a_ticket_has_two_sides(ticket: Ticket) -> None:
    assert list(ticket.without) == list(ticket.policies)
    assert ticket.without != ticket.policies


@pytest.mark.parametrize(
    ("release", "had"), [("0.8.0", False), ("2.4.1", True), ("2.7.2", True), ("2.8", True), ("3.0.0", False)]
)
def test_releases_are_compared_by_their_numbers(release: str, had: bool) -> None:
    assert TICKETS["KAFKA-9672"].had_by(release) is had
    assert TICKETS["KAFKA-9672"].releases == "2.4 to 2.8; fixed in 3.0.0"
    assert is_before("2.7.2", "2.10.0")
    assert [in_short(one) for one in ("2.3.0", "0.9.0.0", "2.5.1", "2.0.0")] == ["2.3", "0.9", "2.5.1", "2.0"]


def test_a_difference_that_changes_no_policy_is_none() -> None:
    """2.4 has KAFKA-10314 with its moves by the API, and 2.3's policy is the same."""
    ticket = TICKETS["KAFKA-10314"]
    assert ticket.differences_of(PROFILES["kafka-2.3"], "2.4.1") == ()
    [difference] = ticket.differences_of(PROFILES["kafka-2.6"], "2.7.2")
    assert (difference.source, difference.policies) == ("KAFKA-10314, 2.7", {"kip_455.adds_as_new": True})
