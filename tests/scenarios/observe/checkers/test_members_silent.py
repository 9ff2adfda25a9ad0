"""G5: histories in which a coordinator removes a member that is heard, or keeps one that is silent."""

from __future__ import annotations

import pytest

from emulator.protocol import events as e
from emulator.protocol import shown_coordination as shown
from tests.scenarios.observe.checkers.test_coordinators import ANNE, BOB, GROUP, SECOND_US, Coordinated, looks, works


@pytest.mark.parametrize(("silent", "count"), [(10, 0), (9, 1)])
def test_a_session_ends_when_its_member_is_silent(silent: float, count: int) -> None:
    run = Coordinated("members_silent")
    run.emit(e.GroupMemberAdded, 0, GROUP, ANNE, "", "client")
    run.generation(1, ANNE)
    run.heard(ANNE)
    run.later(silent)
    run.removed(ANNE, "session")
    assert len(run.found()) == count


@pytest.mark.parametrize(("reason", "count"), [("left", 0), ("session", 1)])
def test_a_new_member_waits_for_its_generation(reason: str, count: int) -> None:
    run = Coordinated("members_silent")
    run.emit(e.GroupMemberAdded, 0, GROUP, ANNE, "", "client")
    run.later(30)
    run.removed(ANNE, reason)
    assert len(run.found()) == count


@pytest.mark.parametrize(("seconds", "state", "count"), [(14, "Stable", 0), (16, "Stable", 1), (30, "Dead", 0)])
def test_a_silent_member_of_a_stable_group_is_removed(seconds: int, state: str, count: int) -> None:
    run = works("members_silent")
    run.generation(1, ANNE, BOB)
    run.heard(ANNE)
    run.group_state("Stable")
    run.group_state(state)
    found = looks(run, seconds)
    assert len(found) == count
    assert all(f"coordinator 0 keeps {ANNE} in the stable group {GROUP}" in state for state in found)


@pytest.mark.parametrize(("seconds", "state", "count"), [(14, "Stable", 0), (16, "Stable", 1), (30, "Empty", 0)])
def test_the_session_of_a_member_begins_when_its_group_is_loaded(seconds: int, state: str, count: int) -> None:
    run = works("members_silent")
    run.show(shown.MembersLoaded, 0, GROUP, state, ((ANNE, 10 * SECOND_US),))
    assert len(looks(run, seconds)) == count


@pytest.mark.parametrize(("removed", "count"), [("replaced", 0), ("", 1)])
def test_a_static_member_is_there_once(removed: str, count: int) -> None:
    run = Coordinated("members_silent")
    run.emit(e.GroupMemberAdded, 0, GROUP, ANNE, "static-0", "client")
    if removed:
        run.removed(ANNE, removed, "static-0")
    run.emit(e.GroupMemberAdded, 0, GROUP, "anne-2", "static-0", "client")
    run.emit(e.GroupMemberAdded, 0, GROUP, "bob", "static-1", "client")
    assert len(run.found()) == count


@pytest.mark.parametrize(("members", "count"), [((BOB,), 0), ((ANNE, BOB), 1)])
def test_a_coordinator_that_reads_a_group_again_knows_no_member_from_before(
    members: tuple[str, ...], count: int
) -> None:
    """kafka-1.1, seed 7008: a member has left the group at another coordinator meanwhile."""
    run = works("members_silent")
    run.generation(1, ANNE, BOB)
    for member in (ANNE, BOB):
        run.heard(member)
    run.group_state("Stable")
    run.group_state("Dead")
    run.show(shown.MembersLoaded, 0, GROUP, "Stable", tuple((member, 10 * SECOND_US) for member in members))
    for _ in range(3):
        looks(run, 8)
        run.heard(BOB)
    assert len(run.found()) == count


@pytest.mark.parametrize(
    ("instance", "reason", "count"), [("first", "rebalance", 1), ("", "rebalance", 0), ("first", "sync", 0)]
)
def test_a_static_member_may_miss_a_rebalance(instance: str, reason: str, count: int) -> None:
    run = works("members_silent")
    run.generation(1, ANNE, BOB)
    run.removed(BOB, reason, instance)
    assert len(run.found()) == count


def test_a_member_that_is_heard_stays_and_one_of_an_earlier_generation_is_gone() -> None:
    run = works("members_silent")
    run.generation(1, ANNE, BOB)
    for member in (ANNE, BOB):
        run.heard(member)
    run.generation(2, ANNE)
    run.group_state("Stable", 2)
    for _ in range(8):
        assert looks(run, 8) == []
        run.heard(ANNE)
