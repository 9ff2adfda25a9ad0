"""Members join, are assigned, leave, and fail: the cases of Kafka's GroupCoordinatorTest (2.3.1 to 3.0)."""

import pytest

from brokers.groups.group import GroupState
from brokers.groups.policies import GroupPolicies
from emulator.protocol.errors import Errors
from emulator.protocol.events import GroupGeneration, GroupStateChanged
from emulator.protocol.shown_coordination import MemberHeard
from tests.brokers.groups.bench import DELAY, GROUP, REBALANCE, SECOND, SESSION, GroupBench


def test_the_first_member_waits_for_others_and_leads() -> None:
    bench = GroupBench()
    line = bench.ask_join()
    assert line.replies == []
    bench.wait(DELAY - 1)
    assert line.replies == []
    bench.wait(1)
    joined = line.last
    assert not joined.error
    assert (joined.generation, joined.protocol_type, joined.protocol) == (1, "consumer", "range")
    assert joined.leader == joined.member_id
    assert [each.member_id for each in joined.members] == [joined.member_id]
    assert joined.member_id.startswith("client-")


def test_each_new_member_delays_the_first_rebalance_further_up_to_the_rebalance_timeout() -> None:
    bench = GroupBench()
    first = bench.ask_join(rebalance_timeout_us=7 * SECOND)
    lines = [first]
    for _ in range(2):
        bench.wait(2 * SECOND)
        lines.append(bench.ask_join(rebalance_timeout_us=7 * SECOND))
    assert not any(line.replies for line in lines)
    bench.wait(3 * SECOND - 1)  # 3 s, another 3 s since one came, and then 1 s are left
    assert not any(line.replies for line in lines)
    bench.wait(1)
    assert [line.last.generation for line in lines] == [1, 1, 1]
    assert len(first.last.members) == 3
    assert lines[1].last.members == ()


def test_only_the_leaders_assignment_makes_the_group_stable() -> None:
    bench = GroupBench()
    lines = [bench.ask_join(), bench.ask_join()]
    bench.wait(2 * DELAY)
    leader, follower = (line.last.member_id for line in lines)
    waiting = bench.ask_sync(follower, 1)
    assert waiting.replies == []
    answer = bench.ask_sync(leader, 1, [leader, follower]).last
    assert (answer.error, answer.assignment, answer.protocol) == (Errors.NONE, f"for {leader}".encode(), "range")
    assert waiting.last.assignment == f"for {follower}".encode()
    assert bench.group.state is GroupState.STABLE
    assert bench.ask_sync(follower, 1).last.assignment == f"for {follower}".encode()


def test_a_member_that_the_leader_leaves_out_is_assigned_nothing() -> None:
    bench = GroupBench()
    joined = bench.join()
    answer = bench.ask_sync(joined.member_id, joined.generation).last
    assert (answer.error, answer.assignment) == (Errors.NONE, b"")


def test_a_new_member_starts_a_rebalance_of_all() -> None:
    bench = GroupBench()
    states = bench.see(GroupStateChanged)
    generations = bench.see(GroupGeneration)
    leader, follower, generation = bench.stable_pair()
    assert (generation, bench.group.leader) == (2, leader)
    assert [each.state for each in states] == ["PreparingRebalance", "CompletingRebalance", "Stable"] * 2
    assert [each.members for each in generations] == [(leader,), (leader, follower)]
    new = bench.ask_join()
    assert bench.heartbeat(follower, generation) is Errors.REBALANCE_IN_PROGRESS
    assert bench.ask_sync(follower, generation).last.error is Errors.REBALANCE_IN_PROGRESS
    assert new.replies == []
    bench.ask_join(leader)
    assert new.replies == []
    bench.ask_join(follower)
    assert new.last.generation == generation + 1


def test_members_that_do_not_join_again_are_removed_when_the_rebalance_times_out() -> None:
    bench = GroupBench()
    leader, follower, generation = bench.stable_pair()
    line = bench.ask_join(follower, protocols=(("range", b"other"),))
    for _ in range(6):  # it is alive, and does not join
        bench.wait(9 * SECOND)
        assert bench.heartbeat(leader, generation) is Errors.REBALANCE_IN_PROGRESS
    assert line.replies == []
    bench.wait(REBALANCE - 54 * SECOND)
    assert (line.last.leader, line.last.generation) == (follower, generation + 1)
    assert bench.heartbeat(leader, generation) is Errors.UNKNOWN_MEMBER_ID


def test_a_member_without_heartbeats_is_removed_and_the_others_rebalance() -> None:
    bench = GroupBench()
    leader, follower, generation = bench.stable_pair()
    bench.wait(SESSION - 1)
    assert bench.heartbeat(follower, generation) is Errors.NONE
    bench.wait(1)
    assert bench.heartbeat(leader, generation) is Errors.UNKNOWN_MEMBER_ID
    assert bench.heartbeat(follower, generation) is Errors.REBALANCE_IN_PROGRESS
    assert bench.ask_join(follower).last.leader == follower


