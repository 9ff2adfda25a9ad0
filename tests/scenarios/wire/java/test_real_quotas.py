"""Requests beyond a quota, at a real Kafka and here: the throttle time of the first one is equal, to the millisecond.
It follows from the bytes that are counted and from nothing else. ``python -m pytest -m java``."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest

from benchmarks.calibration.errors import CannotRecord
from benchmarks.calibration.real.cluster import running
from benchmarks.calibration.releases import find_release
from emulator.protocol.records import write_records
from scenarios.wire.codec.records import checked
from tests.scenarios.wire.gateway.served import LIMIT_S, Raw, served

pytestmark = [pytest.mark.java, pytest.mark.slow]

TOPIC = "orders"
BATCH = checked(write_records([(None, b"x")], 1_700_000_000_000))
PRODUCE, FETCH, METADATA, CREATE_TOPICS, DESCRIBE, ALTER = 0, 1, 3, 19, 48, 49
PER_SECOND = {"a": 5.0, "b": 3.0}
"""Bytes per second: each byte of a request takes a fifth, or a third, of a second."""
TO_REMOVE = {"key": "producer_byte_rate", "value": 0.0, "remove": True}
ATTEMPTS = 100


def connected(port: int, client_id: str = "admin") -> Raw:
    return Raw(socket.create_connection(("127.0.0.1", port), LIMIT_S), client_id)


def altered(raw: Raw, client_id: str | None, *ops: dict[str, Any]) -> tuple[int, str | None]:
    entity = [{"entity_type": "client-id", "entity_name": client_id}]
    (found,) = raw.ask(ALTER, 0, {"entries": [{"entity": entity, "ops": list(ops)}], "validate_only": False})["entries"]
    return found["error_code"], found["error_message"]


def described(raw: Raw) -> list[Any]:
    filters = [{"entity_type": "client-id", "match_type": 2, "match": None}]
    entries = raw.ask(DESCRIBE, 0, {"components": filters, "strict": True})["entries"]
    return sorted(
        (str(each["entity"][0]["entity_name"]), sorted((one["key"], one["value"]) for one in each["values"]))
        for each in entries
    )


def produced(raw: Raw) -> int:
    body = {
        "transactional_id": None, "acks": 1, "timeout_ms": 30_000,
        "topic_data": [{"name": TOPIC, "partition_data": [{"index": 0, "records": BATCH}]}],
    }  # fmt: skip
    answer = raw.ask(PRODUCE, 7, body)
    assert answer["responses"][0]["partition_responses"][0]["error_code"] == 0
    return int(answer["throttle_time_ms"])


def fetched(raw: Raw) -> tuple[int, int]:
    """The throttle time, and the partitions in the answer."""
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
    body = {
        "replica_id": -1, "max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1 << 20, "session_epoch": -1,
        "topics": [{"topic": TOPIC, "partitions": [partition]}],
    }  # fmt: skip
    answer = raw.ask(FETCH, 7, body)
    return int(answer["throttle_time_ms"]), len(answer["responses"])


def play(port: int) -> list[Any]:
    """What clients see."""
    admin, seen = connected(port), list[Any]()
    topic = {"name": TOPIC, "num_partitions": 1, "replication_factor": 1, "assignments": [], "configs": []}
    admin.ask(CREATE_TOPICS, 2, {"topics": [topic], "timeout_ms": 30_000, "validate_only": False})
    for _ in range(ATTEMPTS):
        found = admin.ask(METADATA, 5, {"topics": [{"name": TOPIC}], "allow_auto_topic_creation": False})["topics"][0]
        if found["partitions"] and found["partitions"][0]["leader_id"] == 0:
            break
        time.sleep(0.1)
    produced(admin)  # the topic takes records
    for client, rate in PER_SECOND.items():
        ops = [{"key": key, "value": rate, "remove": False} for key in ("producer_byte_rate", "consumer_byte_rate")]
        seen.append(altered(admin, client, *ops))
    seen.append(altered(admin, "a", {"key": "producer_byte_rate", "value": 1.5, "remove": False}))
    seen.append(altered(admin, "a", {"key": "bytes", "value": 1.0, "remove": False}))
    seen.append(altered(admin, "", TO_REMOVE))
    seen.append(described(admin))
    time.sleep(3)  # the broker reads the notification
    for client in PER_SECOND:
        seen += [produced(connected(port, client)), fetched(connected(port, client))]
    seen.append(altered(admin, "a", TO_REMOVE))
    seen.append(described(admin))
    time.sleep(3)
    seen.append(produced(connected(port, "a")))
    return seen


@pytest.mark.parametrize(("release", "profile"), [("2.7.2", "kafka-2.7"), ("3.9.1", "kafka-3.9")])
def test_throttle_times_are_those_of_a_real_broker(release: str, profile: str) -> None:
    try:
        with running(find_release(release), 1, {}, first=None, request_logs=False) as real:
            expected = play(real.port(0))
    except CannotRecord as missing:
        pytest.skip(str(missing))
    with served({"profile": profile, "cluster": {"brokers": 1}}) as cluster:
        assert play(cluster.run.sockets.addresses[0][1]) == expected
    assert any(isinstance(each, int) and each > 0 for each in expected), "nothing was throttled"
