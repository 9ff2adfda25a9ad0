"""DescribeConfigs, AlterConfigs and IncrementalAlterConfigs, asked for over the emulated network."""

from typing import Any

import pytest

from emulator.protocol.alter_configs import (
    AlterConfigOp,
    AlterConfigsRequest,
    IncrementalAlterConfigsRequest,
    OpType,
)
from emulator.protocol.configs import ConfigType
from emulator.protocol.describe_configs import (
    ConfigEntry,
    ConfigSource,
    DescribeConfigsRequest,
    Resource,
    ResourceType,
)
from emulator.protocol.errors import NO_API_ERROR, ApiError, Errors
from scenarios.cluster.cluster import Cluster
from tests.scenarios.cluster.asking import Ask, asking

ORDERS, OTHER = Resource(ResourceType.TOPIC, "orders"), Resource(ResourceType.TOPIC, "payments")
BROKER, ALL = Resource(ResourceType.BROKER, "0"), Resource(ResourceType.BROKER, "")
RATE = "leader.replication.throttled.rate"
LISTS = "leader.replication.throttled.replicas"


async def described(ask: Ask, resource: Resource, *names: str, broker: int = 0) -> dict[str, ConfigEntry]:
    wanted = ((resource, names or None),)
    response = await ask(DescribeConfigsRequest(wanted, include_synonyms=True), broker)
    assert response.resources[0].error == NO_API_ERROR
    return {entry.name: entry for entry in response.resources[0].entries}


def sources(entry: ConfigEntry) -> list[tuple[str, str | None, ConfigSource]]:
    return [tuple(synonym) for synonym in entry.synonyms]  # type: ignore[misc]


