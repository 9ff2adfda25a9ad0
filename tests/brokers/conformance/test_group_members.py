"""More cases of GroupCoordinatorTest (2.7.2), with its own times (see test_groups)."""

from collections.abc import Sequence
from typing import Any

import pytest

from brokers.groups.group import GroupState
from brokers.groups.policies import GroupPolicies
from emulator.protocol.errors import Errors
from emulator.protocol.groups.group_offsets import OffsetDeleteRequest
from emulator.protocol.groups.membership import LeaveGroupRequest, LeavingMember
from emulator.protocol.groups.operations import ListGroupsRequest
from tests.brokers.bench import MS, TP, Line
from tests.brokers.conformance.test_groups import FIRST, SESSION, ask, bench_of, static_pair
from tests.brokers.groups.bench import GROUP, GroupBench

MOST = 4
"""group.max.size of these benches."""
NONE, UNKNOWN, FENCED = Errors.NONE, Errors.UNKNOWN_MEMBER_ID, Errors.FENCED_INSTANCE_ID


def stable(bench: GroupBench, **changes: Any) -> tuple[str, int]:
    """A group with one member, by its id and its generation."""
    line = ask(bench, **changes)
    bench.wait(FIRST)
    joined = line.last
    assert not bench.ask_sync(joined.member_id, joined.generation, (joined.member_id,)).last.error
    return joined.member_id, joined.generation


def errors(lines: Sequence[Line]) -> list[Errors]:
    return [line.last.error for line in lines]


# -- group.max.size ---------------------------------------------------------------------------------------------------

ONE_TOO_MANY = [NONE] * MOST + [Errors.GROUP_MAX_SIZE_REACHED]


@pytest.mark.parametrize("known", [False, True])
def test_dynamic_members_join_group_with_max_size(known: bool) -> None:
    """testDynamicMembersJoinGroupWithMaxSize, ...AndRequiredKnownMember: the first four are in, and can come again."""
    bench = bench_of()
    ids = [""] * (MOST + 1)
    if known:
        ids = [ask(bench, requires_member_id=True).last.member_id for _ in ids]
        assert len(dict.fromkeys(ids)) == MOST + 1
    lines = [ask(bench, member, requires_member_id=known) for member in ids]
    bench.wait(2 * FIRST + 2)
    assert errors(lines) == ONE_TOO_MANY
    again = ids if known else [line.last.member_id for line in lines]
    assert errors([ask(bench, member, requires_member_id=known) for member in again]) == ONE_TOO_MANY


def test_static_members_join_group_with_max_size() -> None:
    """testStaticMembersJoinGroupWithMaxSize."""
    bench = bench_of()
    names = [f"instance-id-{number}" for number in range(MOST + 1)]
    lines = [ask(bench, instance=name) for name in names]
    bench.wait(2 * FIRST + 2)
    assert errors(lines) == ONE_TOO_MANY
    ids = [line.last.member_id for line in lines]
    assert errors([ask(bench, id, name) for id, name in zip(ids, names, strict=True)]) == ONE_TOO_MANY


def test_last_joining_members_are_kicked_out_when_rejoining_group_with_max_size() -> None:
    """testLastJoiningMembersAreKickedOutWhenReJoiningGroupWithMaxSize: the limit has become lower."""
    bench = bench_of(max_size=MOST + 2)
    lines = [ask(bench) for _ in range(MOST + 2)]
    bench.wait(2 * FIRST + 2)
    assert errors(lines) == [NONE] * (MOST + 2)
    ids = [line.last.member_id for line in lines]
    assert not bench.ask_sync(ids[0], 1, ids).last.error
    bench.policies = bench_of().policies
    bench.restart()
    bench.elect(2)
    lines = [ask(bench, id) for id in ids]
    assert errors(lines) == [NONE] * MOST + [Errors.GROUP_MAX_SIZE_REACHED] * 2
    assert list(bench.group.members) == ids[:MOST]


# -- leaving ----------------------------------------------------------------------------------------------------------


def left(bench: GroupBench, *members: tuple[str, str | None], group: str = GROUP) -> list[Errors]:
    response = bench.send(LeaveGroupRequest(group, tuple(LeavingMember(*member) for member in members))).last
    assert response.error is NONE
    return [error for _, error in response.members]


def test_static_members_batch_leave_group() -> None:
    """testStaticMembersValidBatchLeaveGroup, ...UnknownGroup..., ...FencedInstance..., ...UnknownInstance...,
    testLeaveGroupStaticMemberWithUnknownMemberId."""
    bench, _leader, _follower = static_pair()
    assert left(bench, ("", "leader"), ("", "follower"), group="invalid-group") == [UNKNOWN] * 2
    assert left(bench, ("invalid-member", "follower"), ("", "unknown-instance")) == [FENCED, UNKNOWN]
    assert bench.group.state is GroupState.STABLE
    assert left(bench, ("", "leader"), ("", "follower")) == [NONE] * 2
    assert list(bench.group.members) == []


def test_pending_member_batch_leave_group() -> None:
    """testPendingMemberBatchLeaveGroup: a member id that was given, and not used."""
    bench = bench_of()
    stable(bench)
    pending = ask(bench, requires_member_id=True).last.member_id
    assert left(bench, ("", "unknown-instance"), (pending, None)) == [UNKNOWN, NONE]
    assert (list(bench.group.pending), bench.group.state) == ([], GroupState.STABLE)


