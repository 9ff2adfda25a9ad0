"""More cases of KafkaApisTest, FetchSessionTest, the request tests of groups, and the tests of coordinators (1.1.1 to
3.9.0) that were drawn by lot."""

from typing import Any

import pytest

from brokers.client_quotas import DEFAULT, PRODUCER, ClientQuotaManager, ClientQuotas
from brokers.groups.group import GroupMetadata, GroupState
from brokers.groups.member import Timeouts
from brokers.groups.records import StoredGroup
from brokers.replica_manager.alter_isr import INTERVAL_US
from brokers.transactions.describing import TransactionsDescriber
from brokers.transactions.metadata import TransactionMetadata, TransactionState
from emulator.protocol.clients.fetch import FINAL_EPOCH, ConsumerFetchRequest, PartitionData, by_id
from emulator.protocol.delete_records import DeleteRecordsRequest
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import FetchResponse
from emulator.protocol.groups.group_offsets import OffsetDeleteRequest
from emulator.protocol.groups.membership import LeaveGroupRequest, LeavingMember
from emulator.protocol.groups.operations import DeleteGroupsRequest, ListGroupsRequest
from emulator.protocol.transactions.describing import ListTransactionsRequest
from emulator.protocol.types import LEADER_DURING_DELETE, TopicPartition
from scenarios.profiles import PROFILES
from tests.brokers.bench import TP, Bench, config
from tests.brokers.conformance.test_group_coordinator import of, one
from tests.brokers.conformance.test_group_metadata import Failing
from tests.brokers.conformance.test_groups import FIRST, ONE, REBALANCE, ask, static_pair
from tests.brokers.conformance.test_transaction_coordinator import brought_to
from tests.brokers.conformance.test_transaction_coordinator import of as transactions_of
from tests.brokers.groups.bench import GROUP, OFFSETS
from tests.brokers.replica_manager.test_alter_isr import Desk
from tests.brokers.requests.clients import produce, records
from tests.brokers.requests.test_throttle import leaders_half
from tests.brokers.transactions.bench import STATES
from tests.brokers.transactions.test_markers import MarkersBench
from tests.scenarios.wire.apis.test_kafka_apis import SYNC, offset, versions
from tests.scenarios.wire.apis.test_kafka_apis import ask as wire_ask

NONE, UNKNOWN = Errors.NONE, Errors.UNKNOWN_MEMBER_ID
ID = "AAAAAAAAAAAAAAAAAAAAAQ"
UNRESOLVED = "AAAAAAAAAAAAAAAAAAAAAg"
LIST = 16


def test_update_and_generate_response_data() -> None:
    """FetchSessionTest.testUpdateAndGenerateResponseData (3.3.2): an id that the broker does not know, in each kind of
    context."""
    bench = Bench(PROFILES["kafka-3.3"].policies.brokers)
    bench.learn(TopicPartition("foo", 0), 1, ID)

    def asked(epoch: int, session: int = 0, *, names: bool = True) -> FetchResponse:
        wanted = (PartitionData(by_id(ID, 5), -1, 0, -1, 100), PartitionData(by_id(UNRESOLVED, 0), -1, 0, -1, 100))
        request = ConsumerFetchRequest(
            -1, session, epoch, 0, 0, 1000, 0, (), (), wanted if names else (), names_ids=True
        )
        found: FetchResponse = bench.send(request).last
        return found

    expected = [Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.UNKNOWN_TOPIC_ID]
    assert [each.error for each in asked(FINAL_EPOCH).partitions] == expected
    first = asked(0)
    assert [each.error for each in first.partitions] == expected
    assert [each.error for each in asked(1, first.session_id, names=False).partitions] == expected
    wrong = asked(1, first.session_id, names=False)
    assert (wrong.error, wrong.partitions) == (Errors.INVALID_FETCH_SESSION_EPOCH, ())


# -- groups -----------------------------------------------------------------------------------------------------------


