"""Cases of GroupCoordinatorTest, GroupMetadataManagerTest, the tests of transaction coordinators, FetchSessionTest,
ClientQuotaManagerTest, AlterIsrManagerTest and KafkaApisTest (1.1.1 to 3.9.0) that were drawn by lot."""

import pytest

from brokers.client_quotas import DEFAULT, PRODUCER, ClientQuotaManager, ClientQuotas
from brokers.groups.group import GroupState
from brokers.replica_manager.alter_isr import INTERVAL_US
from brokers.transactions.metadata import LAST_EPOCH, TransactionMetadata, TransactionState
from emulator.protocol.clients.fetch import ConsumerFetchRequest, PartitionData, by_id
from emulator.protocol.clients.list_offsets import EARLIEST, OffsetQuery, OffsetsByTimeRequest
from emulator.protocol.delete_records import DeleteRecordsRequest
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import FetchResponse
from emulator.protocol.groups.group_offsets import OffsetCommitRequest, OffsetToCommit
from emulator.protocol.groups.operations import DeleteGroupsRequest
from emulator.protocol.produce import InitProducerIdRequest, InitProducerIdResponse
from emulator.protocol.records import read_records
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.transactions.coordination import AddPartitionsToTxnRequest
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest
from fetchers.quota import listed_here
from scenarios.profiles import PROFILES
from scenarios.wire.apis.fetch import in_bytes
from scenarios.wire.codec.messages import stored
from scenarios.wire.codec.records import read_batches
from scenarios.wire.codec.stored_records import decode_stored, version_of
from tests.brokers.bench import MS, TP, Bench, config
from tests.brokers.conformance.test_group_coordinator import of, one, pair
from tests.brokers.conformance.test_group_metadata import Failing
from tests.brokers.conformance.test_groups import FIRST, SESSION, ask, bench_of, static_pair
from tests.brokers.conformance.test_transaction_coordinator import of as transactions_of
from tests.brokers.groups.bench import GROUP, OFFSETS, GroupBench
from tests.brokers.replica_manager.test_alter_isr import OTHER, Desk, now
from tests.brokers.requests.clients import at, fetch, produce, records
from tests.brokers.transactions.bench import ID, STATES, TransactionBench
from tests.scenarios.wire.apis.test_kafka_apis import LEAVE, SYNC, offset, versions
from tests.scenarios.wire.apis.test_kafka_apis import ask as wire_ask

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


def of_time(state: TransactionState) -> TransactionMetadata:
    """A transactional id whose transaction began at 1 ms, in the tests of clocks that go back."""
    return TransactionMetadata("id", 7, 30_000, 1000, 1, state=state, start_ms=1)


def test_tolerate_update_time_reset_during_producer_id_rotation() -> None:
    """testTolerateUpdateTimeResetDuringProducerIdRotation (2.7.2)."""
    metadata = of_time(TransactionState.EMPTY)
    metadata.complete(metadata.prepare_rotation(8, 30_000, 999, records_last=True))
    assert (metadata.producer_id, metadata.last_producer_epoch, metadata.producer_epoch) == (8, 1, 0)
    assert (metadata.start_ms, metadata.update_ms) == (1, 999)


def test_tolerate_time_shift_during_complete_commit() -> None:
    """testTolerateTimeShiftDuringCompleteCommit (2.7.2)."""
    metadata = of_time(TransactionState.PREPARE_COMMIT)
    metadata.complete(metadata.prepare_complete(999))
    assert metadata.state is TransactionState.COMPLETE_COMMIT
    assert (metadata.producer_id, metadata.last_producer_epoch, metadata.producer_epoch) == (7, -1, 1)
    assert (metadata.start_ms, metadata.update_ms) == (1, 999)


@pytest.mark.parametrize("known", [(-1, -1), (7, 10)])
def test_concurrent_requests_for_a_producer_id(known: tuple[int, int]) -> None:
    """testConcurrentContinuingInitProducerIdRequests, testConcurrentNewInitProducerIdRequests (2.7.2): two that come
    while the first is written; one of them gets epoch 0."""
    bench = transactions_of("kafka-2.7", isr=(0, 1))
    if known == (-1, -1):
        bench.coordinator.store.put_if_absent(TransactionMetadata(ID, 7, 30_000, 0, LAST_EPOCH - 1))
    answers: list[InitProducerIdResponse] = []
    for _ in range(2):
        request = InitProducerIdRequest(
            transactional_id=ID, producer_id=known[0], producer_epoch=known[1], transaction_timeout_us=30_000_000
        )
        bench.coordinator.transitions.ending(bench.coordinator.init_producer_id)(request, answers.append)
    bench.follower(1).fetch((STATES, 0, 0))
    bench.follower(1).fetch((STATES, 0, bench.manager.partitions[STATES].log.end_offset))
    assert len(answers) == 2
    assert sorted(each.error is NONE for each in answers) == [False, True]
    assert [each.producer_epoch for each in answers if each.error is NONE] == [0]


