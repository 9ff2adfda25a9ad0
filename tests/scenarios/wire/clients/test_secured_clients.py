"""Real clients at listeners with TLS and SASL: librdkafka, kafka-python and aiokafka, and what they make of a wrong
password."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from typing import Any

import pytest

from scenarios.testing.kafka import KafkaServer, kafka
from tests.asynchronous import in_asyncio

confluent: Any = pytest.importorskip("confluent_kafka")
python: Any = pytest.importorskip("kafka")
aiokafka: Any = pytest.importorskip("aiokafka")
pytest.importorskip("trustme")

PROTOCOLS = ("SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
WAYS = [("SSL", ""), *((protocol, mechanism) for protocol in PROTOCOLS[1:] for mechanism in MECHANISMS)]
LIMIT_S = 30


@pytest.fixture(scope="module")
def server() -> Iterator[KafkaServer]:
    topics = {"orders": {"partitions": 1, "replication_factor": 3}}
    with kafka(3, topics, listeners=PROTOCOLS, users={"alice": "secret"}) as found:
        yield found


def librdkafka(server: KafkaServer, protocol: str, mechanism: str, password: str = "secret") -> dict[str, Any]:
    """The settings of a client of librdkafka."""
    found = {"bootstrap.servers": server.servers(protocol), "security.protocol": protocol, "log_level": 0}
    if mechanism:
        found |= {"sasl.mechanism": mechanism, "sasl.username": "alice", "sasl.password": password}
    return found | ({"ssl.ca.location": str(server.certificates / "ca.pem")} if "SSL" in protocol else {})


@pytest.mark.parametrize(("protocol", "mechanism"), WAYS)
def test_librdkafka_writes_and_reads(server: KafkaServer, protocol: str, mechanism: str) -> None:
    settings = librdkafka(server, protocol, mechanism)
    producer = confluent.Producer({**settings, "acks": "all"})
    places: list[int] = []
    producer.produce("orders", protocol + mechanism, on_delivery=lambda error, message: places.append(message.offset()))
    assert producer.flush(LIMIT_S) == 0
    consumer = confluent.Consumer({**settings, "group.id": protocol + mechanism})
    consumer.assign([confluent.TopicPartition("orders", 0, places[0])])
    try:
        message = consumer.poll(LIMIT_S)
        assert (message.error(), message.value()) == (None, (protocol + mechanism).encode())
    finally:
        consumer.close()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_librdkafka_says_that_the_password_is_wrong(server: KafkaServer, mechanism: str) -> None:
    errors: list[Any] = []
    settings = librdkafka(server, "SASL_PLAINTEXT", mechanism, "wrong")
    producer = confluent.Producer({**settings, "error_cb": errors.append})
    for _ in range(LIMIT_S * 10):
        if errors:
            break
        producer.poll(0.1)
    assert errors[0].code() == confluent.KafkaError._AUTHENTICATION


@pytest.mark.parametrize(("protocol", "mechanism"), [("SSL", ""), ("SASL_SSL", "SCRAM-SHA-512")])
def test_kafka_python_writes(server: KafkaServer, protocol: str, mechanism: str) -> None:
    settings: dict[str, Any] = {
        "bootstrap_servers": server.servers(protocol).split(","), "security_protocol": protocol,
        "ssl_cafile": str(server.certificates / "ca.pem"),
    }  # fmt: skip
    if mechanism:
        settings |= {"sasl_mechanism": mechanism, "sasl_plain_username": "alice", "sasl_plain_password": "secret"}
    producer = python.KafkaProducer(acks="all", **settings)
    try:
        assert producer.send("orders", b"from kafka-python").get(LIMIT_S).offset >= 0
    finally:
        producer.close()


@pytest.mark.parametrize(("protocol", "mechanism"), [("SASL_PLAINTEXT", "PLAIN"), ("SASL_SSL", "SCRAM-SHA-256")])
def test_aiokafka_writes(server: KafkaServer, protocol: str, mechanism: str) -> None:
    async def write() -> int:
        context = ssl.create_default_context(cafile=server.certificates / "ca.pem")
        producer = aiokafka.AIOKafkaProducer(
            bootstrap_servers=server.servers(protocol), security_protocol=protocol, sasl_mechanism=mechanism,
            sasl_plain_username="alice", sasl_plain_password="secret",
            ssl_context=context if "SSL" in protocol else None,
        )  # fmt: skip
        await producer.start()
        try:
            return int((await producer.send_and_wait("orders", b"from aiokafka")).offset)
        finally:
            await producer.stop()

    assert in_asyncio(lambda: asyncio.wait_for(write(), LIMIT_S)) >= 0