def test_load_empty_consumer_group() -> None:
    """testLoadEmptyConsumerGroup (2.4.1): it subscribes to nothing."""
    group = GroupMetadata.restored(GROUP, StoredGroup("consumer", 27, None, None, 0, ()))
    assert (group.state, group.generation, group.protocol_type, group.protocol) == (
        GroupState.EMPTY, 27, "consumer", None,
    )  # fmt: skip
    assert group.subscribed == ()


def test_offsets_of_an_old_client() -> None:
    """OffsetCommitTest.testUpdateOffsets, testLargeMetadataPayload (1.1.1)."""
    bench = of("kafka-1.1")
    for place, metadata in ((42, ""), (100, "some metadata")):
        assert bench.commit(place, metadata=metadata) is NONE
        assert (bench.fetch().offset, bench.fetch().metadata) == (place, metadata)
    body = {"group_id": GROUP, "topics": [{"name": "unknownTopic", "partition_indexes": [0]}]}
    [topic] = wire_ask(bench, 9, 1, body)["topics"]
    [found] = topic["partitions"]
    assert (found["committed_offset"], found["metadata"], found["error_code"]) == (-1, "", 0)
    most = bench.groups.store.config.metadata_max_bytes
    assert most == 4096
    assert bench.commit(42, metadata="x" * most) is NONE
    assert bench.commit(42, metadata="x" * (most + 1)) is Errors.OFFSET_METADATA_TOO_LARGE


def test_delete_offsets_of_an_unknown_topic() -> None:
    """testDeleteOffsetsOfEmptyConsumerGroupWithUnknownTopicOnly (2.4.1)."""
    bench = of("kafka-2.4")
    member, generation = one(bench)
    bench.commit(1, member, generation)
    bench.leave(member)
    unknown = TopicPartition("foobar", 0)
    answer = bench.send(OffsetDeleteRequest(GROUP, (unknown,))).last
    assert (answer.error, answer.partitions) == (NONE, ((unknown, Errors.UNKNOWN_TOPIC_OR_PARTITION),))


def test_delete_several_groups() -> None:
    """KafkaApisTest.testHandleDeleteGroups (3.9.0): each has an outcome of its own."""
    bench = of("kafka-3.9")
    bench.commit(1, group="group-1")
    one(bench)
    found = bench.send(DeleteGroupsRequest(("group-1", GROUP, "group-3"))).last.groups
    assert found == (("group-1", NONE), (GROUP, Errors.NON_EMPTY_GROUP), ("group-3", Errors.GROUP_ID_NOT_FOUND))


@pytest.mark.parametrize("version", versions(LIST))
def test_list_groups_request(version: int) -> None:
    """ListGroupsRequestTest.testListGroupsWithOldConsumerGroupProtocolAndOldGroupCoordinator (3.9.0),
    KafkaApisTest.testListGroupsRequestWithState (2.7.2): by states since version 4, and by types since 5."""
    bench = of("kafka-3.9")
    one(bench)  # stable
    ask(bench, group="grp-preparing")
    completing = ask(bench, group="grp-completing")
    bench.wait(FIRST)
    ask(bench, group="grp-preparing", protocols=ONE)
    assert completing.last.error is NONE
    member = ask(bench, group="grp-empty")
    bench.wait(FIRST)
    bench.send(LeaveGroupRequest("grp-empty", (LeavingMember(member.last.member_id),)))
    states = {GROUP: "Stable", "grp-preparing": "PreparingRebalance", "grp-completing": "CompletingRebalance",
              "grp-empty": "Empty"}  # fmt: skip

    def listed(*wanted: str, types: tuple[str, ...] = ()) -> dict[str, Any]:
        answer = wire_ask(bench, LIST, version, {"states_filter": list(wanted), "types_filter": list(types)})
        assert answer["error_code"] == 0
        for each in answer["groups"]:
            assert each["protocol_type"] == "consumer"
            assert version < 5 or each["group_type"] == "classic"
        return {each["group_id"]: each.get("group_state") for each in answer["groups"]}

    known = states if version >= 4 else dict.fromkeys(states)
    assert {name: state or None for name, state in listed().items()} == known
    if version >= 4:
        for name, state in states.items():
            assert listed(state) == {name: state}
        assert listed("Dead") == {}
        assert listed("Empty", "Stable") == {name: states[name] for name in (GROUP, "grp-empty")}
    if version >= 5:
        assert listed(types=("classic",)) == states
        assert listed(types=("consumer",)) == {}


