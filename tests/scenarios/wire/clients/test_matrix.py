"""Real clients for JavaScript and Java, each in one process, against one served cluster: records go in and out in
order, 2,000 with every acks and compression each, and 10,000 while a partition moves, a broker dies and comes back, and
the coordinator moves. What the Python clients do is in tests/scenarios/wire/test_data.py and test_groups.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pytest
from attrs import frozen

from benchmarks.clients.history import reordered
from benchmarks.clients.known import CLIENTS, Client, JavaClient, NodeClient
from scenarios.runs.known_findings import fails
from scenarios.wire.released_versions import released
from tests.scenarios.wire.clients.applications import Application, application
from tests.scenarios.wire.gateway.served import Served, served

RECORDS, PARTITIONS = 10_000, 4
IN_EACH_WAY = 2_000
"""Records with one acks, or one compression."""
MOVED, TOGETHER = "moved", "together"
SETTINGS = {
    "group.initial.rebalance.delay.ms": 0, "group.min.session.timeout.ms": 100, "offsets.topic.num.partitions": 1,
    "min.insync.replicas": 2,
}  # fmt: skip
MEMBER = {"session_ms": 45_000, "heartbeat_ms": 100}
"""The cluster's time goes four times as fast as that of the clients, who say so to their coordinator."""


@frozen
class Variant:
    """How a producer sends: the name of its topic, and what it is asked for."""

    name: str
    settings: dict[str, str]


ACKS = tuple(Variant(f"acks-{acks}", {"acks": acks}) for acks in ("0", "1", "all"))
COMPRESSIONS = tuple(Variant(name, {"compression": name}) for name in ("gzip", "snappy", "lz4", "zstd"))
OWN_COMPRESSIONS = {"kafkajs": ("gzip",), "@platformatic/kafka": ("gzip", "snappy", "lz4")}
"""Compressions that a client has by itself; the others need packages, or a newer Node, beside it."""
PROFILE = "kafka-2.3"
PROFILES = {"@platformatic/kafka": "kafka-3.0"}
"""For clients that need a later release: this one asks for FindCoordinator 4 and OffsetFetch 8."""
WITH_ZSTD = 7
"""The first version of Produce whose records can be compressed by zstd (KIP-110, 2.1)."""
RELEASES = ("kafka-1.1", "kafka-2.4", "kafka-3.0", "kafka-3.9")
"""Other releases that a client of today attaches to, each with the versions of its time."""
TABLE = {
    "cluster": {"brokers": 4, "config": SETTINGS, "zk": {"session_timeout": "1s"}},
    "topics": [
        *({"name": each.name, "partitions": 1, "replication_factor": 3} for each in (*ACKS, *COMPRESSIONS)),
        *({"name": name, "assignment": [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]]} for name in (MOVED, TOGETHER)),
    ],
}


@frozen
class Place:
    """A served cluster and a process of a client."""

    cluster: Served
    application: Application

    def state(self, partition: str) -> Any:
        [found] = self.cluster.operate("state", partition=partition)["partitions"]
        return found

    def operate(self, action: str, **more: Any) -> None:
        answer = self.cluster.operate(action, **more)
        assert answer.get("ok"), answer

    def reassign(self, topic: str, replicas: list[int]) -> None:
        """Begin to move the topic's first partition."""
        self.operate("reassign.execute", plan={"partitions": [{"topic": topic, "partition": 0, "replicas": replicas}]})


KAFKAJS, PLATFORMATIC, JAVA_2_4, JAVA_3_9 = (each for each in CLIENTS if isinstance(each, NodeClient | JavaClient))


def clients(
    *quick: Client,
    slow: Sequence[Client] = (),
    in_releases: Sequence[Client] = (),
    releases: Sequence[str] = RELEASES,
) -> pytest.MarkDecorator:
    """The clients of a test; those of ``slow`` take longer, or do what a quick one does, too. Those of ``in_releases``
    do it also with brokers of other releases."""
    params = [
        pytest.param((each, PROFILES.get(each.name, PROFILE)), id=each.name, marks=[pytest.mark.slow] * (each in slow))
        for each in (*quick, *slow)
    ]
    params += [
        pytest.param((each, release), id=f"{each.name}-{release}", marks=pytest.mark.slow)
        for each in in_releases
        for release in releases
    ]
    return pytest.mark.parametrize("place", params, indirect=True, scope="module")


