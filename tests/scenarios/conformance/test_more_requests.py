"""Cases of DynamicBrokerConfigTest, AddPartitionsTest, MetadataCacheTest, KafkaApisTest and
AutoTopicCreationManagerTest (1.1.1 to 3.9.0) by the public API."""

import pytest

from emulator.protocol.alter_configs import AlterConfigsRequest
from emulator.protocol.clients.metadata import ClientMetadataRequest
from emulator.protocol.create_partitions import CreatePartitionsRequest, NewPartitions
from emulator.protocol.create_topics import CreateTopicsRequest, NewTopic
from emulator.protocol.describe_configs import Resource, ResourceType
from understudy.protocol import Errors, TopicPartition
from understudy.testing import cluster, in_virtual_time

RELEASES = pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.7", "kafka-3.9"])
OWN, ALL = Resource(ResourceType.BROKER, "0"), Resource(ResourceType.BROKER, "")
TP = TopicPartition("t", 0)
MINUTE = 60_000_000


@RELEASES
@in_virtual_time
async def test_settings_of_brokers_that_stay(release: str) -> None:
    """testConfigUpdateWithSomeInvalidConfigs, testLogRetentionTimeMinutesIsNotDynamicallyReconfigurable,
    testConfigUpdateWithReconfigurableValidationFailure: one that cannot change leaves the others as they are."""
    async with cluster(2, {"t": [[0]]}, profile=release, controller=1) as c:

        async def alter(resource: Resource, **entries: str) -> Errors:
            given = tuple((name.replace("_", "."), value) for name, value in entries.items())
            response = await c.send(0, AlterConfigsRequest(((resource, given),)))
            await c.settled()
            [(_, error)] = response.resources
            return Errors(error.code)

        for resource in (OWN, ALL):
            for wrong in (
                {"log_retention_minutes": "3"}, {"log_retention_hours": "3"}, {"zookeeper_connect": "some.host:2181"},
                {"log_cleaner_threads": "invalid"}, {"log_cleaner_threads": "20"}, {"num_io_threads": "0"},
            ):  # fmt: skip
                assert await alter(resource, **{"log_retention_ms": "7000", **wrong}) is Errors.INVALID_REQUEST
        assert c.znode("/config/brokers/0") is None
        assert c.znode("/config/brokers/<default>") is None
        assert await alter(ALL, log_retention_ms="7000", log_cleaner_threads="2") is Errors.NONE
        assert '"log.retention.ms":"7000"' in (c.znode("/config/brokers/<default>") or "")
        assert await alter(ALL, log_retention_ms="7000", log_cleaner_threads="1") is Errors.NONE


@pytest.mark.parametrize("release", ["kafka-2.7", "kafka-3.9"])
@in_virtual_time
async def test_partitions_that_an_assignment_leaves_out(release: str) -> None:
    """testMissingPartitionsInCreateTopics, testMissingPartitionsInCreatePartitions (3.3.2), testWrongReplicaCount,
    testManualAssignmentOfReplicas: with Kafka's words."""
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2) as c:
        topics = (
            NewTopic("a", assignment={1: (0, 1), 2: (1, 0)}), NewTopic("b", assignment={2: (0, 1), 3: (1, 0)}),
            NewTopic("c", assignment={0: (0, 1), 2: (1, 0)}), NewTopic("d", assignment={0: (0, 1), 1: (1, 0)}),
        )  # fmt: skip
        made = (await c.send(2, CreateTopicsRequest(topics, MINUTE))).topics
        refused = Errors.INVALID_REPLICA_ASSIGNMENT
        assert [one.error.code for one in made] == [refused, refused, refused, Errors.NONE]
        assert all("consecutive 0-based integer sequence" in (one.error.message or "") for one in made[:3])

        async def grow(total: int, *assigned: tuple[int, ...]) -> tuple[Errors, str]:
            asked = CreatePartitionsRequest((NewPartitions("t", total, assigned or None),), MINUTE)
            [(_, error)] = (await c.send(2, asked)).topics
            return Errors(error.code), error.message or ""

        error, why = await grow(3, (0, 1))
        assert (error, why) == (refused, "Increasing the number of partitions by 2 but 1 assignments provided.")
        assert (await grow(2, (0, 1, 2)))[0] is refused
        assert (await grow(2, (0, 0)))[0] is refused
        assert (await grow(2, (0, 7)))[0] is refused
        assert (await grow(1))[0] is Errors.INVALID_PARTITIONS
        assert (await grow(0))[0] is Errors.INVALID_PARTITIONS
        assert (await grow(3, (1, 0), (2, 1)))[0] is Errors.NONE
        await c.settled()
        assert [c.replicas(TopicPartition("t", number)) for number in range(3)] == [[0, 1], [1, 0], [2, 1]]


