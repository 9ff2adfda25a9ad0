"""Cases about topics, their metadata and their offsets, drawn at random from Kafka's core suites (1.1.1 to 3.9.0):
TopicCommand*Test, MetadataRequestTest, CreateTopicsRequestTest, ListOffsetsIntegrationTest, GetOffsetShellTest and
others; each names the test that it restates."""

from collections.abc import Mapping
from typing import Any

import pytest

from emulator.protocol.clients.list_offsets import EARLIEST, LATEST
from tests.scenarios.conformance.releases import RELEASES, WITH_API
from understudy.actions import LogDirOffline
from understudy.protocol import (
    AlterClientQuotasRequest,
    AlterConfigOp,
    AlterConfigsRequest,
    ClientMetadataRequest,
    CreateTopicsRequest,
    DeleteRecordsRequest,
    DescribeConfigsRequest,
    DescribeLogDirsRequest,
    DescribeProducersRequest,
    Errors,
    IncrementalAlterConfigsRequest,
    NewTopic,
    OffsetQuery,
    OffsetsByTimeRequest,
    OpType,
    Resource,
    ResourceType,
    TopicAnswer,
    TopicPartition,
)
from understudy.testing import ClusterInstance, KafkaError, cluster, in_virtual_time

TP = TopicPartition("t", 0)
MINUTE = 60_000_000
FROM_1_1 = pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.3", "kafka-2.4", "kafka-2.7", "kafka-3.9"])
RACKS = {0: "rack1", 1: "rack2", 2: "rack2", 3: "rack1", 4: "rack3", 5: "rack3"}


async def create(c: ClusterInstance, *topics: NewTopic, only: bool = False, broker: int | None = None) -> list[Errors]:
    asked = CreateTopicsRequest(topics, MINUTE, only)
    response = await c.send(c.controller() if broker is None else broker, asked)
    return [one.error.code for one in response.topics]


async def described(c: ClusterInstance, *topics: str, broker: int = 0) -> dict[str, TopicAnswer]:
    """By name; of all topics where none is named."""
    response = await c.send(broker, ClientMetadataRequest(topics or None))
    return {topic.name: topic for topic in response.topics}


# -- creation ---------------------------------------------------------------------------------------------------------


@WITH_API
@in_virtual_time
async def test_create_with_default_replication(release: str) -> None:
    """TopicCommandWithAdminClientTest.testCreateWithDefaultReplication (2.4, KIP-464)."""
    config = {"default.replication.factor": 3, "num.partitions": 8}
    async with cluster(6, {}, profile=release, config=config) as c:
        assert await create(c, NewTopic("t", 2)) == [Errors.NONE]
        await c.settled()
        found = (await described(c, "t"))["t"].partitions
        assert [len(each.state.replicas) for each in found] == [3, 3]


@FROM_1_1
@in_virtual_time
async def test_create_when_already_exists(release: str) -> None:
    """TopicCommandIntegrationTest.testCreateWhenAlreadyExists."""
    async with cluster(2, {}, profile=release) as c:
        await c.create_topic("t", [[0]])
        await c.settled()
        with pytest.raises(KafkaError, match=r"^TOPIC_ALREADY_EXISTS"):
            await c.create_topic("t", [[0]])
        assert await create(c, NewTopic("t", 1, 1)) == [Errors.TOPIC_ALREADY_EXISTS]


def distribution(assignment: Mapping[int, tuple[int, ...]]) -> tuple[set[int], set[int], set[int]]:
    """AdminRackAwareTest.checkReplicaDistribution: numbers of leaders and of replicas of each broker, and of racks of
    each partition."""
    leaders = [replicas[0] for replicas in assignment.values()]
    all_of_them = [replica for replicas in assignment.values() for replica in replicas]
    racks = {len({RACKS[replica] for replica in replicas}) for replicas in assignment.values()}
    return {leaders.count(id) for id in RACKS}, {all_of_them.count(id) for id in RACKS}, racks


