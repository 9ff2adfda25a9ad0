"""Real clients of today against releases from 1.1 to 3.0: each finds the versions of that release, and what it does
with them works: records with every acks, groups and their offsets, and a topic that is deleted under it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

from scenarios.profiles import PROFILES
from scenarios.wire.codec.frames import WireRequest, decode_request
from scenarios.wire.gateway import client_connection
from scenarios.wire.released_versions import released
from tests.asynchronous import in_asyncio
from tests.scenarios.wire.gateway.served import LIMIT_S, Served, served, wait_for

confluent_kafka: Any = pytest.importorskip("confluent_kafka")
confluent_admin: Any = import_module("confluent_kafka.admin")
kafka: Any = pytest.importorskip("kafka")
kafka_admin: Any = import_module("kafka.admin")
aiokafka: Any = pytest.importorskip("aiokafka")

RELEASES = ("kafka-1.1", "kafka-2.4", "kafka-3.0")
CLIENTS = ("confluent", "kafka-python", "aiokafka")
PRODUCE, FETCH, OFFSET_COMMIT, JOIN_GROUP, API_VERSIONS = 0, 1, 8, 11, 18
PARTITIONS, RECORDS = 3, 600
Sent = list[tuple[int, int]]
"""The API and the version of each request that was read."""
SETTINGS = {"group.initial.rebalance.delay.ms": 0, "offsets.topic.num.partitions": 1, "min.insync.replicas": 2}


@pytest.fixture(scope="module", params=RELEASES)
def cluster(request: pytest.FixtureRequest) -> Iterator[Served]:
    topics = [{"name": name, "partitions": PARTITIONS, "replication_factor": 3} for name in CLIENTS]
    table = {"profile": request.param, "cluster": {"brokers": 3, "config": SETTINGS}, "topics": topics}
    with served(table, rate=4.0) as found:
        yield found
    [run] = found.finished
    assert run.verdict == "passed", run.explanation
    assert run.metrics["lost_acks_all_records"] == 0
    assert found.lines == [], "no connection was closed, and nothing failed"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    found: Sent = []

    def decode(data: bytes) -> WireRequest:
        request = decode_request(data)
        found.append((request.api_key, request.version))
        return request

    monkeypatch.setattr(client_connection, "decode_request", decode)
    return found


def values(first: int = 0) -> list[bytes]:
    return [b"%d" % number for number in range(first, first + RECORDS)]


def confluent_round_trip(servers: str) -> list[bytes]:
    for acks, part in (("0", 0), ("1", 1), ("all", 2)):
        producer = confluent_kafka.Producer({"bootstrap.servers": servers, "acks": acks, "log_level": 0})
        for value in values()[part::PARTITIONS]:
            producer.produce("confluent", value, partition=part)
        assert producer.flush(LIMIT_S) == 0
    settings = {"group.id": "confluent", "auto.offset.reset": "earliest", "enable.auto.commit": False, "log_level": 0}
    found: list[bytes] = []
    for half in (1, 2):
        consumer = confluent_kafka.Consumer({"bootstrap.servers": servers, **settings})
        consumer.subscribe(["confluent"])
        while len(found) < RECORDS * half // 2:
            message = consumer.poll(LIMIT_S)
            assert message is not None
            assert message.error() is None
            found.append(message.value())
            consumer.commit(message, asynchronous=False)
        consumer.close()
    return found


def kafka_python_round_trip(servers: str) -> list[bytes]:
    for acks, part in ((0, 0), (1, 1), ("all", 2)):
        idempotent = {"enable_idempotence": True} if acks == "all" else {"enable_idempotence": False}
        producer = kafka.KafkaProducer(bootstrap_servers=servers, acks=acks, **idempotent)
        for value in values()[part::PARTITIONS]:
            producer.send("kafka-python", value, partition=part)
        producer.flush(LIMIT_S)
        producer.close()
    settings = {"group_id": "kafka-python", "auto_offset_reset": "earliest", "enable_auto_commit": False}
    found: list[bytes] = []
    for half in (1, 2):
        consumer = kafka.KafkaConsumer("kafka-python", bootstrap_servers=servers, **settings)
        while len(found) < RECORDS * half // 2:
            for records in consumer.poll(1000).values():
                found += [record.value for record in records]
            consumer.commit()
        consumer.close()
    return found


def aiokafka_round_trip(servers: str) -> list[bytes]:
    async def both() -> list[bytes]:
        producer = aiokafka.AIOKafkaProducer(bootstrap_servers=servers, acks="all", enable_idempotence=True)
        await producer.start()
        sent = [
            await producer.send("aiokafka", value, partition=number % PARTITIONS)
            for number, value in enumerate(values())
        ]
        await asyncio.gather(*sent)
        await producer.stop()
        settings = {"group_id": "aiokafka", "auto_offset_reset": "earliest", "enable_auto_commit": False}
        found: list[bytes] = []
        for half in (1, 2):
            consumer = aiokafka.AIOKafkaConsumer("aiokafka", bootstrap_servers=servers, **settings)
            await consumer.start()
            while len(found) < RECORDS * half // 2:
                for records in (await consumer.getmany(timeout_ms=1000)).values():
                    found += [record.value for record in records]
                await consumer.commit()
            await consumer.stop()
        return found

    found: list[bytes] = in_asyncio(both)
    return found


ROUND_TRIPS: dict[str, Callable[[str], list[bytes]]] = {
    "confluent": confluent_round_trip,
    "kafka-python": kafka_python_round_trip,
    "aiokafka": aiokafka_round_trip,
}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_group_reads_what_was_sent_and_goes_on_where_it_was(cluster: Served, sent: Sent, client: str) -> None:
    """In the newest versions that the release has: two of the clients know newer ones than any of these releases."""
    found = ROUND_TRIPS[client](cluster.run.bootstrap_servers)
    assert sorted(found, key=int) == values()
    for part in range(PARTITIONS):
        assert [each for each in found if int(each) % PARTITIONS == part] == values()[part::PARTITIONS]
    newest = {key: high for key, (_, high) in released(PROFILES[cluster.run.scenario.profile].release).items()}
    assert {key for key, _ in sent} >= {PRODUCE, FETCH, OFFSET_COMMIT, JOIN_GROUP}
    assert all(version <= newest[key] for key, version in sent if key != API_VERSIONS)
    if client != "aiokafka":
        assert max(version for key, version in sent if key == FETCH) == newest[FETCH]
        assert max(version for key, version in sent if key == PRODUCE) == newest[PRODUCE]


def test_a_topic_that_is_deleted_and_created_again_under_a_producer(cluster: Served) -> None:
    servers = cluster.run.bootstrap_servers
    admin = confluent_admin.AdminClient({"bootstrap.servers": servers, "log_level": 0})
    producer = confluent_kafka.Producer({"bootstrap.servers": servers, "acks": "all", "log_level": 0})

    def create() -> bool:
        created = admin.create_topics([confluent_admin.NewTopic("again", 1, 2)])["again"]
        refused = created.exception(LIMIT_S)
        if refused is not None:
            assert refused.args[0].code() == confluent_kafka.KafkaError.TOPIC_ALREADY_EXISTS
        return refused is None

    assert create()
    for value in (b"first", b"second"):
        producer.produce("again", value, partition=0)
        assert producer.flush(LIMIT_S) == 0
        if value == b"first":
            admin.delete_topics(["again"])["again"].result(LIMIT_S)
            wait_for(create, what="the topic can be created again")
    settings = {"group.id": "again", "auto.offset.reset": "earliest", "log_level": 0}
    consumer = confluent_kafka.Consumer({"bootstrap.servers": servers, **settings})
    consumer.assign([confluent_kafka.TopicPartition("again", 0, 0)])
    assert consumer.poll(LIMIT_S).value() == b"second", "nothing of the old topic is there"
    consumer.close()
