"""Fetch: from followers (11, KIP-392), topics by their ids (13, KIP-516), replicas by a state (15, KIP-903), the
leader in answers (16, KIP-951)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from emulator.protocol.clients.fetch import ConsumerFetchRequest, ConsumerFetchResponse, by_id
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from scenarios.wire.apis.base import Connection, ServedCluster, wire_apis
from scenarios.wire.apis.shared import NO_ID, id_text
from tests.scenarios.wire.gateway.served import METADATA, Raw, Served, served, wait_for

PRODUCE, FETCH, DELETE_TOPICS, CREATE_TOPICS = 0, 1, 20, 19
TABLE = {
    "cluster": {"brokers": 3, "controller": 0},
    "topics": [{"name": "orders", "assignment": [[0, 1]]}, {"name": "alone", "assignment": [[1]]}],
}
UNKNOWN = bytes(range(16))
FETCH_API = wire_apis()[FETCH]
Body = dict[str, Any]


@pytest.fixture(params=["kafka-3.3", "kafka-3.9"])
def cluster(request: pytest.FixtureRequest) -> Iterator[Served]:
    with served({**TABLE, "profile": request.param}) as found:
        yield found


def topic_id(raw: Raw, name: str) -> bytes:
    asked = {"topics": [{"name": name, "topic_id": NO_ID}], "allow_auto_topic_creation": False}

    def known() -> bytes | None:
        [topic] = raw.ask(METADATA, 12, asked)["topics"]
        led = topic["partitions"] and all(each["leader_id"] >= 0 for each in topic["partitions"])
        return topic["topic_id"] if led else None

    found: bytes = wait_for(known, what=f"{name} has leaders")
    return found


def body(*wanted: tuple[bytes, int], session: tuple[int, int] = (0, -1), **more: Any) -> Body:
    return {
        "max_wait_ms": 0, "min_bytes": 0, "session_id": session[0], "session_epoch": session[1], "rack_id": "",
        "isolation_level": 0, "forgotten_topics_data": [],
        "topics": [
            {"topic_id": id, "partitions": [{"partition": number, "fetch_offset": 0, "partition_max_bytes": 1000}]}
            for id, number in wanted
        ],
        **more,
    }  # fmt: skip


def rows(answer: Body) -> list[tuple[bytes, int, int]]:
    """The topic's id, the partition and the error of each."""
    return [
        (topic["topic_id"], each["partition_index"], each["error_code"])
        for topic in answer["responses"]
        for each in topic["partitions"]
    ]


def test_topics_are_known_by_their_ids(cluster: Served) -> None:
    raw = cluster.connect(0)
    orders = topic_id(raw, "orders")
    answer = raw.ask(FETCH, 13, body((UNKNOWN, 0), (orders, 0), (orders, 9)))
    assert rows(answer) == [
        (orders, 0, Errors.NONE),
        (UNKNOWN, 0, Errors.UNKNOWN_TOPIC_ID),
        (orders, 9, Errors.UNKNOWN_TOPIC_OR_PARTITION),
    ], "what is not read comes last, as in Kafka"


def test_a_session_goes_on_with_what_it_began_with(cluster: Served) -> None:
    raw = cluster.connect(0)
    orders = topic_id(raw, "orders")
    session = raw.ask(FETCH, 13, body((orders, 0), session=(0, 0)))["session_id"]
    assert session > 0
    refused = raw.ask(FETCH, 12, body(session=(session, 1)))
    assert (refused["error_code"], refused["session_id"]) == (Errors.FETCH_SESSION_TOPIC_ID_ERROR, 0)
    goes_on = raw.ask(FETCH, 13, body(session=(session, 1)))
    assert (goes_on["error_code"], goes_on["session_id"], rows(goes_on)) == (Errors.NONE, session, [])
    named = raw.ask(FETCH, 12, {**body(session=(0, 0)), "topics": [_named("orders")]})["session_id"]
    assert raw.ask(FETCH, 13, body(session=(named, 1)))["error_code"] == Errors.FETCH_SESSION_TOPIC_ID_ERROR


def _named(topic: str) -> Body:
    return {"topic": topic, "partitions": [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1000}]}


def test_a_topic_that_is_created_again_is_another_one(cluster: Served) -> None:
    raw = cluster.connect(0)
    first = topic_id(raw, "orders")
    session = raw.ask(FETCH, 13, body((first, 0), session=(0, 0)))["session_id"]
    raw.ask(DELETE_TOPICS, 6, {"topics": [{"name": "orders", "topic_id": NO_ID}], "timeout_ms": 60_000})
    wait_for(
        lambda: rows(raw.ask(FETCH, 13, body((first, 0)))) == [(first, 0, Errors.UNKNOWN_TOPIC_ID)],
        what="its id is not known any more",
    )
    in_session = raw.ask(FETCH, 13, body(session=(session, 1)))
    assert rows(in_session) == [(first, 0, Errors.UNKNOWN_TOPIC_OR_PARTITION)], "the session has kept the name"

    assignments = [{"partition_index": 0, "broker_ids": [0, 1]}]
    topic = {"name": "orders", "num_partitions": -1, "replication_factor": -1, "assignments": assignments}
    create = {"topics": [topic], "timeout_ms": 60_000}
    wait_for(lambda: not raw.ask(CREATE_TOPICS, 7, create)["topics"][0]["error_code"], what="it is there again")
    second = topic_id(raw, "orders")
    again = raw.ask(FETCH, 13, body(session=(session, 2)))
    assert rows(again) == [(first, 0, Errors.INCONSISTENT_TOPIC_ID)]
    both = raw.ask(FETCH, 13, body((first, 0), (second, 0)))
    assert rows(both) == [(second, 0, Errors.NONE), (first, 0, Errors.UNKNOWN_TOPIC_ID)]


