"""Real clients against one emulated cluster: what they send is what they and others read, through every kind of fault.

The cluster's time goes ten times as fast as the clock. Each test has topics of its own; at the end the checkers judge
the whole run.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

import aiokafka
import kafka
import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from tests.asynchronous import in_asyncio
from tests.scenarios.wire.gateway.served import Served, served

RATE = 10.0
LIMIT_S = 60.0
RECORDS = 10_000
PARTITIONS = 3
COMPRESSIONS = ("gzip", "snappy", "lz4", "zstd")
TOPICS = ("confluent", "kafka-python", "aiokafka", "acks", *COMPRESSIONS, "moved", "killed", "few", "twice", "waits")


def topic(name: str, **more: Any) -> dict[str, Any]:
    config = {"min.insync.replicas": 2}
    return {"name": name, "partitions": PARTITIONS, "replication_factor": 3, "config": config, **more}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Served]:
    table = {"cluster": {"brokers": 3}, "topics": [topic(name) for name in TOPICS]}
    with served(table, rate=RATE) as cluster:
        yield cluster
    [run] = cluster.finished
    assert run.verdict == "passed", run.explanation
    assert run.metrics["lost_acks_all_records"] == 0
    assert cluster.lines == []


# -- clients ----------------------------------------------------------------------------------------------------------


def values(count: int = RECORDS) -> list[bytes]:
    return [b"%d" % number for number in range(count)]


def quiet(_error: Any) -> None:
    """Not to the test's output: connections break on purpose."""


def confluent_producer(cluster: Served, **config: Any) -> Producer:
    return Producer(
        {"bootstrap.servers": cluster.run.bootstrap_servers, "error_cb": quiet, "log_level": 0, "acks": "all", **config}
    )


def produce(producer: Producer, name: str, sent: list[bytes], partitions: int = PARTITIONS) -> list[Message]:
    """Send, and return what was reported of each record, in the order of the reports."""
    reported: list[Message] = []
    for number, value in enumerate(sent):
        producer.produce(name, value, partition=number % partitions, on_delivery=lambda _, sent: reported.append(sent))
    assert producer.flush(LIMIT_S) == 0
    return reported


def failures(reported: list[Message]) -> list[KafkaError]:
    return [error for message in reported if (error := message.error()) is not None]


def confluent_produces(cluster: Served, name: str, sent: list[bytes], **config: Any) -> None:
    assert not failures(produce(confluent_producer(cluster, **config), name, sent))


def confluent_consumes(cluster: Served, name: str, count: int) -> list[list[bytes]]:
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.run.bootstrap_servers, "group.id": "none", "enable.auto.commit": False,
            "error_cb": quiet, "log_level": 0,
        }
    )  # fmt: skip
    consumer.assign([TopicPartition(name, partition, 0) for partition in range(PARTITIONS)])
    found: list[list[bytes]] = [[] for _ in range(PARTITIONS)]
    while sum(map(len, found)) < count:
        messages = consumer.consume(count, timeout=LIMIT_S)
        assert messages, f"{sum(map(len, found))} of {count} records within {LIMIT_S:g} s"
        for message in messages:
            if message.error() is None:
                found[message.partition() or 0].append(message.value() or b"")
    consumer.close()
    return found


def kafka_python_produces(cluster: Served, name: str, sent: list[bytes], **config: Any) -> None:
    producer = kafka.KafkaProducer(bootstrap_servers=cluster.run.bootstrap_servers, linger_ms=5, acks="all", **config)
    futures = [producer.send(name, value, partition=at % PARTITIONS) for at, value in enumerate(sent)]
    producer.flush(LIMIT_S)
    assert all(future.succeeded() for future in futures)
    producer.close()


def kafka_python_consumes(cluster: Served, name: str, count: int) -> list[list[bytes]]:
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=cluster.run.bootstrap_servers, auto_offset_reset="earliest", enable_auto_commit=False,
        group_id=None, consumer_timeout_ms=LIMIT_S * 1000,
    )  # fmt: skip
    consumer.assign([kafka.TopicPartition(name, partition) for partition in range(PARTITIONS)])
    found: list[list[bytes]] = [[] for _ in range(PARTITIONS)]
    while sum(map(len, found)) < count:
        message = next(consumer)
        found[message.partition].append(message.value)
    consumer.close()
    return found


