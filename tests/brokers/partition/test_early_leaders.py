"""Leaders in Kafka's first releases with replication (kafka-behaviour §14; Kafka 0.8.0 and 0.8.2.2)."""

from typing import Any

import pytest

from brokers.broker_config import BrokerConfig
from brokers.broker_policies import BrokerPolicies
from brokers.partition.isr import ByZooKeeper, NotCaughtUp, StuckOrSlow
from brokers.partition.remote import RemoteReplica
from emulator.protocol.errors import Errors
from emulator.protocol.events import IsrUpdateFailed
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import ZkCode
from tests.brokers.bench import LAG, MS, TP, Bench, caught_up


def early(**changes: Any) -> Bench:
    """A bench at 5 s whose replica.lag.time.max is ``LAG`` and whose replica.lag.max.messages is 10."""
    rules: dict[str, Any] = {
        "out_of_sync": StuckOrSlow(10),
        "counts_acks": True,
        "demotion_answers_waiting": False,
        "high_watermark_waits_for_caught_up": False,
    }
    bench = Bench(BrokerPolicies(BrokerConfig(replica_lag_time_max_us=LAG), **rules | changes))
    bench.at(5_000 * MS)
    return bench


# -- out of sync -----------------------------------------------------------------------------------------------------


def test_a_follower_that_fetches_is_not_stuck_however_long_it_is_behind() -> None:
    bench = early()
    partition = bench.lead(isr=(0, 1))
    bench.produce(count=5)
    follower = bench.follower(1)
    for _ in range(5):
        follower.at(3)
        bench.at(bench.world.now + LAG)
    assert partition.get_out_of_sync_replicas(bench.world.now) == ()
    assert NotCaughtUp()(bench.remote(1), 5, bench.world.now, LAG)  # since 0.9 it is
    bench.at(bench.world.now + 1)
    assert partition.get_out_of_sync_replicas(bench.world.now) == (1,)


def test_one_at_the_log_end_is_neither_stuck_nor_slow() -> None:
    remote = RemoteReplica(1, log_end_offset=7)
    assert not StuckOrSlow(10)(remote, 7, 1 << 40, LAG)


def test_a_burst_of_more_messages_than_the_limit_puts_a_follower_out_at_once() -> None:
    """The ISR flaps: it comes back with its next fetch, the high watermark being where it was."""
    bench = early()
    partition = bench.lead(isr=(0, 1))
    caught_up(bench, 1)
    bench.produce(count=10)
    assert partition.get_out_of_sync_replicas(bench.world.now) == ()
    bench.produce()
    bench.expire_isrs()
    bench.zk.answer(ZkCode.OK, version=1)
    assert (partition.isr, partition.high_watermark) == ((0,), 11)
    bench.follower(1).at(11)
    bench.zk.answer(ZkCode.OK, version=2)
    assert partition.isr == (0, 1)


def test_one_that_has_not_fetched_since_the_election_is_not_slow_yet() -> None:
    bench = early()
    bench.lead(isr=(0, 1))
    bench.produce(count=100)
    bench.at(bench.world.now + LAG)
    assert bench.partition.get_out_of_sync_replicas(bench.world.now) == ()
    bench.at(bench.world.now + 1)
    assert bench.partition.get_out_of_sync_replicas(bench.world.now) == (1,)