@pytest.fixture(scope="module")
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Where a client is not there, the test is skipped with how it can be had."""
    client: Client
    client, profile = request.param
    if client.version() is None:
        pytest.skip(f"{client.name} is not there: {client.install}")
    with (
        served({**TABLE, "profile": profile}, rate=4.0) as cluster,
        application(client, cluster.run.bootstrap_servers, tmp_path_factory.mktemp("application")) as process,
    ):
        yield Place(cluster, process)
        process.end()
    [run] = cluster.finished
    assert not fails(run), run.explanation
    assert run.metrics["lost_acks_all_records"] == 0
    assert cluster.lines == []


@clients(KAFKAJS, JAVA_3_9, slow=[PLATFORMATIC, JAVA_2_4], in_releases=[KAFKAJS, JAVA_3_9])
def test_every_acks_and_compression(place: Place) -> None:
    process, sent = place.application, list(range(IN_EACH_WAY))

    def all_seen(kind: str, name: str) -> bool:
        return len(process.records(kind, name)) >= IN_EACH_WAY

    own = OWN_COMPRESSIONS.get(process.client.name)
    broker = released(place.cluster.run.scenario.policies.brokers.api_versions)
    known = [each for each in COMPRESSIONS if each.name != "zstd" or broker[0][1] >= WITH_ZSTD]
    variants = [*ACKS, *(each for each in known if own is None or each.name in own)]
    for variant in variants:
        both = {"name": variant.name, "topic": variant.name, "records": IN_EACH_WAY}
        process.begin("produce", **both, partitions=1, ordered="true", **variant.settings)
        process.begin("consume", **both, group=variant.name, **MEMBER)
    for variant in variants:
        process.until(partial(all_seen, "received", variant.name), variant.name)
        assert process.records("received", variant.name) == sent
        process.until(partial(all_seen, "acked", variant.name), variant.name)
    assert process.errors == []


# @platformatic/kafka stands still when a leader dies. With kafka-2.4 a dead replica has stayed in an ISR
# (dead_leave_isr), as moves there cause it (KAFKA-9672), and the second consumer has not read within the test's time.
@clients(slow=[KAFKAJS, JAVA_2_4, JAVA_3_9], in_releases=[JAVA_3_9], releases=("kafka-1.1", "kafka-3.0", "kafka-3.9"))
def test_a_group_while_a_partition_a_broker_and_the_coordinator_move(place: Place) -> None:
    process = place.application

    def acked() -> list[int]:
        return process.records("acked", "producer")

    def received(*names: str) -> set[int]:
        return {number for name in names for number in process.records("received", name)}

    def more(limit: int) -> None:
        """Allow more records, and wait until some of them are acknowledged."""
        already = max(acked(), default=-1)
        process.allow(limit)
        process.until(lambda: max(acked(), default=-1) > already, f"records go on to {limit}")

    process.allow(0)
    process.begin("consume", name="first", topic=MOVED, group="readers", **MEMBER)
    how = {"records": RECORDS, "partitions": PARTITIONS, "idempotent": "true", "ordered": "true"}
    process.begin("produce", name="producer", topic=MOVED, **how)
    more(2000)
    process.until(lambda: bool(received("first")), "the first consumer reads")

    place.reassign(MOVED, [3, 1, 2])
    process.begin("consume", name="second", topic=MOVED, group="readers", **MEMBER)
    more(4000)

    killed = place.state(f"{MOVED}-1")["leader"]
    place.operate("broker.crash", target=killed)
    more(6000)
    process.until(lambda: place.state(f"{MOVED}-1")["leader"] not in (-1, killed), "another leader")
    process.until(lambda: bool(received("second")), "the second consumer reads")
    place.operate("broker.start", target=killed)
    process.until(lambda: killed in place.state(f"{MOVED}-1")["isr"], "the broker is back")
    process.until(lambda: place.state(f"{MOVED}-0")["replicas"] == [3, 1, 2], "the partition has moved")

    coordinator = place.state("__consumer_offsets-0")["leader"]
    place.reassign("__consumer_offsets", [broker for broker in range(4) if broker != coordinator])
    more(8000)
    process.until(lambda: place.state("__consumer_offsets-0")["leader"] not in (-1, coordinator), "another coordinator")
    process.allow(RECORDS)

    every = set(range(RECORDS))
    process.until(lambda: received("first", "second") == every, "the group reads all")
    process.until(lambda: set(acked()) == every, "all is acknowledged")
    assert process.records("failed", "producer") == []
    for name in ("first", "second"):
        for partition in range(PARTITIONS):
            read = [number for number in process.records("received", name) if number % PARTITIONS == partition]
            assert reordered(read) == 0

    process.begin("consume", name="alone", topic=MOVED, group="alone", records=RECORDS, **MEMBER)
    process.until(lambda: len(process.records("received", "alone")) >= RECORDS, "one consumer reads all")
    log = process.records("received", "alone")
    for partition in range(PARTITIONS):
        assert [each for each in log if each % PARTITIONS == partition] == list(range(partition, RECORDS, PARTITIONS))
        ends = {each["log_end_offset"] for each in place.state(f"{MOVED}-{partition}")["logs"]}
        assert max(ends) == RECORDS // PARTITIONS


@clients(slow=[PLATFORMATIC])
def test_a_group_that_a_second_consumer_joins(place: Place) -> None:
    """What @platformatic/kafka can do of the test above."""
    process = place.application

    def received(*names: str) -> set[int]:
        return {number for name in names for number in process.records("received", name)}

    process.allow(4000)
    process.begin("consume", name="first", topic=MOVED, group="readers", **MEMBER)
    how = {"records": RECORDS, "partitions": PARTITIONS, "idempotent": "true", "ordered": "true"}
    process.begin("produce", name="producer", topic=MOVED, **how)
    process.until(lambda: bool(received("first")), "the first consumer reads")
    process.begin("consume", name="second", topic=MOVED, group="readers", **MEMBER)
    process.until(lambda: len(process.records("acked", "producer")) == 4000, "records go on")
    process.allow(RECORDS)
    process.until(lambda: received("first", "second") == set(range(RECORDS)), "the group reads all")
    for name in ("first", "second"):
        read = process.records("received", name)
        assert [reordered([each for each in read if each % PARTITIONS == number]) for number in range(4)] == [0] * 4
    ends = [max(log["log_end_offset"] for log in place.state(f"{MOVED}-{number}")["logs"]) for number in range(4)]
    assert ends == [RECORDS // PARTITIONS] * PARTITIONS


@clients(KAFKAJS)
def test_kafkajs_says_that_records_are_written_which_it_has_not_sent(place: Place) -> None:
    """A finding of docs/understand/clients.md (tulios/kafkajs#1303), and why other tests send each partition's records
    apart."""
    process = place.application
    process.allow(400)
    how = {"records": 800, "partitions": PARTITIONS, "idempotent": "true", "ordered": "true", "together": "true"}
    process.begin("produce", name=TOGETHER, topic=TOGETHER, **how)
    process.until(lambda: len(process.records("acked", TOGETHER)) == 400, "all is well at first")
    killed = place.state(f"{TOGETHER}-1")["leader"]
    place.operate("broker.pause", target=killed)
    process.allow(800)

    def ends() -> list[int]:
        states = [place.state(f"{TOGETHER}-{number}") for number in range(PARTITIONS)]
        return [log["high_watermark"] for state in states for log in state["logs"] if log["broker"] == state["leader"]]

    process.until(lambda: ends() == [200, 100, 200, 200], "the other brokers have written")
    place.operate("broker.crash", target=killed)
    process.until(lambda: len(process.records("acked", TOGETHER)) == 800, "it says that all is written")
    written = ends()
    place.operate("broker.start", target=killed)
    process.until(lambda: killed in place.state(f"{TOGETHER}-1")["isr"], "the broker is back")
    assert written == ends() == [200, 100, 200, 200]
    assert process.errors == []
