"""Cases of PlaintextAdminIntegrationTest (2.7.2; AdminClientIntegrationTest before 2.4) and
DynamicBrokerReconfigurationTest (2.3.1, 2.7.2) about settings that are changed and described by requests."""

import pytest

from emulator.protocol.alter_configs import (
    AlterConfigOp,
    AlterConfigsRequest,
    IncrementalAlterConfigsRequest,
    OpType,
)
from emulator.protocol.create_topics import CreateTopicsRequest, NewTopic
from emulator.protocol.describe_configs import ConfigEntry, DescribeConfigsRequest, Resource, ResourceType
from emulator.protocol.errors import ApiError
from understudy.protocol import Errors
from understudy.testing import ClusterInstance, cluster, in_virtual_time

RELEASES = pytest.mark.parametrize(
    "release",
    [
        "kafka-2.3",
        "kafka-2.4",
        "kafka-2.5",
        "kafka-2.7",
        "kafka-2.8",
        "kafka-3.0",
        "kafka-3.3",
        "kafka-3.6",
        "kafka-3.9",
    ],
)
ONE, TWO = Resource(ResourceType.TOPIC, "one"), Resource(ResourceType.TOPIC, "two")
BROKER, ALL = Resource(ResourceType.BROKER, "0"), Resource(ResourceType.BROKER, "")
LEADER, FOLLOWER = "leader.replication.throttled.rate", "follower.replication.throttled.rate"
COPIES, FETCHERS = "replica.alter.log.dirs.io.max.bytes.per.second", "num.replica.fetchers"
WEEK_MS = str(7 * 24 * 3_600_000)
Ops = tuple[AlterConfigOp, ...]


def set_to(name: str, value: str) -> AlterConfigOp:
    return AlterConfigOp(name, OpType.SET, value)


async def altered(c: ClusterInstance, *changes: tuple[Resource, Ops], only: bool = False) -> list[ApiError]:
    response = await c.send(0, IncrementalAlterConfigsRequest(changes, only))
    await c.settled()
    return [error for _, error in response.resources]


async def described(c: ClusterInstance, resource: Resource) -> dict[str, ConfigEntry]:
    response = await c.send(0, DescribeConfigsRequest(((resource, None),)))
    return {entry.name: entry for entry in response.resources[0].entries}


async def values(c: ClusterInstance, resource: Resource, *names: str) -> list[str | None]:
    found = await described(c, resource)
    return [found[name].value if name in found else None for name in names]


def checks_resources(release: str) -> bool:
    """Whether changes are judged as by ConfigAdminManager (KAFKA-13862 and KAFKA-13899, 3.3)."""
    return release >= "kafka-3.3"


def codes(errors: list[ApiError]) -> list[Errors]:
    return [error.code for error in errors]


@pytest.mark.parametrize(
    "release", ["kafka-2.6", "kafka-2.7", "kafka-2.8", "kafka-3.0", "kafka-3.3", "kafka-3.6", "kafka-3.9"]
)
@in_virtual_time
async def test_valid_incremental_alter_configs(release: str) -> None:
    """testValidIncrementalAlterConfigs."""
    lists = "leader.replication.throttled.replicas"
    async with cluster(2, {"one": [[0]], "two": [[0]]}, profile=release) as c:
        before = (set_to("retention.ms", "60000000"), set_to("cleanup.policy", "compact"))
        assert codes(await altered(c, (ONE, before))) == [Errors.NONE]
        first: Ops = (
            set_to("flush.ms", "1000"), AlterConfigOp("cleanup.policy", OpType.APPEND, "delete"),
            AlterConfigOp("retention.ms", OpType.DELETE, ""),
        )  # fmt: skip
        second: Ops = (
            set_to("min.cleanable.dirty.ratio", "0.9"), set_to("compression.type", "lz4"),
            AlterConfigOp("cleanup.policy", OpType.APPEND, "compact"),
        )  # fmt: skip
        assert codes(await altered(c, (ONE, first), (TWO, second))) == [Errors.NONE] * 2
        assert await values(c, ONE, "flush.ms", "cleanup.policy", "retention.ms") == ["1000", "compact,delete", WEEK_MS]
        names = ("min.cleanable.dirty.ratio", "compression.type", "cleanup.policy")
        assert await values(c, TWO, *names) == ["0.9", "lz4", "delete,compact"]

        first = (
            AlterConfigOp("cleanup.policy", OpType.SUBTRACT, "compact"), AlterConfigOp(lists, OpType.SUBTRACT, "0")
        )  # fmt: skip
        second = (AlterConfigOp("cleanup.policy", OpType.SUBTRACT, "compact,delete"),)
        assert codes(await altered(c, (ONE, first), (TWO, second))) == [Errors.NONE] * 2
        assert await values(c, ONE, "cleanup.policy", "flush.ms", lists) == ["delete", "1000", ""]
        assert await values(c, TWO, "cleanup.policy") == [""]

        append = (AlterConfigOp("cleanup.policy", OpType.APPEND, "compact"),)
        assert codes(await altered(c, (ONE, append), only=True)) == [Errors.NONE]
        assert await values(c, ONE, "cleanup.policy") == ["delete"]
        [error] = await altered(c, (ONE, (set_to("compression.type", "zip"),)), only=True)
        assert error.code is (Errors.INVALID_CONFIG if checks_resources(release) else Errors.INVALID_REQUEST)
        assert (error.message or "").startswith("Invalid config value for resource")


