"""Fetches at brokers that do not lead (KIP-392), on real Kafkas and here: the answers are equal in each field.
``python -m pytest -m java``."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any

import pytest
from kafka import KafkaProducer

from benchmarks.announced.__main__ import ASKED
from benchmarks.calibration.errors import CannotRecord
from benchmarks.calibration.real.cluster import running
from emulator.protocol.errors import Errors
from tests.scenarios.wire.gateway.served import CREATE_TOPICS, METADATA, Raw, served, wait_for

pytestmark = [pytest.mark.java, pytest.mark.slow]

FETCH = 1
PROFILES = {
    "2.3.1": "kafka-2.3", "2.4.1": "kafka-2.4", "2.7.2": "kafka-2.7", "3.3.2": "kafka-3.3", "3.9.1": "kafka-3.9"
}  # fmt: skip
CONFIG = {"unclean.leader.election.enable": "false", "auto.leader.rebalance.enable": "false"}
Body = dict[str, Any]
Seen = list[tuple[object, ...]]


def play(connect: Callable[[int], Raw], servers: list[str]) -> Seen:
    """The answers of broker 1, which follows ``orders-0`` and has no replica of ``alone-0``. Broker 0 leads both."""
    leader, follower = connect(0), connect(1)
    for name, replicas in (("orders", [0, 1]), ("alone", [0])):
        placed = [{"partition_index": 0, "broker_ids": replicas}]
        topic = {"name": name, "num_partitions": -1, "replication_factor": -1, "assignments": placed, "configs": []}
        body = {"topics": [topic], "timeout_ms": 60_000, "validate_only": False}

        def created(body: Body = body) -> bool:
            [made] = connect(1).ask(CREATE_TOPICS, 2, body)["topics"]
            return made["error_code"] in (Errors.NONE, Errors.TOPIC_ALREADY_EXISTS)

        wait_for(created, what=f"{name} is created")

    def led() -> bool:
        found = follower.ask(METADATA, 5, {"topics": None, "allow_auto_topic_creation": False})["topics"]
        return len(found) == 2 and all(each["partitions"][0]["leader_id"] == 0 for each in found)

    wait_for(led, what="broker 0 leads")
    producer = KafkaProducer(bootstrap_servers=servers, acks="all", linger_ms=500)
    sent = [producer.send("orders", b"x", partition=0) for _ in range(10)]
    producer.flush()
    assert all(each.get(60) for each in sent)
    producer.close()
    time.sleep(2)  # the follower learns the high watermark
    seen: Seen = []
    for version in (10, 11):
        for replica_id in (-1, -2):
            for name in ("orders", "alone", "nowhere"):
                ask(seen, follower, version, name, replica_id=replica_id)
        for epoch in (0, 7):
            ask(seen, follower, version, "orders", epoch=epoch)
        ask(seen, follower, version, "orders", offset=5)
        ask(seen, follower, version, "orders", offset=10)
        ask(seen, follower, version, "orders", offset=11)
        ask(seen, leader, version, "orders", offset=0)
    return seen


def ask(
    seen: Seen, raw: Raw, version: int, topic: str, *, offset: int = 0, epoch: int = -1, replica_id: int = -1
) -> None:
    partition = {
        "partition": 0, "current_leader_epoch": epoch, "fetch_offset": offset, "last_fetched_epoch": -1,
        "log_start_offset": -1, "partition_max_bytes": 1 << 20,
    }  # fmt: skip
    body = {
        "replica_id": replica_id, "max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1 << 20, "isolation_level": 0,
        "session_id": 0, "session_epoch": -1, "rack_id": "", "forgotten_topics_data": [],
        "topics": [{"topic": topic, "partitions": [partition]}],
    }  # fmt: skip
    answer = raw.ask(FETCH, version, body)
    rows = [
        sorted({**each, "records": len(each["records"] or b""), "aborted_transactions": 0}.items())
        for found in answer["responses"]
        for each in found["partitions"]
    ]
    seen.append((version, topic, offset, epoch, replica_id, answer["error_code"], rows))


def connected(port: int) -> socket.socket | None:
    try:
        return socket.create_connection(("127.0.0.1", port), 10)
    except OSError:
        return None


@pytest.mark.parametrize("release", PROFILES)
def test_a_broker_that_does_not_lead_answers_as_a_real_one(release: str) -> None:
    try:
        with running(ASKED[release], 2, CONFIG, first=1, request_logs=False) as real:

            def connect(broker: int) -> Raw:
                return Raw(wait_for(lambda: connected(real.port(broker)), what="it listens"))

            expected = play(connect, [f"127.0.0.1:{real.port(each)}" for each in range(2)])
    except CannotRecord as missing:
        pytest.skip(str(missing))
    document = {
        "profile": PROFILES[release],
        "cluster": {"brokers": 2, "controller": 1, "config": {"auto.leader.rebalance.enable": False}},
    }
    with served(document) as ours:
        found = play(ours.connect, ours.run.bootstrap_servers.split(","))
    assert found == expected