@FROM_1_1
@in_virtual_time
async def test_create_and_alter_topic_with_rack_aware(release: str) -> None:
    """TopicCommandWithAdminClientTest.testCreateAlterTopicWithRackAware: 18 partitions, then 36."""
    async with cluster(6, {}, profile=release, rack_names=list(RACKS.values())) as c:
        assert await create(c, NewTopic("t", 18, 3)) == [Errors.NONE]
        await c.settled()
        for total in (18, 36):
            if total == 36:
                await c.create_partitions("t", 36)
                await c.settled()
            found = {n: tuple(c.replicas(TopicPartition("t", n))) for n in range(total)}
            assert distribution(found) == ({total // 6}, {total // 2}, {3})


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.3", "kafka-2.4", "kafka-2.7", "kafka-2.8", "kafka-3.9"])
@in_virtual_time
async def test_create_topics_at_another_broker(release: str) -> None:
    """CreateTopicsRequestTest.testNotController."""
    async with cluster(3, {}, profile=release, controller=0) as c:
        assert await create(c, NewTopic("topic1", 1, 1), broker=1) == [Errors.NOT_CONTROLLER]
        assert c.partitions() == []


@RELEASES
@in_virtual_time
async def test_valid_create_topics_requests(release: str) -> None:
    """CreateTopicsRequestTest.testValidCreateTopicsRequests; the defaults since 2.4 (KIP-464)."""
    three = {0: (0, 1), 1: (1, 0), 2: (1, 2)}
    least = {"min.insync.replicas": "2"}
    requests = [
        [NewTopic("topic1", 1, 1)], [NewTopic("topic2", 1, 3)], [NewTopic("topic3", 5, 2, config=least)],
        [NewTopic("topic4", assignment={0: (0,)})], [NewTopic("topic5", assignment=three, config=least)],
        [NewTopic("topic6", 1, 1), NewTopic("topic7", 5, 2), NewTopic("topic8", assignment=three)],
        [NewTopic("topic9", 1, 1), NewTopic("topic10", 5, 2), NewTopic("topic11", assignment=three)],
    ]  # fmt: skip
    if release > "kafka-2.3":
        requests += [[NewTopic("topic12")], [NewTopic("topic13", -1, 2)], [NewTopic("topic14", 2, -1)]]
    async with cluster(3, {}, profile=release, config={"num.partitions": 1, "default.replication.factor": 1}) as c:
        for topics in requests:
            only = topics[0].name == "topic9"
            assert await create(c, *topics, only=only) == [Errors.NONE] * len(topics)
            await c.settled()
            for broker in range(3):
                found = await described(c, *(topic.name for topic in topics), broker=broker)
                for topic in topics:
                    answer = found[topic.name]
                    if only:
                        assert (answer.error, answer.partitions) == (Errors.UNKNOWN_TOPIC_OR_PARTITION, ())
                        continue
                    replicas = [each.state.replicas for each in answer.partitions]
                    count = len(topic.assignment) or max(topic.partitions, 1)
                    factor = max(topic.replication_factor, 1)
                    assert answer.error is Errors.NONE
                    assert len(replicas) == count
                    assert replicas == list(topic.assignment.values()) or {len(one) for one in replicas} == {factor}
            if topics[0].config and not only:
                described_config = DescribeConfigsRequest(((Resource(ResourceType.TOPIC, topics[0].name), None),))
                entries = (await c.send(0, described_config)).resources[0].entries
                assert {entry.name: entry.value for entry in entries}["min.insync.replicas"] == "2"


# -- metadata ---------------------------------------------------------------------------------------------------------


@FROM_1_1
@in_virtual_time
async def test_all_topics_request(release: str) -> None:
    """MetadataRequestTest.testAllTopicsRequest."""
    topics = {"t1": {"partitions": 3, "replication_factor": 2}, "t2": {"partitions": 3, "replication_factor": 2}}
    async with cluster(3, topics, profile=release) as c:
        found = await described(c)
        assert {name: (one.error, len(one.partitions)) for name, one in found.items()} == {
            "t1": (Errors.NONE, 3), "t2": (Errors.NONE, 3),
        }  # fmt: skip


@RELEASES
@in_virtual_time
async def test_describe_unavailable_partitions(release: str) -> None:
    """TopicCommandIntegrationTest.testDescribeUnavailablePartitions: of six partitions, the one on the dead broker has
    no leader in the metadata of all others."""
    async with cluster(6, {"t": [[n] for n in range(6)]}, profile=release, controller=5) as c:
        await c.stop(0)
        await c.settled()
        for broker in range(1, 6):
            found = (await described(c, "t", broker=broker))["t"].partitions
            expected = [(Errors.LEADER_NOT_AVAILABLE, -1, (0,))] + [(Errors.NONE, n, (n,)) for n in range(1, 6)]
            assert [(each.error, each.state.leader, each.state.replicas) for each in found] == expected


@RELEASES
@in_virtual_time
async def test_describe_at_min_isr_partitions(release: str) -> None:
    """TopicCommandWithAdminClientTest.testDescribeAtMinIsrPartitions: four of six replicas are left, and four needed;
    the leader's metric says the same."""
    config = {"min.insync.replicas": 4}
    async with cluster(6, {"t": {"assignment": [[0, 1, 2, 3, 4, 5]], "config": config}}, profile=release) as c:
        for broker in (0, 1):
            await c.stop(broker)
        await c.settled()
        assert sorted(c.metadata(5).isr(TP)) == [2, 3, 4, 5]
        at_min = "kafka.server:type=ReplicaManager,name=AtMinIsrPartitionCount"
        assert c.metric(c.leader(TP), at_min) == 1


# -- offsets ----------------------------------------------------------------------------------------------------------


async def offsets(c: ClusterInstance, *topics: str, time: int) -> dict[str, tuple[Errors, int]]:
    asked = OffsetsByTimeRequest(-1, tuple(OffsetQuery(TopicPartition(topic, 0), -1, time) for topic in topics))
    found = (await c.send(0, asked)).found
    return {each.tp.topic: (each.error, each.offset) for each in found}


@FROM_1_1
@in_virtual_time
async def test_earliest_and_latest_offsets(release: str) -> None:
    """GetOffsetShellTest.testGetEarliestOffsets, ListOffsetsIntegrationTest.testLatestOffset."""
    names = [f"topic{n}" for n in range(1, 5)]
    async with cluster(2, {name: [[0]] for name in names}, profile=release) as c:
        for number, name in enumerate(names, 1):
            await c.produce(f"{name}-0", number)
        assert await offsets(c, *names, time=EARLIEST) == dict.fromkeys(names, (Errors.NONE, 0))
        assert (await offsets(c, *names, time=LATEST))["topic3"] == (Errors.NONE, 3)


# -- what a broker says of its logs -----------------------------------------------------------------------------------


@FROM_1_1
@in_virtual_time
async def test_describe_log_dirs_request(release: str) -> None:
    """DescribeLogDirsRequestTest.testDescribeLogDirsRequest: the topic is created after a directory has failed."""
    async with cluster(2, {}, profile=release, controller=1, log_dirs=2) as c:
        online, offline = [each.name for each in (await c.send(0, DescribeLogDirsRequest())).directories]
        c.perform(LogDirOffline(log_dir=offline), 0)
        await c.sleep("1s")
        await c.create_topic("t", [[0], [0]])
        await c.settled()
        for number in range(2):
            await c.produce(TopicPartition("t", number), 10, size=10)
        found = {each.name: each for each in (await c.send(0, DescribeLogDirsRequest())).directories}
        assert list(found) == [online, offline]
        assert (found[offline].error, found[offline].replicas) == (Errors.KAFKA_STORAGE_ERROR, ())
        assert found[online].error is Errors.NONE
        assert {each.tp.partition: (each.size, each.lag, each.future) for each in found[online].replicas} == {
            0: (100, 0, False), 1: (100, 0, False),
        }  # fmt: skip


@pytest.mark.parametrize("release", ["kafka-2.8", "kafka-3.0", "kafka-3.3", "kafka-3.6", "kafka-3.9"])
@in_virtual_time
async def test_active_producer_state(release: str) -> None:
    """ReplicaManagerTest.testActiveProducerState: a leader answers, a follower too; a broker without a replica says
    whether it knows the partition."""
    async with cluster(3, {"oof": [[1, 2]], "bar": [[0]], "baz": [[1, 0]]}, profile=release) as c:
        asked = [TopicPartition(topic, 0) for topic in ("foo", "oof", "bar", "baz")]
        found = (await c.send(0, DescribeProducersRequest(tuple(asked)))).partitions
        unknown, elsewhere = Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.NOT_LEADER_FOR_PARTITION
        assert [each.error for each in found] == [unknown, elsewhere, Errors.NONE, Errors.NONE]


@pytest.mark.parametrize("release", ["kafka-2.7", "kafka-3.3", "kafka-3.9"])
@in_virtual_time
async def test_metrics_exist_when_log_is_recreated_before_deletion(release: str) -> None:
    """LogManagerTest.testMetricsExistWhenLogIsRecreatedBeforeDeletion: the files of the old log go a minute later, and
    the metrics of the new one stay."""

    def metrics(c: ClusterInstance) -> set[str]:
        return {name for name in c.metrics(0) if "type=Log," in name and ",topic=t,partition=0" in name}

    async with cluster(1, {"t": [[0]]}, profile=release) as c:
        first = metrics(c)
        assert {name.partition("name=")[2].partition(",")[0] for name in first} >= {"LogStartOffset", "LogEndOffset"}
        await c.delete_topic("t")
        await c.until(lambda: c.partitions() == [])
        assert metrics(c) == set()
        await c.create_topic("t", [[0]])
        await c.until(lambda: c.leader(TP) == 0)
        assert metrics(c) == first
        await c.sleep("61s")
        assert metrics(c) == first


# -- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ["kafka-3.3", "kafka-3.6", "kafka-3.9"])
@in_virtual_time
async def test_alter_default_topic_config(release: str) -> None:
    """DynamicConfigChangeTest.testAlter(and Incremental)DefaultTopicConfig: there are no settings of all topics."""
    default = Resource(ResourceType.TOPIC, "")
    async with cluster(1, {"t": [[0]]}, profile=release) as c:
        flush = "flush.messages"
        asked: list[Any] = [
            AlterConfigsRequest(((default, ((flush, "200000"),)),)),
            IncrementalAlterConfigsRequest(((default, (AlterConfigOp(flush, OpType.SET, "200000"),)),)),
        ]
        for request in asked:
            [(_, error)] = (await c.send(0, request)).resources
            assert error.code is Errors.INVALID_REQUEST
        assert c.children("/config/topics") == ("t",)


@pytest.mark.parametrize("release", ["kafka-2.6", "kafka-2.7", "kafka-2.8", "kafka-3.3", "kafka-3.9"])
@in_virtual_time
async def test_modify_log_dir_throttle(release: str) -> None:
    """ReassignPartitionsUnitTest.testModifyLogDirThrottle: the tool sets --replica-alter-log-dirs-throttle at
    brokers 0 to 2, and then nothing (-1)."""
    name = "replica.alter.log.dirs.io.max.bytes.per.second"
    async with cluster(4, {}, profile=release) as c:
        for broker in range(3):
            ops = (AlterConfigOp(name, OpType.SET, "2000"),)
            resource = Resource(ResourceType.BROKER, str(broker))
            [(_, error)] = (await c.send(broker, IncrementalAlterConfigsRequest(((resource, ops),)))).resources
            assert error.code is Errors.NONE
        await c.settled()
        found = []
        for broker in range(4):
            asked = DescribeConfigsRequest(((Resource(ResourceType.BROKER, str(broker)), None),))
            entries = {entry.name: entry.value for entry in (await c.send(broker, asked)).resources[0].entries}
            found.append((entries.get("leader.replication.throttled.rate"), entries.get(name)))
        unlimited = str(2**63 - 1)
        assert [value for _, value in found] == ["2000"] * 3 + [None]
        assert {rate for rate, _ in found} <= {None, unlimited}


@pytest.mark.parametrize("release", ["kafka-2.4", "kafka-2.7", "kafka-3.3", "kafka-3.9"])
@in_virtual_time
async def test_invalid_broker_logger_config(release: str) -> None:
    """ConfigCommandTest.shouldRaiseInvalidConfigurationExceptionWhenAddingInvalidBrokerLoggerConfig: of several loggers
    one that is not there lets the whole change fail."""
    loggers = Resource(ResourceType.BROKER_LOGGER, "1")
    known = DescribeConfigsRequest(((loggers, None),))
    async with cluster(2, {}, profile=release) as c:
        before = (await c.send(1, known)).resources[0].entries
        ops = tuple(AlterConfigOp(name, OpType.SET, "DEBUG") for name in (before[0].name, "kafka.server.Nothing"))
        [(_, error)] = (await c.send(1, IncrementalAlterConfigsRequest(((loggers, ops),)))).resources
        assert error.code is not Errors.NONE
        assert (await c.send(1, known)).resources[0].entries == before


@FROM_1_1
@in_virtual_time
async def test_delete_records_and_the_earliest_epoch(release: str) -> None:
    """LocalLeaderEndPointTest.testFetchEarliestOffset: the epoch is that of the first record that is left."""

    async def earliest(c: ClusterInstance) -> tuple[int, int]:
        [found] = (await c.send(0, OffsetsByTimeRequest(1, (OffsetQuery(TP, -1, EARLIEST),)))).found
        return found.offset, found.leader_epoch

    async with cluster(2, {"t": [[0]]}, profile=release, controller=1) as c:
        await c.produce(TP, 3)
        assert await earliest(c) == (0, 0)
        await c.stop(0)
        c.start(0)
        await c.until(lambda: c.leader(TP) == 0)
        await c.produce(TP, 3)
        await c.send(0, DeleteRecordsRequest(((TP, 3),), MINUTE))
        assert await earliest(c) == (3, c.leader_epoch(TP))


# -- quotas of clients ------------------------------------------------------------------------------------------------

USER, CLIENT = "ANONYMOUS", "testClient"
ENTITIES: list[tuple[tuple[str, str | None], ...]] = [
    (("client-id", CLIENT),), (("user", USER),), (("user", USER), ("client-id", CLIENT)),
    (("client-id", None),), (("user", None),), (("user", None), ("client-id", None)),
]  # fmt: skip


@pytest.mark.parametrize("release", ["kafka-2.6", "kafka-2.7", "kafka-2.8", "kafka-3.9"])
@pytest.mark.parametrize("entity", ENTITIES)
@in_virtual_time
async def test_quota_config_change(release: str, entity: tuple[tuple[str, str | None], ...]) -> None:
    """DynamicConfigChangeTest.testDefaultClientIdQuotaConfigChange and its siblings: every broker has the quotas, and
    none once they are gone."""
    limits = {"producer_byte_rate": 1000.0, "consumer_byte_rate": 2000.0}
    async with cluster(2, {}, profile=release) as c:

        def most() -> list[list[int | None]]:
            found = [c._cluster.brokers[broker].client_quotas for broker in (0, 1)]
            return [[each.most_in_window(USER, CLIENT) for each in (one.produce, one.fetch)] for one in found if one]

        for values, expected in ((limits, [10_000, 20_000]), (dict.fromkeys(limits), [None, None])):
            asked = AlterClientQuotasRequest(((entity, tuple(values.items())),), False)
            [(_, error)] = (await c.send(1, asked)).entries
            assert error.code is Errors.NONE
            await c.settled()
            assert most() == [expected] * 2
