"""Cases of KafkaApisTest, ApiVersionsRequestTest, ListOffsetsRequestTest, LogOffsetTest, OffsetFetchRequestTest and
their like (1.1.1 to 3.9.0): what a client of each version reads in the answer."""

from typing import Any

import pytest

from emulator.protocol.errors import Errors
from emulator.protocol.groups.group_offsets import OffsetCommitRequest, OffsetToCommit
from emulator.protocol.types import TopicPartition
from scenarios.profiles import PROFILES
from scenarios.wire.apis.base import Connection, ServedCluster, wire_apis
from scenarios.wire.codec import decode_request, decode_response, encode_request, encode_response
from tests.brokers.bench import TP, Bench
from tests.brokers.groups.bench import DELAY, GROUP, OFFSETS, GroupBench
from tests.brokers.requests.clients import produce, records
from tests.brokers.transactions.bench import ID, TransactionBench
from tests.brokers.transactions.test_markers import ANNE, MarkersBench

LIST_OFFSETS, COMMIT, OFFSET_FETCH, JOIN, LEAVE, SYNC, DESCRIBE, VERSIONS, INIT, TXN_COMMIT, DELETE, OFFSET_DELETE = (
    2, 8, 9, 11, 13, 14, 15, 18, 22, 28, 42, 47,
)  # fmt: skip
UNKNOWN = Errors.UNKNOWN_TOPIC_OR_PARTITION
Body = dict[str, Any]
SERVED = ServedCluster("cluster", {0: ("127.0.0.1", 9092)}, {}, {})


def ask(bench: Bench, key: int, version: int, body: Body) -> Body:
    """A request as a client of that version sends it, and what it reads from the response."""
    api = wire_apis()[key]
    request = decode_request(encode_request(key, version, 7, "me", body))
    connection = Connection(0, "me", SERVED, version=version)
    line = bench.send(api.to_request(request.body, connection))
    if not line.replies:
        bench.wait(DELAY)
    response = api.to_response(line.last, request.body, connection)
    return decode_response(key, version, encode_response(key, version, 7, response))[1]


def versions(key: int) -> range:
    low, high = wire_apis()[key].versions
    return range(low, high + 1)


# -- ApiVersions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "name", "software", "error"),
    [
        (0, "", "", Errors.NONE),
        (2, "", "", Errors.NONE),
        (3, "", "", Errors.INVALID_REQUEST),
        (3, "apache-kafka-java", "", Errors.INVALID_REQUEST),
        (3, "apache-kafka-java", "2.4.0", Errors.NONE),
        (3, "apache kafka java", "2.4.0", Errors.INVALID_REQUEST),
        (3, "-java", "2.4.0", Errors.INVALID_REQUEST),
        (3, "java.", "2.4.0", Errors.INVALID_REQUEST),
        (3, "j", "2.4.0\n", Errors.INVALID_REQUEST),
    ],
)
def test_a_client_names_its_software(version: int, name: str, software: str, error: Errors) -> None:
    """testApiVersionsRequestValidationV0, testApiVersionsRequestValidationV3 (2.4.1), ApiVersionsRequestTest of the
    clients."""
    served = ServedCluster("cluster", {}, {}, {VERSIONS: (0, 3), 0: (0, 8)})
    api, connection = wire_apis()[VERSIONS], Connection(0, "me", served, version=version)
    body = {"client_software_name": name, "client_software_version": software}
    request = decode_request(encode_request(VERSIONS, version, 7, "me", body))
    from emulator.protocol.api_versions import ApiVersionsResponse

    response = api.to_response(ApiVersionsResponse(Errors.NONE), request.body, connection)
    answer = decode_response(VERSIONS, version, encode_response(VERSIONS, version, 7, response))[1]
    assert answer["error_code"] == error
    assert [each["api_key"] for each in answer["api_keys"]] == ([] if error else [VERSIONS, 0])


# -- ListOffsets ------------------------------------------------------------------------------------------------------


