"""The requests of a client of librdkafka to a cluster, timed."""

from __future__ import annotations

import statistics
import time
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from benchmarks.wire.clusters import LIMIT_S, PARTITIONS, TOPIC

RECORD = b"x" * 100
ONE_BY_ONE = 500
WARM_UP = 100


def produced_per_s(servers: str, records: int) -> float:
    """Records of 100 bytes acknowledged per second, with acks=all and librdkafka's own batches."""
    producer, failed = _producer(servers, "all", linger_ms=5), list[Any]()
    _send_one_by_one(producer, 1)

    def note(error: Any, _: Any) -> None:
        if error is not None:
            failed.append(error)

    began = time.perf_counter()
    for number in range(records):
        while True:
            try:
                producer.produce(TOPIC, RECORD, partition=number % PARTITIONS, on_delivery=note)
                break
            except BufferError:
                producer.poll(0.01)
    assert producer.flush(LIMIT_S) == 0, "records are left"
    assert not failed, failed[0]
    return records / (time.perf_counter() - began)


def consumed_per_s(servers: str, records: int) -> float:
    """Records read per second from the first one on: before it librdkafka takes half a second on any cluster."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "benchmark", "enable.auto.commit": False})
    consumer.assign([TopicPartition(TOPIC, partition, OFFSET_BEGINNING) for partition in range(PARTITIONS)])
    read, began, deadline = 0, 0.0, time.perf_counter() + LIMIT_S
    while read < records:
        assert time.perf_counter() < deadline, f"{read} of {records} records were read"
        messages = consumer.consume(1000, 0.05)
        if messages and not read:
            began = time.perf_counter()
        assert all(message.error() is None for message in messages)
        read += len(messages)
    taken_s = time.perf_counter() - began
    consumer.close()
    return read / taken_s


def one_at_a_time_us(servers: str, acks: str) -> float:
    """Microseconds from a record to its acknowledgement, when the next is sent after that: the median."""
    producer = _producer(servers, acks, linger_ms=0)
    _send_one_by_one(producer, WARM_UP)
    return statistics.median(_send_one_by_one(producer, ONE_BY_ONE)) * 1e6


def _producer(servers: str, acks: str, linger_ms: int) -> Producer:
    return Producer({"bootstrap.servers": servers, "acks": acks, "linger.ms": linger_ms})


def _send_one_by_one(producer: Producer, records: int) -> list[float]:
    taken = []
    for _ in range(records):
        began = time.perf_counter()
        producer.produce(TOPIC, RECORD, partition=0)
        assert producer.flush(LIMIT_S) == 0
        taken.append(time.perf_counter() - began)
    return taken
