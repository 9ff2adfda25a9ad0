"""Fetches by topic ids, in and out of sessions, while a topic is deleted and created again, on real Kafkas and here:
the answers are equal in each field. ``python -m pytest -m java``."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from kafka import KafkaProducer

from benchmarks.announced.__main__ import ASKED
from benchmarks.calibration.errors import CannotRecord
from benchmarks.calibration.real.cluster import running
from emulator.protocol.errors import Errors
from emulator.protocol.records import write_records
from scenarios.wire.apis.shared import NO_ID
from scenarios.wire.codec.records import checked
from tests.scenarios.wire.gateway.served import CREATE_TOPICS, METADATA, Raw, served, wait_for

pytestmark = [pytest.mark.java, pytest.mark.slow]

PRODUCE, FETCH, DELETE_TOPICS = 0, 1, 20
NEWEST = {"3.3.2": 13, "3.9.1": 17}
PROFILES = {"3.3.2": "kafka-3.3", "3.9.1": "kafka-3.9"}
UNKNOWN = bytes(range(16))
BATCH = checked(write_records([(None, b"x")], 1_700_000_000_000))
Body = dict[str, Any]
Seen = list[tuple[object, ...]]


class ToCompare:
    """Two brokers. ``orders-0`` is led by broker 0, and broker 1 has no replica of ``alone-0``."""

    def __init__(self, connect: Callable[[int], Raw], servers: Any, newest: int) -> None:
        self.connect, self.servers, self.newest = connect, servers, newest
        self.raw = connect(0)
        self.seen: Seen = []
        self.names: dict[bytes, str] = {UNKNOWN: "(unknown)"}

    def play(self) -> Seen:
        """The answers."""
        self._create("orders", [[0, 1], [0, 1]])
        self._create("alone", [[0]])
        first = self._id("orders")
        with closing(KafkaProducer(bootstrap_servers=self.servers, acks="all", linger_ms=500)) as producer:
            sent = [producer.send("orders", b"x", partition=0) for _ in range(10)]
            producer.flush()
            assert all(each.get(60) for each in sent)
        for version in range(13, self.newest + 1):
            self._fetch("without a session", version, [(first, 0), (first, 1)])
        self._fetch("out of range", 13, [(first, 0)], offset=99)
        self._fetch("an unknown id first", 13, [(UNKNOWN, 0), (first, 0), (first, 7)])
        self._at_the_wrong_broker()
        self._mixed_sessions(first)
        self._deleted_and_created_again(first)
        return self.seen

    def _at_the_wrong_broker(self) -> None:
        alone, other = self._id("alone"), self.connect(1)
        self._fetch("no replica here", self.newest, [(alone, 0)], raw=other)
        if self.newest >= 16:
            body: Body = {"transactional_id": None, "acks": 1, "timeout_ms": 1000, "topic_data": []}
            topic = {"name": "alone", "partition_data": [{"index": 0, "records": BATCH}]}
            answer = other.ask(PRODUCE, 10, {**body, "topic_data": [topic]})
            [partition] = answer["responses"][0]["partition_responses"]
            named = [each["node_id"] for each in answer["node_endpoints"]]
            self.seen.append(("produced", partition["error_code"], partition["current_leader"], named))
        self._fetch("a later epoch", self.newest, [(self._id("orders"), 0)], epoch=99)
        self._fetch("an earlier epoch", self.newest, [(self._id("orders"), 0)], epoch=-5)

    def _mixed_sessions(self, orders: bytes) -> None:
        by_name = self._fetch("a session by names", 12, [("orders", 0)], session=(0, 0))
        self._fetch("goes on by ids", 13, [], session=(by_name, 1))
        self._fetch("goes on by names", 12, [], session=(by_name, 1))
        by_ids = self._fetch("a session by ids", 13, [(orders, 0), (UNKNOWN, 3)], session=(0, 0))
        self._fetch("goes on by names", 12, [], session=(by_ids, 1))
        self._fetch("goes on by ids", 13, [], session=(by_ids, 1))
        self._fetch("the same epoch again", 13, [], session=(by_ids, 1))
        self._fetch("one is forgotten", 13, [(orders, 1)], session=(by_ids, 2), forgotten=[(UNKNOWN, 3)])
        self._fetch("no such session", 13, [], session=(by_ids + 1 if by_ids < 2**31 - 1 else 1, 1))
        self._fetch("ended", 13, [], session=(by_ids, -1))
        self._fetch("is gone", 13, [], session=(by_ids, 3))

    def _deleted_and_created_again(self, first: bytes) -> None:
        session = self._fetch("before the deletion", 13, [(first, 0)], session=(0, 0), offset=10)
        topics = [{"name": "orders", "topic_id": NO_ID}]
        [deleted] = self.connect(1).ask(DELETE_TOPICS, 6, {"topics": topics, "timeout_ms": 60_000})["responses"]
        assert deleted["error_code"] == Errors.NONE
        wait_for(lambda: self._described("orders")["error_code"], what="it is gone")
        self._fetch("deleted, in a session", 13, [], session=(session, 1))
        self._fetch("deleted, without one", 13, [(first, 0)])
        wait_for(lambda: self._created("orders", [[0, 1], [0, 1]]), what="it is created again")
        second = self._id("orders")
        assert second != first
        self.names[second] = "orders, the second"
        self._fetch("created again, in a session", 13, [], session=(session, 2))
        self._fetch("created again, without one", 13, [(first, 0), (second, 0)])
        self._fetch("added to the session", 13, [(second, 0)], session=(session, 3))
        self._fetch("instead of the first", 13, [], session=(session, 4), forgotten=[(first, 0)])

    # -- requests -----------------------------------------------------------------------------------------------------

    def _described(self, name: str) -> Body:
        asked = {"topics": [{"name": name, "topic_id": NO_ID}], "allow_auto_topic_creation": False}
        found: Body = self.raw.ask(METADATA, 12, asked)["topics"][0]
        return found

    def _created(self, name: str, assignment: list[list[int]]) -> bool:
        placed = [{"partition_index": at, "broker_ids": replicas} for at, replicas in enumerate(assignment)]
        topic = {"name": name, "num_partitions": -1, "replication_factor": -1, "assignments": placed, "configs": []}
        body = {"topics": [topic], "timeout_ms": 60_000, "validate_only": False}
        [created] = self.connect(1).ask(CREATE_TOPICS, 7, body)["topics"]
        return not created["error_code"]

    def _create(self, name: str, assignment: list[list[int]]) -> None:
        assert self._created(name, assignment)
        self.names[self._id(name)] = name

    def _id(self, name: str) -> bytes:
        """The id of a topic, once its leader is known everywhere."""

        def led() -> Body | None:
            found = self._described(name)
            return (
                found if all(each["leader_id"] == 0 for each in found["partitions"]) and found["partitions"] else None
            )

        found: bytes = wait_for(led, what=f"broker 0 leads {name}")["topic_id"]
        time.sleep(0.2)
        return found

    def _fetch(
        self,
        what: str,
        version: int,
        wanted: list[tuple[Any, int]],
        *,
        session: tuple[int, int] = (0, -1),
        forgotten: list[tuple[Any, int]] | None = None,
        offset: int = 0,
        epoch: int = -1,
        raw: Raw | None = None,
    ) -> int:
        """One request, whose answer is ``seen``. Returns the id of the session."""
        body = {
            "max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1 << 20, "isolation_level": 0, "session_id": session[0],
            "session_epoch": session[1], "rack_id": "",
            "topics": [
                {
                    **_named(topic),
                    "partitions": [
                        {
                            "partition": partition, "current_leader_epoch": epoch, "fetch_offset": offset,
                            "last_fetched_epoch": -1, "log_start_offset": -1, "partition_max_bytes": 1 << 20,
                        }
                    ],
                }
                for topic, partition in wanted
            ],
            "forgotten_topics_data": [{**_named(topic), "partitions": [number]} for topic, number in forgotten or ()],
        }  # fmt: skip
        answer = (raw or self.raw).ask(FETCH, version, body)
        rows = [
            (self.names.get(topic["topic_id"], topic["topic"]), _without_bytes(partition))
            for topic in answer["responses"]
            for partition in topic["partitions"]
        ]
        named = [each["node_id"] for each in answer["node_endpoints"]]
        self.seen.append((what, version, answer["error_code"], answer["session_id"] > 0, rows, named))
        return int(answer["session_id"])


def _named(topic: Any) -> Body:
    return {"topic_id": topic} if isinstance(topic, bytes) else {"topic": topic}


def _without_bytes(partition: Body) -> list[tuple[str, object]]:
    """The fields. Null and an empty list are the same to clients: Kafka sends the one or the other with an error."""
    none_aborted = not partition["aborted_transactions"]
    found = {**partition, "records": bool(partition["records"]), "aborted_transactions": none_aborted}
    return sorted(found.items())


@contextmanager
def a_real_one(release: str) -> Iterator[ToCompare]:
    config = {"unclean.leader.election.enable": "false", "auto.leader.rebalance.enable": "false"}
    with running(ASKED[release], 2, config, first=1, request_logs=False) as cluster:

        def connect(broker: int) -> Raw:
            return Raw(wait_for(lambda: _connected(cluster.port(broker)), what="it listens"))

        yield ToCompare(connect, [f"127.0.0.1:{cluster.port(each)}" for each in range(2)], NEWEST[release])


def _connected(port: int) -> socket.socket | None:
    try:
        return socket.create_connection(("127.0.0.1", port), 10)
    except OSError:
        return None


@contextmanager
def one_of_ours(release: str) -> Iterator[ToCompare]:
    document = {
        "profile": PROFILES[release],
        "cluster": {"brokers": 2, "controller": 1, "config": {"auto.leader.rebalance.enable": False}},
    }
    with served(document) as cluster:
        yield ToCompare(cluster.connect, cluster.run.bootstrap_servers, NEWEST[release])


@pytest.mark.parametrize("release", NEWEST)
def test_fetches_by_topic_ids_are_answered_as_by_a_real_broker(release: str) -> None:
    try:
        with a_real_one(release) as real:
            expected = real.play()
    except CannotRecord as missing:
        pytest.skip(str(missing))
    with one_of_ours(release) as ours:
        assert ours.play() == expected
