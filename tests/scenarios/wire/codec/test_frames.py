"""Frames as a broker and a client see them: defaults, versions, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios.wire.codec import (
    APIS,
    MalformedFrame,
    UnsupportedVersion,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)

EVERY = [(api.key, version) for api in APIS.values() for version in api.versions]
METADATA, PRODUCE, FETCH, API_VERSIONS = 3, 0, 1, 18
ORDERS = {"topic_id": bytes(16), "name": "orders"}


@pytest.mark.parametrize(("api_key", "version"), EVERY)
def test_an_empty_body_is_its_defaults(api_key: int, version: int) -> None:
    request = decode_request(encode_request(api_key, version, 7, "app", {}))
    assert (request.api_key, request.version, request.correlation_id, request.client_id) == (api_key, version, 7, "app")
    assert request.body == {each.name: each.default for each in APIS[api_key].request}
    correlation_id, body = decode_response(api_key, version, encode_response(api_key, version, 8, {}))
    assert (correlation_id, body) == (8, {each.name: each.default for each in APIS[api_key].response})


def test_a_body_has_no_version() -> None:
    body = {"topics": [{"name": "orders"}], "include_topic_authorized_operations": True, "surplus": 1}
    request = decode_request(encode_request(METADATA, 0, 1, None, body))
    assert request.client_id is None
    assert request.body == {
        "topics": [ORDERS],
        "allow_auto_topic_creation": True,
        "include_cluster_authorized_operations": False,
        "include_topic_authorized_operations": False,
    }


def test_the_bytes_of_a_request_and_a_response() -> None:
    """Written by hand after the protocol guide: Metadata 9 is flexible, the answer to ApiVersions has an old header."""
    frame = bytes.fromhex("0003 0009 00000005 0003 617070 0002 07 6f7264657273 0001 00 0000")
    assert encode_request(METADATA, 9, 5, "app", {"topics": [{"name": "orders"}]}) == frame
    assert decode_request(frame).body["topics"] == [ORDERS]
    answer = bytes.fromhex("000000050023020012 0000 0003 000000000000")
    body = {"error_code": 35, "api_keys": [{"api_key": 18, "min_version": 0, "max_version": 3}]}
    assert encode_response(API_VERSIONS, 3, 5, body) == answer


def test_tagged_fields_are_written_where_they_differ_from_their_default() -> None:
    partition = {"partition_index": 1, "records": b"abc"}
    apart = {"epoch": 3, "end_offset": 700}
    answer: dict[str, Any] = {"responses": [{"topic": "t", "partitions": [partition]}]}
    plain = encode_response(FETCH, 12, 1, answer)
    partition["diverging_epoch"] = {"epoch": -1}
    assert encode_response(FETCH, 12, 1, answer) == plain
    partition["diverging_epoch"] = None
    assert encode_response(FETCH, 12, 1, answer) == plain
    partition["diverging_epoch"] = apart
    frame = encode_response(FETCH, 12, 1, answer)
    assert len(frame) == len(plain) + 15
    read = decode_response(FETCH, 12, frame)[1]["responses"][0]["partitions"][0]
    assert (read["diverging_epoch"], read["records"]) == (apart, b"abc")
    assert read["current_leader"] == {"leader_id": -1, "leader_epoch": -1}


def test_unknown_tagged_fields_are_skipped() -> None:
    frame = bytes.fromhex("0003 0009 00000005 0003 617070 01 09 02 ffff02 07 6f7264657273 01 05 0001 00 0000")
    assert decode_request(frame).body["topics"] == [ORDERS]


def test_records_of_a_view_are_bytes() -> None:
    body = {"topic_data": [{"name": "t", "partition_data": [{"index": 0, "records": b"123"}]}]}
    frame = encode_request(PRODUCE, 9, 1, "app", body)
    read = decode_request(memoryview(bytearray(frame))).body
    records = read["topic_data"][0]["partition_data"][0]["records"]
    assert (type(records), records) == (bytes, b"123")
    assert read == decode_request(frame).body


def test_a_name_that_is_no_utf_8_is_read_as_kafka_reads_it() -> None:
    frame = encode_request(METADATA, 0, 1, "app", {}).replace(b"app", b"a\xe9p")
    assert decode_request(frame).client_id == "a\ufffdp"


@pytest.mark.parametrize(("api_key", "version"), [(METADATA, 99), (METADATA, -1), (999, 0), (API_VERSIONS, 5)])
def test_an_unknown_version_says_whose_answer_it_wants(api_key: int, version: int) -> None:
    frame = b"".join(n.to_bytes(size, "big", signed=True) for n, size in ((api_key, 2), (version, 2), (77, 4), (-1, 2)))
    with pytest.raises(UnsupportedVersion, match="is not supported") as caught:
        decode_request(frame)
    assert (caught.value.api_key, caught.value.version, caught.value.correlation_id) == (api_key, version, 77)
    with pytest.raises(ValueError, match="the codec has no"):
        encode_response(api_key, version, 1, {})


@pytest.mark.parametrize(
    ("frame", "path", "problem"),
    [
        ("0003", "version", "the frame ends 2 bytes before the end of this field"),
        ("0003 0001 00000005 0003 61", "client_id", "a length of 3 bytes, but only 1 bytes are left in the frame"),
        ("0003 0001 00000005 ffff 000000", "topics", "the frame ends 1 bytes before the end of this field"),
        ("0003 0001 00000005 ffff 7fffffff", "topics", "a length of 2147483647 elements, but only 0 bytes are left"),
        ("0003 0001 00000005 ffff 80000000", "topics", "a length of -2147483648 elements"),
        ("0003 0000 00000005 ffff ffffffff", "topics", "null, which this field cannot be in this version"),
        ("0003 0001 00000005 ffff 00000002 0001 61 0009", "topics[1].name", "a length of 9 bytes, but only 0"),
        ("0003 0001 00000005 ffff 00000001 ffff", "topics[0].name", "null, which"),
        ("0003 0009 00000005 ffff 00 808080808000", "topics", "variable-length integer of more than five bytes"),
        ("0003 0009 00000005 ffff 00 02 8080808008 00", "topics[0].name", "is more than the 32768 that"),
        ("0003 0009 00000005 ffff 00 80", "topics", "the frame ends inside"),
        ("0003 0009 00000005 ffff 01 05 10", "header tags", "a length of 16 bytes, but only 0"),
        ("0003 0009 00000005 ffff 00 02 02 61 01 05 09", "topics[0].tags", "a length of 9 bytes, but only 0"),
    ],
)
def test_a_malformed_frame_says_where_and_what(frame: str, path: str, problem: str) -> None:
    with pytest.raises(MalformedFrame) as caught:
        decode_request(bytes.fromhex(frame))
    assert caught.value.path == path
    assert problem in caught.value.problem
    assert str(caught.value) == (f"{path}: {caught.value.problem}" if path else caught.value.problem)


def test_bytes_behind_a_request_are_left_alone() -> None:
    """As librdkafka 2.16 sends Metadata v9 for all topics."""
    frame = bytes.fromhex("0003 0009 00000003 0007 72646b61666b61 00 00000000 01000000")
    assert decode_request(frame).body["topics"] is None


def test_a_tagged_field_of_another_size_is_refused() -> None:
    body = {"cluster_id": "kafka"}
    frame = encode_request(FETCH, 12, 1, None, body)
    assert decode_request(frame).body["cluster_id"] == "kafka"
    assert frame.endswith(b"\x01\x00\x06\x06kafka")
    with pytest.raises(MalformedFrame, match="cluster_id: its size is not that of its tagged field"):
        decode_request(frame.replace(b"\x00\x06\x06kafka", b"\x00\x07\x06kafka\0"))


def test_the_arrays_of_a_request_are_limited_together() -> None:
    """Each is small enough for the frame; the dicts that they would make are not small."""
    topics = [{"name": "", "partition_indexes": [0] * 99_000} for _ in range(11)]
    frame = encode_request(8, 5, 1, None, {"topics": [{"name": "", "partitions": [{}] * 1_000_001}]})
    with pytest.raises(MalformedFrame, match="more than 1000000 elements together"):
        decode_request(frame)
    frame = encode_request(9, 5, 1, None, {"topics": topics})
    with pytest.raises(MalformedFrame, match=r"topics\[10\]\.partition_indexes: .* more than 1000000 elements"):
        decode_request(frame)