@pytest.mark.parametrize("version", versions(SYNC))
def test_sync_group_request(version: int) -> None:
    """SyncGroupRequestTest.testSyncGroupWithOldConsumerGroupProtocolAndOldGroupCoordinator (3.9.0)."""
    bench = of("kafka-3.9")
    named = {"protocol_type": "consumer", "protocol_name": "range"} if version >= 5 else {}

    def body(member: str, generation: int, *assigned: tuple[str, bytes], group: str = GROUP, **more: Any) -> Any:
        assignments = [{"member_id": each, "assignment": data} for each, data in assigned]
        return {"group_id": group, "generation_id": generation, "member_id": member, "assignments": assignments,
                **named, **more}  # fmt: skip

    def sync(*args: Any, **more: Any) -> tuple[Errors, bytes, Any, Any]:
        answer = wire_ask(bench, SYNC, version, body(*args, **more))
        shown = answer.get("protocol_type"), answer.get("protocol_name")
        return Errors(answer["error_code"]), answer["assignment"], *shown

    refused = (b"", None, None)
    fine = ("consumer", "range") if version >= 5 else (None, None)
    assert sync("member-id", -1, group="grp-unknown") == (UNKNOWN, *refused)
    line = ask(bench, protocols=ONE, requires_member_id=True)
    leader = line.last.member_id
    line = ask(bench, leader, protocols=ONE, requires_member_id=True)
    bench.wait(FIRST)
    assert line.last.generation == 1
    if version >= 5:
        for wrong in ({"protocol_name": "unmatched"}, {"protocol_type": "unmatched"}):
            found = sync(leader, 1, (leader, b"1"), **wrong)
            assert found == (Errors.INCONSISTENT_GROUP_PROTOCOL, *refused)
    assert sync("member-id-unknown", -1) == (UNKNOWN, *refused)
    assert sync(leader, 2) == (Errors.ILLEGAL_GENERATION, *refused)
    assert sync(leader, 1, (leader, b"1")) == (NONE, b"1", *fine)
    joining = ask(bench, instance="group-instance-id", protocols=ONE)
    assert bench.described().state == "PreparingRebalance"
    again = ask(bench, leader, protocols=ONE)
    follower, generation = joining.last.member_id, again.last.generation
    both = ((leader, b"1"), (follower, b"2"))
    assert sync(leader, generation, *both) == (NONE, b"1", *fine)
    assert sync(follower, generation) == (NONE, b"2", *fine)
    assert sync(follower, 2) == (NONE, b"2", *fine)
    assert sync(leader, 2, *both) == (NONE, b"1", *fine)
    bench.leave(leader)
    bench.leave(follower)
    assert bench.send(DeleteGroupsRequest((GROUP,))).last.groups == ((GROUP, NONE),)


# -- transactions -----------------------------------------------------------------------------------------------------


