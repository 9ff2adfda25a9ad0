"""CreateTopics, DeleteTopics and CreatePartitions, asked for over the emulated network."""

from typing import Any

import pytest

from emulator.protocol.create_partitions import CreatePartitionsRequest, NewPartitions
from emulator.protocol.create_topics import CreateTopicsRequest, NewTopic
from emulator.protocol.delete_topics import DeleteTopicsRequest
from emulator.protocol.describe_configs import ConfigSource
from emulator.protocol.errors import ApiError, Errors
from emulator.protocol.metadata import MetadataRequest
from scenarios.cluster.cluster import Cluster
from tests.scenarios.cluster.asking import Ask, asking

MINUTE = 60_000_000


def created(*topics: NewTopic, profile: str = "kafka-2.4", **more: Any) -> Any:
    """The answer to a request for ``topics``, and the partitions that broker 0 knows at that moment."""

    async def drive(ask: Ask, cluster: Cluster) -> Any:
        response = await ask(CreateTopicsRequest(topics, **{"timeout_us": MINUTE, **more}))
        known = cluster.brokers[0].replicas.metadata.answer(MetadataRequest(tuple(topic.name for topic in topics)))
        return response.topics, known.partitions

    return asking(drive, profile)


def test_the_answer_waits_for_the_leaders() -> None:
    (topic,), known = created(NewTopic("payments", 3, 2, config={"min.insync.replicas": " 1 "}))
    assert (topic.error.code, topic.partitions, topic.replication_factor) == (Errors.NONE, 3, 2)
    assert [state.leader >= 0 for state in known] == [True] * 3
    config = {entry.name: entry for entry in topic.config}
    assert (config["min.insync.replicas"].value, config["min.insync.replicas"].source) == (
        "1", ConfigSource.TOPIC_CONFIG
    )  # fmt: skip
    assert config["unclean.leader.election.enable"].source is ConfigSource.DEFAULT_CONFIG


def test_a_manual_assignment_is_honoured() -> None:
    _, known = created(NewTopic("payments", assignment={0: (2, 0), 1: (1, 2)}))
    assert {state.tp.partition: state.replicas for state in known} == {0: (2, 0), 1: (1, 2)}


def test_without_a_time_to_wait_it_is_created_all_the_same() -> None:
    async def drive(ask: Ask, cluster: Cluster) -> Any:
        response = await ask(CreateTopicsRequest((NewTopic("payments", 1, 1),), 0))
        await cluster.world.settled()
        return response.topics[0].error.code, len(cluster.brokers[2].replicas.metadata.partitions_of("payments"))

    assert asking(drive) == (Errors.REQUEST_TIMED_OUT, 1)


def test_a_leader_that_does_not_come_is_a_time_out() -> None:
    (topic,), _ = created(NewTopic("payments", assignment={0: (7,)}), timeout_us=1_000_000)
    assert topic.error.code is Errors.REQUEST_TIMED_OUT


def test_what_is_only_validated_is_not_created() -> None:
    (topic,), known = created(NewTopic("payments", 3, 2), validate_only=True)
    assert (topic.error.code, topic.partitions, known) == (Errors.NONE, 3, ())


def test_defaults_since_2_4() -> None:
    (topic,), known = created(NewTopic("payments"))
    assert (topic.error.code, topic.partitions, topic.replication_factor) == (Errors.NONE, 1, 1)
    assert len(known) == 1


def test_no_defaults_before_2_4() -> None:
    (topic,), _ = created(NewTopic("payments"), profile="kafka-2.3")
    assert topic.error == ApiError(Errors.INVALID_PARTITIONS, "Number of partitions must be larger than 0.")


@pytest.mark.parametrize(
    ("topic", "error"),
    [
        (NewTopic("orders", 1, 1), ApiError(Errors.TOPIC_ALREADY_EXISTS, "Topic 'orders' already exists.")),
        (
            NewTopic("payments", 1, 9),
            ApiError(
                Errors.INVALID_REPLICATION_FACTOR, "Replication factor: 9 larger than available brokers: 3."
            ),
        ),
        (
            NewTopic("payments", 1, 1, config={"compression": "gzip"}),
            ApiError(Errors.INVALID_CONFIG, "Unknown topic config name: compression"),
        ),
        (
            NewTopic("payments", 1, 1, config={"min.insync.replicas": "0"}),
            ApiError(
                Errors.INVALID_CONFIG,
                "Invalid value 0 for configuration min.insync.replicas: Value must be at least 1",
            ),
        ),
        (
            NewTopic("payments", 1, 1, config={"compression.type": "zip"}),
            ApiError(
                Errors.INVALID_CONFIG,
                "Invalid value zip for configuration compression.type: String must be one of: uncompressed, zstd, lz4, "
                "snappy, gzip, producer",
            ),
        ),
    ],
)  # fmt: skip
def test_what_is_refused(topic: NewTopic, error: ApiError) -> None:
    (found,), _ = created(topic)
    assert found.error == error


