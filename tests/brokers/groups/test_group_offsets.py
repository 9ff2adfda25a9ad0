"""Offsets are committed, fetched, expire and are deleted; and what is left of them when the coordinator moves."""

import pytest
from attrs import evolve

from brokers.groups.group import GroupState
from brokers.groups.policies import GroupPolicies
from brokers.groups.records import GroupBatch
from emulator.metrics.metric_events import GaugeSet
from emulator.metrics.metrics import short_name
from emulator.protocol.errors import Errors
from emulator.protocol.events import GroupsLoaded, GroupsUnloaded, OffsetsCommitted, OffsetsRemoved
from emulator.protocol.groups.group_offsets import OffsetDeleteRequest
from emulator.protocol.groups.operations import DeleteGroupsRequest, ListGroupsRequest
from emulator.protocol.shown import Deviated
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import LEADER_DURING_DELETE, TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest
from tests.brokers.bench import TP
from tests.brokers.groups.bench import GROUP, OFFSETS, SECOND, SESSION, GroupBench
from tests.brokers.requests.clients import produce, records

MINUTE = 60 * SECOND
TOPICS = b"\x00\x00" + b"\x00\x00\x00\x01" + b"\x00\x01t"
"""The metadata of a consumer that subscribes to topic t."""


def needs_two(bench: GroupBench) -> None:
    """From now on acks=all needs two replicas in sync."""
    policies = bench.manager.policies
    changed = evolve(policies, config=evolve(policies.config, min_insync_replicas=2))
    bench.manager.policies = bench.manager._services.policies = changed


def written(bench: GroupBench) -> list[GroupBatch]:
    """The batches in the log of the offsets' partition."""
    batches = bench.manager.partitions[OFFSETS].log.batches
    assert all(isinstance(batch, GroupBatch) for batch in batches)
    return batches  # type: ignore[return-value]


def test_a_client_without_a_group_keeps_its_offsets_here() -> None:
    bench = GroupBench()
    seen = bench.see(OffsetsCommitted)
    assert bench.fetch().offset == -1
    assert bench.commit(7, metadata="seven") is Errors.NONE
    assert (bench.fetch().offset, bench.fetch().metadata) == (7, "seven")
    assert [(each.group, each.error, each.topics, each.offsets) for each in seen] == [(GROUP, "NONE", ("t",), (7,))]
    assert bench.described().state == "Empty"


def test_members_commit_in_their_generation() -> None:
    bench = GroupBench()
    member, generation = bench.stable()
    assert bench.commit(5, member, generation) is Errors.NONE
    assert bench.commit(6, member, generation - 1) is Errors.ILLEGAL_GENERATION
    assert bench.commit(6, "somebody", generation) is Errors.UNKNOWN_MEMBER_ID
    assert bench.commit(6) is Errors.UNKNOWN_MEMBER_ID
    bench.ask_join(member)
    assert bench.commit(8, member, generation + 1) is Errors.REBALANCE_IN_PROGRESS
    assert bench.fetch().offset == 5
    assert bench.commit(9, "somebody", 3, group="nobody") is Errors.ILLEGAL_GENERATION


def test_commits_of_the_old_generation_count_while_the_members_join_again() -> None:
    bench = GroupBench()
    leader, follower, generation = bench.stable_pair()
    bench.ask_join(leader)
    assert bench.group.state is GroupState.PREPARING
    assert bench.commit(4, follower, generation) is Errors.NONE


def test_a_commit_is_a_heartbeat() -> None:
    bench = GroupBench()
    member, generation = bench.stable()
    bench.wait(SESSION - 1)
    bench.commit(5, member, generation)
    bench.wait(SESSION - 1)
    assert bench.heartbeat(member, generation) is Errors.NONE


def test_what_is_refused_of_a_commit() -> None:
    bench = GroupBench()
    assert bench.commit(5, metadata="x" * 4097) is Errors.OFFSET_METADATA_TOO_LARGE
    assert bench.fetch().offset == -1
    assert bench.commit(5, group="") is Errors.NONE  # no group id: old clients commit so


def test_a_commit_is_answered_when_the_replicas_have_it() -> None:
    bench = GroupBench(GroupPolicies(unstable_offsets_wait=True), isr=(0, 1))
    follower = bench.follower(1)
    line = bench.ask_commit(5)
    assert line.replies == []
    assert bench.fetch().offset == -1
    assert bench.fetch(stable=True).error is Errors.UNSTABLE_OFFSET_COMMIT
    follower.fetch((OFFSETS, 0, 0))
    follower.fetch((OFFSETS, 0, 1))
    assert [error for _tp, error in line.last.partitions] == [Errors.NONE]
    assert bench.fetch(stable=True).offset == 5


