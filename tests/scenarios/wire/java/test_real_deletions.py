"""Ten deletions, a leader that is killed, and two more, on a real Kafka 2.4.1 and here: what an admin client and a
consumer get is equal. ``python -m pytest -m java``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import KafkaError

from benchmarks.calibration.errors import CannotRecord
from benchmarks.calibration.real.cluster import running
from benchmarks.calibration.releases import find_release
from tests.scenarios.wire.gateway.served import served

pytestmark = [pytest.mark.java, pytest.mark.slow]

RELEASE, PROFILE, TOPIC = "2.4.1", "kafka-2.4", "orders"
TP = TopicPartition(TOPIC, 0)
BATCHES, IN_A_BATCH = 10, 10
OFFSETS = (0, 5, 3, 15, 15, 101, 200, 37, 40, 63)
"""In the middle of batches and at their edges, again, backwards, and beyond the end."""
ATTEMPTS = 60


class ToCompare:
    """One cluster under test: two brokers, of which 0 leads.

    Attributes:
        replace: kills broker 0, starts it, and waits until it is in the ISR again.
    """

    def __init__(self, servers: Any, replace: Callable[[], object]) -> None:
        self.servers = servers
        self.replace = replace
        self.seen: list[tuple[object, ...]] = []

    def play(self) -> list[tuple[object, ...]]:
        """The answers."""
        self._produce()
        for offset in OFFSETS:
            self._delete(offset)
        self._look()
        for offset in (62, 63, 65):
            self._read(offset)
        self.replace()
        self._look()
        self._delete(72)
        self._delete(-1)
        self._look()
        return self.seen

    def _produce(self) -> None:
        with closing(KafkaProducer(bootstrap_servers=self.servers, acks="all", linger_ms=500)) as producer:
            for _ in range(BATCHES):
                sent = [producer.send(TOPIC, b"x", partition=0) for _ in range(IN_A_BATCH)]
                producer.flush()
                assert all(each.get(60) for each in sent)

    def _delete(self, offset: int) -> None:
        with closing(KafkaAdminClient(bootstrap_servers=self.servers)) as admin:
            try:
                answer = admin.delete_records({TP: offset}, timeout_ms=15_000)
                self.seen.append(("deleted", offset, answer[TP]["low_watermark"]))
            except KafkaError as error:
                self.seen.append(("not deleted", offset, type(error).__name__))

    def _look(self) -> None:
        with closing(KafkaConsumer(bootstrap_servers=self.servers)) as consumer:
            self.seen.append((consumer.beginning_offsets([TP])[TP], consumer.end_offsets([TP])[TP]))

    def _read(self, offset: int) -> None:
        with closing(KafkaConsumer(bootstrap_servers=self.servers, auto_offset_reset="none")) as consumer:
            consumer.assign([TP])
            consumer.seek(TP, offset)
            for _ in range(ATTEMPTS):
                try:
                    found = [record.offset for records in consumer.poll(1_000).values() for record in records]
                except KafkaError as error:
                    self.seen.append(("not read", offset, type(error).__name__))
                    return
                if found:
                    self.seen.append(("read", offset, found[0]))
                    return
            raise AssertionError(f"nothing comes from {offset}")


@contextmanager
def a_real_one() -> Iterator[ToCompare]:
    config = {"unclean.leader.election.enable": "false", "auto.leader.rebalance.enable": "false"}
    with running(find_release(RELEASE), 2, config, first=1, request_logs=False) as cluster:
        servers = [f"127.0.0.1:{cluster.port(broker)}" for broker in range(2)]

        def replace() -> None:
            cluster.kill(0)
            cluster.until(lambda: cluster.state(TOPIC, 0).get("leader") == 1, "broker 1 leads", 60)
            cluster.start_broker(0)
            cluster.until(lambda: sorted(cluster.state(TOPIC, 0)["isr"]) == [0, 1], "broker 0 is back", 90)

        with closing(KafkaAdminClient(bootstrap_servers=servers)) as admin:
            placed = NewTopic(TOPIC, replica_assignments={0: [0, 1]}, num_partitions=-1, replication_factor=-1)
            admin.create_topics([placed])
        cluster.until(lambda: cluster.state(TOPIC, 0).get("leader") == 0, "broker 0 leads", 60)
        yield ToCompare(servers, replace)


@contextmanager
def one_of_ours() -> Iterator[ToCompare]:
    document = {
        "profile": PROFILE, "cluster": {"brokers": 2, "config": {"auto.leader.rebalance.enable": False}},
        "topics": [{"name": TOPIC, "assignment": [[0, 1]]}],
    }  # fmt: skip
    with served(document, api_versions="2.4") as cluster:

        def partition() -> dict[str, Any]:
            found: dict[str, Any] = cluster.operate("state", partition=f"{TOPIC}-0")["partitions"][0]
            return found

        def replace() -> None:
            cluster.operate("broker.crash", target=0)
            while partition()["leader"] != 1:
                time.sleep(0.1)
            cluster.operate("broker.start", target=0)
            while sorted(partition()["isr"]) != [0, 1]:
                time.sleep(0.1)

        yield ToCompare(cluster.run.bootstrap_servers, replace)


def test_deletions_are_answered_as_by_a_real_broker() -> None:
    try:
        with a_real_one() as real:
            expected = real.play()
    except CannotRecord as missing:
        pytest.skip(str(missing))
    with one_of_ours() as ours:
        assert ours.play() == expected
    assert ("not deleted", 101, "OffsetOutOfRangeError") in expected