@pytest.mark.parametrize(
    ("profile", "error"),
    [("kafka-1.1", Errors.INVALID_REPLICATION_FACTOR), ("kafka-2.3", Errors.TOPIC_ALREADY_EXISTS)],
)
def test_that_a_topic_is_there_comes_first_since_kafka_8875(profile: str, error: Errors) -> None:
    """PlaintextAdminIntegrationTest.testCreateExistingTopicsThrowTopicExistsException (2.3.1)."""
    (too_many,), _ = created(NewTopic("orders", 1, 4), profile=profile, validate_only=True)
    assert too_many.error.code is error
    (again,), _ = created(NewTopic("orders", 1, 1), profile=profile)
    assert again.error.code is Errors.TOPIC_ALREADY_EXISTS


def test_one_topic_that_is_refused_does_not_hold_up_another() -> None:
    topics, _ = created(NewTopic("orders", 1, 1), NewTopic("payments", 1, 1))
    assert [topic.error.code for topic in topics] == [Errors.TOPIC_ALREADY_EXISTS, Errors.NONE]


def test_a_request_for_very_many_partitions_is_refused() -> None:
    async def drive(ask: Ask, _: Cluster) -> list[Errors]:
        many = CreateTopicsRequest((NewTopic("a", 2**31 - 1, 1), NewTopic("b", 1, 1)), MINUTE)
        more = CreatePartitionsRequest((NewPartitions("orders", 2**31 - 1),), MINUTE)
        return [each.error.code for each in (await ask(many)).topics] + [
            error.code for _, error in (await ask(more)).topics
        ]

    assert asking(drive) == [Errors.POLICY_VIOLATION] * 3


def test_only_the_controller_creates_and_deletes() -> None:
    async def drive(ask: Ask, _: Cluster) -> list[Errors]:
        requests = (
            CreateTopicsRequest((NewTopic("payments", 1, 1),), MINUTE),
            DeleteTopicsRequest(("orders",), MINUTE),
            CreatePartitionsRequest((NewPartitions("orders", 3),), MINUTE),
        )
        return [(await ask(request, 1)).error for request in requests]

    assert asking(drive) == [Errors.NOT_CONTROLLER] * 3


def test_the_answer_to_a_deletion_waits_until_the_metadata_lack_the_topic() -> None:
    """As in Kafka its znode goes later: a request for it at once is refused, since it exists."""

    async def drive(ask: Ask, cluster: Cluster) -> Any:
        first = await ask(DeleteTopicsRequest(("orders", "payments"), MINUTE))
        gone = not cluster.brokers[0].replicas.metadata.partitions_of("orders")
        again = CreateTopicsRequest((NewTopic("orders", 1, 3),), MINUTE)
        at_once = await ask(again)
        await cluster.world.settled()
        later = await ask(again)
        return [error.code for _, error in first.topics], gone, [r.topics[0].error.code for r in (at_once, later)]

    assert asking(drive) == (
        [Errors.NONE, Errors.UNKNOWN_TOPIC_OR_PARTITION], True, [Errors.TOPIC_ALREADY_EXISTS, Errors.NONE]
    )  # fmt: skip


def test_partitions_are_added_and_led() -> None:
    async def drive(ask: Ask, cluster: Cluster) -> Any:
        request = CreatePartitionsRequest((NewPartitions("orders", 3, ((2, 0),)), NewPartitions("payments", 2)), MINUTE)
        response = await ask(request)
        added = cluster.brokers[0].replicas.metadata.partitions_of("orders")[2]
        return [error.code for _, error in response.topics], added.replicas, added.leader

    assert asking(drive) == ([Errors.NONE, Errors.UNKNOWN_TOPIC_OR_PARTITION], (2, 0), 2)