@pytest.mark.parametrize("first", [True, False])
def test_a_first_commit_that_is_being_written_as_its_topic_is_deleted_stays_in_the_log(first: bool) -> None:
    """GroupMetadata.removeOffsets, 0.11 to 3.9: no tombstone is written for an offset that does not count yet."""
    bench = GroupBench()
    if not first:
        bench.commit(3)
    bench.lead(1, (0, 1), 1, tp=OFFSETS, replicas=(0, 1))
    line = bench.ask_commit(5)
    shown = bench.see(Deviated)
    bench.groups.partitions_deleted((TP,))
    assert [one.ticket for one in shown] == (["GroupMetadata.removeOffsets"] if first else [])
    assert bench.fetch().offset == -1
    bench.lead(2, (0,), 2, tp=OFFSETS, replicas=(0,))
    assert [error for _tp, error in line.last.partitions] == [Errors.NONE]
    assert bench.fetch().offset == -1, "it was committed, and removed before"
    bench.resign(3)
    bench.elect(4)
    assert bench.fetch().offset == (5 if first else -1)


def test_replicas_that_lag_fail_a_commit() -> None:
    bench = GroupBench(isr=(0, 1))
    line = bench.ask_commit(5)
    bench.wait(5 * SECOND)
    assert [error for _tp, error in line.last.partitions] == [Errors.REQUEST_TIMED_OUT]
    assert bench.fetch(stable=True).offset == -1


def test_too_few_replicas_in_sync_fail_a_commit_and_an_assignment() -> None:
    bench = GroupBench()
    joined = bench.join()
    needs_two(bench)
    assert bench.commit(5, group="other") is Errors.COORDINATOR_NOT_AVAILABLE
    answer = bench.ask_sync(joined.member_id, 1, (joined.member_id,)).last
    assert (answer.error, bench.group.state) == (Errors.COORDINATOR_NOT_AVAILABLE, GroupState.PREPARING)


def test_the_gauges_count_groups_by_state_and_offsets() -> None:
    bench = GroupBench(elected=False)
    gauges = bench.see(GaugeSet)

    def shown() -> dict[str, int]:
        values = {short_name(event.metric): event.value for event in gauges if "GroupMetadataManager" in event.metric}
        return {name: value for name, value in values.items() if value}

    bench.elect()
    bench.commit(3, group="simple")
    member, generation = bench.stable()
    bench.commit(5, member, generation)
    assert shown() == {"NumGroups": 2, "NumOffsets": 2, "NumGroupsEmpty": 1, "NumGroupsStable": 1}
    bench.resign()
    assert shown() == {}


def test_clients_do_not_write_where_coordinators_do() -> None:
    bench = GroupBench()
    ((_tp, error, _base),) = produce(bench, records(b"x", tp=OFFSETS)).last.partitions
    assert error is Errors.INVALID_TOPIC_EXCEPTION
    assert written(bench) == []


def test_the_later_of_two_commits_counts_whatever_order_they_are_answered_in() -> None:
    bench = GroupBench(isr=(0, 1))
    follower = bench.follower(1)
    lines = [bench.ask_commit(offset) for offset in (5, 3)]
    follower.fetch((OFFSETS, 0, 0))
    follower.fetch((OFFSETS, 0, 2))
    assert all(line.replies for line in lines)
    assert bench.fetch().offset == 3


# -- the coordinator moves --------------------------------------------------------------------------------------------


def test_a_group_and_its_offsets_are_read_from_the_log() -> None:
    bench = GroupBench()
    loaded, unloaded = bench.see(GroupsLoaded), bench.see(GroupsUnloaded)
    member, generation = bench.stable()
    bench.commit(5, member, generation)
    bench.commit(2, group="simple")
    bench.resign()
    assert bench.heartbeat(member, generation) is Errors.NOT_COORDINATOR
    bench.elect(2)
    assert (unloaded[0].groups, unloaded[0].offsets) == (2, 2)
    assert (loaded[0].groups, loaded[0].offsets, loaded[0].leader_epoch) == (2, 2, 2)
    assert bench.heartbeat(member, generation) is Errors.NONE
    assert (bench.fetch().offset, bench.fetch("simple").offset) == (5, 2)
    assert bench.described().members[0].assignment == f"for {member}".encode()
    bench.wait(SESSION)
    assert bench.described().state == "Empty"