@RELEASES
@in_virtual_time
async def test_values_that_are_missing(release: str) -> None:
    """testNullConfigs (2.6.2); before KAFKA-9644 and KAFKA-9695 (2.6) the broker failed at them."""
    knows = release in ("kafka-2.7", "kafka-2.8", "kafka-3.0", "kafka-3.3", "kafka-3.6", "kafka-3.9")
    code = Errors.INVALID_REQUEST if knows else Errors.UNKNOWN_SERVER_ERROR
    async with cluster(2, {"one": [[0]]}, profile=release, controller=0) as c:
        config = {"message.format.version": None, "compression.type": "producer"}
        response = await c.send(0, CreateTopicsRequest((NewTopic("new", 2, 2, config=config),), 10_000_000))
        strict = checks_resources(release)
        why = f"Null value not supported for topic configs{'' if strict else ' '}: message.format.version"
        assert response.topics[0].error == ApiError(Errors.INVALID_CONFIG if strict else code, why if knows else None)
        ops = (AlterConfigOp("message.format.version", OpType.SET, None), set_to("compression.type", "lz4"))
        why = f"Null value not supported for : {'' if strict else 'SET:'}message.format.version"
        assert await altered(c, (ONE, ops)) == [ApiError(code, why if knows else None)]
        assert c.znode("/brokers/topics/new") is None
        append = (AlterConfigOp("cleanup.policy", OpType.APPEND, "compact"),)
        assert codes(await altered(c, (ONE, append))) == [Errors.NONE if knows else Errors.UNKNOWN_SERVER_ERROR]
        assert await values(c, ONE, "cleanup.policy") == ["delete,compact" if knows else "delete"]


@RELEASES
@in_virtual_time
async def test_an_item_that_is_appended_twice_is_there_twice(release: str) -> None:
    """AdminManager.prepareIncrementalConfigs (2.3.1 to 3.2.3): taken away once, it is there once. Since 3.3.0
    (KAFKA-13862) it is appended once."""
    lists = "leader.replication.throttled.replicas"
    async with cluster(2, {"one": [[0]]}, profile=release) as c:

        async def after(op: OpType, value: str) -> list[str | None]:
            assert codes(await altered(c, (ONE, (AlterConfigOp(lists, op, value),)))) == [Errors.NONE]
            return await values(c, ONE, lists)

        assert await after(OpType.SET, "0:1") == ["0:1"]
        once = checks_resources(release)
        assert await after(OpType.APPEND, "1:2,0:1") == ["0:1,1:2" if once else "0:1,1:2,0:1"]
        assert await after(OpType.SUBTRACT, "0:1") == ["1:2" if once else "1:2,0:1"]


@RELEASES
@in_virtual_time
async def test_invalid_incremental_alter_configs(release: str) -> None:
    """testInvalidIncrementalAlterConfigs: of a request each resource has its own answer."""
    ratio = "min.cleanable.dirty.ratio"
    async with cluster(2, {"one": [[0]], "two": [[0]]}, profile=release) as c:
        twice = (set_to(ratio, "0.75"), set_to(ratio, "0.65"), set_to("compression.type", "gzip"))
        found = await altered(c, (ONE, twice), (TWO, (set_to(ratio, "0.9"),)))
        strict = checks_resources(release)
        which = "" if strict else f" : {ratio}"
        assert found[0] == ApiError(Errors.INVALID_REQUEST, f"Error due to duplicate config keys{which}")
        assert found[1].code is Errors.NONE
        assert await values(c, ONE, ratio, "compression.type") == ["0.5", "producer"]
        assert await values(c, TWO, ratio) == ["0.9"]
        for op in (OpType.APPEND, OpType.SUBTRACT):
            [error] = await altered(c, (ONE, (AlterConfigOp("compression.type", op, "gzip"),)))
            words = f"Config value {op.name.lower()} is not allowed for config key: compression.type"
            assert error == ApiError(Errors.INVALID_CONFIG if strict else Errors.INVALID_REQUEST, words)
        [error] = await altered(c, (ONE, (set_to(ratio, "1.1"),)))
        assert (error.message or "").startswith("Invalid config value for resource")