@RELEASES
@in_virtual_time
async def test_metadata_of_what_is_not_all_there(release: str) -> None:
    """getTopicMetadata(NonExistingTopics|PartitionLeaderNotAvailable|ReplicaNotAvailable|IsrNotAvailable): old clients
    learn of replicas that are down by an error, later ones by offline replicas."""
    async with cluster(3, {"t": [[0, 1]], "alone": [[0]]}, profile=release, controller=2) as c:
        await c.settled()
        await c.stop(0)
        await c.settled()

        async def asked(*topics: str, errors: bool) -> list[tuple[Errors, list[tuple[Errors, int, tuple[int, ...]]]]]:
            request = ClientMetadataRequest(topics, only_alive=errors)
            found = (await c.send(2, request)).topics
            return [(one.error, [(p.error, p.state.leader, p.state.replicas) for p in one.partitions]) for one in found]

        assert await asked("none", errors=False) == [(Errors.UNKNOWN_TOPIC_OR_PARTITION, [])]
        lost = Errors.LEADER_NOT_AVAILABLE
        assert await asked("t", "alone", errors=False) == [
            (Errors.NONE, [(Errors.NONE, 1, (0, 1))]), (Errors.NONE, [(lost, -1, (0,))]),
        ]  # fmt: skip
        assert await asked("t", errors=True) == [(Errors.NONE, [(Errors.REPLICA_NOT_AVAILABLE, 1, (1,))])]


TOO_FEW = {
    "offsets.topic.replication.factor": 3,
    "transaction.state.log.replication.factor": 3,
    "default.replication.factor": 3,
}
INTERNAL = ("__consumer_offsets", "__transaction_state")


@RELEASES
@in_virtual_time
async def test_topics_that_metadata_creates(release: str) -> None:
    """testMetadataAutoTopicCreation(For|DisabledFor)(OffsetTopic|TxnTopic|NonInternalTopic),
    testMetadataAutoCreationDisabledForNonInternal, AutoTopicCreationManagerTest.testInvalidReplicationFactorFor*: up to
    2.7 an internal topic is created for a client that asks for no creation, too."""
    unknown, later = Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.LEADER_NOT_AVAILABLE
    asks = release >= "kafka-2.8"

    for config in (TOO_FEW, dict.fromkeys(TOO_FEW, 1)):
        async with cluster(2, {"t": [[0]]}, profile=release, config=config) as c:

            async def asked(*topics: str, creates: bool) -> list[Errors]:
                found = (await c.send(0, ClientMetadataRequest(topics, creates=creates))).topics
                await c.settled()
                return [one.error for one in found]

            of_new = Errors.INVALID_REPLICATION_FACTOR if config is TOO_FEW else later
            assert await asked("plain", "no topic", creates=False) == [
                unknown,
                Errors.INVALID_TOPIC_EXCEPTION if asks else unknown,
            ]
            assert await asked(*INTERNAL, creates=False) == [unknown if asks else of_new] * 2
            there = of_new if asks or config is TOO_FEW else Errors.NONE
            assert await asked(*INTERNAL, creates=True) == [there] * 2
            invalid = Errors.INVALID_TOPIC_EXCEPTION if asks or config is not TOO_FEW else of_new
            assert await asked("plain", "no topic", creates=True) == [of_new, invalid]
            made = () if config is TOO_FEW else (*INTERNAL, "plain")
            assert set(c.children("/brokers/topics")) == {"t", *made}