def led(release: str, *times: int) -> Bench:
    """A leader with a batch of one record for each of these times."""
    bench = Bench(PROFILES[release].policies.brokers)
    bench.lead(isr=(0,), epoch=3)
    for number, time in enumerate(times):
        produce(bench, records(b"a", timestamp_ms=time, id=number + 1))
    return bench


def offset(
    bench: Bench, version: int, time: int, *, epoch: int = -1, tp: TopicPartition = TP
) -> tuple[Errors, int, int, int]:
    """Error, offset, time and leader epoch."""
    row = {"partition_index": tp.partition, "current_leader_epoch": epoch, "timestamp": time}
    body = {"replica_id": -1, "isolation_level": 0, "topics": [{"name": tp.topic, "partitions": [row]}]}
    (found,) = ask(bench, LIST_OFFSETS, version, body)["topics"][0]["partitions"]
    return Errors(found["error_code"]), found["offset"], found["timestamp"], found["leader_epoch"]


@pytest.mark.parametrize("version", versions(LIST_OFFSETS))
def test_offsets_in_every_version(version: int) -> None:
    """testResponseDefaultOffsetAndLeaderEpochForAllVersions (2.7.2), testGetOffsetsForUnknownTopic,
    testGetOffsetsBeforeNow, testGetOffsetsBeforeLatestTime, testGetOffsetsBeforeEarliestTime,
    testEmptyLogsGetOffsets."""
    epoch = 3 if version >= 4 else -1
    bench = led("kafka-3.6", 100, 200, 300)
    assert offset(bench, version, 0) == (Errors.NONE, 0, 100, epoch)
    assert offset(bench, version, 250) == (Errors.NONE, 2, 300, epoch)
    assert offset(bench, version, 301) == (Errors.NONE, -1, -1, -1)
    assert offset(bench, version, -1) == (Errors.NONE, 3, -1, epoch)
    assert offset(bench, version, -2) == (Errors.NONE, 0, -1, epoch)
    assert offset(bench, version, -1, tp=TopicPartition("none", 0)) == (UNKNOWN, -1, -1, -1)
    empty = led("kafka-3.6")
    assert offset(empty, version, -1)[:3] == offset(empty, version, -2)[:3] == (Errors.NONE, 0, -1)
    assert offset(empty, version, 0) == (Errors.NONE, -1, -1, -1)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ((), (-1, -1)),
        ((100,), (0, 100)),
        ((100, 300, 200), (1, 300)),
        ((300, 200, 300), (0, 300)),
        ((100, 200, 300), (2, 300)),
    ],
)
def test_the_latest_time(times: tuple[int, ...], expected: tuple[int, int]) -> None:
    """LogOffsetTest.testFetchOffsetByTimestampForMaxTimestamp(WithEmptyLog|WithUnorderedTimestamps|AfterTruncate)
    (3.0.2), ListOffsetsIntegrationTest.testMaxTimestampOffset, testThreeNonCompressedRecordsInSeparateBatch."""
    bench = led("kafka-3.9", *times)
    assert offset(bench, 7, -3)[1:3] == expected
    if times == (100, 200, 300):
        bench.partition.log.truncate_to(2)
        assert offset(bench, 7, -3)[1:3] == (1, 200)


@pytest.mark.parametrize(
    ("release", "version", "time", "error"),
    [
        ("kafka-3.9", 6, -3, Errors.UNSUPPORTED_VERSION),
        ("kafka-3.9", 7, -4, Errors.UNSUPPORTED_VERSION),
        ("kafka-3.9", 8, -5, Errors.UNSUPPORTED_VERSION),
        ("kafka-3.9", 9, -6, Errors.UNSUPPORTED_VERSION),
        ("kafka-3.9", 1, -1, Errors.NONE),
        ("kafka-3.9", 7, -3, Errors.NONE),
        ("kafka-3.9", 8, -4, Errors.NONE),
        ("kafka-3.9", 9, -5, Errors.NONE),
        ("kafka-3.6", 6, -3, Errors.NONE),
    ],
)
def test_times_that_a_version_does_not_have(release: str, version: int, time: int, error: Errors) -> None:
    """testListOffset(MaxTimestamp|EarliestLocalTimestamp|LatestTieredTimestamp)WithUnsupportedVersion,
    testListOffsetNegativeTimestampWithOneOrAboveVersion (3.9.0)."""
    assert offset(led(release, 100), version, time)[0] is error