def test_tolerate_time_shift_during_add_partitions() -> None:
    """testTolerateTimeShiftDuringAddPartitions (2.7.2): the transaction began at the time of the first ones."""
    metadata = TransactionMetadata("id", 7, 30_000, 1000, 1)
    metadata.complete(metadata.prepare_add([TopicPartition("topic1", 0)], 999))
    assert list(metadata.partitions) == [TopicPartition("topic1", 0)]
    assert (metadata.producer_epoch, metadata.last_producer_epoch) == (1, -1)
    assert (metadata.start_ms, metadata.update_ms) == (999, 999)
    metadata.complete(metadata.prepare_add([TopicPartition("topic2", 0)], 998))
    assert list(metadata.partitions) == [TopicPartition("topic1", 0), TopicPartition("topic2", 0)]
    assert (metadata.start_ms, metadata.update_ms) == (999, 998)


def test_transactions_are_not_listed_while_they_are_read() -> None:
    """testListTransactionsErrorResponse (3.3.2)."""
    bench = transactions_of("kafka-3.3", elected=False)
    bench.router.add(TransactionsDescriber(bench.coordinator.store))
    bench.lead(0, (0,), tp=STATES, replicas=(0,))
    answer = bench.send(ListTransactionsRequest()).last
    assert (answer.error, answer.transactions) == (Errors.COORDINATOR_LOAD_IN_PROGRESS, ())


def test_the_end_of_a_transaction_that_cannot_be_written() -> None:
    """shouldAbortAppendToLogOnEndTxnWhenNotCoordinatorError: nothing is tried again."""
    bench = transactions_of("kafka-1.1")
    brought_to(TransactionState.PREPARE_COMMIT, bench)
    bench.coordinator.store.partitions.appender = Failing(Errors.NOT_LEADER_FOR_PARTITION)
    bench.answer_markers()
    assert bench.markers.noted == []
    assert (bench.metadata.pending, bench.state) == (None, "PrepareCommit")


def test_a_leader_that_knows_a_newer_coordinator() -> None:
    """shouldCompleteDelayedOperationWheCoordinatorEpochFenced: the markers are given up."""
    bench = transactions_of("kafka-1.1")
    brought_to(TransactionState.PREPARE_COMMIT, bench)
    bench.answer_markers(Errors.TRANSACTION_COORDINATOR_FENCED)
    bench.wait(60_000_000)
    assert bench.markers.noted == []
    assert bench.state == "PrepareCommit"


def test_static_member_rejoin_as_leader_with_mismatched_instance_id() -> None:
    """testStaticMemberRejoinAsLeaderWithMismatchedInstanceId (3.9.0)."""
    bench, leader, _follower = static_pair()
    written = bench.manager.partitions[OFFSETS].log.end_offset
    assert ask(bench, leader, "follower").last.error is Errors.FENCED_INSTANCE_ID
    assert bench.manager.partitions[OFFSETS].log.end_offset == written


def test_update_member() -> None:
    """GroupMetadataTest.testUpdateMember (3.3.2)."""
    bench = of("kafka-3.3")
    member, _ = one(bench)
    group, [known] = bench.group, bench.group.members.values()
    assert known.member_id == member
    group.update(known, (("roundrobin", b""),), Timeouts(120_000_000, 20_000_000), None)
    assert (group.rebalance_timeout_us, known.session_timeout_us) == (120_000_000, 20_000_000)


def test_offsets_in_a_transaction_with_another_generation() -> None:
    """testTxnCommitOffsetWithIllegalGeneration (2.7.2)."""
    bench = MarkersBench(PROFILES["kafka-2.7"].policies.brokers.groups)
    joined = bench.join()
    wrong: dict[str, Any] = {"member_id": joined.member_id, "generation": joined.generation + 5}
    assert bench.commit_in_transaction(0, **wrong) is Errors.ILLEGAL_GENERATION


