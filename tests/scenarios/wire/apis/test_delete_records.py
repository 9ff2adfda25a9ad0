"""DeleteRecords as the admin clients of kafka-python and confluent-kafka send it, and what consumers see of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from confluent_kafka import KafkaException
from confluent_kafka import TopicPartition as ConfluentPartition
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient
from kafka.errors import OffsetOutOfRangeError, PolicyViolationError, UnknownTopicOrPartitionError

from tests.scenarios.wire.gateway.served import LIMIT_S, Served, served

confluent_admin: Any = import_module("confluent_kafka.admin")
RECORDS = 10
ORDERS = {
    "profile": "kafka-2.4",
    "cluster": {"brokers": 3},
    "topics": [{"name": "orders", "assignment": [[0, 1, 2], [1, 2, 0]]}, {"name": "kept", "assignment": [[1, 2]]}],
}


@pytest.fixture(scope="module", params=("1.1", "2.4", "3.0"))
def cluster(request: pytest.FixtureRequest) -> Iterator[Served]:
    with served(ORDERS, api_versions=str(request.param)) as found:
        producer = KafkaProducer(bootstrap_servers=found.run.bootstrap_servers, acks="all", linger_ms=0)
        for topic, partition in (("orders", 0), ("orders", 1), ("kept", 0)):
            for number in range(RECORDS):
                producer.send(topic, value=str(number).encode(), partition=partition).get(timeout=30)
        producer.close()
        yield found


@pytest.fixture(scope="module")
def admin(cluster: Served) -> Iterator[Any]:
    client = KafkaAdminClient(bootstrap_servers=cluster.run.bootstrap_servers)
    yield client
    client.close()


def read(cluster: Served, tp: TopicPartition, offset: int, reset: str) -> list[int]:
    """The offsets of the records that a consumer gets from ``offset`` on."""
    consumer = KafkaConsumer(
        bootstrap_servers=cluster.run.bootstrap_servers, auto_offset_reset=reset, consumer_timeout_ms=2_000
    )
    consumer.assign([tp])
    consumer.seek(tp, offset)
    found: list[int] = []
    while not found or found[-1] < RECORDS - 1:
        found += [record.offset for records in consumer.poll(2_000).values() for record in records]
    consumer.close()
    return found


def test_kafka_python_deletes_and_consumers_begin_later(admin: Any, cluster: Served) -> None:
    tp = TopicPartition("orders", 0)
    answer = admin.delete_records({tp: 4}, timeout_ms=10_000)
    assert answer[tp]["low_watermark"] == 4, "each replica's log begins there"
    assert read(cluster, tp, 0, "earliest") == list(range(4, RECORDS))
    with pytest.raises(OffsetOutOfRangeError):
        read(cluster, tp, 0, "none")
    with pytest.raises(OffsetOutOfRangeError):
        admin.delete_records({tp: RECORDS + 1})
    with pytest.raises(UnknownTopicOrPartitionError):
        admin.delete_records({TopicPartition("nobody", 0): 1})


def test_confluent_deletes_all_that_is_committed(cluster: Served) -> None:
    client = confluent_admin.AdminClient({"bootstrap.servers": cluster.run.bootstrap_servers})
    wanted = ConfluentPartition("orders", 1, -1)
    (answer,) = client.delete_records([wanted], request_timeout=10, operation_timeout=10).values()
    assert answer.result().low_watermark == RECORDS
    (refused,) = client.delete_records([ConfluentPartition("orders", 1, RECORDS + 5)]).values()
    with pytest.raises(KafkaException, match="OFFSET_OUT_OF_RANGE"):
        refused.result()


def test_a_topic_that_is_only_compacted_keeps_its_records(admin: Any, cluster: Served) -> None:
    configs = {"cleanup.policy": "compact"}
    admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, "kept", configs=configs)])
    until = time.monotonic() + LIMIT_S
    refused = False
    while not refused and time.monotonic() < until:  # the broker learns of the setting by a notification
        try:
            admin.delete_records({TopicPartition("kept", 0): 0})
        except PolicyViolationError:
            refused = True
    assert refused
    with pytest.raises(PolicyViolationError):
        admin.delete_records({TopicPartition("kept", 0): 5})
    assert read(cluster, TopicPartition("kept", 0), 0, "earliest") == list(range(RECORDS))