@pytest.mark.parametrize("version", [4, 7])
def test_epochs_of_those_who_ask(version: int) -> None:
    """testLeaderReplicaIfLocalRaises(FencedLeaderEpoch|UnknownLeaderEpoch|NotLeaderOrFollower|UnknownTopicOrPartition),
    testCurrentEpochValidation."""
    bench = led("kafka-3.6", 100)
    assert offset(bench, version, -1, epoch=2)[0] is Errors.FENCED_LEADER_EPOCH
    assert offset(bench, version, -1, epoch=4)[0] is Errors.UNKNOWN_LEADER_EPOCH
    assert offset(bench, version, -1, epoch=3)[0] is Errors.NONE
    bench.follow(epoch=5)
    assert offset(bench, version, -1, epoch=5)[0] is Errors.NOT_LEADER_FOR_PARTITION


def test_a_partition_that_is_asked_for_twice() -> None:
    """ListOffsetsRequest.duplicatePartitions: INVALID_REQUEST for it, and the others are answered."""
    bench = led("kafka-3.6", 100)
    row = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": -1}
    body = {"replica_id": -1, "isolation_level": 0, "topics": [{"name": "t", "partitions": [row, row]}]}
    found = ask(bench, LIST_OFFSETS, 5, body)["topics"][0]["partitions"]
    assert {each["error_code"] for each in found} == {Errors.INVALID_REQUEST}


# -- offsets of groups ------------------------------------------------------------------------------------------------


def rows(*tps: tuple[str, int], **more: Any) -> list[Body]:
    return [{"name": topic, "partitions": [{"partition_index": number, **more}]} for topic, number in tps]


def outcomes(answer: Body) -> dict[tuple[str, int], Errors]:
    return {
        (topic["name"], each["partition_index"]): Errors(each["error_code"])
        for topic in answer["topics"]
        for each in topic["partitions"]
    }


WRONG = (("t", -1), ("t", 7), ("none", 0))
OFFSET: Body = {"committed_offset": 15, "committed_leader_epoch": -1, "committed_metadata": ""}


@pytest.mark.parametrize("version", versions(COMMIT))
def test_commits_of_partitions_that_there_are_not(version: int) -> None:
    """testOffsetCommitWithInvalidPartition, testHandleOffsetCommitRequestTopicsAndPartitionsValidation (3.6.2): the
    others are committed."""
    bench = GroupBench()
    body = {"group_id": GROUP, "generation_id": -1, "member_id": "", "topics": rows(*WRONG, **OFFSET)}
    assert outcomes(ask(bench, COMMIT, version, body)) == dict.fromkeys(WRONG, UNKNOWN)
    assert GROUP not in bench.groups.store.groups
    body["topics"] = rows(*WRONG, ("t", 0), **OFFSET)
    assert outcomes(ask(bench, COMMIT, version, body)) == {**dict.fromkeys(WRONG, UNKNOWN), ("t", 0): Errors.NONE}
    assert bench.fetch().offset == 15


@pytest.mark.parametrize("version", versions(TXN_COMMIT))
def test_commits_in_transactions_of_partitions_that_there_are_not(version: int) -> None:
    """testTxnOffsetCommitWithInvalidPartition, testHandleTxnOffsetCommitRequestTopicsAndPartitionsValidation
    (3.6.2)."""
    bench = MarkersBench()
    body = {
        "group_id": GROUP, "generation_id": -1, "member_id": "", "transactional_id": ID, "producer_id": ANNE,
        "producer_epoch": 0, "topics": rows(*WRONG, ("t", 0), **OFFSET),
    }  # fmt: skip
    answer = outcomes(ask(bench, TXN_COMMIT, version, body))
    assert answer == {**dict.fromkeys(WRONG, UNKNOWN), ("t", 0): Errors.NONE}