@pytest.mark.parametrize("epoch", [-2, -1, 5])
@pytest.mark.parametrize("delete", [True, False])
def test_a_coordinator_whose_replica_is_deleted_resigns(epoch: int, delete: bool) -> None:
    """KafkaApisTest.shouldResignCoordinatorsIfStopReplicaReceivedWithDeleteFlag(AndDeleteSentinel),
    shouldNotResignCoordinatorsIfStopReplicaReceivedWithoutDeleteFlag."""
    bench = GroupBench()
    member, generation = bench.stable()
    bench.send(StopReplicaRequest(9, 1, -1, delete, (OFFSETS,), (epoch,)))
    assert bench.heartbeat(member, generation) is (Errors.NOT_COORDINATOR if delete else Errors.NONE)


def test_requests_are_refused_until_the_log_is_read() -> None:
    bench = GroupBench()
    member, generation = bench.stable()
    bench.resign()
    bench.lead(2, (0,), tp=OFFSETS, replicas=(0,))
    assert bench.commit(5, member, generation) is Errors.COORDINATOR_LOAD_IN_PROGRESS
    assert bench.heartbeat(member, generation) is Errors.NONE  # blindly
    assert bench.ask_sync(member, generation).last.error is Errors.REBALANCE_IN_PROGRESS
    assert bench.ask_join(member).last.error is Errors.COORDINATOR_LOAD_IN_PROGRESS
    assert bench.send(ListGroupsRequest()).last.error is Errors.COORDINATOR_LOAD_IN_PROGRESS
    bench.wait(0)
    assert bench.commit(5, member, generation) is Errors.NONE


def test_who_waits_when_the_coordinator_moves_gets_an_error() -> None:
    bench = GroupBench(isr=(0, 1))
    joining = bench.ask_join()
    commit = bench.ask_commit(5, group="other")
    bench.resign()
    assert joining.last.error is Errors.NOT_COORDINATOR
    assert [error for _tp, error in commit.last.partitions] == [Errors.NOT_COORDINATOR]
    bench.wait(SESSION)


def test_a_load_that_a_resignation_overtakes_loads_nothing() -> None:
    bench = GroupBench()
    bench.commit(5)
    bench.resign()
    bench.lead(2, (0,), tp=OFFSETS, replicas=(0,))
    bench.resign(3)
    bench.wait(SECOND)
    assert not bench.groups.store.groups
    assert not bench.groups.store.partitions.loading


def test_a_restarted_broker_reads_what_it_had_written() -> None:
    bench = GroupBench()
    member, generation = bench.stable()
    bench.commit(5, member, generation)
    bench.restart()
    bench.elect(1)
    assert bench.heartbeat(member, generation) is Errors.NONE
    assert bench.fetch().offset == 5


def test_a_corrupt_batch_loses_all_groups_of_its_partition() -> None:
    bench = GroupBench()
    bench.commit(5)
    bench.resign()
    bench.manager.partitions[OFFSETS].log.corrupt(0)
    bench.elect(2)
    assert bench.fetch().offset == -1


# -- what is removed --------------------------------------------------------------------------------------------------


def test_offsets_of_an_empty_group_expire_with_the_group() -> None:
    bench = GroupBench(retention_us=60 * MINUTE)
    removed = bench.see(OffsetsRemoved)
    member, generation = bench.stable()
    bench.commit(5, member, generation)
    bench.leave(member)
    bench.wait(55 * MINUTE)
    assert bench.fetch().offset == 5
    bench.wait(20 * MINUTE)
    assert (bench.fetch().offset, bench.described().state) == (-1, "Dead")
    assert [(each.reason, each.group_too, each.topics) for each in removed] == [("expired", True, ("t",))]
    assert [value for _key, value in written(bench)[-1].entries] == [None, None]
    bench.restart()
    bench.elect(1)
    assert bench.fetch().offset == -1


def test_offsets_of_a_simple_consumer_expire_after_their_commit() -> None:
    bench = GroupBench(retention_us=60 * MINUTE)
    bench.commit(5)
    bench.commit(5, group="kept", retention_us=1000 * MINUTE)
    bench.wait(75 * MINUTE)
    assert (bench.fetch().offset, bench.fetch("kept").offset) == (-1, 5)


