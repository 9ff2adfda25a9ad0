"""GroupCoordinatorTest of Kafka 2.4.1, with its own times: sessions and rebalances last 500 ms unless a case says
otherwise, and an empty group waits 50 ms for more members."""

from typing import Any

import pytest

from brokers.groups.group import GroupState
from emulator.protocol.errors import Errors
from emulator.protocol.groups.membership import JoinGroupResponse
from emulator.protocol.groups.operations import DeleteGroupsRequest, ListGroupsRequest
from tests.brokers.bench import MS, Line
from tests.brokers.groups.bench import GROUP, OFFSETS, GroupBench

SESSION, REBALANCE, FIRST = 500 * MS, 500 * MS, 50 * MS
ONE = (("range", b""),)
BOTH = (("range", b""), ("roundrobin", b""))
OTHER = (("roundrobin", b""),)


def bench_of(**settings: int) -> GroupBench:
    settings = {"initial_rebalance_delay_us": FIRST, "min_session_timeout_us": 10 * MS, "max_size": 4, **settings}
    return GroupBench(**settings)  # type: ignore[arg-type]


def ask(bench: GroupBench, member: str = "", instance: str | None = None, **changes: Any) -> Line:
    stated = {"session_timeout_us": SESSION, "rebalance_timeout_us": REBALANCE, "protocols": BOTH, **changes}
    return bench.ask_join(member, instance, **stated)


def seen(line: Line) -> tuple[Errors, int, set[str | None], str]:
    """Error, generation, the instances that a leader is sent, and the leader."""
    joined: JoinGroupResponse = line.last
    return joined.error, joined.generation, {each.instance_id for each in joined.members}, joined.leader


def static_pair(session_timeout_us: int = SESSION) -> tuple[GroupBench, str, str]:
    """staticMembersJoinAndRebalance: ``leader`` and ``follower`` in a stable group, and their member ids."""
    bench = bench_of()
    lines = [ask(bench, instance=name, session_timeout_us=session_timeout_us) for name in ("leader", "follower")]
    bench.wait(2 * FIRST + 2)
    leader, follower = (line.last.member_id for line in lines)
    assert not bench.ask_sync(leader, 1, (leader,), instance_id="leader").last.error
    assert not bench.ask_sync(follower, 1, instance_id="follower").last.error
    assert bench.group.state is GroupState.STABLE
    return bench, leader, follower


# -- static members ---------------------------------------------------------------------------------------------------


def test_static_member_fence_duplicate_rejoined_follower() -> None:
    """staticMemberFenceDuplicateRejoinedFollower: during a rebalance; the duplicate waits."""
    bench, _leader, follower = static_pair()
    ask(bench, protocols=ONE)
    old = ask(bench, follower, "follower")
    assert not old.replies
    duplicate = ask(bench, instance="follower")
    assert seen(old)[:3] == (Errors.FENCED_INSTANCE_ID, -1, set())
    assert not duplicate.replies
    assert bench.group.state is GroupState.PREPARING


def test_static_member_fence_duplicate_syncing_follower_after_member_id_changed() -> None:
    """staticMemberFenceDuplicateSyncingFollowerAfterMemberIdChanged: the duplicate gets the answer of the old one."""
    bench, leader, follower = static_pair()
    again = ask(bench, leader, "leader")
    assert not again.replies
    old = ask(bench, follower, "follower")
    assert seen(again) == (Errors.NONE, 2, {"leader", "follower"}, leader)
    assert seen(old) == (Errors.NONE, 2, set(), leader)
    syncing = bench.ask_sync(follower, 2, instance_id="follower")
    duplicate = ask(bench, instance="follower")
    assert syncing.last.error is Errors.FENCED_INSTANCE_ID
    assert seen(duplicate) == (Errors.NONE, 2, set(), leader)
    assert bench.group.state is GroupState.COMPLETING


def test_static_member_fence_duplicate_rejoining_follower_after_member_id_changed() -> None:
    """staticMemberFenceDuplicateRejoiningFollowerAfterMemberIdChanged."""
    bench, leader, follower = static_pair()
    again = ask(bench, leader, "leader")
    duplicate = ask(bench, instance="follower")
    old = ask(bench, follower, "follower")
    assert seen(again)[:3] == (Errors.NONE, 2, {"leader", "follower"})
    assert seen(duplicate)[:3] == (Errors.NONE, 2, set())
    assert duplicate.last.member_id != follower
    assert seen(old)[:3] == (Errors.FENCED_INSTANCE_ID, -1, set())