@pytest.mark.parametrize("version", versions(TXN_COMMIT))
@pytest.mark.parametrize(("release", "hides"), [("kafka-2.5", False), ("kafka-2.6", True), ("kafka-3.9", True)])
def test_a_producer_that_does_not_know_of_loading(version: int, release: str, hides: bool) -> None:
    """shouldReplaceCoordinatorNotAvailableWithLoadInProcessInTxnOffsetCommitWithOlderClient (2.7.2)."""
    bench = MarkersBench(PROFILES[release].policies.brokers.groups)
    bench.resign(1)
    bench.lead(2, (0,), tp=OFFSETS, replicas=(0,))
    bench.learn(OFFSETS, 0)
    body = {
        "group_id": GROUP, "generation_id": -1, "member_id": "", "transactional_id": ID, "producer_id": ANNE,
        "producer_epoch": 0, "topics": rows(("t", 0), **OFFSET),
    }  # fmt: skip
    expected = Errors.COORDINATOR_NOT_AVAILABLE if hides and version < 2 else Errors.COORDINATOR_LOAD_IN_PROGRESS
    assert outcomes(ask(bench, TXN_COMMIT, version, body)) == {("t", 0): expected}


def test_offsets_to_delete_of_partitions_that_there_are_not() -> None:
    """testOffsetDeleteWithInvalidPartition, testOffsetDeleteTopicsAndPartitionsValidation,
    testOffsetDeleteWithInvalidGroup."""
    bench = GroupBench()
    body = {"group_id": GROUP, "topics": rows(*WRONG, ("t", 0))}
    assert ask(bench, OFFSET_DELETE, 0, body)["error_code"] == Errors.GROUP_ID_NOT_FOUND
    bench.commit(1)
    answer = ask(bench, OFFSET_DELETE, 0, body)
    assert outcomes(answer) == {**dict.fromkeys(WRONG, UNKNOWN), ("t", 0): Errors.NONE}
    bench.commit(1)
    assert ask(bench, OFFSET_DELETE, 0, {"group_id": GROUP, "topics": []})["error_code"] == 0


@pytest.mark.parametrize("version", [8, 9])
def test_offsets_of_several_groups(version: int) -> None:
    """OffsetFetchRequestTest.testOffsetFetchRequestWithMultipleGroups, ...WithOneGroupRepeating (3.0.2),
    testHandleOffsetFetchWithMultipleGroups: each on its own, some with topics and some without."""
    bench = GroupBench()
    bench.commit(5, group="one")
    bench.commit(6, group="two", metadata="here")
    named = [{"name": "t", "partition_indexes": [0]}]
    groups = [
        {"group_id": group, "topics": topics}
        for group, topics in (("one", named), ("two", None), ("none", named), ("one", None), ("three", None))
    ]
    found = ask(bench, OFFSET_FETCH, version, {"groups": groups, "require_stable": False})["groups"]
    offsets = [
        (group["group_id"], [each["committed_offset"] for topic in group["topics"] for each in topic["partitions"]])
        for group in found
    ]
    assert offsets == [("one", [5]), ("two", [6]), ("none", [-1]), ("one", [5]), ("three", [])]
    assert {group["error_code"] for group in found} == {0}


@pytest.mark.parametrize("version", versions(OFFSET_FETCH))
def test_offset_fetch_with_single_group(version: int) -> None:
    """testHandleOffsetFetchWithSingleGroup (3.9.0)."""
    bench = GroupBench(PROFILES["kafka-3.9"].policies.brokers.groups)
    tps = [TopicPartition("foo", number) for number in range(2)]
    for tp in tps:
        bench.learn(tp, 0)
    offsets = tuple(OffsetToCommit(tp, 100 * (tp.partition + 1), tp.partition + 1) for tp in tps)
    bench.send(OffsetCommitRequest("group-1", offsets))
    topics = [{"name": "foo", "partition_indexes": [0, 1]}]
    asked = {"group_id": "group-1", "topics": topics}
    body: Body = {**asked, "groups": [asked]}
    answer = ask(bench, OFFSET_FETCH, version, body)
    [group] = answer["groups"] if version >= 8 else [answer]
    [topic] = group["topics"]
    assert (group.get("group_id", ""), group.get("error_code", 0)) == ("group-1" if version >= 8 else "", 0)
    assert topic["name"] == "foo"
    keys = ("partition_index", "committed_offset", "committed_leader_epoch", "metadata", "error_code")
    assert [tuple(each[key] for key in keys) for each in topic["partitions"]] == [
        (0, 100, 1 if version >= 5 else -1, "", 0), (1, 200, 2 if version >= 5 else -1, "", 0),
    ]  # fmt: skip