def test_unload_offsets_and_group_ignored_after_stop_replica() -> None:
    """testUnloadOffsetsAndGroupIgnoredAfterStopReplica (2.8.2): the epoch stays known, and a later one loads it all."""
    bench = of("kafka-2.8", elected=False)
    bench.elect(2)
    member, generation = one(bench)
    assert bench.commit(23, member, generation) is NONE
    before = bench.group
    bench.groups.resigned(0, None)
    assert GROUP not in bench.groups.store.groups
    assert bench.groups.store.partitions._epochs[0] == 2
    bench.groups.elected(0, 3)
    bench.wait(0)
    group = bench.group
    assert group is not before
    for name in ("id", "leader", "generation", "protocol_type", "protocol"):
        assert getattr(group, name) == getattr(before, name)
    assert (group.state, list(group.members)) == (GroupState.STABLE, [member])
    [(value, _)] = group.committed.offsets.values()
    assert (value.offset, value.expire_ms) == (23, None)


@pytest.mark.parametrize("partition", [-1, 1])
def test_add_partitions_to_txn_with_invalid_partition(partition: int) -> None:
    """testAddPartitionsToTxnWithInvalidPartition (2.3.1)."""
    bench = transactions_of("kafka-2.3")
    assert bench.add((15, 0), TopicPartition("t", partition)) is Errors.UNKNOWN_TOPIC_OR_PARTITION


def test_markers_of_an_abort_that_was_decided_are_written_after_loading() -> None:
    """shouldWriteTxnMarkersForTransactionInPreparedAbortState."""
    bench = transactions_of("kafka-1.1")
    number, _ = brought_to(TransactionState.PREPARE_ABORT, bench)
    bench.markers.noted.clear()
    bench.resign(1)
    bench.elect(2)
    assert bench.state == "PrepareAbort"
    assert [(each.marker.producer_id, each.marker.committed) for _, each in bench.markers.noted] == [(number, False)]


def test_read_uncommitted_list_offsets() -> None:
    """testReadUncommittedConsumerListOffsetLimitedAtHighWatermark,
    testReadUncommittedConsumerListOffsetEarliestOffsetEqualsHighWatermark (1.1.1): a reader sees nothing above the high
    watermark, by time either."""
    bench = Bench(PROFILES["kafka-1.1"].policies.brokers)
    bench.lead(isr=(0, 1))
    for number in range(20):
        produce(bench, records(b"a", timestamp_ms=1000 + number, id=number + 1))
    bench.follower(1).at(15)
    assert bench.partition.high_watermark == 15
    assert offset(bench, 2, -1)[:2] == (NONE, 15)
    assert offset(bench, 2, 1014)[:3] == (NONE, 14, 1014)
    assert offset(bench, 2, 1015)[:3] == (NONE, -1, -1)
    bench.send(DeleteRecordsRequest(((TP, 15),), 1000))
    assert offset(bench, 2, -2)[:3] == (NONE, 15, -1)


def test_high_watermark_persistence_of_multiple_partitions() -> None:
    """HighwatermarkPersistenceTest.testHighWatermarkPersistenceMultiplePartitions."""
    bench = Bench()
    one_of, other = TopicPartition("foo1", 0), TopicPartition("foo2", 0)

    def checkpointed(tp: TopicPartition) -> int:
        partition = bench.manager.partitions[tp]
        return partition.log.directory.checkpointed(partition)

    bench.lead(isr=(0,), tp=one_of)
    bench.wait(5_000_000)
    assert checkpointed(one_of) == 0
    bench.produce(one_of, count=5)
    bench.wait(5_000_000)
    assert checkpointed(one_of) == 5
    bench.lead(isr=(0,), tp=other)
    bench.wait(5_000_000)
    assert checkpointed(other) == 0
    bench.produce(other, count=15)
    bench.produce(one_of, count=5)
    assert [bench.manager.partitions[tp].high_watermark for tp in (one_of, other)] == [10, 15]
    bench.wait(5_000_000)
    assert [checkpointed(tp) for tp in (one_of, other)] == [10, 15]


