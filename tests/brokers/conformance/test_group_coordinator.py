"""The rest of GroupCoordinatorTest (1.1.1 to 3.9.0), with its own times (see test_groups): what members and committers
are answered, by release where releases differ."""

from typing import Any

import pytest

from brokers.groups.group import GroupState
from emulator.protocol.errors import Errors
from emulator.protocol.groups.group_offsets import OffsetDeleteRequest, OffsetFetchRequest, OffsetsWanted
from emulator.protocol.groups.membership import JoinedMember, SyncGroupRequest
from emulator.protocol.groups.operations import DeleteGroupsRequest, ListGroupsRequest
from scenarios.profiles import PROFILES
from tests.brokers.bench import MS, TP
from tests.brokers.conformance.test_groups import (
    FIRST,
    ONE,
    OTHER,
    REBALANCE,
    SESSION,
    ask,
    bench_of,
    static_pair,
)
from tests.brokers.groups.bench import GROUP, GroupBench

NONE, UNKNOWN, FENCED = Errors.NONE, Errors.UNKNOWN_MEMBER_ID, Errors.FENCED_INSTANCE_ID
ILLEGAL, REBALANCING = Errors.ILLEGAL_GENERATION, Errors.REBALANCE_IN_PROGRESS
INCONSISTENT = Errors.INCONSISTENT_GROUP_PROTOCOL


def of(release: str, **settings: int) -> GroupBench:
    """A coordinator of that release."""
    settings = {"initial_rebalance_delay_us": FIRST, "min_session_timeout_us": 10 * MS, **settings}
    return GroupBench(PROFILES[release].policies.brokers.groups, **settings)  # type: ignore[arg-type]


def one(bench: GroupBench, **changes: Any) -> tuple[str, int]:
    """The only member of a stable group, and its generation."""
    line = ask(bench, **changes)
    bench.wait(FIRST)
    joined = line.last
    assert not bench.ask_sync(joined.member_id, joined.generation, (joined.member_id,)).last.error
    return joined.member_id, joined.generation


def pair(bench: GroupBench) -> tuple[str, str, int]:
    """Leader and follower of a group that waits for its assignment, and its generation."""
    lines = [ask(bench), ask(bench)]
    bench.wait(2 * FIRST)
    leader, follower = (line.last.member_id for line in lines)
    assert [line.last.leader for line in lines] == [leader, leader]
    return leader, follower, lines[0].last.generation


# -- JoinGroup --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"session_timeout_us": 9 * MS}, Errors.INVALID_SESSION_TIMEOUT),
        ({"session_timeout_us": 601 * 1000 * MS}, Errors.INVALID_SESSION_TIMEOUT),
        ({"member": "stranger"}, UNKNOWN),
        ({"protocol_type": ""}, INCONSISTENT),
        ({"protocols": ()}, INCONSISTENT),
        ({"group": ""}, Errors.INVALID_GROUP_ID),
    ],
)
def test_join_of_a_new_group(changes: dict[str, Any], error: Errors) -> None:
    """testJoinGroupSessionTimeoutTooSmall, ...TooLarge, testJoinGroupUnknownConsumerNewGroup,
    testJoinGroupWithEmptyProtocolType, ...EmptyGroupProtocol,
    testJoinGroupProtocolTypeIsNotProvidedWhenAnErrorOccurs."""
    bench = bench_of(max_session_timeout_us=600 * 1000 * MS)
    joined = ask(bench, **changes).last
    assert (joined.error, joined.protocol_type, joined.protocol) == (error, None, None)


def test_join_of_a_group_that_is_there() -> None:
    """testJoinGroupInconsistentProtocolType, testJoinGroupInconsistentGroupProtocol,
    testJoinGroupUnknownConsumerExistingGroup, testJoinGroupReturnsTheProtocolType; the group goes on."""
    bench = bench_of()
    member, generation = one(bench, protocols=ONE)
    assert ask(bench, protocol_type="connect").last.error is INCONSISTENT
    assert ask(bench, protocols=OTHER).last.error is INCONSISTENT
    assert ask(bench, "stranger", protocols=ONE).last.error is UNKNOWN
    assert (bench.group.state, bench.heartbeat(member, generation)) == (GroupState.STABLE, NONE)
    joined = ask(bench, member, protocols=ONE).last
    assert (joined.protocol_type, joined.protocol, joined.generation) == ("consumer", "range", generation + 1)


