"""The APIs of groups in every version: a request from its bytes to the coordinator, and the answer back to bytes."""

from typing import Any

import pytest

from brokers.groups.records import GroupBatch
from emulator.protocol.errors import Errors
from emulator.protocol.records import read_records
from scenarios.wire.apis.base import Connection, ServedCluster, wire_apis
from scenarios.wire.apis.fetch import in_bytes
from scenarios.wire.codec import decode_request, decode_response, encode_request, encode_response
from scenarios.wire.codec.messages import stored
from scenarios.wire.codec.records import read_batches
from scenarios.wire.codec.stored_records import decode_stored, version_of
from tests.brokers.groups.bench import DELAY, GROUP, OFFSETS, GroupBench

COMMIT, FETCH, FIND, JOIN, HEARTBEAT, LEAVE, SYNC, DESCRIBE, LIST, DELETE, FORGET = (
    8, 9, 10, 11, 12, 13, 14, 15, 16, 42, 47,
)  # fmt: skip
SERVED = ServedCluster("cluster", {0: ("127.0.0.1", 9092)}, {}, {})


def ask(bench: GroupBench, key: int, version: int, body: dict[str, Any]) -> dict[str, Any]:
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


def each(*keys: int) -> pytest.MarkDecorator:
    """Every version of these APIs."""
    return pytest.mark.parametrize(("key", "version"), [(key, version) for key in keys for version in versions(key)])


def join(bench: GroupBench, version: int, member_id: str = "", **more: Any) -> dict[str, Any]:
    body = {
        "group_id": GROUP, "session_timeout_ms": 10_000, "rebalance_timeout_ms": 60_000, "member_id": member_id,
        "protocol_type": "consumer", "protocols": [{"name": "range", "metadata": b"topics"}], **more,
    }  # fmt: skip
    return ask(bench, JOIN, version, body)


@each(JOIN)
def test_a_member_joins_in_every_version(key: int, version: int) -> None:
    bench = GroupBench()
    joined = join(bench, version)
    if version >= 4:
        assert joined["error_code"] == Errors.MEMBER_ID_REQUIRED
        assert joined["protocol_name"] == (None if version >= 7 else "")
        joined = join(bench, version, joined["member_id"])
    assert (joined["error_code"], joined["generation_id"], joined["protocol_name"]) == (0, 1, "range")
    assert joined["leader"] == joined["member_id"] == joined["members"][0]["member_id"]
    assert joined["members"][0]["metadata"] == b"topics"
    assert joined["protocol_type"] == ("consumer" if version >= 7 else None)
    (member,) = bench.group.members.values()
    assert member.rebalance_timeout_us == (60_000_000 if version else 10_000_000)
    assert (member.client_id, member.client_host) == ("me", "/127.0.0.1")


@pytest.mark.parametrize("version", [8, 9])
def test_a_static_leader_that_is_back_does_not_assign(version: int) -> None:
    bench = GroupBench()
    first = join(bench, version, group_instance_id="a")
    assert first["error_code"] == 0
    back = join(bench, version, group_instance_id="a")
    assert back["skip_assignment"] is (version == 9)
    assert (back["leader"] == back["member_id"]) is (version == 9)
    assert len(back["members"]) == (1 if version == 9 else 0)


@each(SYNC)
def test_a_leader_assigns_in_every_version(key: int, version: int) -> None:
    bench = GroupBench()
    member = bench.join().member_id
    body = {
        "group_id": GROUP, "generation_id": 1, "member_id": member,
        "assignments": [{"member_id": member, "assignment": b"all"}],
    }  # fmt: skip
    if version >= 5:
        assert ask(bench, key, version, body)["error_code"] == Errors.INCONSISTENT_GROUP_PROTOCOL
    synced = ask(bench, key, version, {**body, "protocol_type": "consumer", "protocol_name": "range"})
    assert (synced["error_code"], synced["assignment"]) == (0, b"all")
    assert synced["protocol_name"] == ("range" if version >= 5 else None)


@each(HEARTBEAT)
def test_a_member_is_alive_in_every_version(key: int, version: int) -> None:
    bench = GroupBench()
    member, generation = bench.stable()
    body = {"group_id": GROUP, "generation_id": generation, "member_id": member}
    assert ask(bench, key, version, body)["error_code"] == 0
    assert ask(bench, key, version, {**body, "generation_id": 9})["error_code"] == Errors.ILLEGAL_GENERATION


@each(LEAVE)
def test_a_member_leaves_in_every_version(key: int, version: int) -> None:
    bench = GroupBench()
    member, _generation = bench.stable()
    body = {"group_id": GROUP, "member_id": member, "members": [{"member_id": member}]}
    assert ask(bench, key, version, body)["error_code"] == 0
    again = ask(bench, key, version, body)
    one = again["members"][0]["error_code"] if version >= 3 else again["error_code"]
    assert one == Errors.UNKNOWN_MEMBER_ID
    assert again["error_code"] == (0 if version >= 3 else Errors.UNKNOWN_MEMBER_ID)


@each(FIND)
def test_a_coordinator_is_found_in_every_version(key: int, version: int) -> None:
    bench = GroupBench()
    found = ask(bench, key, version, {"key": GROUP, "coordinator_keys": [GROUP, "other"]})
    first = found["coordinators"][0] if version >= 4 else found
    assert (first["error_code"], first["node_id"], first["host"], first["port"]) == (0, 0, "127.0.0.1", 9092)
    bench.learn(OFFSETS, -1)
    lost = ask(bench, key, version, {"key": GROUP, "coordinator_keys": [GROUP]})
    first = lost["coordinators"][0] if version >= 4 else lost
    assert (first["error_code"], first["node_id"]) == (Errors.COORDINATOR_NOT_AVAILABLE, -1)