# -- commits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("judges", [False, True])
def test_commit_offset_in_completing_rebalance(judges: bool) -> None:
    """testCommitOffsetInCompletingRebalance, ...FromUnknownMemberId, ...FromIllegalGeneration (KAFKA-8487, 2.4)."""
    bench = GroupBench(GroupPolicies(commits_judge_members=judges))
    joined = bench.join()
    assert bench.group.state is GroupState.COMPLETING
    waits = Errors.REBALANCE_IN_PROGRESS
    assert bench.commit(0, joined.member_id, joined.generation) is waits
    assert bench.commit(0, "unknown", joined.generation) is (UNKNOWN if judges else waits)
    assert bench.commit(0, joined.member_id, joined.generation + 1) is (Errors.ILLEGAL_GENERATION if judges else waits)
    assert bench.fetch().offset == -1


def test_commit_of_a_fenced_member_in_completing_rebalance() -> None:
    """staticMemberCommitOffsetWithInvalidMemberId: a fence comes first, in each release."""
    bench = bench_of()
    joined = ask(bench, instance="only")
    bench.wait(FIRST)
    assert joined.last.error is NONE
    assert bench.commit(0, "invalid", joined.last.generation, instance_id="only") is FENCED


# -- deleting offsets -------------------------------------------------------------------------------------------------


def deleted(bench: GroupBench) -> tuple[Errors, list[Errors]]:
    response = bench.send(OffsetDeleteRequest(GROUP, (TP,))).last
    return response.error, [error for _, error in response.partitions]


@pytest.mark.parametrize("type", ["consumer", "My Protocol"])
def test_delete_offset(type: str) -> None:
    """testDeleteOffsetOf(NonEmpty|Empty)NonConsumerGroup, ...OfConsumerGroupWithUnparsableProtocol,
    ...OfEmptyConsumerGroup, ...OfDeadConsumerGroup: what a member of a consumer group says cannot be read."""
    bench = bench_of()
    member, generation = stable(bench, protocol_type=type)
    assert bench.commit(37, member, generation) is NONE
    refused = (NONE, [Errors.GROUP_SUBSCRIBED_TO_TOPIC]) if type == "consumer" else (Errors.NON_EMPTY_GROUP, [])
    assert deleted(bench) == refused
    assert left(bench, (member, None)) == [NONE]
    assert bench.group.state is GroupState.EMPTY
    assert deleted(bench) == (NONE, [NONE])
    assert deleted(bench) == (Errors.GROUP_ID_NOT_FOUND, [])


# -- rebalances -------------------------------------------------------------------------------------------------------


def test_session_timeout_during_rebalance() -> None:
    """testSessionTimeoutDuringRebalance: a member whose session ends drops out, and the rebalance ends without it."""
    bench = bench_of()
    member, generation = stable(bench, session_timeout_us=1_000 * MS, rebalance_timeout_us=2_000 * MS)
    other = ask(bench, session_timeout_us=10_000 * MS)
    bench.wait(500 * MS)
    assert bench.heartbeat(member, generation) is Errors.REBALANCE_IN_PROGRESS
    bench.wait(1_100 * MS)
    assert bench.heartbeat(member, generation) is UNKNOWN
    assert other.last.error is NONE


def test_delay_rebalance_up_to_rebalance_timeout() -> None:
    """shouldDelayRebalanceUptoRebalanceTimeout, shouldResetRebalanceDelayWhenNewMemberJoinsGroupInInitialRebalance."""
    bench = bench_of()
    lines = [ask(bench, rebalance_timeout_us=2 * FIRST) for _ in range(2)]
    bench.wait(FIRST + MS)
    lines.append(ask(bench, rebalance_timeout_us=2 * FIRST))
    bench.wait(FIRST - 2 * MS)
    assert [line.replies for line in lines] == [[]] * 3
    bench.wait(2 * MS)
    assert errors(lines) == [NONE] * 3


def test_new_member_failure_after_sync_group_completion() -> None:
    """testNewMemberFailureAfterSyncGroupCompletion: a new member is removed like any other once it is assigned."""
    bench = bench_of()
    first, _ = stable(bench)
    other, again = ask(bench), ask(bench, first)
    generation, second = again.last.generation, other.last.member_id
    assert errors([other, again]) == [NONE] * 2
    line = bench.ask_sync(second, generation)
    assert not bench.ask_sync(first, generation, (first, second)).last.error
    assert not line.last.error
    bench.wait(SESSION // 2)
    assert bench.heartbeat(first, generation) is NONE
    bench.wait(SESSION // 2 + MS)
    assert bench.heartbeat(second, generation) is UNKNOWN
    assert list(bench.group.members) == [first]
    assert bench.group.state is GroupState.PREPARING


def test_groups_by_their_states() -> None:
    """testListGroupsWithStates, testDescribeGroupRebalancing, testHeartbeatEmptyGroup."""
    bench = bench_of()
    states = [str(state) for state in GroupState]

    def listed(*wanted: str) -> int:
        response = bench.send(ListGroupsRequest(wanted)).last
        assert response.error is NONE
        return len(response.groups)

    def is_in(state: GroupState) -> bool:
        others = [each for each in states if each != state]
        return (listed(str(state)), listed(*others)) == (1, 0)

    joined = ask(bench)
    bench.wait(FIRST)
    member, generation = joined.last.member_id, joined.last.generation
    found = bench.described()
    assert (found.state, found.protocol_type, found.protocol) == ("CompletingRebalance", "consumer", "")
    assert [(each.member_id, each.metadata, each.assignment) for each in found.members] == [(member, b"", b"")]
    assert is_in(GroupState.COMPLETING)
    assert not bench.ask_sync(member, generation, (member,)).last.error
    assert is_in(GroupState.STABLE)
    assert left(bench, (member, None)) == [NONE]
    assert is_in(GroupState.EMPTY)
    assert bench.heartbeat(member, 0) is UNKNOWN
    assert ask(bench, member).last.error is UNKNOWN
