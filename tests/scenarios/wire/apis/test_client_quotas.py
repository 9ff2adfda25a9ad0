"""Quotas of clients: set by any client, shown, in effect at the wire, and the same in a replay."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from emulator.protocol.records import write_records
from scenarios.wire.codec.records import checked
from scenarios.wire.recording.folder import read_live_run
from scenarios.wire.recording.replay import ReplayedRun
from tests.scenarios.wire.gateway.served import Raw, Served, served, wait_for

DESCRIBE, ALTER, FETCH, SPECIFIED, PRODUCE = 48, 49, 1, 2, 0
BILLING = [{"entity_type": "client-id", "entity_name": "billing"}]
INVOICES = [{"entity_type": "client-id", "entity_name": "invoices"}]
"""A client that has sent nothing before."""
TOPIC = {"name": "orders", "partitions": 1, "replication_factor": 1}


@contextmanager
def recorded(folder: Path, rate: float = 1.0) -> Iterator[Served]:
    """A cluster whose recording is the same when it is replayed."""
    table = {"profile": "kafka-2.7", "cluster": {"brokers": 1}, "topics": [TOPIC]}
    with served(table, record=folder, rate=rate) as found:
        yield found
    assert found.finished[0].verdict == "passed", found.finished[0].explanation
    assert ReplayedRun(read_live_run(folder)).play().same


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with recorded(tmp_path_factory.mktemp("quotas") / "run") as found:
        yield found


def limit(raw: Raw, entity: list[dict[str, Any]], key: str, value: float, *, remove: bool = False) -> dict[str, Any]:
    ops = [{"key": key, "value": value, "remove": remove}]
    (found,) = raw.ask(ALTER, 0, {"entries": [{"entity": entity, "ops": ops}], "validate_only": False})["entries"]
    assert isinstance(found, dict)
    return found


def described(raw: Raw) -> dict[str, float]:
    filters = [{"entity_type": "client-id", "match_type": SPECIFIED, "match": None}]
    answer = raw.ask(DESCRIBE, 0, {"components": filters, "strict": True})
    (found,) = answer["entries"] or [{"values": []}]
    return {each["key"]: each["value"] for each in found["values"]}


def in_force(cluster: Served, kind: str = "produce") -> dict[Any, float]:
    """The limits that the broker has taken over."""
    quotas = cluster.run.stage.cluster.brokers[0].client_quotas
    return {} if quotas is None else dict(getattr(quotas, kind)._limits)


@pytest.mark.parametrize(
    ("entity", "key", "value", "words"),
    [
        ([], "producer_byte_rate", 1.0, "Invalid empty client quota entity"),
        (BILLING, "producer_byte_rat", 1.0, "Invalid configuration key producer_byte_rat"),
        (BILLING, "producer_byte_rate", 1.5, "Configuration producer_byte_rate must be a Long value"),
        (
            [{"entity_type": "ip", "entity_name": "a"}],
            "producer_byte_rate",
            1.0,
            "Unhandled client quota entity type: ip",
        ),
        ([{"entity_type": "user", "entity_name": ""}], "producer_byte_rate", 1.0, "Empty user not supported"),
    ],
)
def test_what_is_no_quota_is_refused(
    cluster: Served, entity: list[dict[str, Any]], key: str, value: float, words: str
) -> None:
    found = limit(cluster.connect(), entity, key, value)
    assert (found["error_code"], found["error_message"]) == (42, words)


def test_the_answer_names_the_client_id_before_the_user(cluster: Served) -> None:
    """A ``HashMap`` has it so (AlterClientQuotasRequest.entries). From the suite of @platformatic/kafka."""
    user, client = [{"entity_type": type, "entity_name": None} for type in ("user", "client-id")]
    for entity in ([user, client], [client, user], [user, client, user]):
        assert limit(cluster.connect(), entity, "producer_byte_rate", 1.0, remove=True)["entity"] == [client, user]


def test_a_producer_learns_how_long_and_its_channel_is_muted(cluster: Served) -> None:
    raw, throttled = cluster.connect(), list[float]()
    assert limit(raw, BILLING, "producer_byte_rate", 2000.0)["error_code"] == 0
    assert described(raw) == {"producer_byte_rate": 2000.0}
    wait_for(lambda: in_force(cluster), what="the broker has the quota")
    settings = {"bootstrap.servers": cluster.run.bootstrap_servers, "linger.ms": 0, "log_level": 0}
    producer = Producer(
        {**settings, "client.id": "billing", "throttle_cb": lambda event: throttled.append(event.throttle_time)}
    )
    began_s = time.monotonic()
    for _ in range(3):
        producer.produce("orders", bytes(13_000))
        assert producer.flush(30) == 0
    # 26,000 bytes and more in 10 s, where 20,000 may be: 3 s (before the third), less what the first two have taken.
    assert time.monotonic() - began_s > 1.0
    producer.poll(0)
    assert throttled
    assert limit(raw, BILLING, "producer_byte_rate", 0.0, remove=True)["error_code"] == 0
    assert described(raw) == {}
    wait_for(lambda: not in_force(cluster), what="the broker has no quota any more")


def produce(raw: Raw) -> int:
    """Write a batch of 25 kB. Returns the throttle time of the answer, in ms."""
    partition = {"index": 0, "records": checked(write_records([(None, bytes(25_000))], 1_700_000_000_000))}
    topics = [{"name": "orders", "partition_data": [partition]}]
    body = {"transactional_id": None, "acks": 1, "timeout_ms": 9000, "topic_data": topics}
    return int(raw.ask(PRODUCE, 7, body)["throttle_time_ms"])


def test_a_request_counts_for_the_client_that_it_names(cluster: Served) -> None:
    assert limit(cluster.connect(), INVOICES, "producer_byte_rate", 2000.0)["error_code"] == 0
    wait_for(lambda: in_force(cluster), what="the broker has the quota")
    raw, times = cluster.connect(), list[int]()
    for name in ("other", "other", "invoices", "other"):
        raw.client_id = name
        times.append(produce(raw))
    assert times[:2] == [0, 0]
    assert times[2] > 1000
    assert times[3] == 0
    assert limit(cluster.connect(), INVOICES, "producer_byte_rate", 0.0, remove=True)["error_code"] == 0
    wait_for(lambda: not in_force(cluster), what="the broker has no quota any more")


def test_a_reader_gets_nothing_at_once_and_all_later(tmp_path: Path) -> None:
    """Later: when the samples of the quota have passed, ten seconds of the cluster's clock."""
    rate = 4.0
    with recorded(tmp_path / "run", rate) as cluster:
        raw = cluster.connect()
        assert [produce(raw) for _ in range(4)] == [0] * 4
        everyone = [{"entity_type": "client-id", "entity_name": None}]
        assert limit(raw, everyone, "consumer_byte_rate", 12_000.0)["error_code"] == 0
        wait_for(lambda: in_force(cluster, "fetch"), what="the broker has the quota")
        reader, partition = cluster.connect(), {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
        body = {
            "replica_id": -1, "max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1 << 20,
            "topics": [{"topic": "orders", "partitions": [partition]}],
        }  # fmt: skip
        began_s, sizes, waits = time.monotonic(), list[int](), list[int]()
        while not sizes or sizes[-1] == 0 or len(sizes) < 3:
            answer = reader.ask(FETCH, 4, body)
            waits.append(answer["throttle_time_ms"])
            sizes.append(sum(len(part["records"]) for topic in answer["responses"] for part in topic["partitions"]))
        assert 0 in sizes
        assert [size > 0 for size in sizes] == [wait == 0 for wait in waits]
        assert (time.monotonic() - began_s) * rate > sum(waits) / 1000 - 0.4


def test_a_consumer_reads_everything_in_the_end(cluster: Served) -> None:
    settings = {"bootstrap.servers": cluster.run.bootstrap_servers, "group.id": "shop", "auto.offset.reset": "earliest"}
    # It would wait up to a minute for a coordinator, which one broker cannot have, to commit.
    consumer = Consumer({**settings, "log_level": 0, "enable.auto.commit": False})
    consumer.assign([TopicPartition("orders", 0, 0)])
    assert all(wait_for(lambda: consumer.poll(0.1), what="a record").error() is None for _ in range(3))
    consumer.close()