def aiokafka_produces(cluster: Served, name: str, sent: list[bytes], **config: Any) -> None:
    async def run() -> None:
        producer = aiokafka.AIOKafkaProducer(bootstrap_servers=cluster.run.bootstrap_servers, acks="all", **config)
        await producer.start()
        try:
            await asyncio.gather(
                *[await producer.send(name, value, partition=at % PARTITIONS) for at, value in enumerate(sent)]
            )
        finally:
            await producer.stop()

    in_asyncio(lambda: asyncio.wait_for(run(), LIMIT_S))


def aiokafka_consumes(cluster: Served, name: str, count: int) -> list[list[bytes]]:
    async def run() -> list[list[bytes]]:
        consumer = aiokafka.AIOKafkaConsumer(
            bootstrap_servers=cluster.run.bootstrap_servers, auto_offset_reset="earliest", enable_auto_commit=False
        )
        await consumer.start()
        found: list[list[bytes]] = [[] for _ in range(PARTITIONS)]
        try:
            consumer.assign([aiokafka.TopicPartition(name, partition) for partition in range(PARTITIONS)])
            while sum(map(len, found)) < count:
                for tp, messages in (await consumer.getmany(timeout_ms=1000)).items():
                    found[tp.partition] += [message.value for message in messages]
        finally:
            await consumer.stop()
        return found

    return in_asyncio(lambda: asyncio.wait_for(run(), LIMIT_S))


PRODUCES: dict[str, Callable[..., None]] = {
    "confluent": confluent_produces, "kafka-python": kafka_python_produces, "aiokafka": aiokafka_produces,
}  # fmt: skip
CONSUMES: dict[str, Callable[[Served, str, int], list[list[bytes]]]] = {
    "confluent": confluent_consumes, "kafka-python": kafka_python_consumes, "aiokafka": aiokafka_consumes,
}  # fmt: skip


def dealt(sent: list[bytes]) -> list[list[bytes]]:
    """The messages of each partition, in order."""
    return [sent[partition::PARTITIONS] for partition in range(PARTITIONS)]


# -- in and out -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("client", PRODUCES)
def test_what_a_client_sends_it_reads_in_the_order_of_sending(cluster: Served, client: str) -> None:
    sent = values()
    PRODUCES[client](cluster, client, sent)
    assert CONSUMES[client](cluster, client, len(sent)) == dealt(sent)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_what_one_client_compresses_all_can_read(cluster: Served, compression: str) -> None:
    sent = [value * 20 for value in values(300)]
    for produces in PRODUCES.values():
        key = "compression.type" if produces is confluent_produces else "compression_type"
        produces(cluster, compression, sent, **{key: compression})
    for consumes in CONSUMES.values():
        found = consumes(cluster, compression, 3 * len(sent))
        assert found == [part * 3 for part in dealt(sent)]


def test_any_acks(cluster: Served) -> None:
    sent = values(300)
    for acks in ("0", "1", "all"):
        produce(confluent_producer(cluster, acks=acks), "acks", sent)
    found = confluent_consumes(cluster, "acks", 3 * len(sent))
    assert [sorted(part) for part in found] == [sorted(part * 3) for part in dealt(sent)]


def test_a_topic_that_is_not_there_is_created_by_the_first_producer(cluster: Served) -> None:
    sent = values(10)
    assert not failures(produce(confluent_producer(cluster), "created", sent, partitions=1))