def test_static_member_rejoin_with_known_member_id() -> None:
    """staticMemberRejoinWithKnownMemberId: before the assignment it gets the same answer."""
    bench = bench_of()
    first = ask(bench, instance="only", protocols=ONE)
    bench.wait(FIRST)
    member = first.last.member_id
    assert seen(ask(bench, member, "only", protocols=ONE)) == seen(first)
    assert not bench.ask_sync(member, 1, (member,), instance_id="only").last.error
    assert bench.group.state is GroupState.STABLE


def test_static_member_rejoin_with_leader_id_and_known_member_id() -> None:
    """staticMemberRejoinWithLeaderIdAndKnownMemberId: a rebalance, in which the follower's session ends."""
    bench, leader, _follower = static_pair(SESSION // 2)
    line = ask(bench, leader, "leader")
    bench.wait(SESSION // 2)
    assert list(bench.group.instances) == ["leader"]
    assert seen(line) == (Errors.NONE, 2, {"leader"}, leader)


def test_static_member_rejoin_with_follower_id_and_change_of_protocol() -> None:
    """staticMemberRejoinWithFollowerIdAndChangeOfProtocol: a rebalance; the follower leads, as the leader is late."""
    bench, _leader, follower = static_pair(2 * SESSION)
    line = ask(bench, follower, "follower", protocols=OTHER, session_timeout_us=2 * SESSION)
    bench.wait(SESSION + MS)
    assert seen(line) == (Errors.NONE, 2, {"leader", "follower"}, follower)
    assert bench.group.leader == follower


def test_static_member_rejoin_with_unknown_member_id_and_change_of_protocol() -> None:
    """staticMemberRejoinWithUnknownMemberIdAndChangeOfProtocol: no rebalance, whatever it supports now."""
    bench, _leader, follower = static_pair()
    line = ask(bench, instance="follower", protocols=OTHER)
    assert seen(line)[:3] == (Errors.NONE, 1, set())
    assert bench.group.state is GroupState.STABLE
    assert seen(ask(bench, follower, "follower", protocols=OTHER))[0] is Errors.FENCED_INSTANCE_ID
    assert bench.ask_sync(follower, 1, instance_id="follower").last.error is Errors.FENCED_INSTANCE_ID
    assert bench.ask_sync(line.last.member_id, 1, instance_id="follower").last.error is Errors.NONE


def test_static_member_rejoin_with_known_leader_id_and_follower_with_change_of_protocol() -> None:
    """staticMemberRejoinWithKnownLeaderIdToTriggerRebalanceAndFollowerWithChangeofProtocol: the leader's session ends
    before that rebalance does."""
    bench, leader, follower = static_pair(SESSION - MS)
    lines = [ask(bench, leader, "leader"), ask(bench, follower, "follower")]
    assert [seen(line) for line in lines] == [
        (Errors.NONE, 2, {"leader", "follower"}, leader), (Errors.NONE, 2, set(), leader)
    ]  # fmt: skip
    line = ask(bench, follower, "follower", protocols=ONE)
    assert bench.group.state is GroupState.PREPARING
    bench.wait(REBALANCE + MS)
    assert seen(line) == (Errors.NONE, 3, {"follower"}, follower)


@pytest.mark.parametrize(("member", "instance"), [("follower", "leader"), ("leader", "follower")])
def test_static_member_rejoin_with_mismatched_member_id(member: str, instance: str) -> None:
    """staticMemberRejoinAs(Follower|Leader)WithMismatchedMemberId, staticMemberSyncAsLeaderWithInvalidMemberId and
    staticMemberHeartbeatLeaderWithInvalidMemberId."""
    bench, leader, follower = static_pair()
    id = {"leader": leader, "follower": follower}[member]
    assert seen(ask(bench, id, instance))[0] is Errors.FENCED_INSTANCE_ID
    assert bench.ask_sync("invalid", 1, instance_id=instance).last.error is Errors.FENCED_INSTANCE_ID
    assert bench.heartbeat("invalid", 1, instance) is Errors.FENCED_INSTANCE_ID


def test_static_member_join_with_unknown_instance_id_and_known_member_id() -> None:
    """staticMemberJoinWithUnknownInstanceIdAndKnownMemberId."""
    bench, leader, _follower = static_pair()
    assert seen(ask(bench, leader, "unknown_instance"))[0] is Errors.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("late", ["follower", "leader"])
def test_static_member_fail_to_rejoin_before_rebalance_timeout(late: str) -> None:
    """testStaticMember(Follower|Leader)FailToRejoinBeforeRebalanceTimeout: it stays in the next generation; if it led,
    one of the others leads."""
    bench, leader, follower = static_pair(2 * REBALANCE)
    new = ask(bench, instance="newMember")
    back = {"follower": (leader, "leader"), "leader": (follower, "follower")}[late]
    line = ask(bench, *back, session_timeout_us=2 * REBALANCE)
    bench.wait(REBALANCE + MS)
    everyone = {"leader", "follower", "newMember"}
    answers = [seen(line), seen(new)]
    leads = [line.last.member_id, new.last.member_id].index(bench.group.leader or "")
    assert answers[leads] == (Errors.NONE, 2, everyone, bench.group.leader)
    assert answers[1 - leads] == (Errors.NONE, 2, set(), bench.group.leader)
    assert leads == 0 or late == "leader"


def stuck() -> GroupBench:
    """groupStuckInRebalanceTimeoutDueToNonjoinedStaticMember: of a rebalance only the static leader is left, whose
    session lasts longer."""
    bench, leader, follower = static_pair(2 * SESSION)
    dynamic = ask(bench, session_timeout_us=2 * SESSION)
    bench.wait(REBALANCE + MS)
    assert seen(dynamic) == (Errors.NONE, 2, {"leader", "follower", None}, dynamic.last.member_id)
    assert bench.leave(follower).members[0][1] is Errors.NONE
    assert bench.group.state is GroupState.PREPARING
    bench.wait(REBALANCE + MS)
    assert (list(bench.group.members), bench.group.generation) == ([leader], 2)
    assert bench.group.state is GroupState.PREPARING
    return bench


def test_leader_fail_to_rejoin_before_final_rebalance_timeout_with_long_session_timeout() -> None:
    """testLeaderFailToRejoinBeforeFinalRebalanceTimeoutWithLongSessionTimeout."""
    bench = stuck()
    bench.wait(REBALANCE + MS)
    group = bench.group
    assert (group.members, group.leader, group.generation, group.state) == ({}, None, 3, GroupState.EMPTY)


def test_leader_rejoin_before_final_rebalance_timeout_with_long_session_timeout() -> None:
    """testLeaderRejoinBeforeFinalRebalanceTimeoutWithLongSessionTimeout."""
    bench = stuck()
    line = ask(bench, instance="leader", protocols=ONE)
    bench.wait(FIRST)
    assert seen(line) == (Errors.NONE, 3, {"leader"}, line.last.member_id)
    assert bench.group.state is GroupState.COMPLETING


def test_rebalance_completes_before_member_joins() -> None:
    """testRebalanceCompletesBeforeMemberJoins: a static member that only sends heartbeats is not in the next
    generation, and stays until its session ends, which starts another rebalance."""
    bench = bench_of()
    line = ask(bench, instance="leader", protocols=ONE, rebalance_timeout_us=1200 * MS, session_timeout_us=1000 * MS)
    bench.wait(FIRST)
    first = line.last.member_id
    assert not bench.ask_sync(first, 1, (first,)).last.error
    joining = ask(bench, protocols=ONE)
    for _ in range(2):
        bench.wait(SESSION - MS)
        assert bench.heartbeat(first, 1) is Errors.REBALANCE_IN_PROGRESS
    bench.wait(SESSION - MS)
    other = joining.last.member_id
    assert seen(joining)[:2] == (Errors.NONE, 2)
    assert not bench.ask_sync(other, 2, (other,)).last.error
    assert bench.heartbeat(first, 1) is Errors.ILLEGAL_GENERATION
    for outcome in (Errors.NONE, Errors.REBALANCE_IN_PROGRESS):
        bench.wait(SESSION - MS)
        assert bench.heartbeat(other, 2) is outcome
    again = ask(bench, other, protocols=ONE)
    assert seen(again)[:2] == (Errors.NONE, 3)
    assert not bench.ask_sync(other, 3, (other,)).last.error
    for _ in range(20):
        bench.wait(SESSION - MS)
        assert bench.heartbeat(other, 3) is Errors.NONE


# -- members that were given an id, and other odd moments -----------------------------------------------------------


def with_pending() -> tuple[GroupBench, str]:
    """setupGroupWithPendingMember: a rebalance that waits for nothing but a member that was given an id."""
    bench = bench_of()
    first = ask(bench)
    bench.wait(FIRST)
    leader = first.last.member_id
    assert not bench.ask_sync(leader, 1, (leader,)).last.error
    second = ask(bench)
    assert seen(ask(bench, leader))[:2] == (Errors.NONE, 2)
    assert not bench.ask_sync(leader, 2, (leader,)).last.error
    ask(bench, leader)
    pending = ask(bench, requires_member_id=True, session_timeout_us=100 * MS)
    assert pending.last.error is Errors.MEMBER_ID_REQUIRED
    ask(bench, second.last.member_id)
    assert (bench.group.state, len(bench.group.pending)) == (GroupState.PREPARING, 1)
    return bench, pending.last.member_id


@pytest.mark.parametrize(("what", "members"), [("joins", 3), ("leaves", 2), ("times out", 2)])
def test_join_group_completion_when_pending_member(what: str, members: int) -> None:
    """testJoinGroupCompletionWhenPendingMember(Joins|TimesOut), testPendingMembersLeavesGroup."""
    bench, pending = with_pending()
    if what == "joins":
        ask(bench, pending)
    elif what == "leaves":
        assert bench.leave(pending).members[0][1] is Errors.NONE
    else:
        bench.wait(100 * MS)
    group = bench.group
    assert (group.state, len(group.members), len(group.pending)) == (GroupState.COMPLETING, members, 0)


def test_second_member_partially_join_and_timeout() -> None:
    """testSecondMemberPartiallyJoinAndTimeout: an id that no client joins with leaves the others alone."""
    bench = bench_of()
    line = ask(bench)
    bench.wait(FIRST)
    first = line.last.member_id
    assert not bench.ask_sync(first, 1, (first,)).last.error
    assert ask(bench, requires_member_id=True).last.error is Errors.MEMBER_ID_REQUIRED
    for _ in range(2):
        assert (bench.group.state, list(bench.group.members)) == (GroupState.STABLE, [first])
        bench.wait(300 * MS)
        assert bench.heartbeat(first, 1) is Errors.NONE
    assert not bench.group.pending


def test_join_group_second_join_inconsistent_protocol() -> None:
    """testJoinGroupSecondJoinInconsistentProtocol: a member that was given an id may try again after an error."""
    bench = bench_of()
    member = ask(bench, requires_member_id=True).last.member_id
    assert ask(bench, member, protocols=(), requires_member_id=True).last.error is Errors.INCONSISTENT_GROUP_PROTOCOL
    line = ask(bench, member, requires_member_id=True)
    bench.wait(FIRST)
    assert seen(line)[:2] == (Errors.NONE, 1)


def test_new_member_join_expiration() -> None:
    """testNewMemberJoinExpiration: during a long rebalance a new member is removed after five minutes."""
    limit = 300_000 * MS
    times: dict[str, Any] = {"session_timeout_us": limit + 5_000 * MS, "rebalance_timeout_us": 2 * limit}
    bench = bench_of()
    line = ask(bench, **times)
    bench.wait(FIRST)
    new = ask(bench, **times)
    assert [member.is_new for member in bench.group.members.values()] == [False, True]
    bench.wait(limit + MS)
    assert new.last.error is Errors.UNKNOWN_MEMBER_ID
    assert [(id, member.is_new) for id, member in bench.group.members.items()] == [(line.last.member_id, False)]


def test_commit_and_fetch_offsets_with_empty_group() -> None:
    """testCommitAndFetchOffsetsWithEmptyGroup: a group without a name can keep offsets, be looked at and deleted."""
    bench = bench_of()
    assert bench.commit(0, group="") is Errors.NONE
    assert bench.fetch("").offset == 0
    assert bench.described("").state == "Empty"
    (outcome,) = bench.send(DeleteGroupsRequest(("",))).last.groups
    assert outcome == ("", Errors.NONE)
    assert bench.fetch("").offset == -1


def test_request_handling_while_loading_in_progress() -> None:
    """testRequestHandlingWhileLoadingInProgress: what each request is answered."""
    bench = GroupBench(elected=False)
    bench.lead(0, (0,), tp=OFFSETS, replicas=(0,))
    loading = Errors.COORDINATOR_LOAD_IN_PROGRESS
    for instance in (None, "groupInstanceId"):
        assert bench.ask_join("memberId", instance, requires_member_id=True).last.error is loading
    assert bench.ask_sync("memberId", 1).last.error is Errors.REBALANCE_IN_PROGRESS
    assert bench.commit(15, "memberId", 1) is loading
    assert bench.heartbeat("memberId", 1) is Errors.NONE
    assert bench.described().error is loading
    assert bench.send(ListGroupsRequest()).last.error is loading
    assert bench.send(DeleteGroupsRequest((GROUP,))).last.groups == ((GROUP, loading),)
    bench.wait(0)
    assert bench.described().error is Errors.NONE
