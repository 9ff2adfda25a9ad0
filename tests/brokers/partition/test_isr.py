"""Which replicas are in sync (kafka-behaviour §7.6 and §8.5), with the numbers of Kafka's own tests."""

import pytest

from brokers.broker_policies import BrokerPolicies
from emulator.protocol.znodes import LeaderAndIsr, state_path
from emulator.zookeeper import SetData, ZkCode
from tests.brokers.bench import LAG, MS, TP, Bench, caught_up, lag_bench


def written(bench: Bench) -> tuple[int, ...]:
    """The ISR of the write that waits for ZooKeeper."""
    operation = bench.zk.waiting[0][0]
    assert isinstance(operation, SetData)
    assert operation.path == state_path(TP)
    return LeaderAndIsr.decode(operation.data, operation.version).isr


# -- joining ---------------------------------------------------------------------------------------------------


def test_without_the_guard_the_high_watermark_is_enough() -> None:
    bench = Bench(BrokerPolicies(join_needs_epoch_start=False))
    bench.lead(0, isr=(0,))
    bench.produce(count=5)
    bench.follow(leader=2, epoch=1)
    bench.partition.high_watermark = 1
    bench.lead(2, isr=(0, 2))
    bench.follower(1).at(1, 2)
    assert written(bench) == (0, 2, 1)


def test_kafka_1382_a_write_that_took_effect_before_its_connection_was_lost_counts() -> None:
    bench = lag_bench()
    partition = bench.lead(0, isr=(0,), version=4)
    bench.follower(1).at(0)
    operation = bench.zk.answer(ZkCode.BAD_VERSION)
    bench.zk.answer(ZkCode.OK, version=5, data=operation.data)
    assert (partition.isr, partition.zk_version) == ((0, 1), 5)


def test_an_answer_from_before_a_new_epoch_is_ignored() -> None:
    bench = lag_bench()
    partition = bench.lead(0, isr=(0,))
    bench.follower(1).at(0)
    bench.lead(1, isr=(0,), version=7)
    bench.zk.answer(ZkCode.OK, version=1)
    assert (partition.isr, partition.zk_version) == ((0,), 7)


def test_of_two_that_may_join_the_second_waits_for_the_first() -> None:
    bench = lag_bench()
    partition = bench.lead(0, isr=(0,))
    caught_up(bench, 1, 2)
    assert len(bench.zk.waiting) == 1
    bench.zk.answer(ZkCode.OK, version=1)
    assert written(bench) == (0, 1, 2)
    bench.zk.answer(ZkCode.OK, version=2)
    assert partition.isr == (0, 1, 2)


def test_one_whose_write_failed_joins_at_the_next_check_though_its_partition_is_idle() -> None:
    bench = lag_bench()
    bench.lead(0, isr=(0,))
    bench.expire_isrs()
    assert not bench.manager.isr_checks
    bench.follower(1).at(0)
    bench.zk.answer(ZkCode.SESSION_EXPIRED)
    bench.expire_isrs()
    assert written(bench) == (0, 1)


def test_a_dead_follower_does_not_join_again() -> None:
    """The controller has removed it from the ISR; that its last fetch was at the log end must not add it again."""
    bench = lag_bench()
    partition = bench.lead(0)
    dead, two = caught_up(bench, 1, 2)
    assert dead.line.on_close is not None
    dead.line.on_close()
    bench.lead(1, isr=(0,), version=1)
    bench.expire_isrs()
    assert not bench.zk.waiting  # nor does one that reads under the old epoch
    two.at(0, 1)
    assert written(bench) == (0, 2)
    bench.zk.answer(ZkCode.OK, version=2)
    bench.expire_isrs()
    assert not bench.zk.waiting
    assert partition.isr == (0, 2)


# -- leaving ---------------------------------------------------------------------------------------------------


def test_an_idle_follower_at_the_end_never_leaves() -> None:
    bench = lag_bench()
    bench.lead(0)
    bench.produce()
    for broker in (1, 2):
        bench.follower(broker).at(1)
    bench.at(bench.world.now + 100 * LAG)
    bench.expire_isrs()
    assert not bench.zk.waiting
    assert not bench.manager.isr_checks


def test_the_fetches_of_an_idle_session_count_until_something_is_appended() -> None:
    """Caught up as of the session's last request, though that does not name the partition."""
    bench = lag_bench()
    bench.lead(0, isr=(0, 1))
    follower = bench.follower(1, max_wait_us=90 * MS)
    follower.at(0)
    assert follower.expire() is not None
    follower.fetch()
    requested = bench.world.now
    bench.at(bench.world.now + 30 * MS)
    bench.produce()
    assert bench.remote(1).last_caught_up_us == requested
    bench.expire_isrs()
    assert not bench.zk.waiting
    bench.at(requested + LAG + MS)
    bench.expire_isrs()
    assert written(bench) == (0,)


def test_an_answer_is_not_a_fetch() -> None:
    """Completing a delayed request does not make its follower more caught up than its request did (8.5)."""
    bench = lag_bench()
    bench.lead(0, isr=(0, 1))
    follower = bench.follower(1)
    follower.at(0)
    requested = bench.world.now
    bench.at(requested + 50 * MS)
    bench.produce()
    assert follower.answer(0) is not None
    bench.at(requested + 60 * MS)
    bench.produce()
    follower.at(1)
    assert bench.remote(1).last_caught_up_us == requested


# -- telling the controller -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("quiet_s", "notices"), [(1, 0), (6, 1)])
def test_isr_changes_are_made_known_once_they_are_quiet_for_5_s(quiet_s: int, notices: int) -> None:
    bench = lag_bench()
    bench.lead(0, isr=(0,))
    bench.follower(1).at(0)
    bench.zk.answer(ZkCode.OK, version=1)
    bench.at(bench.world.now + quiet_s * 1_000_000)
    bench.propagate_isr_changes()
    assert len(bench.zk.waiting) == notices


def test_a_restarted_broker_is_quiet_for_5_s_too() -> None:
    bench = lag_bench()
    bench.at(100_000 * MS)
    bench.restart()
    bench.lead(0, isr=(0,))
    bench.follower(1).at(0)
    bench.zk.answer(ZkCode.OK, version=1)
    bench.at(bench.world.now + 2_500 * MS)
    bench.propagate_isr_changes()
    assert not bench.zk.waiting
