"""A leader whose metadata lacks a partition does not let followers and clients reach it (KafkaApis.handleFetchRequest,
0.10.1 to 2.7): at its creation, since UpdateMetadata comes after LeaderAndIsr, and once its topic is being deleted."""

import pytest

from brokers.broker_policies import BrokerPolicies
from brokers.metadata_cache import MetadataCache, serves_all
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import CONSUMER, FetchResponse
from emulator.protocol.types import LEADER_DURING_DELETE, TopicPartition
from tests.brokers.bench import ME, TP, Bench, state

OTHER = TopicPartition("t", 1)
UNKNOWN = Errors.UNKNOWN_TOPIC_OR_PARTITION


def unannounced(policies: BrokerPolicies | None = None) -> Bench:
    """A bench that leads ``TP``; the controller's UpdateMetadata is still on its way."""
    bench = Bench(policies)
    bench.leader_and_isr(state(ME, 0))
    return bench


def errors(answer: FetchResponse | None) -> list[Errors]:
    assert answer is not None
    return [each.error for each in answer.partitions]


@pytest.mark.parametrize("reader", [1, CONSUMER])
def test_a_fetch_before_the_metadata_has_come_is_refused_at_once_and_does_not_count(reader: int) -> None:
    bench = unannounced()
    follower = bench.follower(reader)
    assert errors(follower.at(0)) == [UNKNOWN]
    assert bench.remote(1).log_end_offset == -1
    bench.learn(TP, ME)
    follower.at(0)
    assert bench.remote(1).log_end_offset == (0 if reader == 1 else -1)
    assert bench.produce().last.partitions == ((TP, Errors.NONE, 0),)
    assert reader == CONSUMER or errors(follower.line.last) == [Errors.NONE]


@pytest.mark.parametrize("reader", [1, CONSUMER])
def test_beside_other_partitions_the_error_waits_for_them(reader: int) -> None:
    bench = unannounced()
    bench.lead(tp=OTHER, isr=(0,))
    follower = bench.follower(reader)
    assert follower.fetch((OTHER, 0, 0), (TP, 0, 0)) is None
    bench.learn(TP, ME)  # too late for this request
    assert sorted(errors(follower.expire())) == [Errors.NONE, UNKNOWN]
    assert follower.at(0) is None
    assert errors(follower.expire()) == [Errors.NONE]


def test_what_is_lost_while_a_request_waits_is_read_for_that_request_only() -> None:
    bench = Bench()
    bench.lead(isr=(0, 1))
    follower = bench.follower(1)
    assert follower.at(0) is None
    bench.produce()
    assert errors(follower.answer(0)) == [Errors.NONE]
    assert follower.at(1) is None
    bench.at(1_000)
    bench.learn(TP, LEADER_DURING_DELETE)
    assert bench.remote(1).last_fetch_us == 0
    assert errors(follower.expire()) == [Errors.NONE]  # the high watermark
    bench.at(bench.world.now + 1_000)
    assert errors(follower.fetch()) == [UNKNOWN]
    assert errors(follower.fetch()) == [UNKNOWN]
    bench.remote(1).catch_up_now(1)
    assert bench.remote(1).last_fetch_us == 0


def test_fetches_of_an_idle_follower_count_until_the_metadata_is_lost() -> None:
    bench = Bench()
    bench.lead()
    follower = bench.follower(1)
    follower.at(0)
    follower.expire()
    follower.fetch()
    last_us = bench.world.now
    bench.at(last_us + 1_000)
    bench.learn(TP, LEADER_DURING_DELETE)
    assert bench.remote(1).last_caught_up_us == last_us
    follower.expire()
    assert errors(follower.fetch()) == [UNKNOWN]
    assert bench.remote(1).last_caught_up_us == last_us


def test_a_partition_that_the_follower_gives_up_lets_the_others_wait_as_before() -> None:
    bench = unannounced()
    bench.lead(tp=OTHER, isr=(0,))
    follower = bench.follower(1)
    follower.fetch((OTHER, 0, 0), (TP, 0, 0))
    follower.expire()
    assert follower.fetch(forgotten=(TP,)) is None
    answer = follower.expire()
    assert answer is not None
    assert answer.partitions == ()


@pytest.mark.parametrize(
    ("serves", "expected"),
    [
        (MetadataCache.knows, UNKNOWN),
        (MetadataCache.knows_topic, Errors.NONE),  # before KAFKA-6796
        (serves_all, Errors.NONE),  # before KAFKA-3396
    ],
)
def test_what_the_metadata_has_to_have_is_a_policy(serves: object, expected: Errors) -> None:
    bench = unannounced(BrokerPolicies(serves=serves))  # type: ignore[arg-type]
    bench.learn(OTHER, ME)
    bench.follower(1).at(0)
    assert bench.produce().last.partitions[0][1] is expected
    for session in bench.fetch_handler.sessions.values():
        assert bool(session.unserved) is (expected is UNKNOWN)


def test_without_its_topic_a_partition_is_served_only_where_nothing_is_asked() -> None:
    for serves, expected in ((MetadataCache.knows_topic, UNKNOWN), (serves_all, Errors.NONE)):
        bench = unannounced(BrokerPolicies(serves=serves))
        assert bench.produce().last.partitions[0][1] is expected
