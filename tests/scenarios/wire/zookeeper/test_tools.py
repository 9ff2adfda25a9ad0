"""Kafka's tools of the ZooKeeper era, and ZooKeeper's shell, against a served cluster: ``python -m pytest -m java``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.scenarios.wire.gateway.served import Served, served
from tests.scenarios.wire.java.jars import SHELL, ZOOKEEPER_ERA, Release, class_path_with_zookeeper, run

pytestmark = [pytest.mark.java, pytest.mark.slow]

TOPIC = {"name": "orders", "assignment": [[0, 1], [1, 2]], "size": "20MiB"}
Tool = Callable[..., str]


@pytest.fixture(params=ZOOKEEPER_ERA, ids=lambda release: release.version)
def release(request: pytest.FixtureRequest) -> Release:
    found: Release = request.param
    return found


@pytest.fixture
def jars(release: Release) -> str:
    try:
        return class_path_with_zookeeper(release)
    except LookupError as missing:
        pytest.skip(str(missing))


@pytest.fixture
def cluster(release: Release) -> Iterator[Served]:
    profile = "kafka-1.1" if release.version < "2" else f"kafka-{release.version[:3]}"
    config = {"auto.leader.rebalance.enable": False}
    with served({"profile": profile, "cluster": {"brokers": 3, "config": config}, "topics": [TOPIC]}) as found:
        yield found
    (judged,) = found.finished
    assert judged.passed, judged.explanation


@pytest.fixture
def tool(cluster: Served, jars: str) -> Tool:
    def call(name: str, *words: str) -> str:
        return run(jars, name, "--zookeeper", cluster.run.zookeeper_connect, *words)

    return call


def test_kafka_topics_and_configs(release: Release, tool: Tool) -> None:
    topics, configs = partial(tool, release.topics), partial(tool, release.configs)
    make = "--create", "--topic", "pay", "--partitions", "2", "--replication-factor", "2"
    topics(*make, "--config", "min.insync.replicas=2")
    topics("--alter", "--topic", "pay", "--partitions", "3")
    assert topics("--list").split() == ["orders", "pay"]
    described = topics("--describe", "--topic", "pay").replace(" ", "")
    assert "PartitionCount:3\tReplicationFactor:2\tConfigs:min.insync.replicas=2" in described
    assert described.count("Leader:") == 3
    assert "Leader:none" not in described
    for kind, name, setting in (
        ("topics", "pay", "retention.ms"),
        ("brokers", "1", "leader.replication.throttled.rate"),
    ):
        entity = "--entity-type", kind, "--entity-name", name
        configs("--alter", *entity, "--add-config", f"{setting}=7000")
        assert f"{setting}=7000" in configs("--describe", *entity)
    topics("--delete", "--topic", "pay")
    while "pay" in topics("--list"):
        pass


@pytest.mark.parametrize("throttle", [(), ("--throttle", "5000000")], ids=["at once", "throttled"])
def test_kafka_reassign_partitions(
    release: Release, tool: Tool, cluster: Served, tmp_path: Path, throttle: tuple[str, ...]
) -> None:
    topics, plan = tmp_path / "topics.json", tmp_path / "plan.json"
    topics.write_text(json.dumps({"version": 1, "topics": [{"topic": "orders"}]}))
    reassign = partial(tool, release.reassign)
    proposed = reassign("--generate", "--topics-to-move-json-file", str(topics), "--broker-list", "1,2").splitlines()[
        -1
    ]
    assert all(set(move["replicas"]) == {1, 2} for move in json.loads(proposed)["partitions"])
    plan.write_text(json.dumps({"version": 1, "partitions": [{"topic": "orders", "partition": 0, "replicas": [2, 1]}]}))
    printed = reassign("--execute", "--reassignment-json-file", str(plan), *throttle)
    assert re.search("Successfully started (reassignment of partitions|partition reassignment)", printed)
    while "still in progress" in (verified := reassign("--verify", "--reassignment-json-file", str(plan))):
        pass
    assert re.search("completed successfully|is complete", verified)
    if release.version < "2.6":  # from then on it is removed in any case
        assert ("Throttle was removed" in verified) == bool(throttle)
    (found,) = cluster.operate("state", partition="orders-0")["partitions"]
    assert (found["replicas"], sorted(found["isr"])) == ([2, 1], [1, 2])


def test_kafka_preferred_replica_election(release: Release, tool: Tool, cluster: Served) -> None:
    cluster.operate("broker.crash", target=0)
    while _leader(cluster) != 1 or "ok" not in cluster.operate("broker.start", target=0):
        pass
    while len(cluster.operate("state", partition="orders-0")["partitions"][0]["isr"]) < 2:
        pass
    assert "Successfully started preferred replica election" in tool(release.elections)
    while _leader(cluster) != 0:
        pass


def _leader(cluster: Served) -> int:
    (found,) = cluster.operate("state", partition="orders-0")["partitions"]
    leader: int = found["leader"]
    return leader


COMMANDS = """\
ls /brokers/ids
get /brokers/topics/orders
create /mine bytes
set /mine others
get /mine
create -e -s /mine/n- x
ls /mine
getAcl /mine
deleteall /mine
ls /
quit
"""


@pytest.mark.parametrize("release", ZOOKEEPER_ERA[2:3], ids=["3.5.9"])
def test_zookeepers_shell(jars: str, cluster: Served) -> None:
    said = run(jars, SHELL, "-server", cluster.run.zookeeper_connect, given=COMMANDS).splitlines()
    at = said.index("[0, 1, 2]")
    topic = '{"version":1,"partitions":{"0":[0,1],"1":[1,2]}}'
    assert said[at + 1 :][:5] == [topic, "others", "[n-0000000000]", "'world,'anyone", ": cdrwa"]
    (root,) = (line for line in said if line.startswith("[admin, brokers"))
    assert "mine" not in root
