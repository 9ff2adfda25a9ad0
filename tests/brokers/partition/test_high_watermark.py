"""The high watermark (kafka-behaviour §8.5): where it is, what holds it back, and which readers receive it."""

import pytest

from brokers.broker_config import BrokerConfig
from brokers.broker_policies import BrokerPolicies
from brokers.log.checkpoints import HIGH_WATERMARKS
from brokers.log.log import OffsetMismatch
from brokers.partition.remote import NEVER
from emulator.protocol.errors import Errors
from emulator.protocol.events import HighWatermark, PartitionGauges
from emulator.protocol.types import Batch
from emulator.protocol.update_metadata import UpdateMetadataRequest
from emulator.zookeeper import ZkCode
from tests.brokers.bench import LAG, MS, TP, Bench, batch, caught_up, lag_bench, state


def test_the_high_watermark_is_the_lowest_end_in_the_isr() -> None:
    bench = lag_bench()
    partition = bench.lead(0)
    seen = bench.see(HighWatermark)
    bench.produce(count=10)
    one, two = caught_up(bench, 1, 2)
    one.at(8)
    assert partition.high_watermark == 0
    two.at(5)
    two.at(9)
    one.at(10)
    assert [event.high_watermark for event in seen] == [5, 8, 9]


def test_what_is_appended_is_committed_at_once_where_no_assigned_replica_is_in_sync() -> None:
    """Partition.appendRecordsToLeader, 2.3.1 to 3.9.0: it looks at the high watermark after each append, and members of
    the ISR that are not assigned do not count."""
    bench = lag_bench()
    partition = bench.lead(0, isr=(0, 1), replicas=(0,))
    bench.produce(count=3)
    assert partition.high_watermark == 3
    behind = bench.lead(1, isr=(0, 1, 2), replicas=(0, 2))
    bench.produce(count=3)
    assert behind.high_watermark == 3  # broker 2 is assigned, and has nothing yet


def test_one_outside_the_isr_that_is_caught_up_holds_it_back_for_the_lag_time() -> None:
    bench = lag_bench()
    partition = bench.lead(0, isr=(0, 1))
    one, two = caught_up(bench, 1, 2)
    bench.zk.answer(ZkCode.CONNECTION_LOSS)  # two may join, but ZooKeeper does not take it
    assert partition.isr == (0, 1)
    bench.produce(count=3)
    one.at(3)
    assert partition.high_watermark == 0
    assert two.line.on_close is not None
    two.line.on_close()
    bench.at(bench.world.now + LAG)
    bench.expire_isrs()
    assert partition.high_watermark == 0
    bench.at(bench.world.now + LAG)
    bench.expire_isrs()
    assert partition.high_watermark == 3


def test_where_the_isr_alone_counts_no_replica_outside_it_holds_it_back() -> None:
    """Kafka 0.8 (kafka-behaviour §14)."""
    policies = BrokerPolicies(BrokerConfig(replica_lag_time_max_us=LAG), high_watermark_waits_for_caught_up=False)
    bench = Bench(policies)
    partition = bench.lead(0, isr=(0, 1))
    one, _two = caught_up(bench, 1, 2)
    bench.zk.answer(ZkCode.CONNECTION_LOSS)
    assert partition.isr == (0, 1)
    bench.produce(count=3)
    one.at(3)
    assert partition.high_watermark == 3


def test_it_does_not_move_while_an_isr_write_is_in_flight() -> None:
    bench = lag_bench()
    partition = bench.lead(0, isr=(0, 1))
    one, _two = caught_up(bench, 1, 2)
    bench.produce()
    one.at(1)
    assert partition.high_watermark == 0
    bench.zk.answer(ZkCode.OK, version=1)
    assert partition.isr == (0, 1, 2)
    bench.follower(2).at(1)
    assert partition.high_watermark == 1


def test_a_leader_alone_advances_at_its_append() -> None:
    bench = lag_bench()
    partition = bench.lead(0, isr=(0,))
    bench.produce(count=4)
    assert partition.high_watermark == 4


def test_a_leader_that_leads_on_resets_when_the_others_were_caught_up() -> None:
    """Partition.makeLeader: a follower in the ISR counts as caught up now; one outside it as never caught up."""
    bench = lag_bench()
    bench.lead(0, isr=(0, 1))
    caught_up(bench, 1, 2)
    assert bench.remote(2).last_caught_up_us == bench.world.now
    bench.at(bench.world.now + 10 * MS)
    bench.lead(1, isr=(0, 1), version=9)
    assert (bench.remote(1).last_caught_up_us, bench.remote(2).last_caught_up_us) == (bench.world.now, NEVER)
    assert (bench.remote(1).log_end_offset, bench.remote(2).log_end_offset) == (0, 0)


