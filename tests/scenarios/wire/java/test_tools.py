"""Kafka's own tools, from 2.4 to 3.9, against a served cluster: ``python -m pytest -m java``."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.scenarios.wire.gateway.served import Served, served
from tests.scenarios.wire.java.jars import RELEASES, Release, call, class_path

pytestmark = [pytest.mark.java, pytest.mark.slow]

CLUSTER = {
    "profile": "kafka-2.7",
    "cluster": {"brokers": 3, "log_dirs": 2, "config": {"auto.leader.rebalance.enable": False}},
    "topics": [{"name": "orders", "assignment": [[0, 1], [1, 2]]}],
}
Call = Callable[..., str]


@pytest.fixture(params=RELEASES, ids=lambda release: release.version)
def release(request: pytest.FixtureRequest) -> Release:
    found: Release = request.param
    try:
        class_path(found)
    except LookupError as missing:
        pytest.skip(str(missing))
    return found


@pytest.fixture
def cluster() -> Iterator[Served]:
    with served(CLUSTER) as found:
        yield found


@pytest.fixture
def java(cluster: Served, release: Release) -> Call:
    return partial(call, release, servers=cluster.run.bootstrap_servers)


def test_kafka_topics_and_configs(release: Release, java: Call) -> None:
    tools = release
    java(
        tools.topics, "--create", "--topic", "payments", "--partitions", "3", "--replication-factor", "2",
        "--config", "min.insync.replicas=2",
    )  # fmt: skip
    java(tools.topics, "--alter", "--topic", "payments", "--partitions", "5")
    assert java(tools.topics, "--list").split() == ["orders", "payments"]
    described = java(tools.topics, "--describe", "--topic", "payments")
    assert "ReplicationFactor: 2\tConfigs: min.insync.replicas=2" in described
    assert described.count("Partition:") == 5
    if release.version > "2.5":  # before, the settings of topics went through ZooKeeper
        entity = "--entity-type", "topics", "--entity-name", "payments"
        java(tools.configs, "--alter", *entity, "--add-config", "retention.ms=7000")
        assert "retention.ms=7000" in java(tools.configs, "--describe", *entity)
    entity = "--entity-type", "brokers", "--entity-name", "1"
    java(tools.configs, "--alter", *entity, "--add-config", "leader.replication.throttled.rate=1000")
    assert "leader.replication.throttled.rate" in java(tools.configs, "--describe", *entity)
    java(tools.topics, "--delete", "--topic", "payments")
    assert java(tools.topics, "--list").split() == ["orders"]


def test_kafka_reassign_partitions(release: Release, java: Call, cluster: Served, tmp_path: Path) -> None:
    if not release.reassign:
        pytest.skip("its kafka-reassign-partitions writes to ZooKeeper")
    topics, plan = tmp_path / "topics.json", tmp_path / "plan.json"
    topics.write_text(json.dumps({"version": 1, "topics": [{"topic": "orders"}]}))
    tool = partial(java, release.reassign)
    proposed = tool("--generate", "--topics-to-move-json-file", str(topics), "--broker-list", "1,2").splitlines()[-1]
    assert all(set(move["replicas"]) == {1, 2} for move in json.loads(proposed)["partitions"])
    move = {"topic": "orders", "partition": 0, "replicas": [2, 1], "log_dirs": ["/data/1", "any"]}
    plan.write_text(json.dumps({"version": 1, "partitions": [move]}))
    started = tool("--execute", "--reassignment-json-file", str(plan), "--throttle", "1000000")
    assert "Successfully started partition reassignment" in started
    while "still in progress" in (verified := tool("--verify", "--reassignment-json-file", str(plan))):
        pass
    assert "Clearing broker-level throttles" in verified
    (found,) = cluster.operate("state", partition="orders-0")["partitions"]
    assert found["replicas"] == [2, 1]
    assert "No partition reassignments found" in tool("--list")
    held = java(release.log_dirs, "--describe", "--broker-list", "2", "--topic-list", "orders").splitlines()[-1]
    (broker,) = json.loads(held)["brokers"]
    assert {each["logDir"]: len(each["partitions"]) for each in broker["logDirs"]}["/data/1"] >= 1


def test_kafka_leader_election(release: Release, java: Call, cluster: Served) -> None:
    assert cluster.operate("broker.controlled_shutdown", target=0)["ok"]
    while _leader(cluster) != 1 or "ok" not in cluster.operate("broker.start", target=0):
        pass
    while len(cluster.operate("state", partition="orders-0")["partitions"][0]["isr"]) < 2:
        pass
    printed = java(release.elections, "--election-type", "preferred", "--topic", "orders", "--partition", "0")
    assert "Successfully completed leader election (PREFERRED) for partitions orders-0" in printed
    assert _leader(cluster) == 0


def _leader(cluster: Served) -> int:
    (found,) = cluster.operate("state", partition="orders-0")["partitions"]
    leader: int = found["leader"]
    return leader


def test_console_producer_and_consumer(release: Release, java: Call) -> None:
    java(release.producer, "--topic", "orders", given="one\ntwo\nthree\n")
    read = [
        line
        for number in ("0", "1")
        for line in java(
            release.consumer, "--topic", "orders", "--partition", number, "--offset", "earliest", "--timeout-ms", "5000"
        ).split()
    ]
    assert sorted(read) == ["one", "three", "two"]


def test_kafka_delete_records(release: Release, java: Call, tmp_path: Path) -> None:
    java(release.producer, "--topic", "orders", "--producer-property", "linger.ms=0", given="one\ntwo\nthree\n" * 20)
    wanted = tmp_path / "offsets.json"
    entries = [{"topic": "orders", "partition": number, "offset": -1} for number in (0, 1)]
    wanted.write_text(json.dumps({"version": 1, "partitions": entries}))
    printed = java(release.delete_records, "--offset-json-file", str(wanted))
    marks = [int(line.split("low_watermark: ")[1]) for line in printed.splitlines() if "low_watermark: " in line]
    assert (len(marks), sum(marks)) == (2, 60)
    entries = [{"topic": "orders", "partition": 0, "offset": 1_000}]
    wanted.write_text(json.dumps({"version": 1, "partitions": entries}))
    assert "OffsetOutOfRangeException" in java(release.delete_records, "--offset-json-file", str(wanted))


def test_kafka_consumer_groups_and_the_verifiable_tools(release: Release, java: Call) -> None:
    produced = java(release.verifiable_producer, "--topic", "orders", "--max-messages", "200", "--acks", "-1")
    assert _events(produced, "producer_send_success") == 200
    # That of 2.4 does not start without a group.instance.id.
    arguments = ("--topic", "orders", "--group-id", "readers", "--group-instance-id", "r1", "--max-messages", "200")
    consumed = java(release.verifiable_consumer, *arguments, "--reset-policy", "earliest")
    counts = [json.loads(line)["count"] for line in consumed.splitlines() if '"records_consumed"' in line]
    assert sum(counts) == 200
    described = java(release.groups, "--describe", "--group", "readers").splitlines()
    rows = [line.split() for line in described if line.startswith("readers")]
    committed = [row for row in rows if row[3] != "-"]
    assert {row[5] for row in committed} == {"0"}, "no lag"
    assert sum(int(row[3]) for row in committed) == 200
    assert "readers" in java(release.groups, "--list")


def _events(printed: str, name: str) -> int:
    return sum(f'"name":"{name}"' in line for line in printed.splitlines())


@pytest.mark.parametrize("profile", ["kafka-2.3", "kafka-2.5", "kafka-2.7"])
def test_kafkas_own_transactional_copier_copies_exactly_once(release: Release, profile: str) -> None:
    """The tool of Kafka's system tests: consume, produce and commit offsets in transactions, with aborts at random."""
    with served({**CLUSTER, "profile": profile}) as cluster:
        copy_exactly_once(release, partial(call, release, servers=cluster.run.bootstrap_servers))
    (run,) = cluster.finished
    assert run.violations == ()


def copy_exactly_once(release: Release, java: Call) -> None:
    java(release.topics, "--create", "--topic", "copied", "--partitions", "2", "--replication-factor", "3")
    java(release.producer, "--topic", "orders", given="".join(f"{number}\n" for number in range(40)))
    for number in (0, 1):
        java(
            release.copier, "--input-topic", "orders", "--input-partition", str(number), "--output-topic", "copied",
            "--consumer-group", "copiers", "--transaction-size", "3", "--transactional-id", f"copier-{number}",
            "--enable-random-aborts",
        )  # fmt: skip
    reading = "--topic", "copied", "--from-beginning", "--timeout-ms", "5000"
    committed = java(release.consumer, *reading, "--isolation-level", "read_committed").split()
    assert sorted(map(int, committed)) == list(range(40))
    assert len(java(release.consumer, *reading).split()) >= 40, "with what was aborted"