def test_append_transaction_to_log_while_the_coordinator_changes() -> None:
    """testAppendTransactionToLogWhileProducerFenced,
    shouldReturnNotCoordinatorErrorIfTransactionIdPartitionNotOwned."""
    bench = transactions_of("kafka-2.7", isr=(0, 1))
    bench.coordinator.store.put_if_absent(TransactionMetadata(ID, 7, 30_000, 0, 0))
    line = bench.send(AddPartitionsToTxnRequest(ID, 7, 0, (TP,)))
    assert not line.replies
    bench.resign(1)
    assert line.last.partitions[0][1] is Errors.NOT_COORDINATOR
    assert bench.coordinator.store.find(ID) is Errors.NOT_COORDINATOR
    assert transactions_of("kafka-3.3", elected=False).coordinator.store.find(ID) is Errors.NOT_COORDINATOR


def test_delete_partition_of_transactions() -> None:
    """TransactionStateManagerTest.testDeletePartition: the ids of the other partition stay."""
    bench = transactions_of("kafka-2.4", num_partitions=2)
    bench.lead(0, (0,), tp=TopicPartition(STATES.topic, 1), replicas=(0,))
    bench.wait(0)
    store = bench.coordinator.store
    for id, number in (("b", 5), ("a", 10)):
        store.put_if_absent(TransactionMetadata(id, number, 30_000, 0, number))

    def epochs() -> list[int | None]:
        found = [store.find(id) for id in ("b", "a")]
        return [None if isinstance(each, Errors) else each.metadata.producer_epoch for each in found]

    assert epochs() == [5, 10]
    bench.send(StopReplicaRequest(9, 1, -1, True, (STATES,)))
    assert epochs() == [None, 10]


def test_heartbeat_unknown_consumer_existing_group() -> None:
    """testHeartbeatUnknownConsumerExistingGroup."""
    bench = of("kafka-1.1")
    bench.stable()
    assert bench.heartbeat("memberId", 1) is UNKNOWN


def test_classic_group_on_unloaded_completing_rebalance() -> None:
    """testClassicGroupOnUnloadedCompletingRebalance (3.9.0): those who wait for the assignment get the error."""
    bench = of("kafka-3.9")
    leader, follower, generation = pair(bench)
    bench.ask_sync(follower, generation)
    assert not bench.ask_sync(leader, generation, (leader, follower)).last.error
    pending = ask(bench, requires_member_id=True).last.member_id
    lines = [ask(bench, leader), ask(bench, follower)]
    assert [line.replies for line in lines] == [[], []]
    joined = ask(bench, pending, requires_member_id=True)
    assert joined.last.error is NONE
    assert (len(bench.group.members), len(bench.group.pending)) == (3, 0)
    waiting = [bench.ask_sync(member, joined.last.generation) for member in (follower, pending)]
    group = bench.group
    assert ([line.replies for line in waiting], group.state) == ([[], []], GroupState.COMPLETING)
    bench.resign(1)
    assert group.state is GroupState.DEAD
    assert [(line.last.error, line.last.assignment) for line in waiting] == [(Errors.NOT_COORDINATOR, b"")] * 2


def test_isr_expiration_for_caught_up_followers() -> None:
    """ISRExpirationTest.testIsrExpirationForCaughtUpFollowers (2.3.1): one that is at the end may be silent."""
    bench = Bench(config(replica_lag_time_max_us=100 * MS))
    bench.lead(isr=(0, 1))
    bench.produce(count=20)
    bench.follower(1).at(20)
    assert bench.partition.get_out_of_sync_replicas(bench.world.now) == ()
    bench.at(bench.world.now + 150 * MS)
    assert bench.partition.get_out_of_sync_replicas(bench.world.now) == ()


def test_parse_replication_quota_properties() -> None:
    """shouldParseReplicationQuotaProperties."""
    name = "leader.replication.throttled.replicas"
    settings = {name: "0:101,0:102,1:101,1:102"}
    assert [listed_here(settings, name, broker) for broker in (102, 103)] == [{0, 1}, frozenset()]


