"""Topic ids on the wire (KIP-516): Metadata 10 to 12, CreateTopics 7, DeleteTopics 6."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from emulator.protocol.errors import Errors
from scenarios.wire.apis.shared import NO_ID, id_bytes, id_text
from tests.scenarios.wire.gateway.served import Raw, Served, served, wait_for

CREATE_TOPICS, DELETE_TOPICS, METADATA = 19, 20, 3
TABLE = {
    "cluster": {"brokers": 3, "controller": 0},
    "topics": [{"name": "orders", "partitions": 2, "replication_factor": 2}],
}
UNKNOWN = bytes(range(16))
Body = dict[str, Any]


@pytest.fixture(params=["kafka-2.8", "kafka-3.0"])
def cluster(request: pytest.FixtureRequest) -> Iterator[Served]:
    with served({**TABLE, "profile": request.param}) as found:
        yield found


def topics(raw: Raw, *wanted: Body, version: int = 11) -> list[Body]:
    found: list[Body] = raw.ask(METADATA, version, {"topics": list(wanted), "allow_auto_topic_creation": False})[
        "topics"
    ]
    return found


def create(raw: Raw, name: str, **more: Any) -> Body:
    topic = {"name": name, "num_partitions": 1, "replication_factor": 2}
    [created] = raw.ask(CREATE_TOPICS, 7, {"topics": [topic], "timeout_ms": 60_000, **more})["topics"]
    found: Body = created
    return found


def delete(raw: Raw, *wanted: Body) -> list[Body]:
    named = [{"name": None, "topic_id": NO_ID, **each} for each in wanted]
    found: list[Body] = raw.ask(DELETE_TOPICS, 6, {"topics": named, "timeout_ms": 60_000})["responses"]
    return found


def test_metadata_has_the_id_of_the_znode(cluster: Served) -> None:
    for broker in range(3):
        [topic] = topics(cluster.connect(broker), {"name": "orders"}, version=10)
        assert topic["topic_id"] != NO_ID
        version = topic["topic_id"][6] >> 4
        assert version == 4, "a random UUID"
    zookeeper = cluster.run.stage.cluster.zookeeper.tree.nodes["/brokers/topics/orders"].data
    assert f'"topic_id":"{id_text(topic["topic_id"])}"' in zookeeper
    assert id_bytes(id_text(topic["topic_id"])) == topic["topic_id"]


def test_a_topic_that_is_created_again_has_another_id(cluster: Served) -> None:
    raw = cluster.connect(0)
    first = create(raw, "new")
    assert first["error_code"] == 0
    assert first["topic_id"] not in (NO_ID, UNKNOWN)
    assert [each["topic_id"] for each in topics(raw, {"name": "new"})] == [first["topic_id"]]
    assert create(raw, "new")["topic_id"] == NO_ID, "the second one is refused"

    [gone] = delete(raw, {"topic_id": first["topic_id"]})
    assert (gone["name"], gone["topic_id"], gone["error_code"]) == ("new", first["topic_id"], 0)
    # The topic's znode goes with the deletion's end; until then its name is taken.
    second = wait_for(lambda: _created(create(raw, "new")), what="it can be created again")
    assert second["topic_id"] not in (NO_ID, first["topic_id"])
    assert [each["topic_id"] for each in topics(raw, {"name": "new"})] == [second["topic_id"]]

    [old] = delete(raw, {"topic_id": first["topic_id"]})
    assert (old["name"], old["error_code"]) == (None, Errors.UNKNOWN_TOPIC_ID)
    assert [each["error_code"] for each in topics(raw, {"name": "new"})] == [0], "the new one is still there"


def _created(topic: Body) -> Body | None:
    return None if topic["error_code"] else topic


def test_topics_are_deleted_by_name_and_by_id(cluster: Served) -> None:
    raw = cluster.connect(0)
    ids = {name: create(raw, name)["topic_id"] for name in ("one", "two")}
    found = delete(raw, {"name": "one"}, {"topic_id": ids["two"]}, {"topic_id": UNKNOWN}, {"name": "none"})
    assert {(each["name"], each["topic_id"]): each["error_code"] for each in found} == {
        ("one", NO_ID): 0,
        ("two", ids["two"]): 0,
        (None, UNKNOWN): Errors.UNKNOWN_TOPIC_ID,
        ("none", NO_ID): Errors.UNKNOWN_TOPIC_OR_PARTITION,
    }
    both = delete(raw, {"name": "orders", "topic_id": UNKNOWN})
    assert [each["error_code"] for each in both] == [Errors.INVALID_REQUEST]
    elsewhere = delete(cluster.connect(1), {"topic_id": UNKNOWN})
    assert [each["error_code"] for each in elsewhere] == [Errors.NOT_CONTROLLER]
    assert [each["error_code"] for each in topics(raw, {"name": "orders"})] == [0]


@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize("asked", [{"name": None}, {"name": "orders", "topic_id": UNKNOWN}])
def test_no_broker_takes_ids_in_metadata_10_and_11(cluster: Served, version: int, asked: Body) -> None:
    [topic] = topics(cluster.connect(1), asked, version=version)
    assert (topic["name"], topic["error_code"]) == (asked["name"] or "", Errors.INVALID_REQUEST)


def test_metadata_12_takes_ids() -> None:
    with served({**TABLE, "profile": "kafka-3.0"}, api_versions="3.1") as cluster:
        raw = cluster.connect(2)
        [orders] = topics(raw, {"name": "orders"}, version=12)
        found = topics(raw, {"name": None, "topic_id": UNKNOWN}, {"topic_id": orders["topic_id"]}, version=12)
        assert [(each["name"], each["error_code"]) for each in found] == [
            (None, Errors.UNKNOWN_TOPIC_ID), ("orders", 0),
        ]  # fmt: skip
        assert found[1] == orders
        [unnamed] = topics(raw, {"name": None}, version=12)
        assert unnamed["error_code"] == Errors.INVALID_REQUEST


def test_a_release_without_ids_has_none() -> None:
    with served({**TABLE, "profile": "kafka-2.7"}, api_versions="3.0") as cluster:
        raw = cluster.connect()
        raw.send(METADATA, 9, {"topics": None})
        assert raw.frame()
        [topic] = topics(raw, {"name": "orders"}, version=10)
        assert topic["error_code"] == Errors.UNSUPPORTED_VERSION


def test_topic_ids_in_response(cluster: Served) -> None:
    """MetadataRequestTest.testTopicIdsInResponse: version 9 has none, version 10 has."""
    raw = cluster.connect()
    names = [each["name"] for each in raw.ask(METADATA, 9, {"topics": None})["topics"]]
    for version, expected in ((9, False), (10, True)):
        found = topics(raw, *({"name": name, "topic_id": NO_ID} for name in names), version=version)
        assert [each["error_code"] for each in found] == [0] * len(names)
        assert [each.get("topic_id", NO_ID) != NO_ID for each in found] == [expected] * len(names)
