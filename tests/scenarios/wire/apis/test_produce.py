"""Produce requests as they come in: what of their records no leader appends."""

import pytest

from emulator.protocol.errors import Errors
from emulator.protocol.records import (
    CONTROL,
    HEADER,
    TRANSACTIONAL,
    InMemory,
    PlainStoredBatch,
    RecordHeader,
    write_records,
)
from scenarios.wire.apis.base import Connection, InvalidRequest, ServedCluster
from scenarios.wire.apis.fetch import in_bytes
from scenarios.wire.apis.produce import InitProducerId, Produce
from scenarios.wire.codec.records import checked
from tests.scenarios.wire.gateway.served import served, wait_for

ATTRIBUTES, COUNT = 5, 12
"""Places in the header."""


def sent(*, offset: int = 0, **fields: int) -> bytes:
    """A batch of two records, with other ``fields`` in its header, and its checksum."""
    data = write_records([(None, b"a"), (b"key", b"b")], 1000)
    header = list(HEADER.unpack_from(data))
    for name, value in fields.items():
        header[{"attributes": ATTRIBUTES, "count": COUNT, "delta": 6}[name]] = value
    data = HEADER.pack(*header) + data[HEADER.size :]
    stored = PlainStoredBatch(offset, offset + 2, -1, len(data), 1, -1, -1, RecordHeader(0, 2, 0, 0), InMemory(data))
    return in_bytes([stored])


def received(records: bytes | None, version: int = 9, transactional_id: str | None = None) -> Errors:
    """Why a leader does not append them."""
    connection = Connection(0, "", ServedCluster("id", {}, {}, {}), version=version)
    body = {
        "acks": 1, "timeout_ms": 1000, "transactional_id": transactional_id,
        "topic_data": [{"name": "t", "partition_data": [{"index": 0, "records": records}]}],
    }  # fmt: skip
    [batch] = Produce().to_request(body, connection).records
    assert batch.size == len(records or b"")
    return batch.invalid


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (sent(), Errors.NONE),
        (None, Errors.INVALID_RECORD),
        (b"", Errors.INVALID_RECORD),
        (sent() + sent(), Errors.INVALID_RECORD),
        (sent()[:-1], Errors.CORRUPT_MESSAGE),
        (sent()[:-1] + b"x", Errors.CORRUPT_MESSAGE),
        (sent(offset=5), Errors.INVALID_RECORD),
        (sent(attributes=CONTROL), Errors.INVALID_RECORD),
        (sent(attributes=TRANSACTIONAL), Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
        (sent(count=3), Errors.INVALID_RECORD),
        (sent(count=1_000_000, delta=999_999), Errors.INVALID_RECORD),
        (sent(attributes=4), Errors.NONE),
    ],
)
def test_records(records: bytes | None, expected: Errors) -> None:
    assert received(records) is expected


def test_a_transactional_batch_needs_a_producer_id() -> None:
    assert received(sent(attributes=TRANSACTIONAL), transactional_id="t") is Errors.INVALID_RECORD


def test_zstd_came_with_version_7() -> None:
    assert received(sent(attributes=4), version=6) is Errors.UNSUPPORTED_COMPRESSION_TYPE


def test_no_client_names_a_partition_twice() -> None:
    connection = Connection(0, "", ServedCluster("id", {}, {}, {}), version=9)
    topic = {"name": "t", "partition_data": [{"index": 0, "records": sent()}] * 2}
    with pytest.raises(InvalidRequest, match="twice"):
        Produce().to_request({"acks": 1, "timeout_ms": 0, "transactional_id": None, "topic_data": [topic]}, connection)


def test_a_producer_id_or_why_there_is_none() -> None:
    connection = Connection(0, "", ServedCluster("id", {}, {}, {}), version=4)
    body = {"transactional_id": "t", "transaction_timeout_ms": 9, "producer_id": 5, "producer_epoch": 1}
    asked = InitProducerId().to_request(body, connection)
    assert (asked.transactional_id, asked.producer_id, asked.producer_epoch) == ("t", 5, 1)
    assert asked.transaction_timeout_us == 9_000


def test_the_answer_to_a_refused_producer_names_the_start_of_the_log() -> None:
    """As real Kafka answered in the case clients-leader-dies."""
    topic = {"name": "orders", "assignment": [[0, 1]], "config": {"min.insync.replicas": 3}}
    cluster = {"brokers": 2, "controller": 0}
    batch = checked(write_records([(None, b"x")], 1000))
    data = [{"name": "orders", "partition_data": [{"index": 0, "records": batch}]}]
    asked = {"transactional_id": None, "acks": -1, "timeout_ms": 1000, "topic_data": data}
    with served({"cluster": cluster, "topics": [topic], "profile": "kafka-2.8"}) as found:

        def answers(broker: int) -> tuple[int, int] | None:
            [partition] = found.connect(broker).ask(0, 8, asked)["responses"][0]["partition_responses"]
            if partition["error_code"] == Errors.UNKNOWN_TOPIC_OR_PARTITION:
                return None
            return partition["error_code"], partition["log_start_offset"]

        assert wait_for(lambda: answers(0), what="the leader knows") == (Errors.NOT_ENOUGH_REPLICAS, 0)
        assert wait_for(lambda: answers(1), what="the follower knows") == (Errors.NOT_LEADER_FOR_PARTITION, -1)