@pytest.mark.parametrize(("times", "interval_us"), [(1, LAG), (2, LAG // 2)])
def test_how_often_leaders_look(times: int, interval_us: int) -> None:
    assert early(isr_checks_per_lag_time=times).policies.isr_check_interval_us == interval_us


# -- acks as a number ------------------------------------------------------------------------------------------------


def test_acks_2_waits_for_one_follower_in_sync() -> None:
    bench = early()
    bench.lead()
    line = bench.produce(acks=2, count=3)
    one, two = bench.follower(1), bench.follower(2)
    one.at(2)
    assert not line.replies
    two.at(3)
    assert line.last.partitions == ((TP, Errors.NONE, 0),)
    assert bench.partition.high_watermark == 2  # which acks=all would wait for


def test_a_replica_out_of_sync_is_not_counted() -> None:
    bench = early()
    bench.lead(isr=(0, 1))
    bench.produce(count=20)
    line = bench.produce(acks=2)
    bench.follower(2).at(5)
    bench.follower(2).at(21)
    assert not line.replies
    bench.expire_produces()
    assert line.last.partitions == ((TP, Errors.REQUEST_TIMED_OUT, 20),)


def test_a_replica_that_joins_is_counted_though_it_fetched_before() -> None:
    """0.8, seed 41 of the default swarm: its fetch makes it join, and the ISR is written a moment later."""
    bench = early()
    bench.lead(isr=(0,))
    line = bench.produce(acks=2)
    bench.follower(1).at(1)
    bench.zk.answer(ZkCode.OK, 1)
    assert bench.partition.isr == (0, 1)
    assert line.last.partitions == ((TP, Errors.NONE, 0),)


def test_without_followers_no_replica_is_waited_for() -> None:
    bench = early(checks_assignment=True)
    alone = TopicPartition("alone", 0)
    bench.lead(tp=alone, isr=(0,), replicas=(0,))
    assert bench.produce(alone, acks=3).last.partitions == ((alone, Errors.NONE, 0),)


def test_any_other_negative_number_means_all() -> None:
    bench = early()
    bench.lead(isr=(0, 1))
    line = bench.produce(acks=-7)
    assert not line.replies
    bench.follower(1).at(1)
    assert line.last.partitions == ((TP, Errors.NONE, 0),)


# -- what is not noticed ---------------------------------------------------------------------------------------------


def test_before_kafka_2960_a_demotion_completes_no_delayed_request() -> None:
    bench = early()
    partition = bench.lead(0)
    lines = [bench.produce(acks=-1), bench.produce(acks=2)]
    bench.follow(leader=1, epoch=1)
    assert not any(line.replies for line in lines)
    bench.expire_produces(partition)
    assert [line.last.partitions[0][1] for line in lines] == [Errors.REQUEST_TIMED_OUT] * 2


def test_what_a_demotion_left_is_looked_at_as_a_follower_fetches() -> None:
    """0.8, seed 10163 of the default swarm: its followers brought the records to those that it waited for."""
    bench = early()
    partition = bench.lead(isr=(0, 1))
    line = bench.produce(acks=-1)
    bench.follow(leader=1, epoch=1)
    partition.set_high_watermark(1, False)
    bench.lead(2, isr=(0, 1))
    assert not line.replies
    bench.follower(1).at(1, 2)
    assert line.last.partitions == ((TP, Errors.NONE, 0),)


def test_a_fetch_from_a_leader_no_more_answers_those_that_wait_there() -> None:
    bench = early()
    bench.lead(isr=(0, 1))
    line = bench.produce(acks=-1)
    bench.follow(leader=1, epoch=1)
    bench.follower(2).at(0)
    assert line.last.partitions == ((TP, Errors.NOT_LEADER_FOR_PARTITION, 0),)


def test_before_kafka_1382_a_write_whose_answer_was_lost_has_failed() -> None:
    bench = early(isr_writes=ByZooKeeper(compares=False))
    partition = bench.lead(0, isr=(0,), version=4)
    bench.follower(1).at(0)
    seen = bench.see(IsrUpdateFailed)
    bench.zk.answer(ZkCode.BAD_VERSION)
    assert (partition.isr, partition.zk_version, len(seen)) == ((0,), 4, 1)
    assert not bench.zk.waiting


def test_before_kafka_6796_a_broker_without_a_replica_knows_no_such_partition() -> None:
    bench = early(knows_whose_replica=False)
    bench.learn(TP, 1)
    assert bench.produce().last.partitions == ((TP, Errors.UNKNOWN_TOPIC_OR_PARTITION, -1),)


@pytest.mark.parametrize(("begins", "known"), [(True, ((0, 0), (1, 2))), (False, ((0, 0), (3, 1)))])
def test_a_leader_under_an_earlier_epoch_than_the_last_of_its_log(
    begins: bool, known: tuple[tuple[int, int], ...]
) -> None:
    """kafka-1.1, seed 3010: after a start it obeys a controller that was replaced (LeaderEpochFileCache.assign, 1.1.1
    and 2.0.1)."""
    bench = Bench(BrokerPolicies(BrokerConfig(), begins_past_epochs=begins))
    bench.lead(0)
    bench.produce()
    bench.lead(3)
    bench.produce()
    bench.restart()
    assert bench.lead(1).log.epochs.entries == known
