"""Members of the ISR that are not assigned (KAFKA-9672): a controller that dies between two steps of a move can leave
one there."""

from brokers.broker_config import BrokerConfig
from brokers.broker_policies import BrokerPolicies
from brokers.partition.partition import Partition
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import SetData, ZkCode
from tests.brokers.bench import LAG, ME, TP, Bench, caught_up, state

OTHER = TopicPartition("t", 1)


def bench_with(*, leave: bool) -> Bench:
    bench = Bench(BrokerPolicies(BrokerConfig(replica_lag_time_max_us=LAG), unassigned_leave_isr=leave))
    bench.at(5_000_000)
    return bench


def without_2(epoch: int, tp: TopicPartition = TP) -> LeaderAndIsrPartition:
    """Broker 2 is no longer assigned, and still in the ISR."""
    return state(ME, epoch, (0, 1, 2), replicas=(0, 1), tp=tp)


def lagging_with_an_unassigned_member(bench: Bench) -> Partition:
    """Something was written that broker 2 has not read; it is not assigned any more."""
    bench.lead(0)
    one, _two = caught_up(bench, 1, 2)
    bench.produce(count=3)
    one.at(3)
    assert bench.leader_and_isr(without_2(1)).partitions[0][1].name == "NONE"
    one.at(3, epoch=1)
    return bench.partition


def isr_writes(bench: Bench) -> list[tuple[str, str]]:
    return [(op.path, op.data) for op, _ in bench.zk.waiting if isinstance(op, SetData)]


def test_it_leaves_the_isr_after_the_lag_time() -> None:
    bench = bench_with(leave=True)
    partition = lagging_with_an_unassigned_member(bench)
    bench.expire_isrs()
    assert isr_writes(bench) == []
    bench.at(bench.world.now + LAG + 1)
    bench.expire_isrs()
    [(path, data)] = isr_writes(bench)
    assert path.startswith("/brokers/topics/t/partitions/0")
    assert '"isr":[0,1]' in data
    bench.zk.answer(ZkCode.OK, version=1)
    assert (partition.isr, partition.unassigned) == ((0, 1), {})


def test_one_that_never_fetched_leaves_at_the_next_look() -> None:
    bench = bench_with(leave=True)
    bench.produce()
    bench.leader_and_isr(without_2(0))
    bench.expire_isrs()
    assert len(isr_writes(bench)) == 1


def test_it_holds_no_high_watermark_back() -> None:
    bench = bench_with(leave=True)
    assert lagging_with_an_unassigned_member(bench).high_watermark == 3


def test_the_check_of_all_isrs_ends_at_it() -> None:
    """Also for partitions that come after it; at each check again, until a LeaderAndIsr puts things right."""
    bench = bench_with(leave=False)
    lagging_with_an_unassigned_member(bench)
    bench.lead(0, tp=OTHER)
    bench.produce(OTHER)
    for _ in range(3):
        bench.at(bench.world.now + LAG + 1)
        bench.expire_isrs()
    assert isr_writes(bench) == []
    bench.leader_and_isr(state(ME, 2, (0, 1), replicas=(0, 1)))
    bench.expire_isrs()
    assert [path for path, _ in isr_writes(bench)] == ["/brokers/topics/t/partitions/1/state"]


def test_a_follower_knows_no_unassigned_members() -> None:
    bench = bench_with(leave=False)
    partition = lagging_with_an_unassigned_member(bench)
    assert list(partition.unassigned) == [2]
    bench.follow(leader=1, epoch=2)
    assert partition.unassigned == {}