# -- members ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", versions(JOIN))
def test_a_join_that_fails(version: int) -> None:
    """testJoinGroupWhenAnErrorOccurs, testJoinGroupProtocolNameBackwardCompatibility (3.6.2): the protocol is empty up
    to version 6, then null."""
    body = {
        "group_id": GROUP, "session_timeout_ms": 10_000, "rebalance_timeout_ms": 60_000, "member_id": "stranger",
        "protocol_type": "consumer", "protocols": [{"name": "range", "metadata": b""}],
    }  # fmt: skip
    answer = ask(GroupBench(), JOIN, version, body)
    assert (answer["error_code"], answer["generation_id"]) == (Errors.UNKNOWN_MEMBER_ID, -1)
    assert (answer["leader"], answer["member_id"], answer["members"]) == ("", "stranger", [])
    assert (answer["protocol_name"], answer.get("protocol_type")) == (None if version >= 7 else "", None)


@pytest.mark.parametrize("version", versions(LEAVE))
def test_one_or_several_members_leave(version: int) -> None:
    """testSingleLeaveGroup, testMultipleLeaveGroup (2.4.1): of one the error is that of the answer."""
    bench = GroupBench()
    member, _generation = bench.stable(instance="i")
    stranger = {"member_id": "stranger"}
    body = {"group_id": GROUP, "member_id": "stranger", "members": [stranger, {"member_id": member}]}
    answer = ask(bench, LEAVE, version, body)
    if version >= 3:
        assert answer["error_code"] == 0
        assert [each["error_code"] for each in answer["members"]] == [Errors.UNKNOWN_MEMBER_ID, 0]
        assert list(bench.group.members) == []
    else:
        assert answer["error_code"] == Errors.UNKNOWN_MEMBER_ID
        assert list(bench.group.members) == [member]
        assert ask(bench, LEAVE, version, {"group_id": GROUP, "member_id": member})["error_code"] == 0
    bench.resign()
    assert ask(bench, LEAVE, version, body)["error_code"] == Errors.NOT_COORDINATOR


def test_groups_are_described_in_the_order_asked_for() -> None:
    """testHandleDescribeGroups (3.6.2): each group that is named, with an error of its own."""
    bench = GroupBench()
    bench.stable()
    found = ask(bench, DESCRIBE, 5, {"groups": ["none", GROUP, "", GROUP], "include_authorized_operations": False})[
        "groups"
    ]
    assert [(one["group_id"], one["group_state"]) for one in found] == [
        ("none", "Dead"), (GROUP, "Stable"), ("", "Dead"), (GROUP, "Stable"),
    ]  # fmt: skip


def joined(bench: GroupBench, group: str) -> str:
    body = {
        "group_id": group, "session_timeout_ms": 30_000, "rebalance_timeout_ms": 60_000, "member_id": "",
        "protocol_type": "consumer", "protocols": [{"name": "range", "metadata": b""}],
    }  # fmt: skip
    answer = ask(bench, JOIN, 9, body)
    answer = ask(bench, JOIN, 9, {**body, "member_id": answer["member_id"]})
    member: str = answer["member_id"]
    synced = {
        "group_id": group, "generation_id": answer["generation_id"], "member_id": member, "protocol_type": "consumer",
        "protocol_name": "range", "assignments": [{"member_id": member, "assignment": b"1"}],
    }  # fmt: skip
    assert ask(bench, SYNC, 5, synced)["error_code"] == 0
    return member


