"""Metadata for real clients, from one broker's cache."""

from typing import cast

import pytest
import structlog

from brokers.requests.client_metadata import MOST_TOLD, MetadataHandler
from brokers.topic_creation import AdminZkClient
from emulator.logger import Logger
from emulator.protocol.clients.metadata import ClientMetadataRequest, PartitionAnswer
from emulator.protocol.errors import ApiException, Errors
from emulator.protocol.types import NO_LEADER, TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest
from scenarios.profiles import PROFILES
from tests.brokers.bench import Bench


def bench_of(profile: str) -> Bench:
    """Brokers 0 and 1 are alive, 2 is not. The partitions of ``t`` are led by 1 and 2."""
    bench = Bench(PROFILES[profile].policies.brokers)
    bench.router.add(MetadataHandler(bench.manager, cast(AdminZkClient, None), lambda _topic: None))
    states = tuple(
        PartitionMetadata(TopicPartition("t", number), 1, leader, 5, (1, 2), 0, (1, 2), (2,))
        for number, leader in ((1, 2), (0, 1))
    )
    bench.manager.metadata.update(UpdateMetadataRequest(9, 1, -1, states, (0, 1)))
    return bench


@pytest.fixture
def bench() -> Bench:
    return bench_of("kafka-2.3")


def partitions(bench: Bench, *, only_alive: bool = False, names_listeners: bool = False) -> tuple[PartitionAnswer, ...]:
    request = ClientMetadataRequest(("t",), only_alive=only_alive, names_listeners=names_listeners)
    [topic] = bench.send(request).last.topics
    assert topic.error is Errors.NONE
    found: tuple[PartitionAnswer, ...] = topic.partitions
    return found


def test_partitions_are_in_order_and_a_dead_leader_is_none(bench: Bench) -> None:
    first, second = partitions(bench)
    assert (first.error, first.state.leader, first.state.isr) == (Errors.NONE, 1, (1, 2))
    assert (second.error, second.state.leader) == (Errors.LEADER_NOT_AVAILABLE, NO_LEADER)


@pytest.mark.parametrize(("profile", "epoch"), [("kafka-1.1", -1), ("kafka-2.4", -1), ("kafka-2.5", 5)])
def test_the_epoch_of_a_partition_without_a_leader_is_shown_since_kafka_9261(profile: str, epoch: int) -> None:
    assert [each.state.leader_epoch for each in partitions(bench_of(profile))] == [5, epoch]


@pytest.mark.parametrize(
    ("profile", "names_listeners", "alive", "error"),
    [
        ("kafka-2.3", True, (0, 1), Errors.LISTENER_NOT_FOUND),
        ("kafka-2.3", False, (0, 1), Errors.LEADER_NOT_AVAILABLE),
        ("kafka-2.3", True, (1,), Errors.LEADER_NOT_AVAILABLE),
        ("kafka-2.6", True, (0, 1), Errors.LISTENER_NOT_FOUND),
        ("kafka-2.7", True, (0, 1), Errors.LEADER_NOT_AVAILABLE),
    ],
)
def test_a_broker_looks_for_itself_instead_of_the_leader_until_kafka_10312(
    profile: str, names_listeners: bool, alive: tuple[int, ...], error: Errors
) -> None:
    """As clients-unclean was recorded on 2.4.1; the broker is 0."""
    bench = bench_of(profile)
    bench.manager.metadata.update(UpdateMetadataRequest(9, 1, -1, (), alive))
    _, leaderless = partitions(bench, names_listeners=names_listeners)
    assert leaderless.error is error


@pytest.mark.parametrize(("profile", "isr"), [("kafka-1.1", ()), ("kafka-2.3", ()), ("kafka-2.4", (1, 2))])
def test_an_isr_without_a_leader_is_shown_since_kafka_8442(profile: str, isr: tuple[int, ...]) -> None:
    led, leaderless = partitions(bench_of(profile))
    assert (led.state.isr, leaderless.state.isr) == ((1, 2), isr)
    assert leaderless.state.replicas == (1, 2)


def test_the_oldest_clients_get_no_broker_that_is_not_alive(bench: Bench) -> None:
    first, _ = partitions(bench, only_alive=True)
    assert (first.error, first.state.replicas, first.state.isr) == (Errors.REPLICA_NOT_AVAILABLE, (1,), (1,))


def test_a_refused_topic_is_logged_once_for_each_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Logger, "silent", False)
    structlog.reset_defaults()
    handler = MetadataHandler(Bench(PROFILES["kafka-2.3"].policies.brokers).manager, cast(AdminZkClient, None), str)  # type: ignore[arg-type]
    illegal = ApiException(Errors.INVALID_TOPIC_EXCEPTION, "Topic name is illegal")
    with structlog.testing.capture_logs() as lines:
        for _ in range(3):
            handler._tell("no topic", illegal)
        handler._tell("another one", illegal)
        handler._tell("no topic", ApiException(Errors.INVALID_REPLICATION_FACTOR, "larger than available brokers"))
    assert [line["topic"] for line in lines] == ["no topic", "another one", "no topic"]
    for number in range(2 * MOST_TOLD):
        handler._tell(f"{number} of many", illegal)
    assert len(handler._told) == MOST_TOLD


def test_all_topics_or_those_that_are_asked_for(bench: Bench) -> None:
    answer = bench.send(ClientMetadataRequest(None)).last
    assert ([topic.name for topic in answer.topics], answer.live_brokers, answer.controller) == (["t"], (0, 1), 9)
    answer = bench.send(ClientMetadataRequest(("none", "t"))).last
    assert [(topic.name, topic.error) for topic in answer.topics] == [
        ("none", Errors.UNKNOWN_TOPIC_OR_PARTITION), ("t", Errors.NONE),
    ]  # fmt: skip
    assert bench.send(ClientMetadataRequest(())).last.topics == ()