def test_offsets_of_a_group_that_comes_when_none_is_left_expire_too() -> None:
    bench = GroupBench(retention_us=60 * MINUTE)
    for offset in (5, 6):
        bench.commit(offset)
        bench.wait(75 * MINUTE)
        assert (bench.fetch().offset, len(bench.groups.store.groups)) == (-1, 0)
        bench.wait(75 * MINUTE)  # the check runs, or is left out, without any group


def test_offsets_of_topics_that_no_member_subscribes_to_expire_since_kip_496() -> None:
    for expires in (False, True):
        bench = GroupBench(
            GroupPolicies(expires_unsubscribed=expires), retention_us=60 * MINUTE, max_session_timeout_us=1000 * MINUTE
        )
        other = b"\x00\x00" + b"\x00\x00\x00\x01" + b"\x00\x05other"
        member, generation = bench.stable(protocols=(("range", other),), session_timeout_us=1000 * MINUTE)
        bench.commit(5, member, generation)
        bench.wait(75 * MINUTE)
        assert (bench.fetch().offset == -1) is expires


def test_a_rebalance_keeps_such_offsets_since_kafka_13636() -> None:
    """Its members have subscribed to the other topic, and it has not ended."""
    for keeps in (False, True):
        bench = GroupBench(
            GroupPolicies(expires_unsubscribed=True, rebalance_keeps_offsets=keeps, heartbeats_while_syncing=True),
            retention_us=60 * MINUTE, max_session_timeout_us=1000 * MINUTE,
        )  # fmt: skip
        other = b"\x00\x00" + b"\x00\x00\x00\x01" + b"\x00\x05other"
        bench.commit(5)
        joined = bench.join(protocols=(("range", other),), session_timeout_us=1000 * MINUTE)
        assert bench.group.state is GroupState.COMPLETING
        bench.wait(75 * MINUTE)
        assert (bench.fetch().offset == -1) is not keeps
        assert joined.member_id in bench.group.members


def test_a_deleted_topic_takes_what_was_committed_for_it() -> None:
    bench = GroupBench()
    removed = bench.see(OffsetsRemoved)
    member, generation = bench.stable()
    bench.commit(5, member, generation)
    bench.commit(5, group="simple")
    gone = PartitionMetadata(TP, 1, LEADER_DURING_DELETE, 0, (), 0, (), ())
    bench.send(UpdateMetadataRequest(9, 1, -1, (gone,), (0, 1, 2, 3)))
    bench.learn(TP, 0)
    assert bench.fetch().offset == -1
    assert [(each.group, each.reason, each.group_too) for each in removed] == [
        (GROUP, "topic", False),
        ("simple", "topic", True),
    ]


def test_an_administrator_deletes_groups_without_members() -> None:
    bench = GroupBench()
    member, generation = bench.stable()
    bench.commit(5, member, generation)
    bench.commit(5, group="simple")
    outcomes = dict(bench.send(DeleteGroupsRequest((GROUP, "simple", "nobody"))).last.groups)
    assert outcomes == {GROUP: Errors.NON_EMPTY_GROUP, "simple": Errors.NONE, "nobody": Errors.GROUP_ID_NOT_FOUND}
    assert bench.fetch("simple").offset == -1
    listed = bench.send(ListGroupsRequest()).last
    assert [(each.group, each.state) for each in listed.groups] == [(GROUP, "Stable")]
    assert bench.send(ListGroupsRequest(("Empty",))).last.groups == ()


def test_an_administrator_deletes_offsets_of_topics_that_are_not_read() -> None:
    bench = GroupBench()
    member, generation = bench.stable(protocols=(("range", TOPICS),))
    bench.commit(5, member, generation)
    unknown = TopicPartition("t", 99)
    answer = bench.send(OffsetDeleteRequest(GROUP, (TP, unknown))).last
    assert dict(answer.partitions) == {
        TP: Errors.GROUP_SUBSCRIBED_TO_TOPIC, unknown: Errors.UNKNOWN_TOPIC_OR_PARTITION,
    }  # fmt: skip
    bench.leave(member)
    assert dict(bench.send(OffsetDeleteRequest(GROUP, (TP,))).last.partitions) == {TP: Errors.NONE}
    assert bench.fetch().offset == -1
    assert bench.send(OffsetDeleteRequest("nobody", (TP,))).last.error is Errors.GROUP_ID_NOT_FOUND
