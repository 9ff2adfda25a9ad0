"""Random histories of keyed writes and transactions in compacted topics, on a real Kafka 2.4.1 and here: what consumers
from the beginning read is equal once the log cleaners have nothing more to do. ``python -m pytest -m java``."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from random import Random
from typing import Any

import pytest
from confluent_kafka import Producer
from kafka import KafkaConsumer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic

from benchmarks.calibration.errors import CannotRecord
from benchmarks.calibration.real.cluster import RealCluster, running
from benchmarks.calibration.releases import find_release
from tests.scenarios.wire.gateway.served import served

pytestmark = [pytest.mark.java, pytest.mark.slow]

RELEASE, PROFILE = "2.4.1", "kafka-2.4"
HISTORIES = int(os.environ.get("UNDERSTUDY_TEST_HISTORIES", "40"))
KEYS = [b"k%d" % number for number in range(6)]
COMPRESSIONS = (None, "gzip", "snappy", "lz4", "zstd")
FIRST_MS = 1_600_000_000_000
LIMIT_S = 120
CONFIG = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.0"}
OURS = {
    "log.cleaner.backoff.ms": 200, "transaction.state.log.replication.factor": 1, "transaction.state.log.min.isr": 1,
}  # fmt: skip
Batch = list[tuple[bytes, bytes | None]]
Seen = list[tuple[int, bytes, bytes | None]]


class History:
    """One topic: its batches, each alone or in a transaction with the next ones, and how that ends."""

    def __init__(self, seed: int) -> None:
        draws = Random(seed)
        self.topic = f"t{seed}"
        self.compression = draws.choice(COMPRESSIONS)
        self.transactional = bool(seed % 2)
        self.segment_bytes = draws.choice((250, 500, 900))
        self.steps: list[tuple[list[Batch], bool]] = []
        for number in range(draws.randint(6, 18)):
            batches = [self._batch(draws, number) for _ in range(draws.randint(1, 3) if self.transactional else 1)]
            self.steps.append((batches, draws.random() < 0.7))

    def _batch(self, draws: Random, number: int) -> Batch:
        return [
            (draws.choice(KEYS), None if draws.random() < 0.15 else b"%d-%d" % (number, draws.randint(0, 999)))
            for _ in range(draws.randint(1, 5))
        ]

    def play(self, servers: Any) -> None:
        """Write it, each batch by itself: what lingers is sent by ``flush``."""
        settings = {"bootstrap.servers": ",".join(_listed(servers)), "acks": "all", "linger.ms": 5_000}
        settings["compression.type"] = self.compression or "none"
        if self.transactional:
            settings["transactional.id"] = self.topic
        producer, at_ms = Producer(settings), FIRST_MS
        if self.transactional:
            producer.init_transactions(60)
        for batches, commits in self.steps:
            if self.transactional:
                producer.begin_transaction()
            for batch in batches:
                for key, value in batch:
                    at_ms += 1
                    producer.produce(self.topic, key=key, value=value, partition=0, timestamp=at_ms)
                assert not producer.flush(60)
            if self.transactional:
                (producer.commit_transaction if commits else producer.abort_transaction)(60)

    def read(self, servers: Any) -> tuple[Seen, Seen]:
        """The records from the beginning, for readers of all and of committed transactions."""
        return self._read(servers, "read_uncommitted"), self._read(servers, "read_committed")

    def _read(self, servers: Any, isolation: str) -> Seen:
        tp, found = TopicPartition(self.topic, 0), []
        consumer = KafkaConsumer(
            bootstrap_servers=servers, auto_offset_reset="earliest", isolation_level=isolation, enable_auto_commit=False
        )
        with closing(consumer):
            consumer.assign([tp])
            end = consumer.end_offsets([tp])[tp]
            until = time.monotonic() + 20
            while consumer.position(tp) < end and time.monotonic() < until:
                for records in consumer.poll(200).values():
                    found += [(record.offset, record.key, record.value) for record in records]
        return found


def _listed(servers: Any) -> list[str]:
    return [servers] if isinstance(servers, str) else list(servers)


def written(history: History) -> int:
    return sum(len(batch) for batches, _ in history.steps for batch in batches)


def _leads(cluster: RealCluster, topic: str) -> bool:
    return cluster.state(topic, 0).get("leader") == 0


@contextmanager
def a_real_one(histories: Sequence[History]) -> Iterator[Any]:
    config = {
        "log.cleaner.enable": "true", "log.cleaner.backoff.ms": "200", "log.cleaner.dedupe.buffer.size": "8000000",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "3",
    }  # fmt: skip
    with running(find_release(RELEASE), 1, config, first=0, request_logs=False) as cluster:
        servers = [f"127.0.0.1:{cluster.port(0)}"]
        with closing(KafkaAdminClient(bootstrap_servers=servers)) as admin:
            admin.create_topics(
                [
                    NewTopic(one.topic, 1, 1, topic_configs={**CONFIG, "segment.bytes": str(one.segment_bytes)})
                    for one in histories
                ]
            )
        for one in histories:
            cluster.until(partial(_leads, cluster, one.topic), "broker 0 leads", 60)
        yield servers


@contextmanager
def one_of_ours(histories: Sequence[History]) -> Iterator[Any]:
    document = {
        "profile": PROFILE, "cluster": {"brokers": 1, "config": OURS},
        "topics": [
            {
                "name": one.topic,
                "assignment": [[0]],
                "config": {
                    "cleanup.policy": "compact",
                    "min.cleanable.dirty.ratio": 0.0,
                    "segment.bytes": one.segment_bytes,
                },
            }
            for one in histories
        ],
    }  # fmt: skip
    with served(document, api_versions="2.4") as cluster:
        yield cluster.run.bootstrap_servers


def settled(history: History, servers: Any, wanted: tuple[Seen, Seen] | None = None) -> tuple[Seen, Seen]:
    """The records that consumers read once the cleaner is done: the same three times, or ``wanted``."""
    before, same, until = history.read(servers), 0, time.monotonic() + LIMIT_S
    while same < 2 and before != wanted and time.monotonic() < until:
        time.sleep(1 if wanted is None else 0.5)
        found = history.read(servers)
        before, same = found, same + 1 if found == before else 0
    return before


def test_consumers_read_what_they_read_of_a_real_broker() -> None:
    histories = [History(seed) for seed in range(HISTORIES)]
    try:
        with a_real_one(histories) as servers:
            for one in histories:
                one.play(servers)
            expected = [settled(one, servers) for one in histories]
    except CannotRecord as missing:
        pytest.skip(str(missing))
    with one_of_ours(histories) as servers:
        for one in histories:
            one.play(servers)
        found = [settled(one, servers, wanted) for one, wanted in zip(histories, expected, strict=True)]
    different = [one.topic for one, ours, real in zip(histories, found, expected, strict=True) if ours != real]
    assert not different, [(one, found[int(one[1:])], expected[int(one[1:])]) for one in different[:2]]
    compacted = sum(len(real[0]) < written(one) for one, real in zip(histories, expected, strict=True))
    assert compacted > len(histories) / 2, "the cleaner had work to do"
