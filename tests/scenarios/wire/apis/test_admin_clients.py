"""The admin clients of kafka-python and confluent-kafka against a served cluster, with each set of API versions that
brokers can announce (``serve --api-versions``)."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from importlib import import_module
from typing import Any

import pytest
from confluent_kafka import ElectionType, KafkaException
from confluent_kafka import TopicPartition as ConfluentPartition
from kafka import TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient, NewPartitions, NewTopic
from kafka.errors import (
    InvalidConfigurationError,
    InvalidReplicationFactorError,
    KafkaConnectionError,
    TopicAlreadyExistsError,
)

from scenarios.wire.versions import announced
from tests.scenarios.wire.gateway.served import API_VERSIONS, LIMIT_S, Raw, Served, served

confluent_admin: Any = import_module("confluent_kafka.admin")
"""The admin module: its type stubs do not export what the module does."""

ORDERS = {
    "profile": "kafka-2.4",
    "cluster": {"brokers": 3, "racks": 3},
    "topics": [{"name": "orders", "assignment": [[0, 1], [1, 2]]}],
}


@pytest.fixture(scope="module", params=("2.4", "3.9"))
def api_versions(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def cluster(api_versions: str) -> Iterator[Served]:
    with served(ORDERS, api_versions=api_versions) as found:
        yield found


@pytest.fixture(scope="module")
def admin(cluster: Served) -> Iterator[Any]:
    # Some requests go to the brokers that it knows of: a broker that is back is to be among them soon.
    client = KafkaAdminClient(bootstrap_servers=cluster.run.bootstrap_servers, metadata_max_age_ms=200)
    yield client
    client.close()


@pytest.fixture(scope="module")
def confluent(cluster: Served) -> Any:
    return confluent_admin.AdminClient({"bootstrap.servers": cluster.run.bootstrap_servers})


def until(holds: Callable[[], bool]) -> None:
    """Wait for a state. A broker that shuts down ends its connections, and so kafka-python its request."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        with suppress(KafkaConnectionError):
            if holds():
                return
        time.sleep(0.01)
    raise AssertionError("the state did not come about")


def partitions(admin: Any, topic: str) -> dict[int, Any]:
    (described,) = admin.describe_topics([topic])
    return {each["partition_index"]: each for each in described["partitions"]}


def test_brokers_announce_these_versions(cluster: Served, api_versions: str) -> None:
    with closing(cluster.connect().socket) as connection:
        answer = Raw(connection).ask(API_VERSIONS, 0, {})
    found = {each["api_key"]: (each["min_version"], each["max_version"]) for each in answer["api_keys"]}
    expected = announced(api_versions, "2.4.1")
    assert found == {key: versions for key, versions in expected.items() if key in found}
    assert {0, 1, 3, 45, 46} <= set(found)


# -- kafka-python -----------------------------------------------------------------------------------------------------


def test_kafka_python_sees_the_cluster(admin: Any) -> None:
    found = admin.describe_cluster()
    assert [(broker["broker_id"], broker["rack"]) for broker in found["brokers"]] == [
        (0, "rack-0"), (1, "rack-1"), (2, "rack-2")
    ]  # fmt: skip
    assert found["controller_id"] in (0, 1, 2)


def test_kafka_python_creates_extends_and_deletes_topics(admin: Any) -> None:
    placed = NewTopic("kp-placed", num_partitions=3, replication_factor=2, topic_configs={"min.insync.replicas": "2"})
    manual = NewTopic("kp-manual", replica_assignments={0: [2, 0], 1: [1, 2]}, num_partitions=-1, replication_factor=-1)
    admin.create_topics([placed, manual])
    assert {number: each["replica_nodes"] for number, each in partitions(admin, "kp-manual").items()} == {
        0: [2, 0], 1: [1, 2]
    }  # fmt: skip
    assert all(each["leader_id"] >= 0 for each in partitions(admin, "kp-placed").values())
    admin.create_partitions({"kp-placed": NewPartitions(5)})
    until(lambda: len(partitions(admin, "kp-placed")) == 5)  # any broker answers, and each learns of them by itself
    with pytest.raises(TopicAlreadyExistsError):
        admin.create_topics([placed])
    with pytest.raises(InvalidReplicationFactorError):
        admin.create_topics([NewTopic("kp-wide", num_partitions=1, replication_factor=4)])
    settings = {"min.insync.replicas": "none"}
    wrong = NewTopic("kp-wrong", num_partitions=1, replication_factor=1, topic_configs=settings)
    with pytest.raises(InvalidConfigurationError):
        admin.create_topics([wrong])
    admin.delete_topics(["kp-placed", "kp-manual"])
    assert not {"kp-placed", "kp-manual"} & set(admin.list_topics())


