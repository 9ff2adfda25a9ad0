"""The leader's side of the replication throttles (KIP-73, KIP-542)."""

from attrs import evolve

from brokers.broker_policies import BrokerPolicies
from brokers.partition.isr import ByController
from emulator.protocol.shown import FetchOverdue
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import ZkCode
from fetchers.quota import QuotaManagers, Throttle
from tests.brokers.bench import ME, TP, Bench, state
from tests.brokers.replica_manager.test_alter_isr import NotedAlterIsr

OTHER = TopicPartition("t", 1)


def leaders_half(lists: str = "", **rates: int) -> Throttle:
    quotas = QuotaManagers(ME)
    quotas.configured(f"brokers/{ME}", {f"leader.{name}.throttled.rate": str(rate) for name, rate in rates.items()})
    quotas.configured(f"topics/{TP.topic}", {"leader.replication.throttled.replicas": lists})
    return quotas.leader


def throttled_leader(rate: int = 100, isr: tuple[int, ...] = (0,)) -> Bench:
    """``TP`` is listed, ``OTHER`` is not; each holds ten batches of 100 bytes."""
    bench = Bench(throttle=leaders_half(f"{TP.partition}:{ME}", replication=rate))
    for tp in (TP, OTHER):
        bench.lead(tp=tp, isr=isr)
        for _ in range(10):
            bench.produce(tp)
    return bench


def test_a_listed_replica_out_of_sync_gets_nothing_while_the_quota_is_exceeded() -> None:
    bench = throttled_leader()
    follower = bench.follower(1, max_partition_bytes=200)
    answer = follower.fetch((TP, 0, 0), (OTHER, 0, 0))
    assert answer is not None
    assert [len(found.batches) for found in answer.partitions] == [2, 2]  # the crossing answer goes through
    answer = follower.fetch((TP, 0, 2), (OTHER, 0, 2))
    assert answer is not None
    assert [(found.tp, len(found.batches)) for found in answer.partitions] == [(OTHER, 2)]
    assert follower.fetch((OTHER, 0, 10)) is None
    bench.at(1_600_000)
    answer = follower.expire()  # 200 bytes in 2.1 s
    assert answer is not None
    assert [(found.tp, len(found.batches)) for found in answer.partitions if found.batches] == [(TP, 2)]


def test_kafka_4313_a_replica_in_sync_is_not_held_back_but_counts() -> None:
    bench = throttled_leader(isr=(0, 1))
    follower = bench.follower(1, max_partition_bytes=200)
    for offset in (0, 2, 4):
        answer = follower.at(offset)
        assert answer is not None
        assert len(answer.partitions[0].batches) == 2
    assert bench.manager.throttle.listed.is_quota_exceeded(bench.world.now)
    assert bench.follower(2).at(0) is None


def test_the_end_of_a_throttle_wakes_no_fetch_and_is_no_defect() -> None:
    """Seed 426 of kafka-2.8: the fetch waits for its time, though there are records that it may read now."""
    quotas = QuotaManagers(ME)
    quotas.configured(f"brokers/{ME}", {"leader.replication.throttled.rate": "100"})
    quotas.configured(f"topics/{TP.topic}", {"leader.replication.throttled.replicas": f"{TP.partition}:{ME}"})
    bench = Bench(throttle=quotas.leader)
    bench.lead(isr=(0,))
    for _ in range(10):
        bench.produce()
    overdue = bench.see(FetchOverdue)
    follower = bench.follower(1, max_partition_bytes=200)
    follower.at(0)
    assert follower.at(2) is None
    quotas.configured(f"topics/{TP.topic}", {})
    assert not bench.manager.throttle.active
    answer = follower.expire()
    assert answer is not None
    assert [len(found.batches) for found in answer.partitions] == [2]
    assert overdue == []


def test_records_that_are_held_back_keep_the_world_unsettled() -> None:
    bench = throttled_leader()
    follower = bench.follower(1, max_partition_bytes=200)
    follower.at(0)
    assert bench.world.foreground == 0
    assert follower.at(2) is None
    assert bench.world.foreground == 1


def test_a_replica_whose_joining_the_controller_has_not_answered_is_held_back() -> None:
    """2.7's shouldLeaderThrottle asks for the committed ISR (Partition.inSyncReplicaIds), not the maximal one."""
    noted = NotedAlterIsr()
    policies = BrokerPolicies(isr_writes=ByController())
    bench = Bench(policies, leaders_half(f"{TP.partition}:{ME}", replication=100), noted)
    bench.lead(isr=(0,))
    for _ in range(10):
        bench.produce()
    follower = bench.follower(1, max_partition_bytes=1000)
    follower.at(0)
    follower.at(10)
    assert noted.isrs() == [(0, 1)]
    bench.produce()
    assert follower.answer(1) is None
    noted.wanted[0].taken((0, 1), 1)
    bench.produce()
    assert follower.answer(1) is not None


def test_an_in_sync_replica_that_joined_is_let_go() -> None:
    bench = throttled_leader()
    follower = bench.follower(1, max_partition_bytes=1000)
    follower.at(0)
    follower.at(10)
    bench.zk.answer(ZkCode.OK, version=1)
    bench.produce()
    assert follower.answer(1) is not None


def moving_leader(rate: int, isr: tuple[int, ...] = (0,)) -> Bench:
    """Under KIP-542's rate; of the followers a reassignment adds broker 2, and broker 1 has been there before."""
    bench = Bench(throttle=leaders_half(reassignment=rate))
    bench.leader_and_isr(evolve(state(ME, 0, isr), adding=(2,)))
    bench.learn(TP, ME)
    for _ in range(10):
        bench.produce()
    return bench


def test_kip_542_only_a_replica_that_a_move_adds_is_held_back() -> None:
    bench = moving_leader(100)
    old, new = (bench.follower(broker, max_partition_bytes=200) for broker in (1, 2))
    assert new.at(0) is not None  # the crossing answer goes through
    assert new.at(2) is None
    for offset in (0, 2, 4):
        assert old.at(offset) is not None


def test_kip_542_what_others_get_does_not_count() -> None:
    bench = moving_leader(100)
    old, new = (bench.follower(broker, max_partition_bytes=200) for broker in (1, 2))
    for offset in (0, 2, 4):
        assert old.at(offset) is not None
    assert new.at(0) is not None


def test_kip_542_in_sync_it_is_neither_held_back_nor_counted() -> None:
    bench = moving_leader(100, isr=(0, 2))
    new = bench.follower(2, max_partition_bytes=200)
    for offset in (0, 2, 4):
        assert new.at(offset) is not None
    assert not bench.manager.throttle.reassigned.is_quota_exceeded(bench.world.now)


def test_kip_542_without_a_reassignment_no_replica_is_throttled() -> None:
    bench = Bench(throttle=leaders_half(reassignment=1))
    bench.lead(isr=(0,))
    for _ in range(10):
        bench.produce()
    follower = bench.follower(1, max_partition_bytes=200)
    for offset in (0, 2, 4):
        assert follower.at(offset) is not None
