"""Static members (KIP-345): a client that comes back as the same instance keeps its place."""

from collections.abc import Callable

import pytest
from attrs import evolve

from brokers.groups.group import GroupState
from brokers.groups.group_metadata_manager import GroupMetadataManager
from brokers.groups.policies import GroupPolicies
from emulator.protocol.errors import Errors
from emulator.protocol.events import GroupMemberRemoved
from emulator.protocol.shown_coordination import MemberReturned
from tests.brokers.groups.bench import DELAY, OFFSETS, REBALANCE, SESSION, GroupBench

STORED = GroupPolicies(static_member_stored=True, static_member_rebalances=True)


def pair(bench: GroupBench) -> tuple[str, str]:
    """A stable group of two static members, ``a`` and ``b``: their member ids."""
    lines = [bench.ask_join(instance=name, requires_member_id=True) for name in "ab"]
    bench.wait(2 * DELAY)
    first, second = (line.last.member_id for line in lines)
    waiting = bench.ask_sync(second, 1, instance_id="b")
    assert not bench.ask_sync(first, 1, (first, second), instance_id="a").last.error
    assert not waiting.last.error
    return first, second


@pytest.mark.parametrize("policies", [None, STORED])
def test_a_static_member_comes_back_without_a_rebalance(policies: GroupPolicies | None) -> None:
    bench = GroupBench(policies)
    leader, follower = pair(bench)
    assert leader.startswith("a-")
    back = bench.ask_join(instance="b").last
    assert (back.error, back.generation, back.leader) == (Errors.NONE, 1, leader)
    assert back.member_id != follower
    assert bench.group.state is GroupState.STABLE
    assert bench.ask_sync(back.member_id, 1, instance_id="b").last.assignment == f"for {follower}".encode()


