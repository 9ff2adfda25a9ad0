"""Cases of GroupCoordinatorTest, GroupMetadataManagerTest, the tests of transaction coordinators, FetchSessionTest,
ClientQuotaManagerTest, AlterIsrManagerTest and KafkaApisTest (1.1.1 to 3.9.0) that were drawn by lot."""

import pytest

from brokers.client_quotas import DEFAULT, PRODUCER, ClientQuotaManager
from brokers.groups.group import GroupState
from brokers.replica_manager.alter_isr import INTERVAL_US
from emulator.protocol.clients.fetch import PartitionData
from emulator.protocol.clients.list_offsets import EARLIEST, OffsetQuery, OffsetsByTimeRequest
from emulator.protocol.delete_records import DeleteRecordsRequest
from emulator.protocol.errors import Errors
from emulator.protocol.groups.group_offsets import OffsetCommitRequest, OffsetToCommit
from emulator.protocol.groups.operations import DeleteGroupsRequest
from emulator.protocol.records import read_records
from emulator.protocol.types import TopicPartition
from scenarios.profiles import PROFILES
from scenarios.wire.apis.fetch import in_bytes
from scenarios.wire.codec.messages import stored
from scenarios.wire.codec.records import read_batches
from scenarios.wire.codec.stored_records import decode_stored, version_of
from tests.brokers.bench import MS, TP, Bench
from tests.brokers.conformance.test_group_coordinator import of
from tests.brokers.conformance.test_group_metadata import Failing
from tests.brokers.conformance.test_groups import FIRST, SESSION, ask, bench_of, static_pair
from tests.brokers.conformance.test_transaction_coordinator import of as transactions_of
from tests.brokers.groups.bench import GROUP, OFFSETS, GroupBench
from tests.brokers.replica_manager.test_alter_isr import OTHER, Desk, now
from tests.brokers.requests.clients import at, fetch, produce, records
from tests.brokers.transactions.bench import TransactionBench
from tests.scenarios.wire.apis.test_kafka_apis import offset

NONE, UNKNOWN = Errors.NONE, Errors.UNKNOWN_MEMBER_ID


# -- groups -----------------------------------------------------------------------------------------------------------


def test_sync_group_follower_after_leader() -> None:
    """testSyncGroupFollowerAfterLeader: the assignment is there already."""
    bench = of("kafka-1.1")
    first = ask(bench)
    bench.wait(FIRST)
    leader = first.last.member_id
    assert (first.last.error, first.last.leader) == (NONE, leader)
    assert not bench.ask_sync(leader, 1, (leader,)).last.error
    other = ask(bench)
    again = ask(bench, leader)
    assert (again.last.error, other.last.error) == (NONE, NONE)
    assert again.last.generation == other.last.generation == 2
    assert again.last.leader == other.last.leader == leader
    follower = other.last.member_id
    synced = bench.ask_sync(leader, 2, (leader, follower)).last
    assert (synced.error, synced.assignment) == (NONE, f"for {leader}".encode())
    synced = bench.ask_sync(follower, 2).last
    assert (synced.error, synced.assignment) == (NONE, f"for {follower}".encode())


def test_static_member_rejoin_as_follower_with_known_member_id() -> None:
    """testStaticMemberRejoinAsFollowerWithKnownMemberIdAndNoProtocolChange (3.9.0): no rebalance, nothing written."""
    bench, leader, follower = static_pair()
    written = bench.manager.partitions[OFFSETS].log.end_offset
    joined = ask(bench, follower, "follower").last
    assert (joined.error, joined.generation, joined.member_id, joined.leader) == (NONE, 1, follower, leader)
    assert (joined.protocol, joined.protocol_type, joined.skips_assignment) == ("range", "consumer", False)
    assert joined.members == ()
    assert bench.manager.partitions[OFFSETS].log.end_offset == written
    assert "leader" in bench.group.instances
    assert bench.group.state is GroupState.STABLE


def test_heartbeat_expiration_removes_a_pending_member() -> None:
    """testHeartbeatExpirationShouldRemovePendingMember (3.9.0)."""
    bench = bench_of()
    joined = ask(bench, requires_member_id=True, session_timeout_us=1000 * MS).last
    assert joined.error is Errors.MEMBER_ID_REQUIRED
    assert (len(bench.group.members), len(bench.group.pending)) == (0, 1)
    bench.wait(1000 * MS)
    assert len(bench.group.pending) == 0


def test_complete_heartbeat_with_member_already_removed() -> None:
    """testCompleteHeartbeatWithMemberAlreadyRemoved: its session that ends later does nothing."""
    bench, leader, follower = static_pair()
    assert bench.heartbeat(leader, 1, "leader") is NONE
    bench.leave((leader, "leader"))
    assert list(bench.group.members) == [follower]
    ask(bench, follower, "follower")
    assert not bench.ask_sync(follower, 2, (follower,), instance_id="follower").last.error
    bench.wait(SESSION - MS)
    assert bench.heartbeat(follower, 2, "follower") is NONE
    bench.wait(MS)
    assert bench.group.state is GroupState.STABLE