def test_a_topic_shows_where_its_settings_come_from() -> None:
    async def drive(ask: Ask, cluster: Cluster) -> Any:
        await ask(AlterConfigsRequest(((ALL, (("min.insync.replicas", "1"),)),)))
        await cluster.world.settled()
        before = await described(ask, ORDERS, broker=1)
        await ask(AlterConfigsRequest(((ORDERS, (("min.insync.replicas", "3"), ("cleanup.policy", "compact"))),)), 2)
        return before, await described(ask, ORDERS, "min.insync.replicas", "cleanup.policy")

    before, after = asking(drive)
    assert len(before) == 26
    of_brokers = [
        ("min.insync.replicas", "1", ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
        ("min.insync.replicas", "2", ConfigSource.STATIC_BROKER_CONFIG),
        ("min.insync.replicas", "1", ConfigSource.DEFAULT_CONFIG),
    ]
    assert sources(before["min.insync.replicas"]) == of_brokers
    assert before["min.insync.replicas"].type is ConfigType.INT
    assert (before[LISTS].value, before[LISTS].source) == ("", ConfigSource.DEFAULT_CONFIG)
    assert list(after) == ["cleanup.policy", "min.insync.replicas"]
    assert sources(after["min.insync.replicas"]) == [
        ("min.insync.replicas", "3", ConfigSource.TOPIC_CONFIG), *of_brokers
    ]  # fmt: skip
    assert (after["cleanup.policy"].value, after["cleanup.policy"].source) == ("compact", ConfigSource.TOPIC_CONFIG)


def test_a_broker_shows_what_can_be_changed() -> None:
    async def drive(ask: Ask, cluster: Cluster) -> Any:
        await ask(IncrementalAlterConfigsRequest(((BROKER, (AlterConfigOp(RATE, OpType.SET, "1000"),)),)))
        await cluster.world.settled()
        return await described(ask, BROKER)

    found = asking(drive)
    assert found["min.insync.replicas"].value == "2"
    assert found["min.insync.replicas"].source is ConfigSource.STATIC_BROKER_CONFIG
    assert not found["min.insync.replicas"].read_only
    assert (found["num.partitions"].value, found["num.partitions"].read_only) == ("1", True)
    assert found["delete.topic.enable"].type is ConfigType.BOOLEAN
    assert (found[RATE].value, found[RATE].is_sensitive, found[RATE].source) == (
        None, True, ConfigSource.DYNAMIC_BROKER_CONFIG
    ), "as Kafka shows what exists as a dynamic setting only"  # fmt: skip


def test_a_change_reaches_the_brokers() -> None:
    async def drive(ask: Ask, cluster: Cluster) -> Any:
        request = AlterConfigsRequest(((ORDERS, (("min.insync.replicas", "1"), ("retention.ms", "5000"))),))
        assert (await ask(request, 1)).resources == ((ORDERS, NO_API_ERROR),)
        await cluster.world.settled()
        return [broker.replicas.policies for broker in cluster.brokers.values()]

    for policies in asking(drive):
        assert policies.min_insync_replicas("orders") == 1
        assert policies.log_config("orders").retention_us == 5_000_000


def test_only_what_is_named_is_changed_incrementally() -> None:
    async def drive(ask: Ask, cluster: Cluster) -> Any:
        await ask(AlterConfigsRequest(((ORDERS, (("retention.ms", "5"), ("flush.ms", "7"), (LISTS, "0:1"))),)))
        ops = (
            AlterConfigOp("retention.ms", OpType.DELETE),
            AlterConfigOp("segment.ms", OpType.SET, "9"),
            AlterConfigOp(LISTS, OpType.APPEND, "1:2,0:1"),
            AlterConfigOp("cleanup.policy", OpType.APPEND, "compact"),
        )
        await ask(IncrementalAlterConfigsRequest(((ORDERS, ops),)))
        await ask(IncrementalAlterConfigsRequest(((ORDERS, (AlterConfigOp(LISTS, OpType.SUBTRACT, "0:1"),)),)))
        return await cluster.brokers[0].admin_zk.config("topics/orders")

    changed = {"flush.ms": "7", LISTS: "1:2,0:1", "segment.ms": "9", "cleanup.policy": "delete,compact"}
    assert asking(drive, "kafka-2.6") == changed


def test_validation_changes_nothing() -> None:
    async def drive(ask: Ask, cluster: Cluster) -> Any:
        await ask(AlterConfigsRequest(((ORDERS, (("retention.ms", "5"),)),), validate_only=True))
        return await cluster.brokers[0].admin_zk.config("topics/orders")

    assert asking(drive) == {}


@pytest.mark.parametrize(
    ("resource", "entry", "error"),
    [
        (OTHER, ("retention.ms", "5"), ApiError(
            Errors.UNKNOWN_TOPIC_OR_PARTITION, "The topic 'payments' does not exist.")),
        (ORDERS, ("retention", "5"), ApiError(Errors.INVALID_CONFIG, "Unknown topic config name: retention")),
        (ORDERS, ("retention.ms", "x"), ApiError(
            Errors.INVALID_REQUEST, "Invalid config value for resource ConfigResource(type=TOPIC, name='orders'): "
            "Invalid value x for configuration retention.ms: Not a number of type LONG")),
        (ORDERS, (LISTS, "0"), None),
        (BROKER, ("num.partitions", "3"), ApiError(
            Errors.INVALID_REQUEST, "Invalid config value for resource ConfigResource(type=BROKER, name='0'): "
            "Cannot update these configs dynamically: Set(num.partitions)")),
        (BROKER, (RATE, "-5"), None),
        (Resource(ResourceType.BROKER, "1"), (RATE, "5"), ApiError(
            Errors.INVALID_REQUEST, "Unexpected broker id, expected 0, but received 1")),
        (Resource(ResourceType.BROKER, "x"), (RATE, "5"), ApiError(
            Errors.INVALID_REQUEST, "Broker id must be an integer, but it is: x")),
        (Resource(77, "x"), (RATE, "5"), ApiError(
            Errors.INVALID_REQUEST,
            "AlterConfigs is only supported for topics and brokers, but resource type is UNKNOWN")),
    ],
)  # fmt: skip
def test_what_is_refused(resource: Resource, entry: tuple[str, str], error: ApiError | None) -> None:
    async def drive(ask: Ask, _: Cluster) -> list[ApiError]:
        whole = await ask(AlterConfigsRequest(((resource, (entry,)),)))
        ops = (AlterConfigOp(entry[0], OpType.SET, entry[1]),)
        single = await ask(IncrementalAlterConfigsRequest(((resource, ops),)))
        return [response.resources[0][1] for response in (whole, single)]

    found = asking(drive)
    assert found[0] == found[1]
    assert found[0] == error or (error is None and found[0].code is Errors.INVALID_REQUEST)


@pytest.mark.parametrize(
    ("op", "code"),
    [
        (AlterConfigOp("retention.ms", OpType.APPEND, "5"), Errors.INVALID_REQUEST),
        (AlterConfigOp("unknown", OpType.SUBTRACT, "5"), Errors.INVALID_CONFIG),
        (AlterConfigOp("retention.ms", OpType.SET, None), Errors.INVALID_REQUEST),
        (AlterConfigOp("retention.ms", 9, "5"), Errors.INVALID_REQUEST),
    ],
)
def test_operations_that_are_refused(op: AlterConfigOp, code: Errors) -> None:
    async def drive(ask: Ask, _: Cluster) -> Errors:
        found: ApiError = (await ask(IncrementalAlterConfigsRequest(((ORDERS, (op,)),)))).resources[0][1]
        return found.code

    assert asking(drive, "kafka-2.6") is code


def test_resources_that_cannot_be_described() -> None:
    async def drive(ask: Ask, _: Cluster) -> list[Errors]:
        wanted = tuple((resource, None) for resource in (OTHER, Resource(ResourceType.BROKER, "1"), Resource(9, "x")))
        return [each.error.code for each in (await ask(DescribeConfigsRequest(wanted))).resources]

    assert asking(drive) == [Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.INVALID_REQUEST, Errors.INVALID_REQUEST]


@pytest.mark.parametrize(
    ("profile", "version"), [("kafka-1.1", "1.1-IV0"), ("kafka-2.3", "2.3-IV1"), ("kafka-2.7", "2.7-IV2")]
)
def test_the_message_format_is_the_releases_own(profile: str, version: str) -> None:
    async def drive(ask: Ask, _: Cluster) -> Any:
        name = "message.format.version"
        return await described(ask, ORDERS, name), await described(ask, BROKER, f"log.{name}")

    for found in asking(drive, profile=profile):
        (entry,) = found.values()
        assert (entry.value, entry.source) == (version, ConfigSource.DEFAULT_CONFIG)