def test_one_that_a_rebalance_has_answered_is_not_answered_for_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seed 417 of kafka-2.7: the rebalance ended while the coordinator wrote its new member id (KAFKA-10284)."""
    bench = GroupBench(STORED)
    leader, _follower = pair(bench)
    returned = bench.see(MemberReturned)
    written: list[Callable[[Errors], None]] = []

    def held(_store: GroupMetadataManager, _group: object, _assigned: object, done: Callable[[Errors], None]) -> None:
        written.append(done)

    monkeypatch.setattr(GroupMetadataManager, "store_group", held)
    back = bench.ask_join(instance="b")
    assert back.replies == []
    bench.leave((leader, "a"))
    assert (back.last.error, back.last.generation) == (Errors.NONE, 2)
    (done,) = written
    done(Errors.NONE)
    assert (len(back.replies), returned) == (1, [])


def test_the_one_that_it_replaces_is_fenced() -> None:
    bench = GroupBench()
    _leader, follower = pair(bench)
    bench.ask_join(instance="b")
    assert bench.heartbeat(follower, 1, "b") is Errors.FENCED_INSTANCE_ID
    assert bench.ask_sync(follower, 1, instance_id="b").last.error is Errors.FENCED_INSTANCE_ID
    assert bench.ask_join(follower, "b").last.error is Errors.FENCED_INSTANCE_ID
    assert bench.commit(5, follower, 1, instance_id="b") is Errors.FENCED_INSTANCE_ID
    assert bench.leave((follower, "b")).members[0][1] is Errors.FENCED_INSTANCE_ID
    assert bench.heartbeat(follower, 1) is Errors.UNKNOWN_MEMBER_ID


def test_a_leader_that_comes_back_does_not_assign() -> None:
    bench = GroupBench()
    leader, _follower = pair(bench)
    back = bench.ask_join(instance="a").last
    assert (back.leader, back.members) == (leader, ())
    assert bench.group.leader == back.member_id


def test_a_join_that_waits_is_fenced_by_the_next() -> None:
    bench = GroupBench()
    _leader, follower = pair(bench)
    line = bench.ask_join(follower, "b", protocols=(("range", b"other"),))
    assert line.replies == []
    bench.ask_join(instance="b")
    assert line.last.error is Errors.FENCED_INSTANCE_ID


@pytest.mark.parametrize("rebalances", [False, True])
def test_one_that_comes_back_before_the_assignment_starts_a_rebalance_since_kafka_9801(rebalances: bool) -> None:
    bench = GroupBench(GroupPolicies(static_member_rebalances=rebalances))
    joined = bench.join(instance="a")
    line = bench.ask_join(instance="a")
    assert line.last.generation == (2 if rebalances else 1)
    assert (line.last.leader == joined.member_id) is not rebalances


def test_one_that_comes_back_while_the_assignment_is_written_leaves_all_unanswered_before_kafka_9801() -> None:
    """GroupCoordinator.setAndPropagateAssignment looks its new member id up among the old ones, and throws."""
    bench = GroupBench(isr=(0, 1))
    replica = bench.follower(1)
    replica.fetch((OFFSETS, 0, 0))
    lines = [bench.ask_join(instance=name, requires_member_id=True) for name in "ab"]
    bench.wait(2 * DELAY)
    first, second = (line.last.member_id for line in lines)
    waiting = bench.ask_sync(first, 1, (first, second), instance_id="a")
    back = bench.ask_join(instance="b").last
    assert (back.error, back.generation) == (Errors.NONE, 1)
    replica.fetch((OFFSETS, 0, 1))
    assert (waiting.replies, bench.group.state) == ([], GroupState.COMPLETING)
    again = bench.ask_sync(first, 1, (first, back.member_id), instance_id="a")
    replica.fetch((OFFSETS, 0, 2))
    assert bench.group.state is GroupState.STABLE
    assert again.last.assignment == f"for {first}".encode()
    assert bench.ask_sync(back.member_id, 1, instance_id="b").last.assignment == f"for {back.member_id}".encode()


def test_a_static_member_keeps_its_place_until_its_session_ends() -> None:
    bench = GroupBench()
    leader, follower = pair(bench)
    bench.wait(SESSION - 1)
    assert bench.heartbeat(leader, 1, "a") is Errors.NONE
    bench.wait(1)
    assert list(bench.group.members) == [leader]
    assert follower not in bench.group.instances.values()


def test_a_rebalance_leaves_static_members_in_that_are_not_back() -> None:
    bench = GroupBench()
    leader, follower = pair(bench)
    line = bench.ask_join(leader, "a", rebalance_timeout_us=SESSION // 2, protocols=(("range", b"x"),))
    bench.group.members[follower].session_timeout_us = 10 * SESSION
    bench.heartbeat(follower, 1, "b")
    bench.wait(61_000_000)
    assert line.last.generation == 2
    assert {each.instance_id for each in line.last.members} == {"a", "b"}


def test_an_administrator_removes_a_static_member_by_its_instance() -> None:
    bench = GroupBench()
    pair(bench)
    (outcome,) = bench.leave(("", "b")).members
    assert outcome[1] is Errors.NONE
    assert list(bench.group.instances) == ["a"]


@pytest.mark.parametrize("policies", [GroupPolicies(), STORED])
def test_the_next_coordinator_knows_the_new_member_id_since_kafka_10284(policies: GroupPolicies) -> None:
    bench = GroupBench(policies)
    pair(bench)
    back = bench.ask_join(instance="b").last.member_id
    bench.resign()
    bench.elect(2)
    error = bench.heartbeat(back, 1, "b")
    assert error is (Errors.NONE if policies.static_member_stored else Errors.FENCED_INSTANCE_ID)


def test_a_member_id_that_is_not_stored_is_taken_back() -> None:
    bench = GroupBench(STORED)
    _leader, follower = pair(bench)
    bench.manager.policies = bench.manager._services.policies = _needs_two(bench)
    refused = bench.ask_join(instance="b").last
    assert (refused.error, refused.member_id) == (Errors.COORDINATOR_NOT_AVAILABLE, "")
    assert bench.group.instances["b"] == follower


def _needs_two(bench: GroupBench):  # type: ignore[no-untyped-def]
    from attrs import evolve

    policies = bench.manager.policies
    return evolve(policies, config=evolve(policies.config, min_insync_replicas=2))


def test_one_that_has_not_synced_and_comes_back_is_awaited_under_its_old_name() -> None:
    """Seed 522 of kafka-3.0 and 3.3: the time for SyncGroups ends, and there is a rebalance that removes no member
    (GroupCoordinator.onExpirePendingSync, 3.0.0 to 3.9.0)."""
    bench = GroupBench(evolve(STORED, syncs_time_out=True, heartbeats_while_syncing=True))
    lines = [bench.ask_join(instance=name, requires_member_id=True, session_timeout_us=10 * REBALANCE) for name in "ab"]
    bench.wait(2 * DELAY)
    first, second = (line.last.member_id for line in lines)
    assert not bench.ask_sync(first, 1, (first, second), instance_id="a").last.error
    back = bench.ask_join(instance="b", session_timeout_us=10 * REBALANCE).last
    assert not bench.ask_sync(back.member_id, 1, instance_id="b").last.error
    removed = bench.see(GroupMemberRemoved)
    bench.wait(REBALANCE)
    assert (removed, list(bench.group.members)) == ([], [first, back.member_id])
    assert bench.group.state is GroupState.PREPARING