def test_offsets_are_found_by_time(cluster: Served) -> None:
    producer = confluent_producer(cluster)
    for number in range(10):
        producer.produce("waits", b"x", partition=0, timestamp=1_000_000 + number * 1000)
    assert producer.flush(LIMIT_S) == 0
    consumer = kafka.KafkaConsumer(bootstrap_servers=cluster.run.bootstrap_servers, group_id=None)
    tp = kafka.TopicPartition("waits", 0)
    found = consumer.offsets_for_times({tp: 1_003_500})[tp]
    assert (found.offset, found.timestamp) == (4, 1_004_000)
    assert consumer.offsets_for_times({tp: 2_000_000})[tp] is None
    assert (consumer.beginning_offsets([tp])[tp], consumer.end_offsets([tp])[tp]) == (0, 10)
    consumer.close()


# -- faults -----------------------------------------------------------------------------------------------------------


def operate(cluster: Served, action: str, **more: Any) -> None:
    answer = cluster.operate(action, **more)
    assert answer.get("ok"), answer


def wait(state: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not state():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def codes(reported: list[Message]) -> list[int]:
    return [error.code() for error in failures(reported)]


def in_sync(cluster: Served, name: str) -> bool:
    """Whether all replicas of ``name`` are in sync, as the brokers that answer see it."""
    seen = False
    for broker in cluster.run.broker_addresses:
        try:
            raw = cluster.connect(broker)
        except ConnectionRefusedError:
            return False
        with raw.socket:
            found = [each["partitions"] for each in raw.metadata()["topics"] if each["name"] == name]
        parts = [part for parts in found for part in parts]
        seen = bool(parts) and all(part["leader_id"] >= 0 and len(part["isr_nodes"]) == 3 for part in parts)
        if not seen:
            return False
    return seen


def mend(cluster: Served, name: str) -> None:
    """End every fault, and wait until all replicas of ``name`` are in sync."""
    operate(cluster, "heal")
    wait(lambda: in_sync(cluster, name))


def stream(cluster: Served, name: str, fault: Callable[[], None]) -> None:
    """Send records, and let ``fault`` happen in the middle: all are acknowledged, each is there once, in order."""
    sent = values(3000)
    producer = confluent_producer(cluster, **{"enable.idempotence": True, "linger.ms": 5})
    reported: list[Message] = []
    for number, value in enumerate(sent):
        if number == len(sent) // 2:
            fault()
        producer.produce(name, value, partition=number % PARTITIONS, on_delivery=lambda _, one: reported.append(one))
        producer.poll(0)
    assert producer.flush(LIMIT_S) == 0
    assert not failures(reported)
    mend(cluster, name)
    assert confluent_consumes(cluster, name, len(sent)) == dealt(sent)


def test_leaders_that_move(cluster: Served) -> None:
    stream(cluster, "moved", lambda: operate(cluster, "broker.controlled_shutdown", target="leader(moved-0)"))


def test_a_broker_that_is_killed_and_started_again(cluster: Served) -> None:
    def kill() -> None:
        operate(cluster, "broker.crash", target=2)
        operate(cluster, "broker.start", target=2)

    stream(cluster, "killed", kill)


def test_an_answer_that_is_lost_writes_nothing_twice(cluster: Served) -> None:
    lost = {"message": "Produce", "response": True}
    stream(cluster, "twice", lambda: operate(cluster, "message.cut", when=lost))


def test_too_few_replicas_in_sync(cluster: Served) -> None:
    """acks=all is refused, and goes on once the replicas are back."""
    producer = confluent_producer(cluster, retries=0)
    assert not failures(produce(producer, "few", [b"before"]))
    for broker in (1, 2):
        operate(cluster, "broker.crash", target=broker)
    wait(lambda: KafkaError.NOT_ENOUGH_REPLICAS in codes(produce(producer, "few", [b"meanwhile"])))
    mend(cluster, "few")
    wait(lambda: not failures(produce(producer, "few", [b"after"])))  # at first its metadata is old
    reader = kafka.KafkaConsumer(bootstrap_servers=cluster.run.bootstrap_servers, group_id=None)
    tp = kafka.TopicPartition("few", 0)
    written = confluent_consumes(cluster, "few", reader.end_offsets([tp])[tp])[0]
    reader.close()
    assert (written[0], written[-1]) == (b"before", b"after")