def test_persistence_failure_of_a_static_member_that_rejoins() -> None:
    """staticMemberRejoinWithUnknownMemberIdAndChangeOfProtocolWhileSelectProtocolUnchangedPersistenceFailure: it keeps
    the member id that it had."""
    bench = of("kafka-2.7")
    lines = [ask(bench, instance=name) for name in ("leader", "follower")]
    bench.wait(2 * FIRST + 2)
    leader, follower = (line.last.member_id for line in lines)
    assert not bench.ask_sync(leader, 1, (leader,), instance_id="leader").last.error
    assert not bench.ask_sync(follower, 1, instance_id="follower").last.error
    selected = ((bench.group.select_protocol(), b""),)
    partitions = bench.groups.store.partitions
    works, partitions.appender = partitions.appender, Failing(Errors.MESSAGE_TOO_LARGE)
    joined = ask(bench, instance="follower", protocols=selected).last
    assert (joined.error, joined.generation, joined.members) == (Errors.UNKNOWN_SERVER_ERROR, 1, ())
    assert joined.protocol_type == "consumer"
    assert bench.group.state is GroupState.STABLE
    partitions.appender = works
    assert joined.member_id != follower
    assert ask(bench, follower, "follower", protocols=selected).last.error is NONE
    assert bench.ask_sync(follower, 1, instance_id="follower").last.error is NONE


def read(bench: GroupBench) -> list[tuple[bytes | None, bytes | None]]:
    batches = bench.manager.partitions[OFFSETS].log.batches
    data = in_bytes(batches)
    return [
        (record.key, record.value)
        for header in read_batches(data)
        for record in read_records(data[header.at : header.end])
    ]


def test_classic_group_delete() -> None:
    """testClassicGroupDelete (3.9.0): a tombstone of the group."""
    bench = of("kafka-3.9")
    member = ask(bench)
    bench.wait(FIRST)
    bench.leave(member.last.member_id)
    before = len(read(bench))
    bench.send(DeleteGroupsRequest((GROUP,)))
    new = read(bench)[before:]
    keys = [decode_stored(stored.GROUP_METADATA_KEY, key) for key, value in new if key is not None and value is None]
    assert keys == [{"group": GROUP}]


def test_serde_of_a_committed_offset() -> None:
    """testSerdeOffsetCommitValue, as since 2.1."""
    bench = of("kafka-2.3")
    bench.send(OffsetCommitRequest(GROUP, (OffsetToCommit(TP, 537, 15, "metadata"),)))
    [(_, value)] = read(bench)
    assert value is not None
    found = decode_stored(stored.OFFSET_COMMIT_VALUE, value)
    assert (version_of(value), found["offset"], found["leader_epoch"], found["metadata"]) == (3, 537, 15, "metadata")


def test_static_member_rejoin_with_leader_id_and_unexpected_empty_group() -> None:
    """testStaticMemberRejoinWithLeaderIdAndUnexpectedEmptyGroup (3.9.0)."""
    bench, leader, _follower = static_pair()
    written = bench.manager.partitions[OFFSETS].log.end_offset
    bench.group.transition(GroupState.PREPARING, 0)
    bench.group.transition(GroupState.EMPTY, 0)
    assert ask(bench, leader, "leader").last.error is UNKNOWN
    assert bench.manager.partitions[OFFSETS].log.end_offset == written


# -- transactions -----------------------------------------------------------------------------------------------------


def test_markers_of_a_transaction_that_was_decided_are_written_after_loading() -> None:
    """shouldWriteTxnMarkersForTransactionInPreparedCommitState."""
    bench = transactions_of("kafka-1.1")
    producer = bench.producer()
    bench.learn(TopicPartition("t", 1), 0)
    assert bench.add(producer, TP, TopicPartition("t", 1)) is NONE
    assert bench.end(producer) is NONE
    bench.markers.noted.clear()
    bench.resign(1)
    bench.elect(2)
    assert bench.state == "PrepareCommit"
    assert {tp for _, queued in bench.markers.noted for tp in queued.marker.partitions} == {TP, TopicPartition("t", 1)}
    sent = [queued.marker for _, queued in bench.markers.noted]
    assert {(marker.producer_id, marker.committed) for marker in sent} == {(producer[0], True)}


def test_the_first_epoch() -> None:
    """testInitializeEpoch."""
    bench: TransactionBench = transactions_of("kafka-1.1")
    number, epoch = bench.producer()
    assert epoch == 0
    assert (bench.metadata.producer_id, bench.metadata.producer_epoch) == (number, 0)


