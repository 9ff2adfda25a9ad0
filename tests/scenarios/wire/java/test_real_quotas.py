"""A producer beyond its quota, on real Kafka and here: how long each request is throttled, and the rate in the end.
``python -m pytest -m java``; ``python -m tests.scenarios.wire.java.test_real_quotas`` prints the figures."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from attrs import frozen

from benchmarks.calibration.errors import CannotRecord
from benchmarks.calibration.real.cluster import START_WITHIN_S, running
from benchmarks.calibration.real.zookeeper import Session
from benchmarks.calibration.releases import find_release
from emulator.protocol.records import write_records
from emulator.zookeeper import ZOOKEEPER
from scenarios.wire.codec.records import checked
from tests.scenarios.wire.gateway.served import LIMIT_S, Raw, served

pytestmark = [pytest.mark.java, pytest.mark.slow]

PROFILES = {"2.4.1": "kafka-2.4", "3.9.1": "kafka-3.9"}
CLIENT, TOPIC, PRODUCE, VERSION = "billing", "orders", 0, 7
LIMIT, RECORD, REQUESTS, WARM_UP = 50_000, 60_000, 18, 30
"""Bytes a second, bytes of a record, and the requests, each with one record and sent when the one before is answered.
The first eight fit into ten seconds of the quota. Another client, which has none, sends before:
a Java program is slow at first."""
NEAR_MS = 250
"""The difference that is allowed: both take time for the requests themselves."""


@frozen
class Throttled:
    """The outcome: the throttle_time_ms of each answer, and the bytes a second over all of them."""

    times_ms: tuple[int, ...]
    rate: float


def play(port: int, zookeeper: int) -> Throttled:
    """Give the client a quota and produce, at the broker and the ZooKeeper of these ports."""
    _limit(zookeeper)
    time.sleep(2)  # until the broker has read it
    with closing(socket.create_connection(("127.0.0.1", port), LIMIT_S)) as connection:
        for _ in range(WARM_UP):
            _produce(Raw(connection, "another"))
    with closing(socket.create_connection(("127.0.0.1", port), LIMIT_S)) as connection:
        raw, began_s = Raw(connection, CLIENT), time.monotonic()
        times = [_produce(raw) for _ in range(REQUESTS)]
        return Throttled(tuple(times), REQUESTS * RECORD / (time.monotonic() - began_s))


def _produce(raw: Raw) -> int:
    """Produce a record. Returns the throttle_time_ms of the answer."""
    batch = write_records([(None, bytes(RECORD))], int(time.time() * 1000))
    topics = [{"name": TOPIC, "partition_data": [{"index": 0, "records": checked(batch)}]}]
    body = {"transactional_id": None, "acks": 1, "timeout_ms": 10_000, "topic_data": topics}
    answer = raw.ask(PRODUCE, VERSION, body)
    assert answer["responses"][0]["partition_responses"][0]["error_code"] == 0
    return int(answer["throttle_time_ms"])


def _limit(zookeeper: int) -> None:
    """Write the quota into ZooKeeper as kafka-configs does."""
    session = Session(zookeeper)
    session.open()
    config = {"version": 1, "config": {"producer_byte_rate": str(LIMIT)}}
    session.write(f"/config/clients/{CLIENT}", json.dumps(config))
    change = {"version": 2, "entity_path": f"clients/{CLIENT}"}
    session.create("/config/changes/config_change_", json.dumps(change), Session.SEQUENTIAL)
    session.end()


@contextmanager
def a_real_one(release: str) -> Iterator[tuple[int, int]]:
    with running(find_release(release), 1, {}, first=0, request_logs=False) as cluster:
        cluster.until(lambda: _has_topic(cluster.port(0)), "the topic is there", START_WITHIN_S)
        yield cluster.port(0), cluster.zookeeper.port


def _has_topic(port: int) -> bool:
    """Whether the topic, which the question creates, has a leader."""
    try:
        with closing(socket.create_connection(("127.0.0.1", port), LIMIT_S)) as connection:
            (found,) = Raw(connection).ask(3, 5, {"topics": [{"name": TOPIC}], "allow_auto_topic_creation": True})[
                "topics"
            ]
    except OSError:
        return False
    return bool(found["error_code"] == 0 and found["partitions"][0]["leader_id"] == 0)


@contextmanager
def one_of_ours(release: str) -> Iterator[tuple[int, int]]:
    topic = {"name": TOPIC, "partitions": 1, "replication_factor": 1}
    with served({"profile": PROFILES[release], "cluster": {"brokers": 1}, "topics": [topic]}) as cluster:
        yield cluster.run.sockets.ports[0], cluster.run.sockets.ports[ZOOKEEPER]


def both(release: str) -> tuple[Throttled, Throttled]:
    """The real broker's, and ours."""
    with a_real_one(release) as real:
        expected = play(*real)
    with one_of_ours(release) as ours:
        return expected, play(*ours)


@pytest.mark.parametrize("release", PROFILES)
def test_a_producer_is_throttled_as_by_a_real_broker(release: str) -> None:
    try:
        expected, ours = both(release)
    except CannotRecord as missing:
        pytest.skip(str(missing))
    assert expected.times_ms[-1] > 500
    assert [abs(a - b) <= NEAR_MS for a, b in zip(expected.times_ms, ours.times_ms, strict=True)] == [True] * REQUESTS
    assert ours.rate == pytest.approx(expected.rate, rel=0.1)


if __name__ == "__main__":
    for one in PROFILES:
        for name, found in zip(("real", "here"), both(one), strict=True):
            print(one, name, f"{found.rate:,.0f} bytes/s;", " ".join(map(str, found.times_ms)), "ms")
