"""Compacted topics as real clients see them: what a consumer from the beginning reads, and what is refused."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import CorruptRecordError, InvalidRecordError, KafkaError

from tests.scenarios.wire.gateway.served import LIMIT_S, Served, served

CONFIG = {"cleanup.policy": "compact", "segment.bytes": 300, "min.cleanable.dirty.ratio": 0.01}
TOPICS = ("users", "users_gzip", "users_snappy", "users_lz4", "users_zstd")
USERS = {
    "profile": "kafka-2.4",
    "cluster": {"brokers": 3, "config": {"log.cleaner.backoff.ms": 200}},
    "topics": [{"name": name, "assignment": [[0, 1, 2]], "config": CONFIG} for name in TOPICS],
}
KEYS = [b"anne", b"bert", b"carl"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Served]:
    with served(USERS) as found:
        yield found


def read(cluster: Served, topic: str, end: int) -> dict[int, tuple[bytes, bytes | None]]:
    """The records from the beginning to ``end``, by offset."""
    tp = TopicPartition(topic, 0)
    consumer = KafkaConsumer(bootstrap_servers=cluster.run.bootstrap_servers, auto_offset_reset="earliest")
    consumer.assign([tp])
    found: dict[int, tuple[bytes, bytes | None]] = {}
    until = time.monotonic() + LIMIT_S
    while end - 1 not in found and time.monotonic() < until:
        for records in consumer.poll(500).values():
            found |= {record.offset: (record.key, record.value) for record in records}
    consumer.close()
    return found


@pytest.mark.parametrize("topic", TOPICS)
def test_a_consumer_from_the_beginning_gets_the_last_value_of_each_key(cluster: Served, topic: str) -> None:
    compression = topic.partition("_")[2] or None
    producer = KafkaProducer(
        bootstrap_servers=cluster.run.bootstrap_servers, acks="all", linger_ms=50, compression_type=compression
    )
    written: list[tuple[bytes, bytes | None]] = []
    for turn in range(20):
        written += [(key, b"%d" % turn if turn < 19 or key != b"bert" else None) for key in KEYS]
        for key, value in written[-len(KEYS) :]:
            producer.send(topic, key=key, value=value, partition=0)
        producer.flush()
    producer.close()
    until = time.monotonic() + LIMIT_S
    while len(found := read(cluster, topic, len(written))) > 15 and time.monotonic() < until:
        time.sleep(0.3)
    assert 3 <= len(found) <= 15, "all but the active segment was compacted"
    assert all(written[offset] == record for offset, record in found.items()), "each is at its offset"
    assert dict(found.values()) == dict(written)
    assert list(found) == sorted(found)


@pytest.mark.parametrize("api_versions", ["2.3", "2.4", "2.5"])
def test_a_record_without_a_key_is_refused(api_versions: str) -> None:
    document: dict[str, Any] = {**USERS, "profile": f"kafka-{api_versions}"}
    with served(document, api_versions=api_versions) as cluster:
        producer = KafkaProducer(bootstrap_servers=cluster.run.bootstrap_servers, acks="all", retries=0)
        sent = producer.send("users", value=b"1", partition=0)
        error: type[KafkaError] = CorruptRecordError if api_versions == "2.3" else InvalidRecordError
        with pytest.raises(error):
            sent.get(timeout=20)
        producer.send("users", key=b"k", value=b"1", partition=0).get(timeout=20)
        producer.close()
