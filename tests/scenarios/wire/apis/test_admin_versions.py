"""Every announced version of the admin APIs, asked for by frames of the codec."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from emulator.protocol.errors import Errors
from scenarios.wire.versions import announced
from tests.scenarios.wire.gateway.served import Raw, Served, served

CLUSTER = {
    "profile": "kafka-2.4",
    "cluster": {"brokers": 3, "controller": 0, "log_dirs": 2},
    "topics": [{"name": "orders", "assignment": [[0, 1], [1, 2]]}],
}
Body = dict[str, Any]
Check = Callable[[Body, int], None]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Served]:
    with served(CLUSTER, api_versions="3.0") as found:
        yield found


@pytest.fixture
def raw(cluster: Served) -> Iterator[Raw]:
    connection = cluster.connect(0)
    yield connection
    connection.socket.close()


def versions(api: int) -> range:
    low, high = announced("3.0", "2.4.1")[api]
    return range(low, high + 1)


def test_create_topics(raw: Raw) -> None:
    for version in versions(19):
        topic = {"name": f"new-{version}", "num_partitions": 2, "replication_factor": 2, "configs": []}
        answer = raw.ask(19, version, {"topics": [topic], "timeout_ms": 60_000})
        assert [found["error_code"] for found in answer["topics"]] == [0]
        again = raw.ask(19, version, {"topics": [topic], "timeout_ms": 60_000})
        assert [found["error_code"] for found in again["topics"]] == [Errors.TOPIC_ALREADY_EXISTS]
        if version >= 5:
            assert answer["topics"][0]["num_partitions"] == 2
            assert {config["name"] for config in answer["topics"][0]["configs"]} >= {"min.insync.replicas"}
        grown = {"topics": [{"name": f"new-{version}", "count": 3, "assignments": None}], "timeout_ms": 60_000}
        assert raw.ask(37, min(version, 3), grown)["results"][0]["error_code"] == 0
        gone = {"topic_names": [f"new-{version}", "never"], "timeout_ms": 60_000}
        deleted = raw.ask(20, max(1, min(version, 5)), gone)
        assert [found["error_code"] for found in deleted["responses"]] == [0, Errors.UNKNOWN_TOPIC_OR_PARTITION]


def test_configs(raw: Raw) -> None:
    wanted = {"resource_type": 2, "resource_name": "orders", "configuration_keys": ["retention.ms"]}
    for version in versions(33):
        config = {"name": "retention.ms", "value": str(version + 1)}
        change = {"resource_type": 2, "resource_name": "orders", "configs": [config]}
        assert raw.ask(33, version, {"resources": [change]})["responses"][0]["error_code"] == 0
    for version in versions(44):
        change["configs"] = [{"name": "retention.ms", "config_operation": 0, "value": str(version + 9)}]
        assert raw.ask(44, version, {"resources": [change]})["responses"][0]["error_code"] == 0
    for version in versions(32):
        answer = raw.ask(32, version, {"resources": [wanted], "include_synonyms": True})
        (found,) = answer["results"][0]["configs"]
        assert (found["name"], found["value"]) == ("retention.ms", "10")
        assert len(found["synonyms"]) == (1 if version else 0), "log.retention.ms is not set"


def test_reassignments_and_elections(raw: Raw) -> None:
    for version in versions(43):
        asked = {"election_type": 0, "topic_partitions": [{"topic": "orders", "partitions": [0, 7]}]}
        (found,) = raw.ask(43, version, asked)["replica_election_results"]
        codes = {each["partition_id"]: each["error_code"] for each in found["partition_result"]}
        assert codes == {0: Errors.ELECTION_NOT_NEEDED, 7: Errors.UNKNOWN_TOPIC_OR_PARTITION}
        everything = raw.ask(43, version, {"election_type": 0, "topic_partitions": None})
        assert everything["replica_election_results"] == []
    cancel = {"topics": [{"name": "orders", "partitions": [{"partition_index": 0, "replicas": None}]}]}
    (answer,) = raw.ask(45, 0, cancel)["responses"]
    assert answer["partitions"][0]["error_code"] == Errors.NO_REASSIGNMENT_IN_PROGRESS
    assert raw.ask(46, 0, {"topics": None})["topics"] == []
    assert raw.ask(46, 0, {"topics": [{"name": "orders", "partition_indexes": [0]}]})["topics"] == []


def test_log_directories(raw: Raw) -> None:
    for version in versions(34):
        to = f"/data/{(version + 1) % 2}"
        asked = {"dirs": [{"path": to, "topics": [{"name": "orders", "partitions": [0, 1]}]}]}
        (found,) = raw.ask(34, version, asked)["results"]
        codes = [each["error_code"] for each in found["partitions"]]
        assert codes == [0, Errors.REPLICA_NOT_AVAILABLE], "orders-1 has no replica on broker 0"
    for version in versions(35):
        answer = raw.ask(35, version, {"topics": [{"topic": "orders", "partitions": [0]}]})
        assert {each["log_dir"] for each in answer["results"]} == {"/data/0", "/data/1"}
        assert {topic["name"] for each in answer["results"] for topic in each["topics"]} == {"orders"}


def test_the_cluster(raw: Raw) -> None:
    for version in versions(60):
        answer = raw.ask(60, version, {})
        assert (answer["controller_id"], len(answer["brokers"])) == (0, 3)


@pytest.mark.parametrize(
    ("api", "body", "where"),
    [
        (19, {"topics": [{"name": "x", "num_partitions": 1, "replication_factor": 1}]}, "topics"),
        (20, {"topic_names": ["orders"]}, "responses"),
        (37, {"topics": [{"name": "orders", "count": 9, "assignments": None}]}, "results"),
    ],
)
def test_only_the_controller_changes_topics(cluster: Served, api: int, body: Body, where: str) -> None:
    other = cluster.connect(1)
    assert [found["error_code"] for found in other.ask(api, 1, body)[where]] == [Errors.NOT_CONTROLLER]
    assert other.ask(45, 0, {"topics": []})["error_code"] == Errors.NOT_CONTROLLER


def test_a_release_without_the_api_for_moves_does_not_announce_it(cluster: Served) -> None:
    with served({**CLUSTER, "profile": "kafka-2.3"}) as old:
        answers = [one.connect(0).ask(18, 0, {}) for one in (cluster, old)]
    new, old_keys = ({each["api_key"] for each in answer["api_keys"]} for answer in answers)
    assert new - old_keys == {45, 46, 47, 48, 49, 50, 51, 56, 57, 60, 61, 65, 66, 67}