def test_isr_expiration_for_stuck_followers() -> None:
    """ISRExpirationTest.testIsrExpirationForStuckFollowers (2.3.1)."""
    bench = Bench(config(replica_lag_time_max_us=100_000))
    bench.lead(isr=(0, 1))
    bench.produce(count=20)
    bench.follower(1).at(19)
    assert bench.partition.get_out_of_sync_replicas(bench.world.now) == ()
    bench.at(bench.world.now + 150_000)
    assert bench.partition.get_out_of_sync_replicas(bench.world.now) == (1,)


@pytest.mark.parametrize("in_sync", [True, False])
def test_complete_in_delayed_fetch_with_replica_throttling(in_sync: bool) -> None:
    """ReplicaManagerQuotasTest.testCompleteInDelayedFetchWithReplicaThrottling: records complete the fetch that waits
    of a follower in sync, and not that of one that a throttle holds back."""
    bench = Bench(throttle=leaders_half(f"{TP.partition}:0", replication=1))
    bench.lead(isr=(0, 1) if in_sync else (0,))
    for _ in range(10):
        bench.produce()
    follower = bench.follower(1, max_partition_bytes=10_000)
    assert follower.at(0) is not None  # what crosses the limit goes out
    assert bench.manager.throttle is not None
    line = follower.line
    count = len(line.replies)
    assert follower.at(10) is None
    bench.produce()
    assert (len(line.replies) > count) is in_sync


def test_user_client_id_quota_change() -> None:
    """DynamicConfigChangeTest.testUserClientIdQuotaChange."""
    quotas = ClientQuotas()
    entity = "users/ANONYMOUS/clients/testClient"
    quotas.configured(entity, {"producer_byte_rate": "1000", "consumer_byte_rate": "2000"})
    managers = (quotas.produce, quotas.fetch)
    assert [each.most_in_window("ANONYMOUS", "testClient") for each in managers] == [10_000, 20_000]
    quotas.configured(entity, {})
    assert [each.most_in_window("ANONYMOUS", "testClient") for each in managers] == [None, None]


def test_user_quota_parsing_with_default_client_id_quota() -> None:
    """ClientQuotaManagerTest.testUserQuotaParsingWithDefaultClientIdQuota."""
    manager = ClientQuotaManager(PRODUCER)
    user, client = "User1", "p1"
    for limit, sent, throttled in ((2000, 2500 * 11, True), (3000, 0, False), (500, 0, True)):
        manager.update((user, None), {PRODUCER: str(limit)})
        assert manager.most_in_window(user, client) == limit * 10
        assert manager.most_in_window("RandomUser", "random-client-id") is None
        assert (manager.record(user, client, sent, 0) > 0) is throttled
    manager.update((user, None), {})
    manager.update((DEFAULT, None), {PRODUCER: "4000"})
    assert manager.most_in_window(user, client) == 40_000
    assert manager.record(user, client, 1000 * 11, 0) == 0


def test_a_change_of_an_isr_goes_to_the_controller() -> None:
    """AlterIsrManagerTest.testBasic (2.7.2)."""

    async def test(desk: Desk) -> None:
        desk.wish()
        await desk.world.sleep(INTERVAL_US)
        assert len(desk.asked) == 1

    Desk().play(test)


def test_list_groups_includes_rebalancing_groups() -> None:
    """testListGroupsIncludesRebalancingGroups."""
    bench = of("kafka-1.1")
    joined = ask(bench)
    bench.wait(FIRST)
    assert joined.last.error is NONE
    answer = bench.send(ListGroupsRequest()).last
    assert (answer.error, [each[:2] for each in answer.groups]) == (NONE, [(GROUP, "consumer")])


def test_leave_group_wrong_coordinator() -> None:
    """testLeaveGroupWrongCoordinator."""
    assert of("kafka-1.1", elected=False).leave("").error is Errors.NOT_COORDINATOR