def test_default_user_client_id_quota_config_change() -> None:
    """testDefaultUserClientIdQuotaConfigChange: set at /config/users/<default>/clients/<default>, and taken away."""
    quotas = ClientQuotas()

    def limits() -> list[float | None]:
        managers = (quotas.produce, quotas.fetch)
        most = [manager.most_in_window("ANONYMOUS", "testClient") for manager in managers]
        return [None if each is None else each / 10 for each in most]

    entity = "users/<default>/clients/<default>"
    quotas.configured(entity, {"producer_byte_rate": "1000", "consumer_byte_rate": "2000"})
    assert limits() == [1000, 2000]
    quotas.configured(entity, {})
    assert limits() == [None, None]


def test_incremental_fetch_session_without_ids_when_session_uses_ids() -> None:
    """testIncrementalFetchSessionWithoutIdsWhenSessionUsesIds (3.3.2): also where the id is not known any more."""
    bench = Bench(PROFILES["kafka-3.3"].policies.brokers)
    bench.lead(isr=(0,))
    bench.learn(TP, 0, "AAAAAAAAAAAAAAAAAAAAAQ")

    def ask_by(epoch: int, session: int, *wanted: PartitionData, ids: bool) -> FetchResponse:
        request = ConsumerFetchRequest(-1, session, epoch, 0, 0, 1000, 0, (), (), wanted, names_ids=ids)
        found: FetchResponse = bench.send(request).last
        return found

    first = ask_by(0, 0, PartitionData(by_id("AAAAAAAAAAAAAAAAAAAAAQ", 0), -1, 0, -1, 100), ids=True)
    assert first.error is NONE
    assert first.session_id
    bench.manager.metadata.update(
        UpdateMetadataRequest(9, 1, -1, (PartitionMetadata(TP, 1, -2, 0, (), 0, (), ()),), (0,))
    )
    assert ask_by(1, first.session_id, ids=False).error is Errors.FETCH_SESSION_TOPIC_ID_ERROR


@pytest.mark.parametrize("version", versions(SYNC))
def test_sync_group_protocol_type_and_name(version: int) -> None:
    """KafkaApisTest.testSyncGroupProtocolTypeAndName (2.7.2)."""
    bench = of("kafka-2.7")
    member, generation = one(bench)
    body = {"group_id": GROUP, "generation_id": generation, "member_id": member, "assignments": []}
    named = {"protocol_type": "consumer", "protocol_name": "range"} if version >= 5 else {}
    answer = wire_ask(bench, SYNC, version, {**body, **named})
    assert answer["error_code"] == 0
    shown = ("consumer", "range") if version >= 5 else (None, None)
    assert (answer.get("protocol_type"), answer.get("protocol_name")) == shown


@pytest.mark.parametrize("version", versions(LEAVE))
def test_leave_group_request(version: int) -> None:
    """LeaveGroupRequestTest.testLeaveGroupWithOldConsumerGroupProtocolAndOldGroupCoordinator (3.9.0)."""
    bench = of("kafka-3.9")
    member, _ = one(bench)
    several = version >= 3

    def leave(group: str, *members: str, instance: str | None = None) -> tuple[Errors, list[Errors]]:
        asked = [{"member_id": each, "group_instance_id": instance} for each in members]
        body = {"group_id": group, "member_id": members[0], "members": asked}
        answer = wire_ask(bench, LEAVE, version, body)
        return Errors(answer["error_code"]), [Errors(each["error_code"]) for each in answer.get("members") or ()]

    assert leave("", member)[0] is leave("", "member-id-unknown")[0] is Errors.INVALID_GROUP_ID
    unknown = (NONE, [UNKNOWN]) if several else (UNKNOWN, [])
    assert leave("grp-unknown", member) == unknown
    if several:
        assert leave(GROUP, "unknown-member-id", "") == (NONE, [UNKNOWN, UNKNOWN])
    else:
        assert leave(GROUP, "unknown-member-id") == unknown
    assert leave(GROUP, member) == (NONE, [NONE] if several else [])
    assert bench.described().state == "Empty"
    if several:
        joined = ask(bench, instance="group-instance-id", group="grp-2")
        bench.wait(FIRST)
        assert joined.last.error is NONE
        assert leave("grp-2", "member-id-fenced", instance="group-instance-id") == (NONE, [Errors.FENCED_INSTANCE_ID])
        assert leave("grp-2", "", instance="group-instance-id") == (NONE, [NONE])
        assert bench.described("grp-2").state == "Empty"