@each(COMMIT)
def test_an_offset_is_committed_in_every_version(key: int, version: int) -> None:
    bench = GroupBench()
    row = {"partition_index": 0, "committed_offset": 5, "committed_leader_epoch": 3, "committed_metadata": None}
    body = {"group_id": GROUP, "retention_time_ms": 1000, "topics": [{"name": "t", "partitions": [row]}]}
    answer = ask(bench, key, version, body)
    assert answer["topics"] == [{"name": "t", "partitions": [{"partition_index": 0, "error_code": 0}]}]
    (value,) = (found.value for found in bench.group.committed.offsets.values())
    assert (value.offset, value.leader_epoch, value.metadata) == (5, 3 if version >= 6 else -1, "")
    assert (value.expire_ms is not None) is (version <= 4)


@each(FETCH)
def test_offsets_are_fetched_in_every_version(key: int, version: int) -> None:
    bench = GroupBench()
    bench.commit(5, metadata="here")
    topics = [{"name": "t", "partition_indexes": [0, 7]}]
    body = {"group_id": GROUP, "topics": topics, "groups": [{"group_id": GROUP, "topics": topics}]}
    found = ask(bench, key, version, body)
    group = found["groups"][0] if version >= 8 else found
    rows = group["topics"][0]["partitions"]
    assert [(row["committed_offset"], row["metadata"], row["error_code"]) for row in rows] == [
        (5, "here", 0),
        (-1, "", 0),
    ]
    if version >= 2:
        every = {"group_id": GROUP, "topics": None, "groups": [{"group_id": GROUP, "topics": None}]}
        found = ask(bench, key, version, every)
        group = found["groups"][0] if version >= 8 else found
        assert [row["partition_index"] for row in group["topics"][0]["partitions"]] == [0]
    bench.resign()
    refused = ask(bench, key, version, body)
    if version >= 8:
        assert [each["error_code"] for each in refused["groups"]] == [Errors.NOT_COORDINATOR]
    elif version >= 2:
        assert (refused["error_code"], refused["topics"]) == (Errors.NOT_COORDINATOR, [])
    else:
        errors = [row["error_code"] for row in refused["topics"][0]["partitions"]]
        assert errors == [Errors.NOT_COORDINATOR] * 2


@each(DESCRIBE, LIST, DELETE, FORGET)
def test_administrators_ask_in_every_version(key: int, version: int) -> None:
    bench = GroupBench()
    member, generation = bench.stable()
    bench.commit(5, member, generation)
    topics = [{"name": "t", "partitions": [{"partition_index": 0}]}]
    body: dict[str, Any] = {"groups": [GROUP, "other"], "groups_names": [GROUP], "group_id": GROUP, "topics": topics}
    answer = ask(bench, key, version, {**body, "states_filter": ["Stable"]})
    if key == DESCRIBE:
        states = [(each["group_id"], each["group_state"], each["protocol_data"]) for each in answer["groups"]]
        assert states == [(GROUP, "Stable", "range"), ("other", "Dead", "")]
        assert answer["groups"][0]["members"][0]["client_id"] == "client"
    elif key == LIST:
        assert [(each["group_id"], each["protocol_type"]) for each in answer["groups"]] == [(GROUP, "consumer")]
    elif key == DELETE:
        assert answer["results"] == [{"group_id": GROUP, "error_code": Errors.NON_EMPTY_GROUP}]
    else:
        assert answer["topics"][0]["partitions"][0]["error_code"] == Errors.GROUP_SUBSCRIBED_TO_TOPIC


def test_a_client_can_read_what_coordinators_write() -> None:
    bench = GroupBench()
    member, generation = bench.stable(instance="a")
    bench.commit(5, member, generation, instance_id="a", metadata="here")
    bench.commit(6, group="simple", retention_us=60_000_000)
    bench.leave(member)
    batches = bench.manager.partitions[OFFSETS].log.batches
    assert all(isinstance(batch, GroupBatch) for batch in batches)
    data = in_bytes(batches)
    headers = read_batches(data)
    assert [header.base_offset for header in headers] == [batch.base_offset for batch in batches]
    read = [(record.key, record.value) for header in headers for record in read_records(data[header.at : header.end])]
    keys = [record_key for record_key, _value in read if record_key is not None]
    assert [version_of(record_key) for record_key in keys] == [2, 1, 1, 2]
    assert decode_stored(stored.OFFSET_COMMIT_KEY, keys[1]) == {"group": GROUP, "topic": "t", "partition": 0}
    values = [value for _key, value in read if value is not None]
    group = decode_stored(stored.GROUP_METADATA_VALUE, values[0])
    assert (group["generation"], group["leader"], group["protocol"]) == (1, member, "range")
    assert group["members"][0]["group_instance_id"] == "a"
    assert group["members"][0]["session_timeout"] == 10_000
    offset = decode_stored(stored.OFFSET_COMMIT_VALUE, values[1])
    assert (offset["offset"], offset["metadata"], version_of(values[1])) == (5, "here", 3)
    assert version_of(values[2]) == 1
    assert decode_stored(stored.GROUP_METADATA_VALUE, values[3])["members"] == []
