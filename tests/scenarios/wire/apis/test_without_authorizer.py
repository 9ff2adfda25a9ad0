"""A broker without an authorizer refuses access control lists, and lets everyone do everything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from typing import Any

import pytest
from confluent_kafka import KafkaException

from emulator.protocol.errors import Errors
from scenarios.wire.authorized_operations import CLUSTER, GROUP, NOT_REQUESTED, TOPIC
from scenarios.wire.versions import announced
from tests.scenarios.wire.gateway.served import LIMIT_S, Raw, Served, served

confluent_admin: Any = import_module("confluent_kafka.admin")
METADATA, DESCRIBE_GROUPS, DESCRIBE_CLUSTER = 3, 15, 60
DESCRIBE_ACLS, CREATE_ACLS, DELETE_ACLS = 29, 30, 31
FILTER = {
    "resource_type_filter": 2, "resource_name_filter": None, "principal_filter": None, "host_filter": None,
    "operation": 1, "permission_type": 1,
}  # fmt: skip
ENTRY = {
    "resource_type": 2, "resource_name": "orders", "principal": "User:a", "host": "*", "operation": 3,
    "permission_type": 3,
}  # fmt: skip


@pytest.fixture(scope="module")
def cluster() -> Iterator[Served]:
    with served(
        {"profile": "kafka-3.0", "cluster": {"brokers": 1}, "topics": [{"name": "orders", "assignment": [[0]]}]}
    ) as found:
        yield found


def ask(cluster: Served, key: int, version: int, body: dict[str, Any]) -> dict[str, Any]:
    with closing(cluster.connect().socket) as connection:
        return Raw(connection).ask(key, version, body)


def versions(key: int) -> range:
    low, high = announced("3.0", "3.0")[key]
    return range(low, high + 1)


def bits(*codes: int) -> int:
    return sum(2**code for code in codes)


@pytest.mark.parametrize("version", versions(DESCRIBE_ACLS))
def test_access_control_lists_are_refused_in_their_own_schemas(cluster: Served, version: int) -> None:
    described = ask(cluster, DESCRIBE_ACLS, version, FILTER)
    assert described["error_code"] == Errors.SECURITY_DISABLED
    assert described["error_message"] == "No Authorizer is configured on the broker"
    assert described["resources"] == []
    created = ask(cluster, CREATE_ACLS, version, {"creations": [ENTRY, ENTRY]})
    assert [one["error_code"] for one in created["results"]] == [Errors.SECURITY_DISABLED] * 2
    deleted = ask(cluster, DELETE_ACLS, version, {"filters": [FILTER]})
    (answer,) = deleted["filter_results"]
    assert (answer["error_code"], answer["matching_acls"]) == (Errors.SECURITY_DISABLED, [])


@pytest.mark.parametrize("asked", [True, False])
def test_everything_is_authorized_for_who_asks(cluster: Served, asked: bool) -> None:
    topic, whole, group = bits(3, 4, 5, 6, 7, 8, 10, 11), bits(5, 7, 8, 9, 10, 11, 12), bits(3, 6, 8)
    if not asked:
        topic = whole = group = NOT_REQUESTED
    for version in (8, 9):
        found = ask(
            cluster, METADATA, version,
            {
                "topics": [{"name": "orders"}], "allow_auto_topic_creation": False,
                "include_cluster_authorized_operations": asked, "include_topic_authorized_operations": asked,
            },
        )  # fmt: skip
        assert found["cluster_authorized_operations"] == whole
        assert [one["topic_authorized_operations"] for one in found["topics"]] == [topic]
    for version in versions(DESCRIBE_CLUSTER):
        cluster_body = {"include_cluster_authorized_operations": asked, "endpoint_type": 1}
        assert ask(cluster, DESCRIBE_CLUSTER, version, cluster_body)["cluster_authorized_operations"] == whole
    for version in range(3, versions(DESCRIBE_GROUPS)[-1] + 1):
        body: dict[str, Any] = {"groups": ["none"], "include_authorized_operations": asked}
        answer = ask(cluster, DESCRIBE_GROUPS, version, body)["groups"][0]
        expected = group if answer["error_code"] == 0 else NOT_REQUESTED
        assert answer["authorized_operations"] == expected


def test_librdkafkas_admin_client_reads_it(cluster: Served) -> None:
    admin = confluent_admin.AdminClient({"bootstrap.servers": cluster.run.bootstrap_servers})
    described = admin.describe_cluster(include_authorized_operations=True).result(LIMIT_S)
    assert {one.value for one in described.authorized_operations} == set(CLUSTER)
    binding = confluent_admin.AclBinding(
        confluent_admin.ResourceType.TOPIC, "orders", confluent_admin.ResourcePatternType.LITERAL, "User:a", "*",
        confluent_admin.AclOperation.READ, confluent_admin.AclPermissionType.ALLOW,
    )  # fmt: skip
    (created,) = admin.create_acls([binding]).values()
    with pytest.raises(KafkaException, match="No Authorizer is configured on the broker"):
        created.result(LIMIT_S)


def test_the_sets_are_kafkas() -> None:
    assert (len(TOPIC), len(GROUP), len(CLUSTER)) == (8, 3, 7)