def test_kafka_python_changes_settings(admin: Any, cluster: Served) -> None:
    resource = ConfigResource(ConfigResourceType.TOPIC, "orders", configs={"min.insync.replicas": "2"})
    admin.alter_configs([resource])
    found = admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, "orders")])["topic"]["orders"]
    assert found["min.insync.replicas"]["value"] == "2"
    assert found["min.insync.replicas"]["config_source"] == "DYNAMIC_TOPIC_CONFIG"


def test_kafka_python_moves_a_partition_and_elects(admin: Any, cluster: Served) -> None:
    tp = TopicPartition("orders", 0)
    admin.alter_partition_reassignments({tp: [2, 1]})
    until(lambda: not admin.list_partition_reassignments())
    assert partitions(admin, "orders")[0]["replica_nodes"] == [2, 1]
    assert cluster.operate("broker.controlled_shutdown", target=2)["ok"]
    until(lambda: partitions(admin, "orders")[0]["leader_id"] == 1)
    until(lambda: "ok" in cluster.operate("broker.start", target=2))
    until(lambda: len(cluster.operate("state", partition="orders-0")["partitions"][0]["isr"]) == 2)
    admin.elect_leaders(0, {"orders": [0]})
    until(lambda: partitions(admin, "orders")[0]["leader_id"] == 2)


def test_kafka_python_sees_log_directories(admin: Any) -> None:
    found: dict[int, Any] = {}

    def described() -> bool:
        found.update((each["broker"], each["log_dirs"]) for each in admin.describe_log_dirs())
        return sorted(found) == [0, 1, 2]

    until(described)
    assert [each["log_dir"] for each in found[1]] == ["/data/0"]


# -- confluent-kafka --------------------------------------------------------------------------------------------------


def results(futures: dict[Any, Any]) -> list[Any]:
    return [future.result(LIMIT_S) for future in futures.values()]


def test_confluent_creates_extends_and_deletes_topics(confluent: Any) -> None:
    topic = confluent_admin.NewTopic("c-1", 3, 2, config={"cleanup.policy": "compact"})
    results(confluent.create_topics([topic]))
    with pytest.raises(KafkaException, match="already exists"):
        results(confluent.create_topics([topic]))
    results(confluent.create_partitions([confluent_admin.NewPartitions("c-1", 4)]))
    assert len(confluent.list_topics("c-1", LIMIT_S).topics["c-1"].partitions) == 4
    results(confluent.delete_topics(["c-1"]))
    assert "c-1" not in confluent.list_topics(timeout=LIMIT_S).topics


def test_confluent_changes_settings(confluent: Any) -> None:
    entry = confluent_admin.ConfigEntry(
        "retention.ms", "7000", incremental_operation=confluent_admin.AlterConfigOpType.SET
    )
    results(
        confluent.incremental_alter_configs(
            [confluent_admin.ConfigResource("topic", "orders", incremental_configs=[entry])]
        )
    )
    (found,) = results(confluent.describe_configs([confluent_admin.ConfigResource("topic", "orders")]))
    assert found["retention.ms"].value == "7000"
    assert [synonym.value for synonym in found["retention.ms"].synonyms.values()]
    (broker,) = results(confluent.describe_configs([confluent_admin.ConfigResource("broker", "1")]))
    assert broker["min.insync.replicas"].value == "1"
    entry = confluent_admin.ConfigEntry(
        "retention", "7000", incremental_operation=confluent_admin.AlterConfigOpType.SET
    )
    wrong = confluent_admin.ConfigResource("topic", "orders", incremental_configs=[entry])
    with pytest.raises(KafkaException, match="Unknown topic config name"):
        results(confluent.incremental_alter_configs([wrong]))


def test_confluent_elects_and_describes(confluent: Any) -> None:
    found = confluent.elect_leaders(ElectionType.PREFERRED, [ConfluentPartition("orders", 1)]).result(LIMIT_S)
    assert [error is None or error.name() == "ELECTION_NOT_NEEDED" for error in found.values()] == [True]
    assert len(confluent.describe_cluster().result(LIMIT_S).nodes) == 3
