"""Frames that librdkafka, kafka-python, aiokafka and Java clients sent (``recorder``), and damaged ones."""

from __future__ import annotations

import random
import tracemalloc
from typing import Any

import pytest

from scenarios.wire.codec import (
    APIS,
    MalformedFrame,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from scenarios.wire.codec.records import read_produced
from tests.scenarios.wire.codec.bodies import full_body
from tests.scenarios.wire.codec.recorder import FRAMES

RECORDED = [line.split() for line in FRAMES.read_text().splitlines()]
BY_CLIENT = {(client, name): bytes.fromhex(frame) for client, name, _, frame in RECORDED}


def body(client: str, name: str) -> dict[str, Any]:
    return decode_request(BY_CLIENT[client, name]).body


@pytest.mark.parametrize(("client", "name", "version", "frame"), RECORDED, ids=lambda value: value[:20])
def test_a_clients_frame_is_read_and_written_again(client: str, name: str, version: str, frame: str) -> None:
    request = decode_request(bytes.fromhex(frame))
    assert (APIS[request.api_key].name, request.version, request.client_id) == (name, int(version), "app")
    again = encode_request(request.api_key, request.version, request.correlation_id, request.client_id, request.body)
    assert again.hex() == frame


def test_what_clients_say() -> None:
    named = body("librdkafka", "ApiVersions")
    assert named["client_software_name"] == "confluent-kafka-python"
    topic = body("librdkafka", "CreateTopics")["topics"][0]
    assert (topic["name"], topic["num_partitions"], topic["configs"]) == (
        "new",
        2,
        [{"name": "retention.ms", "value": "1"}],
    )
    assert body("librdkafka", "JoinGroup")["group_instance_id"] == "one"
    [offsets] = body("java", "TxnOffsetCommit")["topics"]
    assert (offsets["name"], offsets["partitions"][0]["committed_offset"]) == ("orders", 5)
    [committed] = body("java", "OffsetCommit")["topics"][0]["partitions"]
    assert (committed["committed_leader_epoch"], committed["committed_metadata"]) == (1, "here")
    move = body("kafka_python", "AlterPartitionReassignments")["topics"][0]
    assert (move["name"], move["partitions"]) == ("orders", [{"partition_index": 0, "replicas": [1, 2]}])


@pytest.mark.parametrize(
    ("client", "compression", "idempotent"),
    [("librdkafka", "lz4", True), ("kafka_python", "zstd", True), ("aiokafka", "gzip", False), ("java", "none", True)],
)
def test_what_clients_produce(client: str, compression: str, idempotent: bool) -> None:
    request = decode_request(BY_CLIENT[client, "Produce"])
    [topic] = request.body["topic_data"]
    [partition] = topic["partition_data"]
    header = read_produced(partition["records"], request.version)
    assert (topic["name"], header.count, header.compression) == ("orders", 1, compression)
    assert header.has_producer_id is idempotent


def frames() -> list[bytes]:
    """The frames of the clients, and one of each version in which every field has a value."""
    made = [
        encode_request(api.key, version, 1, "app", full_body(api.request, version))
        for api in APIS.values()
        for version in {api.versions.low, api.versions.high}
    ]
    return [bytes.fromhex(frame) for *_, frame in RECORDED] + made


def damaged(frame: bytes, draw: random.Random) -> bytes:
    """Bits are flipped, bytes replaced by those that lengths are made of, parts cut out or sent twice."""
    data = bytearray(frame)
    for _ in range(draw.randint(1, 5)):
        at = draw.randrange(8, len(data)) if len(data) > 9 else 8
        kind = draw.randrange(5)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            data[at : at + 4] = draw.choice([b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\0\0\0", b"\0\0\0\0"])
        elif kind == 2:
            data[at:] = b""
        elif kind == 3:
            data[at:at] = bytes(draw.randrange(256) for _ in range(draw.randint(1, 6)))
        else:
            data[at:at] = data[at : at + draw.randint(1, 20)]
    return bytes(data)


def test_damaged_requests_are_malformed_frames_and_nothing_else() -> None:
    draw = random.Random(14)
    refused = 0
    originals = frames()
    for number in range(6_000):
        frame = damaged(originals[number % len(originals)], draw)
        try:
            decode_request(frame)
        except MalformedFrame:
            refused += 1
    assert 2_000 < refused < 6_000


def test_damaged_responses_are_malformed_frames_and_nothing_else() -> None:
    draw = random.Random(14)
    refused = 0
    for number, api in enumerate(list(APIS.values()) * 60):
        version = list(api.versions)[number % (api.versions.high - api.versions.low + 1)]
        frame = encode_response(api.key, version, 1, full_body(api.response, version))
        try:
            decode_response(api.key, version, damaged(frame, draw))
        except MalformedFrame:
            refused += 1
    assert refused > 500


def test_a_frame_that_promises_much_takes_little_memory() -> None:
    """An array of 300 million elements that the frame does not have, and a string of 2 GB."""
    tracemalloc.start()
    for promise in ("0003 0001 00000001 ffff 11e1a300", "0000 0003 00000001 ffff ffff 0001 00000001 00000001 7fff"):
        with pytest.raises(MalformedFrame):
            decode_request(bytes.fromhex(promise))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 5_000_000