def test_an_id_that_is_learnt_later_is_read_in_the_session(cluster: Served) -> None:
    raw = cluster.connect(0)
    handler = cluster.run.stage.cluster.brokers[0].replicas.metadata
    orders = topic_id(raw, "orders")
    names = handler.topic_names
    assert names[id_text(orders)] == "orders"
    handler._snapshot._names = {}
    session = raw.ask(FETCH, 13, body((orders, 0), session=(0, 0)))
    assert rows(session) == [(orders, 0, Errors.UNKNOWN_TOPIC_ID)]
    handler._snapshot._names = names
    assert rows(raw.ask(FETCH, 13, body(session=(session["session_id"], 1)))) == [(orders, 0, Errors.NONE)]


def test_the_leader_is_named_from_3_7_on() -> None:
    with served({**TABLE, "profile": "kafka-3.9"}) as cluster:
        raw = cluster.connect(0)
        alone = topic_id(raw, "alone")
        answer = raw.ask(FETCH, 17, body((alone, 0)))
        assert rows(answer) == [(alone, 0, Errors.NOT_LEADER_FOR_PARTITION)]
        assert answer["responses"][0]["partitions"][0]["current_leader"] == {"leader_id": 1, "leader_epoch": 0}
        host, port = cluster.run.sockets.addresses[1]
        assert [(each["node_id"], each["host"], each["port"]) for each in answer["node_endpoints"]] == [(1, host, port)]
        before = raw.ask(FETCH, 15, body((alone, 0)))
        assert before["node_endpoints"] == []
        assert before["responses"][0]["partitions"][0]["current_leader"] == {"leader_id": -1, "leader_epoch": -1}
        topic = {"name": "alone", "partition_data": [{"index": 0, "records": b""}]}
        produced = raw.ask(PRODUCE, 10, {"acks": 1, "timeout_ms": 1000, "topic_data": [topic]})
        [partition] = produced["responses"][0]["partition_responses"]
        assert partition["error_code"] == Errors.NOT_LEADER_FOR_PARTITION
        assert partition["current_leader"] == {"leader_id": 1, "leader_epoch": 0}
        assert [each["node_id"] for each in produced["node_endpoints"]] == [1]


def connection(version: int) -> Connection:
    served_cluster = ServedCluster("id", {}, {}, {}, topic_names={id_text(UNKNOWN): "orders"})
    return Connection(0, "c", served_cluster, version=version)


@pytest.mark.parametrize("version", [13, 15])
def test_a_replica_says_who_it_is(version: int) -> None:
    asked = {
        "replica_id": 1, "replica_state": {"replica_id": 2}, **body((UNKNOWN, 4)), "max_bytes": 1,
    }  # fmt: skip
    for topic in asked["topics"]:
        for partition in topic["partitions"]:
            partition |= {"current_leader_epoch": -7, "last_fetched_epoch": -1}
    request = FETCH_API.to_request(asked, connection(version))
    assert isinstance(request, ConsumerFetchRequest)
    assert request.replica_id == (2 if version >= 15 else 1)
    assert request.wanted[0][:2] == (by_id(id_text(UNKNOWN), 4), -1), "any negative epoch is none"
    assert list(request.topic_partitions()) == [TopicPartition("orders", 4)], "the name that clients were told"


def test_partitions_of_two_topics_with_one_name_are_answered_apart() -> None:
    tp = TopicPartition("orders", 0)
    answers = ((tp, Errors.NONE, 1, 0, (), None), (tp, Errors.INCONSISTENT_TOPIC_ID, -1, -1, (), None))
    response = ConsumerFetchResponse(Errors.NONE, 5, answers, 60, {}, (id_text(UNKNOWN), id_text(bytes(15) + b"x")))
    found = FETCH_API.to_response(response, {"isolation_level": 0}, connection(13))
    assert rows(found) == [(UNKNOWN, 0, Errors.NONE), (bytes(15) + b"x", 0, Errors.INCONSISTENT_TOPIC_ID)]


@pytest.mark.parametrize(
    ("profile", "version", "expected"),
    [
        ("kafka-2.3", 11, Errors.NOT_LEADER_FOR_PARTITION),
        ("kafka-2.4", 10, Errors.NOT_LEADER_FOR_PARTITION),
        ("kafka-2.4", 11, Errors.NONE),
        ("kafka-3.9", 13, Errors.NONE),
    ],
)
def test_a_follower_answers_a_consumer_that_may_name_its_rack(profile: str, version: int, expected: Errors) -> None:
    with served({**TABLE, "profile": profile}) as found:
        follower = found.connect(1)
        place = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1000}
        wanted: Body = {"topic": "orders", "partitions": [place]}
        if version >= 13:
            wanted["topic_id"] = topic_id(follower, "orders")
        asked = {**body(), "topics": [wanted]}

        def answered() -> Body | None:
            [partition] = follower.ask(FETCH, version, asked)["responses"][0]["partitions"]
            return None if partition["error_code"] == Errors.UNKNOWN_TOPIC_OR_PARTITION else partition

        assert wait_for(answered, what="the follower knows of the topic")["error_code"] == expected