def test_delete_groups() -> None:
    """testDeleteGroupsWithOldConsumerGroupProtocolAndOldGroupCoordinator (3.9.0)."""
    bench = GroupBench(PROFILES["kafka-3.9"].policies.brokers.groups)
    joined(bench, "grp-non-empty")
    for version in versions(DELETE):
        member = joined(bench, "grp")
        left = ask(bench, LEAVE, 5, {"group_id": "grp", "members": [{"member_id": member}]})
        assert left["error_code"] == 0
        found = ask(bench, DELETE, version, {"groups_names": ["grp-non-empty", "grp"]})["results"]
        assert {each["group_id"]: each["error_code"] for each in found} == {
            "grp-non-empty": Errors.NON_EMPTY_GROUP, "grp": 0,
        }  # fmt: skip
        [group] = ask(bench, DESCRIBE, 5, {"groups": ["grp"], "include_authorized_operations": False})["groups"]
        assert (group["error_code"], group["group_id"], group["group_state"]) == (0, "grp", "Dead")
        assert (group["protocol_type"], group["protocol_data"], group["members"]) == ("", "", [])


@pytest.mark.parametrize("version", versions(DESCRIBE))
def test_describe_groups(version: int) -> None:
    """testDescribeGroups (2.4.1)."""
    bench = GroupBench()
    member, _ = bench.stable(instance="instanceid", protocols=(("roundrobin", b"metadata"),))
    [group] = ask(bench, DESCRIBE, version, {"groups": [GROUP]})["groups"]
    assert (group["error_code"], group["group_id"], group["group_state"]) == (0, GROUP, "Stable")
    assert (group["protocol_type"], group["protocol_data"]) == ("consumer", "roundrobin")
    [one] = group["members"]
    assert (one["member_id"], one["group_instance_id"]) == (member, "instanceid" if version >= 4 else None)
    assert (one["client_id"], one["client_host"]) == ("client", "/127.0.0.1")
    assert (one["member_metadata"], one["member_assignment"]) == (b"metadata", f"for {member}".encode())


# -- producers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", versions(INIT))
def test_a_fenced_producer_in_every_version(version: int) -> None:
    """shouldReplaceProducerFencedWithInvalidProducerEpochInInitProducerIdWithOlderClient (2.7.2),
    rejectInitProducerIdWhen(IdButNotEpochProvided|EpochButNotIdProvided)."""
    bench = TransactionBench()
    number, epoch = bench.producer()
    api, connection = wire_apis()[INIT], Connection(0, "me", SERVED, version=version)
    body = {"transactional_id": ID, "transaction_timeout_ms": 1000, "producer_id": number, "producer_epoch": epoch + 7}
    request = decode_request(encode_request(INIT, version, 7, "me", body))
    answers: list[Any] = []
    transitions = bench.coordinator.transitions
    asked: Any = api.to_request(request.body, connection)
    transitions.ending(bench.coordinator.init_producer_id)(asked, answers.append)
    answer = api.to_response(answers[0], request.body, connection)
    if version < 3:
        assert answer["error_code"] == 0, "it cannot say who it was"
    else:
        assert answer["error_code"] == (Errors.PRODUCER_FENCED if version >= 4 else Errors.INVALID_PRODUCER_EPOCH)


def test_a_broker_that_has_lost_a_group_to_another() -> None:
    """shouldResignCoordinatorsIfStopReplicaReceivedWithDeleteFlag*, GroupMetadataManagerTest.testUnloadOffsetsAndGroup,
    testUnloadOffsetsAndGroupIgnored (2.8.2): a resignation of an earlier epoch is none."""
    bench = GroupBench(elected=False)
    bench.elect(5)
    bench.commit(1)
    bench.groups.resigned(0, 4)
    assert bench.fetch().offset == 1
    bench.groups.resigned(0, 6)
    assert bench.commit(2) is Errors.NOT_COORDINATOR
    bench.groups.elected(0, 5)
    bench.wait(0)
    assert bench.commit(2) is Errors.NOT_COORDINATOR
    bench.resign(7)
    bench.elect(8)
    bench.learn(OFFSETS, 0)
    assert bench.fetch().offset == 1