@pytest.mark.parametrize(("keeps", "ends"), [(True, [10, 10]), (False, [-1, -1])])
def test_a_leader_that_is_elected_again_keeps_where_the_others_were(keeps: bool, ends: list[int]) -> None:
    """Partition.makeLeader, since 0.9: also where another broker has led in between."""
    bench = Bench(BrokerPolicies(BrokerConfig(replica_lag_time_max_us=LAG), keeps_positions=keeps))
    bench.lead(0)
    bench.produce(count=10)
    for follower in caught_up(bench, 1, 2):
        follower.at(10)
    bench.lead(2)
    assert [remote.log_end_offset for remote in bench.partition.remotes.values()] == ends


def test_a_new_leader_does_not_know_where_the_others_are() -> None:
    bench = lag_bench()
    bench.lead(0)
    caught_up(bench, 1, 2)
    bench.follow(leader=1, epoch=1)
    bench.lead(2)
    assert [remote.log_end_offset for remote in bench.partition.remotes.values()] == [-1, -1]


def test_a_follower_takes_over_the_leaders_high_watermark_up_to_its_own_end() -> None:
    bench = Bench()
    bench.leader_and_isr(state(1, 0))
    assert bench.partition.append_as_follower((), 7) == 0
    assert bench.partition.high_watermark == 0


def test_an_empty_log_that_ends_within_the_leaders_batch_begins_with_that_batch() -> None:
    """Partition.appendRecordsToFollowerOrFutureReplica, KAFKA-6975."""
    bench = Bench()
    bench.leader_and_isr(state(1, 0))
    bench.partition.truncate_fully_and_start_at(5)
    assert bench.partition.append_as_follower((Batch(4, 7, 0, 100, 1),), 7) == 7
    assert bench.partition.log.start_offset == 4
    with pytest.raises(OffsetMismatch):
        bench.partition.append_as_follower((Batch(6, 9, 0, 100, 2),), 9)


@pytest.mark.parametrize("waits_for_eligible", [False, True])
def test_since_3_5_one_outside_the_isr_holds_it_back_only_while_its_broker_is_alive(waits_for_eligible: bool) -> None:
    policies = BrokerPolicies(BrokerConfig(replica_lag_time_max_us=LAG), waits_for_eligible=waits_for_eligible)
    bench = Bench(policies)
    partition = bench.lead(0, isr=(0, 1))
    one, _two = caught_up(bench, 1, 2)
    bench.zk.answer(ZkCode.CONNECTION_LOSS)
    bench.manager.metadata.update(UpdateMetadataRequest(9, 1, -1, (), (0, 1)))
    bench.produce(count=3)
    one.at(3)
    assert partition.high_watermark == (3 if waits_for_eligible else 0)


@pytest.mark.parametrize("needs_min_isr", [False, True])
def test_since_kafka_15583_it_stays_while_the_isr_is_below_min_insync_replicas(needs_min_isr: bool) -> None:
    config = BrokerConfig(replica_lag_time_max_us=LAG, min_insync_replicas=2)
    bench = Bench(BrokerPolicies(config, high_watermark_needs_min_isr=needs_min_isr))
    partition = bench.lead(0, isr=(0,))
    bench.produce(acks=1, count=3)
    assert partition.high_watermark == (0 if needs_min_isr else 3)
    bench.expire_isrs()
    assert not bench.manager.isr_checks, "it waits for a follower, and no clock"
    bench.follower(1).at(3)
    bench.zk.answer(ZkCode.OK, 1)
    assert (partition.isr, partition.high_watermark) == ((0, 1), 3)


@pytest.mark.parametrize("caps", [False, True])
def test_since_kafka_15583_min_insync_replicas_is_no_more_than_the_replicas(caps: bool) -> None:
    config = BrokerConfig(replica_lag_time_max_us=LAG, min_insync_replicas=3)
    bench = Bench(BrokerPolicies(config, caps_min_isr=caps))
    seen = bench.see(PartitionGauges)
    partition = bench.lead(0, isr=(0, 1), replicas=(0, 1))
    assert seen[-1].under_min_isr is not caps
    line = bench.produce(acks=-1)
    assert (partition.log.end_offset, partition.is_under_min_isr) == (int(caps), not caps)
    if caps:
        bench.follower(1).at(1)
    assert line.last.partitions[0][1] is (Errors.NONE if caps else Errors.NOT_ENOUGH_REPLICAS)


def test_one_that_a_crash_has_taken_back_is_checkpointed_as_it_is() -> None:
    """kafka-3.9, seed 512: the log had lost what it had not flushed, and the checkpoint still had what came before."""
    bench = Bench()
    bench.follow().append_as_follower(tuple(batch(base, 5) for base in range(6)), 6)
    bench.manager.logs.write_high_watermarks()
    bench.partition.log.truncate_to(4)
    bench.restart()
    assert bench.follow().high_watermark == 4
    bench.manager.logs.write_high_watermarks()
    assert bench.node.disks[0].open(HIGH_WATERMARKS).entries == [(TP, 4)]