def test_join_of_a_follower_that_has_not_changed() -> None:
    """testJoinGroupFromUnchangedFollowerDoesNotRebalance, testJoinGroupFromUnchangedLeaderShouldRebalance."""
    bench = bench_of()
    leader, follower, generation = pair(bench)
    bench.ask_sync(follower, generation)
    assert not bench.ask_sync(leader, generation, (leader, follower)).last.error
    again = ask(bench, follower).last
    assert (again.error, again.generation, again.leader, again.members) == (NONE, generation, leader, ())
    assert bench.group.state is GroupState.STABLE
    waiting = ask(bench, leader)
    assert (waiting.replies, bench.group.state) == ([], GroupState.PREPARING)
    ask(bench, follower)
    assert waiting.last.generation == generation + 1
    assert {each.member_id for each in waiting.last.members} == {leader, follower}


def test_join_of_members_that_come_again_while_a_full_group_rebalances() -> None:
    """testDynamicMembersCanReJoinGroupWithMaxSizeWhileRebalancing: the four that had a place keep it."""
    bench = bench_of()
    members = [ask(bench, requires_member_id=True).last.member_id for _ in range(5)]
    for member in members:
        ask(bench, member, requires_member_id=True)
    again = [ask(bench, member, requires_member_id=True) for member in members]
    bench.wait(2 * FIRST + 2)
    assert [line.last.error for line in again] == [NONE] * 4 + [Errors.GROUP_MAX_SIZE_REACHED]
    assert {line.last.generation for line in again[:4]} == {1}


def test_a_new_members_failure_after_the_join() -> None:
    """testNewMemberFailureAfterJoinGroupCompletion, testNewMemberTimeoutCompletion: its session counts from the
    answer."""
    bench = bench_of()
    first, _generation = one(bench)
    new = ask(bench)
    bench.wait(SESSION - 10 * MS)
    assert bench.heartbeat(first, 1) is REBALANCING
    again = ask(bench, first)
    assert [line.last.generation for line in (new, again)] == [2, 2]
    assert not bench.ask_sync(first, 2, (first, new.last.member_id)).last.error
    bench.wait(SESSION - 10 * MS)
    assert bench.heartbeat(first, 2) is NONE
    bench.wait(20 * MS)
    assert bench.heartbeat(first, 2) is REBALANCING
    assert list(bench.group.members) == [first]


# -- SyncGroup --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"group": "none"}, UNKNOWN),
        ({"member_id": "stranger"}, UNKNOWN),
        ({"generation": 5}, ILLEGAL),
        ({"protocol_type": "whatever"}, INCONSISTENT),
        ({"protocol": "whatever"}, INCONSISTENT),
        ({"protocol_type": "consumer", "protocol": "range"}, NONE),
        ({}, NONE),
    ],
)
def test_who_may_sync(changes: dict[str, Any], error: Errors) -> None:
    """testSyncGroupFromUnknownGroup, ...UnknownMember, ...IllegalGeneration,
    testSyncGroupReturnsAnErrorWhenProtocol(Type| Name)IsInconsistent,
    testSyncGroupSucceedWhenProtocolTypeAndNameAre(NotProvided|Consistent)."""
    bench = bench_of()
    member, generation = one(bench, protocols=ONE)
    stated = {"group": GROUP, "generation": generation, "member_id": member, **changes}
    synced = bench.send(SyncGroupRequest(**stated)).last
    assert synced.error is error
    assert (synced.protocol_type, synced.protocol) == ((None, None) if error else ("consumer", "range"))


def test_an_empty_assignment() -> None:
    """testSyncGroupEmptyAssignment: the leader names no one."""
    bench = bench_of()
    leader, follower, generation = pair(bench)
    waiting = bench.ask_sync(follower, generation)
    synced = bench.ask_sync(leader, generation).last
    assert (synced.error, synced.assignment, waiting.last.assignment) == (NONE, b"", b"")
    assert bench.group.state is GroupState.STABLE


