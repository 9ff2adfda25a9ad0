"""Produce: acks, min.insync.replicas, and the answers of requests that wait."""

import pytest

from brokers.broker_config import BrokerConfig
from brokers.broker_policies import BrokerPolicies
from emulator.disks import DiskError, DiskFault, UnexpectedError
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import ZkCode
from tests.brokers.bench import MS, TP, Bench, config

OTHER = TopicPartition("t", 1)


def test_acks_1_is_answered_at_the_append() -> None:
    bench = Bench()
    bench.lead()
    bench.produce(count=3)
    assert bench.produce().last.partitions == ((TP, Errors.NONE, 3),)


def test_acks_all_waits_for_the_high_watermark() -> None:
    bench = Bench()
    bench.lead()
    first, second = bench.produce(acks=-1, count=3), bench.produce(acks=-1)
    one, two = bench.follower(1), bench.follower(2)
    one.at(4)
    two.at(3)
    assert first.last.partitions == ((TP, Errors.NONE, 0),)
    assert not second.replies
    two.at(4)
    assert second.last.partitions == ((TP, Errors.NONE, 3),)


def test_acks_all_of_several_partitions_is_answered_with_the_last() -> None:
    bench = Bench()
    bench.lead()
    bench.lead(tp=OTHER, isr=(0,))
    line = bench.produce(TP, OTHER, TopicPartition("t", 9), acks=-1)
    assert not line.replies
    for broker in (1, 2):
        bench.follower(broker).at(1)
    assert set(line.last.partitions) == {
        (TP, Errors.NONE, 0),
        (OTHER, Errors.NONE, 0),
        (TopicPartition("t", 9), Errors.UNKNOWN_TOPIC_OR_PARTITION, -1),
    }
    assert len(line.replies) == 1


def test_what_the_isr_does_not_have_by_the_timeout_has_timed_out() -> None:
    bench = Bench()
    bench.lead()
    bench.lead(tp=OTHER, isr=(0,))
    line = bench.produce(TP, OTHER, acks=-1)
    bench.expire_produces()
    assert set(line.last.partitions) == {(TP, Errors.REQUEST_TIMED_OUT, 0), (OTHER, Errors.NONE, 0)}
    for broker in (1, 2):
        bench.follower(broker).at(1)
    assert len(line.replies) == 1


def test_acks_all_needs_min_insync_replicas_before_the_append() -> None:
    bench = Bench(config(min_insync_replicas=2))
    bench.lead(isr=(0,))
    assert bench.produce(acks=-1).last.partitions == ((TP, Errors.NOT_ENOUGH_REPLICAS, -1),)
    assert bench.produce(acks=1).last.partitions == ((TP, Errors.NONE, 0),)


def test_an_isr_that_shrinks_below_the_minimum_after_the_append_is_an_error() -> None:
    bench = Bench(BrokerPolicies(BrokerConfig(replica_lag_time_max_us=100 * MS), {"t": 2}))
    bench.lead(isr=(0, 1))
    line = bench.produce(acks=-1)
    bench.at(101 * MS)
    bench.expire_isrs()
    bench.zk.answer(ZkCode.OK, version=1)
    assert line.last.partitions == ((TP, Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND, 0),)


def test_a_topics_own_minimum_counts_above_the_brokers() -> None:
    bench = Bench(BrokerPolicies(BrokerConfig(min_insync_replicas=2), {"t": 1}))
    bench.lead(isr=(0,))
    assert bench.produce(acks=-1).last.partitions == ((TP, Errors.NONE, 0),)


def test_a_follower_and_a_broker_without_the_replica_refuse() -> None:
    bench = Bench()
    bench.follow(leader=1)
    assert bench.produce().last.partitions == ((TP, Errors.NOT_LEADER_FOR_PARTITION, -1),)
    assert bench.produce(OTHER).last.partitions == ((OTHER, Errors.UNKNOWN_TOPIC_OR_PARTITION, -1),)


def test_acks_0_gets_no_answer() -> None:
    bench = Bench()
    bench.lead()
    line = bench.produce(acks=0)
    assert (line.replies, line.released, line.hung_up) == ([], 1, False)


def test_acks_0_learns_of_an_error_by_a_lost_connection() -> None:
    bench = Bench()
    bench.follow(leader=1)
    line = bench.produce(acks=0)
    assert (line.replies, line.released, line.hung_up) == ([], 0, True)


@pytest.mark.parametrize(
    ("error", "answered"),
    [(DiskError, Errors.KAFKA_STORAGE_ERROR), (UnexpectedError, Errors.UNKNOWN_SERVER_ERROR)],
)
def test_what_an_append_that_fails_is_answered(error: type[Exception], answered: Errors) -> None:
    bench = Bench()
    partition = bench.lead()
    partition.log.fail_disk(DiskFault("I/O error", left=1, error=error))
    assert bench.produce().last.partitions == ((TP, answered, -1),)
    assert bench.produce().last.partitions == ((TP, Errors.NONE, 0),)


@pytest.mark.parametrize("acks", [0, 1, -1])
def test_an_append_wakes_a_parked_fetch(acks: int) -> None:
    bench = Bench()
    bench.lead()
    follower = bench.follower(1)
    assert follower.at(0) is None
    bench.produce(acks=acks, count=2)
    answer = follower.answer(0)
    assert answer is not None
    assert [found.next_offset for found in answer.partitions[0].batches] == [2]


def test_a_topic_that_is_being_deleted_takes_no_more_records() -> None:
    """From UpdateMetadata with leader -2 on, while the replica still leads: StopReplica is yet to come."""
    bench = Bench()
    bench.lead()
    bench.learn(TP, -2)
    assert bench.partition.is_leader
    assert bench.produce().last.partitions == ((TP, Errors.UNKNOWN_TOPIC_OR_PARTITION, -1),)
    assert bench.partition.log_end_offset == 0


@pytest.mark.parametrize(
    ("per_message", "count", "expected"),
    [(False, 1, Errors.MESSAGE_TOO_LARGE), (False, 4, Errors.MESSAGE_TOO_LARGE), (True, 4, Errors.NONE)],
)
def test_what_is_larger_than_the_topic_allows_is_refused(per_message: bool, count: int, expected: Errors) -> None:
    """Up to 0.10 each message has to fit, since 0.11 the batch."""
    bench = Bench(BrokerPolicies(limits_messages=per_message))
    bench.lead()
    bench.manager.configured("topics/t", {"max.message.bytes": "500"})
    assert bench.produce(count=count, size=501).last.partitions[0][1] is expected
    assert bench.produce(count=count, size=500).last.partitions[0][1] is Errors.NONE