@pytest.mark.parametrize("release", ["kafka-3.0", "kafka-3.9"])
def test_rebalance_times_out_when_the_leader_does_not_sync(release: str) -> None:
    """testRebalanceTimesOutWhenSyncRequestIsNotReceivedFromLeaders (2.8.2)."""
    bench = of(release)
    lines = [ask(bench, session_timeout_us=2 * REBALANCE) for _ in range(3)]
    bench.wait(4 * FIRST)
    leader, *followers = (line.last.member_id for line in lines)
    assert {(line.last.error, line.last.generation) for line in lines} == {(NONE, 1)}
    bench.wait(REBALANCE // 2)
    assert {bench.heartbeat(member, 1) for member in (leader, *followers)} == {NONE}
    syncing = [bench.ask_sync(member, 1) for member in followers]
    bench.wait(REBALANCE // 2 + 1000)
    assert [line.last.error for line in syncing] == [Errors.REBALANCE_IN_PROGRESS] * 2
    assert bench.heartbeat(leader, 1) is UNKNOWN
    assert [bench.heartbeat(member, 1) for member in followers] == [Errors.REBALANCE_IN_PROGRESS] * 2


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-3.9"])
def test_offsets_go_with_their_topic(release: str) -> None:
    """OffsetCommitTest.testOffsetsDeleteAfterTopicDeletion (1.1.1)."""
    bench = of(release)
    assert bench.commit(42) is NONE
    bench.learn(TP, LEADER_DURING_DELETE)
    bench.groups.partitions_deleted((TP,))
    bench.learn(TP, 0)
    assert bench.fetch().offset == -1


def test_delete_offsets_of_an_empty_group() -> None:
    """testDeleteOffsetsOfEmptyConsumerGroupWithTopicOnly (2.4.1)."""
    bench = of("kafka-2.4")
    member, generation = one(bench)
    bench.commit(1, member, generation)
    bench.leave(member)
    answer = bench.send(OffsetDeleteRequest(GROUP, (TP,))).last
    assert (answer.error, answer.partitions, bench.fetch().offset) == (NONE, ((TP, NONE),), -1)


def test_end_of_a_transaction_while_the_coordinator_is_loading() -> None:
    """shouldRespondWithCoordinatorLoadInProgressOnEndTxnWhenCoordinatorIsLoading."""
    bench = transactions_of("kafka-1.1", elected=False)
    bench.lead(0, (0,), tp=STATES, replicas=(0,))
    assert bench.end((0, 0)) is Errors.COORDINATOR_LOAD_IN_PROGRESS


def test_single_batch_of_changes_of_isrs() -> None:
    """AlterIsrManagerTest.testSingleBatch (2.7.2)."""

    async def test(desk: Desk) -> None:
        for number in range(10):
            desk.wish(TopicPartition("topic", number))
            await desk.world.sleep(1000)
        await desk.world.sleep(INTERVAL_US)
        desk.wish(TopicPartition("topic", 10))
        [(_, request)] = desk.asked
        assert [each.tp.partition for each in request.partitions] == list(range(10))

    Desk().play(test)


def test_resolve_an_unknown_name() -> None:
    """FetchSessionTest.testMaybeResolveUnknownName (3.3.2): in a session an id gets its name once the broker knows
    it."""
    bench = Bench(PROFILES["kafka-3.3"].policies.brokers)
    bench.lead(isr=(0,))

    def asked(epoch: int, session: int, *ids: str) -> list[Errors]:
        wanted = tuple(PartitionData(by_id(id, 0), -1, 0, -1, 100) for id in ids)
        request = ConsumerFetchRequest(-1, session, epoch, 0, 0, 1000, 0, (), (), wanted, names_ids=True)
        answer = bench.send(request).last
        sessions.append(answer.session_id)
        return [each.error for each in answer.partitions]

    sessions: list[int] = []
    assert asked(0, 0, ID, UNRESOLVED) == [Errors.UNKNOWN_TOPIC_ID] * 2
    bench.learn(TP, 0, ID)
    assert asked(1, sessions[0]) == [NONE, Errors.UNKNOWN_TOPIC_ID]