def test_a_group_whose_last_member_fails_is_empty() -> None:
    bench = GroupBench()
    _leader, generation = bench.stable()
    bench.wait(SESSION)
    assert (bench.group.state, bench.group.generation) == (GroupState.EMPTY, generation + 1)
    assert bench.described().state == "Empty"


def test_a_session_that_is_over_while_the_member_waits_counts_from_its_answer() -> None:
    bench = GroupBench()
    leader, follower, _generation = bench.stable_pair(session_timeout_us=SESSION)
    line = bench.ask_join(leader)
    for _ in range(3):
        bench.wait(SESSION // 2)
        bench.heartbeat(follower, 2)
    assert line.replies == []
    bench.ask_join(follower)
    assert line.last.generation == 3
    bench.wait(SESSION - 1)
    assert bench.heartbeat(leader, 3) is Errors.REBALANCE_IN_PROGRESS  # as 2.3 answers before the SyncGroup
    assert leader in bench.group.members
    bench.wait(1)
    assert leader not in bench.group.members


def test_a_new_member_that_waits_too_long_has_to_try_again() -> None:
    bench = GroupBench()
    leader, _generation = bench.stable(rebalance_timeout_us=1_000 * SECOND, session_timeout_us=1_000 * SECOND)
    line = bench.ask_join()
    bench.wait(300 * SECOND - 1)
    assert line.replies == []
    bench.wait(1)
    assert (line.last.error, line.last.member_id) == (Errors.UNKNOWN_MEMBER_ID, "")
    assert list(bench.group.members) == [leader]


def test_a_leader_that_joins_again_gets_a_new_assignment_a_follower_its_old_one() -> None:
    bench = GroupBench()
    leader, follower, generation = bench.stable_pair()
    again = bench.ask_join(follower).last
    assert (again.generation, again.leader, again.members) == (generation, leader, ())
    assert bench.described().state == "Stable"
    assert bench.ask_join(leader).replies == []
    assert bench.group.state is GroupState.PREPARING


def test_an_answer_that_was_lost_is_given_again_before_the_assignment() -> None:
    bench = GroupBench()
    joined = bench.join()
    again = bench.ask_join(joined.member_id).last
    assert (again.generation, again.members) == (1, joined.members)
    other = bench.ask_join(joined.member_id, protocols=(("roundrobin", b""),)).last
    assert (other.generation, other.protocol) == (2, "roundrobin")


def test_a_rebalance_before_the_assignment_ends_the_wait_for_it() -> None:
    bench = GroupBench()
    lines = [bench.ask_join(), bench.ask_join()]
    bench.wait(2 * DELAY)
    leader, follower = (line.last.member_id for line in lines)
    waiting = bench.ask_sync(follower, 1)
    bench.ask_join()
    assert waiting.last.error is Errors.REBALANCE_IN_PROGRESS
    assert bench.ask_sync(leader, 1, [leader]).last.error is Errors.REBALANCE_IN_PROGRESS


def test_the_protocol_is_one_that_all_support_and_most_prefer() -> None:
    bench = GroupBench()
    lines = [
        bench.ask_join(protocols=((first, b""), (second, b"")))
        for first, second in (("range", "sticky"), ("sticky", "range"), ("sticky", "range"))
    ]
    bench.wait(3 * DELAY)
    assert {line.last.protocol for line in lines} == {"sticky"}
    refused = bench.ask_join(protocols=(("roundrobin", b""),)).last
    assert refused.error is Errors.INCONSISTENT_GROUP_PROTOCOL
    assert bench.ask_join(protocol_type="connect").last.error is Errors.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"group": ""}, Errors.INVALID_GROUP_ID),
        ({"session_timeout_us": 5 * SECOND}, Errors.INVALID_SESSION_TIMEOUT),
        ({"session_timeout_us": 1_801 * SECOND}, Errors.INVALID_SESSION_TIMEOUT),
        ({"member": "somebody"}, Errors.UNKNOWN_MEMBER_ID),
        ({"protocols": ()}, Errors.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": ""}, Errors.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_a_join_is_refused(changes: dict[str, object], error: Errors) -> None:
    assert GroupBench().ask_join(**changes).last.error is error  # type: ignore[arg-type]


def test_a_member_id_is_given_first_and_taken_back_if_no_client_joins_with_it() -> None:
    bench = GroupBench()
    given = bench.ask_join(requires_member_id=True).last
    assert given.error is Errors.MEMBER_ID_REQUIRED
    assert not bench.group.members
    line = bench.ask_join(given.member_id, requires_member_id=True)
    bench.wait(DELAY)
    assert (line.last.error, line.last.member_id) == (Errors.NONE, given.member_id)
    late = bench.ask_join(requires_member_id=True).last
    bench.wait(SESSION)
    assert bench.ask_join(late.member_id).last.error is Errors.UNKNOWN_MEMBER_ID


def test_a_rebalance_waits_for_the_members_that_were_given_ids() -> None:
    bench = GroupBench()
    leader, _generation = bench.stable()
    given = bench.ask_join(requires_member_id=True).last
    line = bench.ask_join(leader)
    assert line.replies == []
    new = bench.ask_join(given.member_id, requires_member_id=True)
    assert (line.last.generation, new.last.generation) == (2, 2)
    assert len(line.last.members) == 2


def test_a_pending_member_that_leaves_is_waited_for_no_longer() -> None:
    bench = GroupBench()
    leader, _generation = bench.stable()
    given = bench.ask_join(requires_member_id=True).last
    line = bench.ask_join(leader)
    answer = bench.leave(given.member_id)
    assert [error for _member, error in answer.members] == [Errors.NONE]
    assert line.last.generation == 2


def test_members_leave_one_by_one_or_together() -> None:
    bench = GroupBench()
    leader, follower, generation = bench.stable_pair()
    answer = bench.leave(leader, "somebody", ("", "no such instance"))
    assert [error for _member, error in answer.members] == [
        Errors.NONE, Errors.UNKNOWN_MEMBER_ID, Errors.UNKNOWN_MEMBER_ID,
    ]  # fmt: skip
    assert bench.heartbeat(follower, generation) is Errors.REBALANCE_IN_PROGRESS
    bench.leave(follower)
    assert bench.group.state is GroupState.EMPTY


def test_a_heartbeat_of_another_generation_or_group_is_refused() -> None:
    bench = GroupBench()
    leader, generation = bench.stable()
    assert bench.heartbeat(leader, generation) is Errors.NONE
    assert bench.heartbeat(leader, generation + 1) is Errors.ILLEGAL_GENERATION
    assert bench.heartbeat("somebody", generation) is Errors.UNKNOWN_MEMBER_ID
    assert bench.ask_sync(leader, generation - 1).last.error is Errors.ILLEGAL_GENERATION


@pytest.mark.parametrize("counts", [False, True])
def test_a_heartbeat_before_the_assignment_counts_since_kafka_10134(counts: bool) -> None:
    bench = GroupBench(GroupPolicies(heartbeats_while_syncing=counts))
    joined = bench.join()
    error = bench.heartbeat(joined.member_id, joined.generation)
    assert error is (Errors.NONE if counts else Errors.REBALANCE_IN_PROGRESS)
    bench.wait(SESSION - 1)
    bench.heartbeat(joined.member_id, joined.generation)
    bench.wait(SESSION - 1)
    assert (joined.member_id in bench.group.members) is counts


@pytest.mark.parametrize("times_out", [False, True])
def test_a_leader_that_never_syncs_is_removed_since_kafka_12890(times_out: bool) -> None:
    bench = GroupBench(GroupPolicies(heartbeats_while_syncing=True, syncs_time_out=times_out))
    joined = bench.join(session_timeout_us=100 * SECOND)
    bench.wait(REBALANCE)
    assert (joined.member_id in bench.group.members) is not times_out


def test_a_full_group_takes_no_new_member() -> None:
    bench = GroupBench(max_size=2)
    leader, follower, _generation = bench.stable_pair()
    assert bench.ask_join().last.error is Errors.GROUP_MAX_SIZE_REACHED
    assert list(bench.group.members) == [leader, follower]
    assert bench.group.state is GroupState.STABLE


def test_a_sync_names_the_protocol_since_kip_559() -> None:
    bench = GroupBench()
    joined = bench.join()
    ask = bench.ask_sync
    assert ask(joined.member_id, 1, protocol_type="connect").last.error is Errors.INCONSISTENT_GROUP_PROTOCOL
    assert ask(joined.member_id, 1, protocol="sticky").last.error is Errors.INCONSISTENT_GROUP_PROTOCOL
    assert not ask(joined.member_id, 1, protocol_type="consumer", protocol="range").last.error


def test_what_a_description_shows() -> None:
    bench = GroupBench()
    leader, _generation = bench.stable()
    shown = bench.described()
    assert (shown.state, shown.protocol_type, shown.protocol) == ("Stable", "consumer", "range")
    (member,) = shown.members
    assert (member.member_id, member.client_id, member.client_host) == (leader, "client", "/127.0.0.1")
    assert (member.metadata, member.assignment) == (b"topics", f"for {leader}".encode())
    assert bench.described("nobody").state == "Dead"
    assert GROUP in bench.groups.store.groups


def test_a_member_that_gets_its_generation_again_lives_no_longer_for_that() -> None:
    """GroupCoordinator.doJoinGroup (2.3.1 to 2.7.2) answers, and leaves the session as it is."""
    bench = GroupBench()
    joined = bench.join()
    heard = bench.see(MemberHeard)
    bench.wait(SESSION - 1)
    assert bench.ask_join(joined.member_id).last.generation == joined.generation
    assert heard == []
    bench.wait(1)
    assert bench.group.members == {}
