"""The settings of a broker that admin tools read: where it listens, its advertised address, its data; and synonyms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource  # type: ignore[attr-defined]

from scenarios.wire.recording.folder import read_live_run
from scenarios.wire.recording.replay import ReplayedRun
from tests.scenarios.wire.gateway.served import Served, served

DESCRIBE_CONFIGS = 32
TOPIC, BROKER = 2, 4
ADVERTISED = tuple((f"kafka-{broker}.test", 19092 + broker) for broker in range(3))


def described(cluster: Served, type: int, name: str, *names: str, broker: int = 1) -> dict[str, Any]:
    resource = {"resource_type": type, "resource_name": name, "configuration_keys": list(names) or None}
    body = {"resources": [resource], "include_synonyms": True, "include_documentation": False}
    (found,) = cluster.connect(broker).ask(DESCRIBE_CONFIGS, 2, body)["results"]
    assert found["error_code"] == 0
    return {entry["name"]: entry for entry in found["configs"]}


@pytest.fixture(scope="module")
def cluster() -> Any:
    orders = {"name": "orders", "partitions": 1, "replication_factor": 3, "config": {"segment.ms": 5000}}
    table = {"cluster": {"brokers": 3, "racks": 3, "config": {"log.roll.ms": 7000}}, "topics": [orders]}
    with served(table) as cluster:
        yield cluster


def test_a_broker_says_where_it_is(cluster: Served) -> None:
    entries = described(cluster, BROKER, "1")
    host, port = cluster.run.sockets.addresses[1]
    values = {name: entries[name]["value"] for name in cluster.run.gateway.served.stated[1]}
    assert values == {
        "advertised.listeners": f"PLAINTEXT://{host}:{port}", "broker.id": "1", "broker.rack": values["broker.rack"],
        "listeners": f"PLAINTEXT://{host}:{port}", "log.dirs": "/data/0",
        "zookeeper.connect": cluster.run.zookeeper_connect,
    }  # fmt: skip
    assert {name for name in values if not entries[name]["read_only"]} == {"listeners", "advertised.listeners"}
    assert [each["source"] for each in entries["broker.id"]["synonyms"]] == [4, 5]
    assert {entries[name]["config_source"] for name in values} == {4}


def test_only_what_is_asked_for_is_described(cluster: Served) -> None:
    assert list(described(cluster, BROKER, "1", "log.dirs", "min.insync.replicas")) == [
        "min.insync.replicas",
        "log.dirs",
    ]


def test_a_setting_without_a_value_is_no_synonym_unless_it_is_set(cluster: Served) -> None:
    topic = described(cluster, TOPIC, "orders", "retention.ms", "segment.ms")
    names = {name: [each["name"] for each in entry["synonyms"]] for name, entry in topic.items()}
    assert names == {"retention.ms": [], "segment.ms": ["segment.ms", "log.roll.ms", "log.roll.hours"]}
    assert (topic["retention.ms"]["value"], topic["retention.ms"]["config_source"]) == ("604800000", 5)
    broker = described(cluster, BROKER, "1", "log.retention.ms")["log.retention.ms"]
    assert (broker["value"], broker["synonyms"]) == (None, [])


def test_an_admin_client_reads_it_and_a_replay_answers_it_again(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with served(record=folder) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.run.bootstrap_servers})
        resource = ConfigResource(ConfigResource.Type.BROKER, "2")
        entries = admin.describe_configs([resource], request_timeout=30)[resource].result(30)
        assert entries["broker.id"].value == "2"
        assert entries["zookeeper.connect"].value == cluster.run.zookeeper_connect
    assert ReplayedRun(read_live_run(folder)).play().same


def test_behind_a_proxy_the_two_listeners_differ() -> None:
    with served(advertised=ADVERTISED) as cluster:
        stated = cluster.run.gateway.served.stated[2]
        assert stated["advertised.listeners"] == "PLAINTEXT://kafka-2.test:19094"
        assert stated["listeners"] == f"PLAINTEXT://127.0.0.1:{cluster.run.sockets.ports[2]}"
