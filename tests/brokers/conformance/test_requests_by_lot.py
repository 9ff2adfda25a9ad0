"""More cases of KafkaApisTest, FetchSessionTest, the request tests of groups, and the tests of coordinators (1.1.1 to
3.9.0) that were drawn by lot."""

from typing import Any

import pytest

from brokers.groups.group import GroupMetadata, GroupState
from brokers.groups.records import StoredGroup
from brokers.transactions.describing import TransactionsDescriber
from brokers.transactions.metadata import TransactionMetadata, TransactionState
from emulator.protocol.clients.fetch import FINAL_EPOCH, ConsumerFetchRequest, PartitionData, by_id
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import FetchResponse
from emulator.protocol.groups.group_offsets import OffsetDeleteRequest
from emulator.protocol.groups.membership import LeaveGroupRequest, LeavingMember
from emulator.protocol.groups.operations import DeleteGroupsRequest
from emulator.protocol.transactions.describing import ListTransactionsRequest
from emulator.protocol.types import TopicPartition
from scenarios.profiles import PROFILES
from tests.brokers.bench import Bench
from tests.brokers.conformance.test_group_coordinator import of, one
from tests.brokers.conformance.test_group_metadata import Failing
from tests.brokers.conformance.test_groups import FIRST, ONE, ask
from tests.brokers.conformance.test_transaction_coordinator import brought_to
from tests.brokers.conformance.test_transaction_coordinator import of as transactions_of
from tests.brokers.groups.bench import GROUP
from tests.brokers.transactions.bench import STATES
from tests.scenarios.wire.apis.test_kafka_apis import SYNC, versions
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
    for offset, metadata in ((42, ""), (100, "some metadata")):
        assert bench.commit(offset, metadata=metadata) is NONE
        assert (bench.fetch().offset, bench.fetch().metadata) == (offset, metadata)
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