def test_a_leader_that_fails_before_it_assigns() -> None:
    """testLeaderFailureInSyncGroup: who waits for the assignment has to join again."""
    bench = bench_of()
    _leader, follower, generation = pair(bench)
    waiting = bench.ask_sync(follower, generation)
    bench.wait(SESSION + 100 * MS)
    assert waiting.last.error is REBALANCING
    assert list(bench.group.members) == [follower]


@pytest.mark.parametrize(
    ("synced", "left"),
    [
        ((), ()),
        (("leader",), ("leader",)),
        (("follower",), ("follower",)),
        (("leader", "follower"), ("leader", "follower")),
    ],
)
def test_syncs_that_do_not_come(synced: tuple[str, ...], left: tuple[str, ...]) -> None:
    """testRebalanceTimesOutWhenSyncRequestIsNotReceived, ...FromFollowers, ...FromLeaders,
    testRebalanceDoesNotTimeOutWhenAllSyncAreReceived (2.8.2): heartbeats alone do not keep a member."""
    bench = of("kafka-2.8", max_size=4)
    leader, follower, generation = pair(bench)
    names = {"leader": leader, "follower": follower}
    waiting = [bench.ask_sync(names[name], generation, (leader,) if name == "leader" else ()) for name in synced]
    for _ in range(2):
        bench.wait(REBALANCE // 2 - 10 * MS)
        assert [bench.heartbeat(member, generation) for member in names.values()] == [NONE, NONE]
    bench.wait(30 * MS)
    assert list(bench.group.members) == [names[name] for name in left]
    whole = len(left) == 2
    beats = [bench.heartbeat(names[name], generation) for name in names]
    expected = NONE if whole else REBALANCING
    assert beats == [expected if name in left else UNKNOWN for name in names]
    assert {line.last.error for line in waiting} <= {NONE, REBALANCING}


# -- Heartbeat --------------------------------------------------------------------------------------------------------


def test_heartbeats() -> None:
    """testHeartbeatUnknownGroup, ...UnknownConsumerExistingGroup, ...RebalanceInProgress, ...IllegalGeneration,
    testValidHeartbeat, testHeartbeatMaintainsSession, testCommitMaintainsSession."""
    bench = of("kafka-2.7")
    assert bench.heartbeat("member", -1) is UNKNOWN
    line = ask(bench)
    bench.wait(FIRST)
    member = line.last.member_id
    assert bench.heartbeat(member, 2) is ILLEGAL
    assert bench.heartbeat(member, 1) is NONE
    assert not bench.ask_sync(member, 1, (member,)).last.error
    assert bench.heartbeat("stranger", 1) is UNKNOWN
    for commits in (False, True):
        bench.wait(SESSION // 2)
        assert (bench.commit(1, member, 1) if commits else bench.heartbeat(member, 1)) is NONE
        bench.wait(SESSION // 2 + 100 * MS)
        assert bench.heartbeat(member, 1) is NONE


@pytest.mark.parametrize(
    ("release", "judged"), [("kafka-2.3", False), ("kafka-2.8", False), ("kafka-3.0", True), ("kafka-3.9", True)]
)
def test_an_instance_that_the_group_does_not_know(release: str, judged: bool) -> None:
    """GroupCoordinator.validateCurrentMember (3.0, MINOR #9958) refuses a member with an instance id that its group
    does not know; up to 2.8 (isStaticMemberFenced) only one that another member has counts, but in JoinGroup."""
    bench = of(release)
    member, generation = one(bench)
    right = UNKNOWN if judged else NONE
    assert bench.heartbeat(member, generation, "none") is right
    assert bench.ask_sync(member, generation, instance_id="none").last.error is right
    assert bench.commit(3, member, generation, instance_id="none") is right
    assert ask(bench, member, "none").last.error is UNKNOWN
    assert bench.leave((member, "none")).members[0][1] is right
    assert (bench.group.state is GroupState.EMPTY) is not judged


# -- OffsetCommit and OffsetFetch -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "judged"),
    [("kafka-1.1", False), ("kafka-2.8", False), ("kafka-3.0", True), ("kafka-3.3", False), ("kafka-3.9", False)],
)
def test_commits_without_a_generation_while_the_group_is_empty(release: str, judged: bool) -> None:
    """testManualCommitOffsetShouldNotValidateMemberIdAndInstanceId (3.3.2; KAFKA-14201): an Empty group keeps offsets
    for any who states no generation; from 3.0 to 3.2 a member or an instance that is named had to be in the group."""
    bench = of(release)
    assert bench.commit(1) is NONE
    right = UNKNOWN if judged else NONE
    assert bench.commit(2, "") is NONE
    assert bench.commit(3, "member") is right
    assert bench.commit(4, "", instance_id="instance") is right
    assert bench.commit(5, "member", instance_id="instance") is right
    assert bench.fetch().offset == (2 if judged else 5)
    assert bench.commit(6, "member", 0) is UNKNOWN


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.8", "kafka-3.9"])
def test_commits(release: str) -> None:
    """testCommitOffsetFromUnknownGroup, testCommitOffsetWithDefaultGeneration, testCommitOffsetsAfterGroupIsEmpty,
    testFetchOffsetForUnknownPartition, testFetchAllOffsets."""
    bench = of(release)
    assert bench.commit(1, "stranger", 1) is ILLEGAL
    assert bench.fetch().offset == -1
    everything = OffsetFetchRequest((OffsetsWanted(GROUP, None),))
    assert bench.send(everything).last.groups == (OffsetsOf(bench),)
    member, generation = one(bench)
    assert bench.commit(2) is UNKNOWN, "a group with members"
    assert bench.commit(3, member, generation + 1) is ILLEGAL
    assert bench.commit(4, member, generation) is NONE
    assert bench.leave(member).members[0][1] is NONE
    assert bench.group.state is GroupState.EMPTY
    assert bench.commit(5) is NONE
    (found,) = bench.send(everything).last.groups
    assert [(each.tp, each.offset) for each in found.partitions] == [(TP, 5)]


def OffsetsOf(bench: GroupBench) -> Any:
    from emulator.protocol.groups.group_offsets import GroupOffsets

    return GroupOffsets(GROUP, NONE, ())


# -- LeaveGroup -------------------------------------------------------------------------------------------------------


def test_leaving() -> None:
    """testLeaveGroupUnknownGroup, ...UnknownConsumerExistingGroup, testValidLeaveGroup,
    testStaticMembers(UnknownGroup|UnknownInstance|FencedInstance)BatchLeaveGroup,
    testLeaveGroupWithFencedInstanceId."""
    bench = bench_of()
    assert [error for _, error in bench.leave("m", ("", "leader")).members] == [UNKNOWN, UNKNOWN]
    bench, _leader, follower = static_pair()
    outcomes = bench.leave(("", "none"), ("invalid", "leader"), ("", "leader"), "stranger").members
    assert [error for _, error in outcomes] == [UNKNOWN, FENCED, NONE, UNKNOWN]
    assert list(bench.group.members) == [follower]
    assert bench.leave((follower, "follower")).members[0][1] is NONE
    bench.wait(REBALANCE + MS)
    assert bench.group.state is GroupState.EMPTY


# -- static members ---------------------------------------------------------------------------------------------------


def test_each_return_has_another_member_id() -> None:
    """shouldGetDifferentStaticMemberIdAfterEachRejoin, staticMemberReJoinWithExplicitUnknownMemberId,
    staticMemberRejoinAsFollowerWithUnknownMemberId, staticMemberRejoinWithLeaderIdAndUnknownMemberId."""
    bench, leader, follower = static_pair()
    assert ask(bench, "unknown", "leader").last.error is FENCED
    ids = {follower}
    for _ in range(5):
        again = ask(bench, instance="follower").last
        assert (again.error, again.generation, again.leader) == (NONE, 1, leader)
        ids.add(again.member_id)
    assert len(ids) == 6
    back = ask(bench, instance="leader").last
    assert (back.error, back.generation, back.leader) == (NONE, 1, leader), "the member id that it had"
    assert back.member_id != leader
    assert bench.group.leader == back.member_id
    assert bench.heartbeat(leader, 1, "leader") is FENCED


@pytest.mark.parametrize(
    ("release", "taken"), [("kafka-2.8", False), ("kafka-3.0", False), ("kafka-3.6", True), ("kafka-3.9", True)]
)
@pytest.mark.parametrize("how", ["replaced", "again"])
def test_a_member_that_returns_with_other_timeouts(release: str, taken: bool, how: str) -> None:
    """staticMemberRejoinWithUpdatedSessionAndRebalanceTimeoutsAndPersistChange (3.3.2; KAFKA-14009): it has them from
    then on; before, those of its first JoinGroup. So do others that join again (GroupMetadata.updateMember)."""
    bench = of(release)
    member, _generation = one(bench, instance="only")
    longer = {"session_timeout_us": 2 * SESSION, "rebalance_timeout_us": 2 * REBALANCE}
    again = ask(bench, member if how == "again" else "", "only", **longer).last
    assert again.error is NONE
    kept = bench.group.members[again.member_id]
    both = (SESSION, REBALANCE)
    assert (kept.session_timeout_us, kept.rebalance_timeout_us) == (tuple(2 * each for each in both) if taken else both)
    if how == "replaced":
        bench.resign()
        bench.elect(2)
        kept = bench.group.members[again.member_id]
        assert (kept.session_timeout_us == 2 * SESSION) is taken


def test_a_return_with_other_timeouts_that_is_not_stored() -> None:
    """staticMemberRejoinWithUpdatedSessionAndRebalanceTimeoutsButCannotPersistChange (3.3.2)."""
    bench = GroupBench(
        PROFILES["kafka-3.9"].policies.brokers.groups, isr=(0, 1),
        initial_rebalance_delay_us=FIRST, min_session_timeout_us=10 * MS, commit_timeout_us=50 * MS,
    )  # fmt: skip
    line = ask(bench, instance="only")
    bench.wait(FIRST)
    member = line.last.member_id
    syncing = bench.ask_sync(member, 1, (member,), instance_id="only")
    from tests.brokers.groups.bench import OFFSETS

    follower = bench.follower(1)
    follower.fetch((OFFSETS, 0, 0))
    follower.fetch((OFFSETS, 0, bench.manager.partitions[OFFSETS].log.end_offset))
    assert syncing.last.error is NONE
    again = ask(bench, instance="only", session_timeout_us=2 * SESSION, rebalance_timeout_us=2 * REBALANCE)
    bench.wait(60 * MS)
    assert again.last.error is not NONE
    kept = bench.group.members[member]
    assert (kept.session_timeout_us, kept.rebalance_timeout_us) == (SESSION, REBALANCE)


def test_a_return_that_would_choose_another_protocol() -> None:
    """staticMemberRejoinWithUnknownMemberIdAndChangeOfProtocolWithSelectedProtocolChanged (2.7.2): the group
    rebalances, and the member keeps its new id."""
    bench = of("kafka-2.7")
    lines = [
        ask(bench, instance="leader", protocols=(("roundrobin", b""), ("range", b""))),
        ask(bench, instance="follower", protocols=(("range", b""), ("roundrobin", b""))),
    ]
    bench.wait(2 * FIRST)
    leader, follower = (line.last.member_id for line in lines)
    bench.ask_sync(follower, 1, instance_id="follower")
    assert not bench.ask_sync(leader, 1, (leader, follower), instance_id="leader").last.error
    chosen = bench.group.protocol
    changed = next(each for each in (ONE, OTHER) if each[0][0] != chosen)
    waiting = ask(bench, instance="follower", protocols=changed)
    assert (waiting.replies, bench.group.state) == ([], GroupState.PREPARING)
    again = ask(bench, leader, "leader")
    assert (again.last.generation, again.last.protocol) == (2, changed[0][0])
    assert waiting.last.error is NONE
    assert waiting.last.member_id != follower
    assert JoinedMember(waiting.last.member_id, "follower", b"") in again.last.members


# -- administrators ---------------------------------------------------------------------------------------------------


def test_which_groups_can_be_deleted() -> None:
    """testDeleteNonEmptyGroup, testDeleteEmptyGroup, testDeleteEmptyGroupWithStoredOffsets,
    testDeleteGroupWithInvalidGroupId of a group that is not there; testDescribeGroupInactiveGroup."""
    bench = bench_of()

    def delete(*groups: str) -> list[Errors]:
        return [error for _, error in bench.send(DeleteGroupsRequest(groups)).last.groups]

    assert delete(GROUP, "") == [Errors.GROUP_ID_NOT_FOUND] * 2
    assert bench.described().state == "Dead"
    member, generation = one(bench)
    assert bench.commit(4, member, generation) is NONE
    assert delete(GROUP) == [Errors.NON_EMPTY_GROUP]
    bench.leave(member)
    assert (bench.described().state, bench.fetch().offset) == ("Empty", 4)
    assert delete(GROUP) == [NONE]
    assert (bench.described().state, bench.fetch().offset) == ("Dead", -1)
    assert bench.heartbeat(member, generation) is UNKNOWN


@pytest.mark.parametrize(
    ("protocols", "expected"),
    [
        ((("range", b""),), Errors.GROUP_SUBSCRIBED_TO_TOPIC),
        ((("range", b"\xff\xff"),), Errors.GROUP_SUBSCRIBED_TO_TOPIC),
    ],
)
def test_offsets_of_a_group_whose_subscription_cannot_be_read(protocols: Any, expected: Errors) -> None:
    """testDeleteOffsetOfConsumerGroupWithUnparsableProtocol, testDeleteOffsetOfNonExistingGroup,
    testDeleteOffsetOfEmptyConsumerGroup, DeleteOffsetsConsumerGroupCommandIntegrationTest.
    testDeleteOffsetsOfStableConsumerGroupWithTopicOnly (2.4.1)."""
    bench = of("kafka-2.4")

    def delete() -> Any:
        return bench.send(OffsetDeleteRequest(GROUP, (TP,))).last

    assert delete().error is Errors.GROUP_ID_NOT_FOUND
    member, generation = one(bench, protocols=protocols)
    assert bench.commit(4, member, generation) is NONE
    assert delete().partitions == ((TP, expected),)
    bench.leave(member)
    assert delete().partitions == ((TP, NONE),)
    assert bench.fetch().offset == -1


@pytest.mark.parametrize(("release", "any_case"), [("kafka-2.7", False), ("kafka-3.6", False), ("kafka-3.9", True)])
def test_groups_are_listed_by_state(release: str, any_case: bool) -> None:
    """testListGroupsIncludesStableGroups, ...RebalancingGroups, testListGroupsWithStates, testListGroupsWithTypes:
    since 3.8 (KAFKA-16095) whatever the case of the names."""
    bench = of(release)

    def listed(*states: str) -> list[tuple[str, str]]:
        return [(one.group, one.state) for one in bench.send(ListGroupsRequest(states)).last.groups]

    assert listed() == []
    member, _generation = one(bench)
    assert listed() == listed("Stable") == listed("Empty", "Stable") == [(GROUP, "Stable")]
    assert listed("PreparingRebalance") == listed("none") == []
    assert listed("stable") == listed("sTABLE") == ([(GROUP, "Stable")] if any_case else [])
    ask(bench, member)
    assert listed("CompletingRebalance") == [(GROUP, "CompletingRebalance")]


# -- a broker that is not the coordinator -----------------------------------------------------------------------------


def test_every_request_at_another_broker() -> None:
    """test(Join|Heartbeat|Leave|Describe|SyncGroup...)WrongCoordinator, testDeleteGroupWithWrongCoordinator,
    testFetchOffsetNotCoordinatorForGroup, testStaticMembersWrongCoordinatorBatchLeaveGroup."""
    bench = bench_of()
    bench.resign()
    wrong = Errors.NOT_COORDINATOR
    assert ask(bench).last.error is wrong
    assert bench.ask_sync("m", 1).last.error is wrong
    assert bench.heartbeat("m", 1) is wrong
    assert bench.leave("m", ("", "leader")).error is wrong
    assert bench.described().error is wrong
    assert bench.commit(1) is wrong
    assert bench.send(DeleteGroupsRequest((GROUP,))).last.groups == ((GROUP, wrong),)
    assert bench.send(OffsetDeleteRequest(GROUP, (TP,))).last.error is wrong
    (found,) = bench.send(OffsetFetchRequest((OffsetsWanted(GROUP, (TP,)),))).last.groups
    assert found.error is wrong
    assert bench.send(ListGroupsRequest()).last.groups == ()