# -- fetch sessions, quotas, ISRs -------------------------------------------------------------------------------------


def test_cached_leader_epoch() -> None:
    """testCachedLeaderEpoch (2.7.2): a session keeps the epochs that it was sent, until it is sent others."""
    bench = Bench(PROFILES["kafka-2.7"].policies.brokers)
    tps = [TopicPartition("foo", 0), TopicPartition("foo", 1), TopicPartition("bar", 1)]
    for tp, epoch in zip(tps, (5, 1, 2), strict=True):
        bench.lead(epoch, (0,), tp=tp)
    wanted = at(0, tps[0]), at(0, tps[1], epoch=1), at(0, tps[2], epoch=2)
    first = fetch(bench, *wanted, session=(0, 0), max_wait_us=0).last
    assert {each.error for each in first.partitions} == {NONE}

    def again(epoch: int, *wanted: PartitionData) -> dict[TopicPartition, Errors]:
        answer = fetch(bench, *wanted, session=(first.session_id, epoch), max_wait_us=0).last
        assert answer.session_id == first.session_id
        return {each.tp: each.error for each in answer.partitions if each.error}

    assert again(1) == {}
    bench.lead(2, (0,), tp=tps[1], version=1)
    assert again(2) == {tps[1]: Errors.FENCED_LEADER_EPOCH}
    assert again(3, at(0, tps[0], epoch=6), at(0, tps[1]), at(0, tps[2], epoch=3)) == {
        tps[0]: Errors.UNKNOWN_LEADER_EPOCH,
        tps[2]: Errors.UNKNOWN_LEADER_EPOCH,
    }


def test_user_client_quota_parsing_with_default_client_id() -> None:
    """testUserClientQuotaParsingIdWithDefaultClientIdQuota: of ten samples."""
    manager = ClientQuotaManager(PRODUCER)
    one, two = ("User1", "p1"), ("User2", "p2")

    def limit(user: str, client: str) -> float | None:
        most = manager.most_in_window(user, client)
        return None if most is None else most / 10

    manager.update(one, {PRODUCER: "2000"})
    manager.update(two, {PRODUCER: "4000"})
    assert [limit("RandomUser", "random-client-id"), limit(*one), limit(*two)] == [None, 2000, 4000]
    assert manager.record(*one, 2500 * 11, 0) > 0
    manager.update(one, {PRODUCER: "3000"})
    assert limit(*one) == 3000
    assert manager.record(*one, 0, 0) == 0
    manager.update(one, {PRODUCER: "500"})
    assert limit(*one) == 500
    assert manager.record(*one, 0, 0) > 0
    manager.update(one, {})
    manager.update((DEFAULT, DEFAULT), {PRODUCER: "4000"})
    assert limit(*one) == 4000
    assert manager.record(*one, 1000 * 11, 0) == 0


@pytest.mark.parametrize("at_once", [False, True])
def test_partition_missing_in_an_answer_to_alter_isr(at_once: bool) -> None:
    """testPartitionMissingInResponse (2.7.2, 2.8.2; its assertion is never reached, for its callback leaves the test):
    the others are asked for again."""

    async def test(desk: Desk) -> None:
        wishes = [desk.wish(), desk.wish(OTHER), desk.wish(TopicPartition("t", 2))]
        await desk.world.sleep(2 * INTERVAL_US)
        if at_once:
            await desk.answer((TP, Errors.NONE, now()))
        asked = len(desk.asked)
        await desk.answer((TP if not at_once else OTHER, Errors.UNKNOWN_SERVER_ERROR, None))
        assert wishes[at_once].outcome == "UNKNOWN_SERVER_ERROR"
        await desk.world.sleep(2 * INTERVAL_US)
        missing = [OTHER.partition, 2] if not at_once else [2]
        assert [p.tp.partition for p in desk.asked[asked][1].partitions] == missing

    Desk(at_once=at_once).play(test)


def test_read_committed_consumer_earliest_offset() -> None:
    """testReadCommittedConsumerListOffsetEarliestOffsetEqualsLastStableOffset (1.1.1): the start of the log, though
    nothing after it is decided."""
    bench = Bench(PROFILES["kafka-1.1"].policies.brokers)
    bench.lead(isr=(0,))
    for number in range(15):
        produce(bench, records(b"a", id=number + 1))
    bench.send(DeleteRecordsRequest(((TP, 15),), 1000))
    [found] = bench.send(OffsetsByTimeRequest(-1, (OffsetQuery(TP, -1, EARLIEST),), 1)).last.found
    assert (found.error, found.offset) == (NONE, 15)
    assert offset(bench, 2, -2) == (NONE, 15, -1, -1)
