"""Which replicas are in sync: PartitionTest and IsrExpirationTest of Kafka 2.4.1; conformance C105 to C113."""

from emulator.protocol.events import IsrChanged, IsrUpdateFailed
from emulator.zookeeper import GetData, ZkCode
from tests.brokers.bench import LAG, MS, Bench, caught_up, config, lag_bench
from tests.brokers.partition.test_isr import written
from tests.brokers.test_metrics import Watched


def test_C105_a_follower_joins_only_once_it_has_reached_the_start_of_the_epoch() -> None:
    bench = lag_bench()
    partition = bench.lead(8, isr=(0, 2))
    bench.produce()
    _one, two = caught_up(bench, 1, 2)
    two.at(1, 8)
    assert partition.high_watermark == 1
    for _ in range(4):
        bench.produce()
    bench.follow(leader=2, epoch=9)
    bench.lead(10, isr=(0, 2))
    bench.produce()
    one = bench.follower(1)
    one.at(0, 10)
    one.at(1, 10)  # at the high watermark, not at the start of epoch 10
    assert not bench.zk.waiting
    one.at(5, 10)
    assert written(bench) == (0, 2, 1)


def test_C107_expands_when_the_follower_has_reached_the_end() -> None:
    bench = lag_bench()
    partition = bench.lead(0, isr=(0,), version=4)
    bench.produce(count=10)
    follower = bench.follower(1)
    follower.at(3)
    assert not bench.zk.waiting
    follower.at(10)
    before = partition.isr  # ZooKeeper does not have it yet
    seen = bench.see(IsrChanged)
    operation = bench.zk.answer(ZkCode.OK, version=5)
    assert operation.version == 4
    assert (before, partition.isr, partition.zk_version) == ((0,), (0, 1), 5)
    assert [(event.kind, event.isr, event.zk_version) for event in seen] == [("expand", (0, 1), 5)]


def test_C107_a_refused_write_changes_nothing_and_is_tried_again() -> None:
    bench = lag_bench()
    partition = bench.lead(0, isr=(0,), version=4)
    bench.produce(count=10)
    follower = bench.follower(1)
    follower.at(10)
    seen = bench.see(IsrUpdateFailed)
    bench.zk.answer(ZkCode.BAD_VERSION)
    assert isinstance(bench.zk.answer(ZkCode.OK, version=6, data="another leader's"), GetData)
    assert (partition.isr, partition.zk_version, len(seen)) == ((0,), 4, 1)
    assert bench.remote(1).log_end_offset == 10
    follower.at(10)
    assert written(bench) == (0, 1)


def test_C109_a_follower_that_reads_what_was_there_at_its_last_fetch_stays() -> None:
    """KAFKA's testShouldNotShrinkIsrIfPreviousFetchIsCaughtUp, in milliseconds of it."""
    bench = Bench(config(replica_lag_time_max_us=10_000 * MS))
    partition = bench.lead(0, isr=(0, 1))
    bench.produce(count=5)
    bench.produce(count=5)
    follower = bench.follower(1)
    bench.at(5_000 * MS)
    follower.at(5)
    assert (bench.remote(1).last_caught_up_us, partition.high_watermark) == (0, 5)
    bench.produce(count=5)
    bench.at(10_001 * MS)
    follower.at(10)
    assert (bench.remote(1).last_caught_up_us, partition.high_watermark) == (5_000 * MS, 10)
    bench.expire_isrs()
    assert not bench.zk.waiting


def test_C111_a_stuck_follower_is_out_after_the_lag_time() -> None:
    bench = lag_bench()
    partition = bench.lead(0)
    caught_up(bench, 1, 2)
    bench.produce(count=15)
    for broker in (1, 2):
        bench.follower(broker).at(14)
    bench.at(bench.world.now + LAG)
    bench.expire_isrs()
    assert not bench.zk.waiting
    bench.at(bench.world.now + LAG // 2)
    bench.expire_isrs()
    assert written(bench) == (0,)
    bench.zk.answer(ZkCode.OK, version=1)
    assert (partition.isr, partition.high_watermark) == ((0,), 15)


def test_C111_followers_that_never_fetched_are_out() -> None:
    bench = lag_bench()
    bench.lead(0)
    bench.produce()
    bench.at(bench.world.now + LAG + MS)
    bench.expire_isrs()
    assert written(bench) == (0,)


def test_C111_a_slow_follower_is_out_only_past_the_lag_time_and_back_at_the_end() -> None:
    bench = lag_bench()
    partition = bench.lead(0, isr=(0, 1))
    bench.produce(count=15)
    follower = bench.follower(1)
    follower.at(0)
    for offset in (13, 14):  # lags by 2, then by 1, though never for the whole time without a fetch
        bench.at(bench.world.now + 75 * MS)
        follower.at(offset)
        out = partition.get_out_of_sync_replicas(bench.world.now)
        assert out == (() if offset == 13 else (1,))
    follower.at(15)
    assert partition.get_out_of_sync_replicas(bench.world.now) == ()


def test_C113_an_isr_that_has_shrunk_to_the_least_allowed() -> None:
    bench = Watched(config(replica_lag_time_max_us=LAG, min_insync_replicas=1))
    bench.at(5_000 * MS)
    bench.lead(0, isr=(0, 1))
    bench.produce()
    assert bench.gauges("AtMinIsrPartitionCount", "UnderMinIsrPartitionCount") == (0, 0)
    bench.at(bench.world.now + LAG + MS)
    bench.expire_isrs()
    bench.zk.answer(ZkCode.OK, version=1)
    assert bench.gauges("AtMinIsrPartitionCount", "UnderMinIsrPartitionCount") == (1, 0)
