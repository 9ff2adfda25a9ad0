"""Brokers, topics and partitions are renamed, or taken out, wherever a scenario names them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from scenarios.language.actions import all_actions
from scenarios.language.cluster_spec import ClusterSpec
from scenarios.language.expect import Expect
from scenarios.language.plan import GeneratedPlan, Move
from scenarios.language.schema.kinds import BROKER_ID, ONE_OR_MORE, REPLICAS, Kind, ListOf, MapOf
from scenarios.language.schema.table_reader import keys_of
from scenarios.language.targets import PEERS, TARGET, Target
from scenarios.language.topic_spec import TopicSpec
from scenarios.language.triggers import When, WhenMessage, WhenZk
from scenarios.language.turns import FOR_EACH, TurnsSpec
from scenarios.studies.shrink.references import BROKER_KEYS, Gone, with_brokers, with_partitions

TABLE: dict[str, Any] = {
    "title": "one that names brokers everywhere",
    "cluster": {"brokers": 4, "controller": 3, "network": {"cards": [{"brokers": [1, 3], "egress": "1MB/s"}]}},
    "topics": [{"name": "orders", "assignment": [[0, 1, 2], [1, 2, 3]]}, {"name": "o", "assignment": [[3, 2]]}],
    "workloads": [{"topic": "orders", "producerRate": 100}],
    "consumers": [{"topic": "orders", "partitions": [1]}, {"topic": "o"}],
    "plan": {"version": 1, "partitions": [{"topic": "orders", "partition": 1, "replicas": [0, 1]}]},
    "method": [
        {"at": "1s", "action": "broker.crash", "target": 1},
        {"at": "2s", "action": "link.cut", "target": {"brokers": [0, 1], "state": "up"}, "peer": [1, "zookeeper"]},
        {"at": "3s", "action": "broker.pause", "target": "leader(orders-1)"},
        {"when": {"message": "Fetch", "to": 2, "partition": "orders-0"}, "action": "message.hold"},
        {"when": {"zk": "setData", "path": "/brokers/topics/orders/partitions/1/state"}, "action": "message.hold"},
    ],
    "expect": [{"isr": {"orders-0": [0, 1], "o-0": [2]}}, {"leader": {"orders-1": 1}}],
}  # fmt: skip


def actions(table: dict[str, Any]) -> list[str]:
    return [entry["action"] for entry in table["method"]]


def without(broker: int) -> dict[str, Any]:
    return with_brokers(TABLE, lambda b: None if b == broker else b - (b > broker))


def test_a_broker_is_taken_out_and_the_others_move_up() -> None:
    found = without(1)
    assert found["cluster"]["brokers"] == 4, "a number of brokers, which is not an id"
    assert found["cluster"]["controller"] == 2
    assert found["cluster"]["network"]["cards"] == [{"brokers": [2], "egress": "1MB/s"}]
    assert [topic["assignment"] for topic in found["topics"]] == [[[0, 1], [1, 2]], [[2, 1]]]
    assert found["plan"]["partitions"] == [{"topic": "orders", "partition": 1, "replicas": [0]}]
    assert actions(found) == [
        "link.cut",
        "broker.pause",
        "message.hold",
        "message.hold",
    ]
    assert found["method"][0]["target"] == {"brokers": [0], "state": "up"}
    assert found["method"][0]["peer"] == ["zookeeper"]
    assert found["method"][2]["when"]["to"] == 1
    assert found["expect"] == [{"isr": {"orders-0": [0], "o-0": [1]}}]


def test_replica_lists_keep_one_length() -> None:
    found = with_brokers({"topics": TABLE["topics"]}, lambda b: None if b == 3 else b)
    assert found["topics"][0]["assignment"] == [[0, 1], [1, 2]]


def test_a_partition_that_would_have_no_replica_is_refused() -> None:
    with pytest.raises(Gone):
        with_brokers({"topics": [{"name": "o", "assignment": [[1]]}]}, lambda _: None)


def test_one_partition_is_left_and_is_number_0() -> None:
    found = with_partitions(TABLE, "orders", [1])
    assert [topic["assignment"] for topic in found["topics"]] == [[[1, 2, 3]], [[3, 2]]]
    assert found["consumers"][0]["partitions"] == [0]
    assert found["plan"]["partitions"][0]["partition"] == 0
    assert actions(found) == [
        "broker.crash",
        "link.cut",
        "broker.pause",
        "message.hold",
    ]
    assert found["method"][2]["target"] == "leader(orders-0)"
    assert found["method"][3]["when"]["path"] == "/brokers/topics/orders/partitions/0/state"
    assert found["expect"] == [{"isr": {"o-0": [2]}}, {"leader": {"orders-0": 1}}]


def test_a_topic_goes_with_all_that_is_about_it() -> None:
    found = with_partitions(TABLE, "orders", [])
    assert [topic["name"] for topic in found["topics"]] == ["o"]
    assert found["consumers"] == [{"topic": "o"}]
    assert (found["workloads"], "plan" in found) == ([], False)
    assert actions(found) == ["broker.crash", "link.cut"]


def test_a_topic_whose_name_is_the_beginning_of_another_is_another() -> None:
    assert with_partitions(TABLE, "o", [])["expect"] == [{"isr": {"orders-0": [0, 1]}}, {"leader": {"orders-1": 1}}]


def _blocks() -> Iterator[type[Any]]:
    yield from (ClusterSpec, TopicSpec, Move, GeneratedPlan, Expect, Target, TurnsSpec, When, WhenMessage, WhenZk)
    yield from all_actions().values()


def _names_brokers(kind: Kind[Any]) -> bool:
    if isinstance(kind, ListOf | MapOf):
        return _names_brokers(kind.item)
    return any(kind is one for one in (BROKER_ID, REPLICAS, ONE_OR_MORE, TARGET, PEERS, FOR_EACH))


@pytest.mark.parametrize("block", list(_blocks()), ids=lambda block: block.__name__)
def test_no_key_that_holds_brokers_is_forgotten(block: type[Any]) -> None:
    """Broker ids are found by the names of their keys: a new key has to be added to the list."""
    for key in keys_of(block):
        assert not _names_brokers(key.kind) or key.name in BROKER_KEYS, f"{key.name} of {block.__name__}"