@RELEASES
@in_virtual_time
async def test_a_small_double_is_shown_as_java_shows_it(release: str) -> None:
    """TestCreateTopicWithConfigFileIntegration of kafkactl 5.20.0 (ConfigDef.convertToString)."""
    async with cluster(2, {"one": [[0]]}, profile=release) as c:
        [answer] = await altered(c, (ONE, (set_to("min.cleanable.dirty.ratio", "0.0001"),)))
        assert answer.code is Errors.NONE
        assert await values(c, ONE, "min.cleanable.dirty.ratio") == ["1.0E-4"]


@RELEASES
@in_virtual_time
async def test_describe_and_alter_configs(release: str) -> None:
    """testDescribeAndAlterConfigs, checkValidAlterConfigs: what is not named has its default again."""
    async with cluster(2, {"one": [[0]]}, profile=release) as c:

        async def alter(*entries: tuple[str, str], only: bool = False) -> None:
            response = await c.send(0, AlterConfigsRequest(((ONE, entries),), only))
            assert [error.code for _, error in response.resources] == [Errors.NONE]
            await c.settled()

        await alter(("flush.ms", "1000"), ("max.message.bytes", "7"))
        await alter(("flush.ms", "2000"))
        assert await values(c, ONE, "flush.ms", "max.message.bytes", "retention.ms") == [
            "2000", (await described(c, BROKER))["message.max.bytes"].value, WEEK_MS,
        ]  # fmt: skip
        await alter(("max.message.bytes", "10"), only=True)
        assert await values(c, ONE, "flush.ms") == ["2000"]


@RELEASES
@in_virtual_time
async def test_throttles_of_a_broker_are_set_and_deleted(release: str) -> None:
    """testIncrementalAlterConfigsDeleteAndSetBrokerConfigs, testIncrementalAlterConfigsDeleteBrokerConfigs; before
    KAFKA-9625 (2.5) they are not shown."""
    shown = release in ("kafka-2.5", "kafka-2.7", "kafka-2.8", "kafka-3.0", "kafka-3.3", "kafka-3.6", "kafka-3.9")
    async with cluster(2, {"one": [[0]]}, profile=release) as c:

        async def rates(*ops: AlterConfigOp) -> list[str | None]:
            assert codes(await altered(c, (BROKER, ops))) == [Errors.NONE]
            found = await described(c, BROKER)
            assert all(found[op.name].is_sensitive is not shown for op in ops if op.name in found)
            assert all(found[op.name].read_only for op in ops if op.name in found)
            return await values(c, BROKER, LEADER, FOLLOWER, COPIES)

        found = await rates(set_to(LEADER, "123"), set_to(FOLLOWER, "456"))
        assert found == (["123", "456", None] if shown else [None] * 3)
        deleted = AlterConfigOp(LEADER, OpType.DELETE, "")
        found = await rates(deleted, set_to(FOLLOWER, "654"), set_to(COPIES, "987"))
        assert found == ([None, "654", "987"] if shown else [None] * 3)
        assert '"456"' not in (c.znode("/config/brokers/0") or "")
        assert await rates(*(AlterConfigOp(name, OpType.DELETE, "") for name in (LEADER, FOLLOWER, COPIES))) == (
            [None] * 3
        )


@RELEASES
@in_virtual_time
async def test_numbers_of_threads_that_are_refused(release: str) -> None:
    """DynamicThreadPool.validateReconfiguration: from half to twice as many as there are, and at least one."""
    async with cluster(2, {"one": [[0]]}, profile=release, config={FETCHERS: 4}) as c:

        async def refused(resource: Resource, wanted: int) -> str:
            [error] = await altered(c, (resource, (set_to(FETCHERS, str(wanted)),)))
            return "" if error.code is Errors.NONE else str(error.message)

        assert "should not be greater than double the current value 4" in await refused(ALL, 9)
        assert "should be at least half the current value 4" in await refused(BROKER, 1)
        assert "should be at least 1" in await refused(ALL, 0)
        assert c.znode("/config/brokers/<default>") is None
        assert await refused(ALL, 8) == ""
        assert await refused(ALL, 16) == ""
        assert "double the current value 16" in await refused(BROKER, 33)
