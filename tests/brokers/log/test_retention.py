"""Retention: when old segments are deleted, which ones stay, and how followers receive the leader's log start
offset."""

from typing import cast

import pytest
from attrs import evolve

from brokers.broker_config import BrokerConfig
from brokers.broker_policies import BrokerPolicies
from brokers.log.log import Log
from brokers.log.log_config import LogConfig, LogManagerConfig
from brokers.log.retention import Retention
from emulator.disks import DiskFault
from emulator.protocol.events import LogStartMoved
from emulator.protocol.znodes import ALL_BROKERS
from fetchers.failures import StorageError
from tests.brokers.bench import ME, Bench
from tests.brokers.requests.clients import produce, records

SECOND = 1_000_000
CONFIG = LogConfig(segment_bytes=200, retention_us=60 * SECOND)
"""Two batches of the bench to a segment."""


def bench_with(log: LogConfig = CONFIG) -> Bench:
    return Bench(BrokerPolicies(BrokerConfig(log=log, log_manager=LogManagerConfig(retention_check_us=60 * SECOND))))


def starts(bench: Bench, at_s: dict[int, int], until_s: int, *, isr: tuple[int, ...] = (ME,)) -> list[tuple[int, int]]:
    """Lead, append ``at_s[t]`` batches at each second t; (second, log start) whenever it moved."""
    moved: list[tuple[int, int]] = []
    bench.trace.fold(LogStartMoved, lambda event: moved.append((event.t_us // SECOND, event.log_start_offset)))

    async def body() -> None:
        bench.lead(isr=isr)
        for second, batches in at_s.items():
            await bench.world.sleep(second * SECOND - bench.world.now)
            for _ in range(batches):
                bench.produce()
        await bench.world.sleep(until_s * SECOND - bench.world.now)

    bench.world.run(body)
    return moved


def test_segments_go_at_the_first_check_after_their_newest_batch_is_too_old() -> None:
    """Checks come at 30 s, 90 s, 150 s, ..."""
    assert starts(bench_with(), {1: 3, 20: 1, 40: 1}, 300) == [(90, 4), (150, 5)]


def test_records_that_are_not_committed_are_not_deleted() -> None:
    bench = bench_with()
    assert starts(bench, {1: 5}, 400, isr=(ME, 1)) == []
    assert bench.partition.log_end_offset == 5


def test_whole_segments_are_deleted_while_the_log_is_large_enough_without_them() -> None:
    log = evolve(CONFIG, retention_us=-1, retention_bytes=300)
    bench = bench_with(log)
    assert starts(bench, {1: 8}, 100) == [(30, 4)]
    assert [batch.base_offset for batch in bench.partition.log.batches] == [4, 5, 6, 7]


def test_a_log_that_becomes_too_large_within_a_segment_loses_one_at_the_next_check() -> None:
    """Of five batches, in segments of two, none is too much; the sixth needs no new segment."""
    log = evolve(CONFIG, retention_us=-1, retention_bytes=350)
    assert starts(bench_with(log), {1: 5, 40: 1}, 100) == [(90, 2)]


def test_a_log_in_which_nothing_expires_is_never_looked_at() -> None:
    bench = bench_with(evolve(CONFIG, retention_us=-1))

    async def body() -> None:
        bench.lead(isr=(ME,))
        for _ in range(5):
            bench.produce()
        before = bench.world.events
        await bench.world.sleep(3600 * SECOND)
        assert bench.world.events - before < 5

    bench.world.run(body)


def test_a_shorter_retention_holds_from_the_next_check_on() -> None:
    bench = bench_with(evolve(CONFIG, retention_us=3600 * SECOND))

    async def body() -> None:
        bench.lead(isr=(ME,))
        for _ in range(3):
            bench.produce()
        await bench.world.sleep(100 * SECOND)
        bench.manager.configured("topics/t", {"retention.ms": "1000"})
        await bench.world.sleep(300 * SECOND)

    moved = bench.see(LogStartMoved)
    bench.world.run(body)
    assert [(event.t_us // SECOND, event.log_start_offset) for event in moved] == [(150, 3)]


def test_a_change_of_settings_measures_only_the_logs_that_it_concerns(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []
    bench = bench_with()

    async def body() -> None:
        bench.lead()
        bench.manager.configured("topics/t", {"segment.ms": "5000"})
        monkeypatch.setattr(Log, "measure_active_segment", lambda log: measured.append(log.tp.topic))
        bench.manager.configured("topics/u", {"segment.bytes": "50"})
        bench.manager.configured(ALL_BROKERS, {"min.insync.replicas": "2"})
        bench.manager.configured(ALL_BROKERS, {"log.roll.ms": "7000"})  # the topic has its own
        assert measured == []
        bench.manager.configured(ALL_BROKERS, {"log.segment.bytes": "400"})
        assert measured == ["t"]
        bench.manager.configured("topics/t", {"segment.ms": "5000", "segment.bytes": "50"})
        assert measured == ["t", "t"]

    bench.world.run(body)


def test_settings_of_all_brokers_and_of_a_topic() -> None:
    policies = BrokerPolicies()
    changed = policies.changed(ALL_BROKERS, {"log.retention.ms": "5", "log.segment.bytes": "100"}, policies.config)
    changed = changed.changed("topics/t", {"segment.bytes": "50", "retention.ms": "-1"}, policies.config)
    assert changed.log_config("u") == LogConfig(segment_bytes=100, retention_us=5000)
    assert changed.log_config("t") == LogConfig(segment_bytes=50, retention_us=-1)
    assert changed.changed("topics/t", {}, policies.config).topic_logs == {}


def test_a_follower_receives_the_leaders_log_start_offset() -> None:
    bench = bench_with()
    follower = bench.follower(1)

    async def body() -> None:
        bench.lead(isr=(ME,))
        for _ in range(3):
            bench.produce()
        follower.at(0)
        await bench.world.sleep(100 * SECOND)

    bench.world.run(body)
    follower.at(3)
    answer = follower.expire()
    assert answer is not None
    assert [(found.log_start_offset, found.batches) for found in answer.partitions] == [(3, ())]


@pytest.mark.parametrize(("raises", "learned"), [(True, [5, 3, 4]), (False, [5, 2, 4])])
def test_a_follower_learns_a_high_watermark_from_before_its_start(raises: bool, learned: list[int]) -> None:
    """A new leader can have an older high watermark than the follower: since 2.4 it counts as the log's start."""
    bench = Bench(BrokerPolicies(start_raises_learned_high_watermark=raises))
    leader = Bench()
    leader.lead(isr=(ME,))
    for _ in range(5):
        leader.produce()
    partition = bench.follow()
    partition.append_as_follower(leader.partition.log.read(0, 1000), 5, 3)
    seen = [partition.high_watermark]
    for high_watermark in (2, 4):
        partition.append_as_follower((), high_watermark, 3)
        seen.append(partition.high_watermark)
    assert seen == learned


def test_a_follower_that_becomes_leader_begins_at_the_start_of_its_log() -> None:
    """Replica.convertHWToLocalOffsetMetadata, 2.3.1."""
    bench, leader = Bench(), Bench()
    leader.lead(isr=(ME,))
    for _ in range(5):
        leader.produce()
    partition = bench.follow(leader=1)
    partition.append_as_follower(leader.partition.log.read(0, 1000), 5, 3)
    partition.append_as_follower((), 2, 3)
    bench.lead(1, isr=(ME, 1))
    assert bench.partition.high_watermark == 3


def test_a_follower_goes_along_and_finds_it_after_a_restart() -> None:
    bench = bench_with()
    leader = Bench()
    leader.lead(isr=(ME,))
    for _ in range(5):
        leader.produce()
    partition = bench.follow()
    moved = bench.see(LogStartMoved)
    partition.append_as_follower(leader.partition.log.read(0, 1000), 5, 3)
    assert [(event.log_start_offset, event.reason) for event in moved] == [(3, "leader")]
    assert (partition.log_start_offset, partition.log.bases) == (3, (0, 2, 4))
    assert partition.log.epochs.entries == ((0, 3),)
    bench.manager.close()
    bench.restart()
    assert bench.follow().log_start_offset == 3
    bench.partition.delete_old_segments()
    assert bench.partition.log.bases == (2, 4)
    assert bench.partition.log_start_offset == 3


def test_a_truncation_that_is_to_fail_is_not_that_of_retention() -> None:
    """It waits for the fetcher (KIP-461), and ends with the process."""
    bench = bench_with()

    async def body() -> None:
        bench.lead(isr=(ME,))
        bench.partition.log.fail_disk(DiskFault("I/O error", ("truncate",), 1, StorageError, of_process=True))
        for _ in range(3):
            bench.produce()
        await bench.world.sleep(100 * SECOND)

    bench.world.run(body)
    assert bench.partition.log_start_offset == 3
    log = bench.partition.log
    with pytest.raises(StorageError, match="I/O error"):
        log.truncate_to(3)
    log.fail_disk(DiskFault("I/O error", ("truncate",), 1, StorageError, of_process=True))
    bench.node.disk.close()
    bench.restart()
    assert bench.lead(epoch=5).log.truncate_to(3) is False


def test_a_disk_that_refuses_to_delete_old_segments_takes_its_directory_offline() -> None:
    bench = bench_with()
    reasons: list[str] = []

    async def body() -> None:
        bench.lead(isr=(ME,))
        for _ in range(3):
            bench.produce()
        disk = bench.node.disk
        disk.on_error = reasons.append
        disk.fail(DiskFault("I/O error", ("delete",), report=disk.report))
        await bench.world.sleep(100 * SECOND)

    bench.world.run(body)
    assert bench.partition.log_start_offset == 0
    assert reasons == ["logs/t-0: I/O error"]


def test_checks_that_a_pause_has_delayed_are_made_when_it_ends() -> None:
    """Two logs are past due then: the first one, which is due again, does not set the timer to the second's past."""
    bench = bench_with()
    one, other = cast(Log, "one"), cast(Log, "other")
    looked: list[tuple[Log, int]] = []

    def expire(log: Log) -> int | None:
        looked.append((log, bench.world.now // SECOND))
        return bench.world.now + SECOND if len(looked) == 1 else None

    async def body() -> None:
        retention = Retention(bench.process, 10 * SECOND, expire)
        retention.watch(one, 35 * SECOND)
        retention.watch(other, 45 * SECOND)
        await bench.world.sleep(38 * SECOND)
        bench.process.pause()
        await bench.world.sleep(20 * SECOND)
        bench.process.resume()
        await bench.world.sleep(20 * SECOND)

    bench.world.run(body)
    assert looked == [(one, 58), (other, 58), (one, 60)]


@pytest.mark.parametrize(("ages_s", "moved"), [((200, 100, 0), [(50, 1)]), ((0, 200, 200), []), ((-1000, 100, 0), [])])
def test_records_of_clients_expire_by_their_own_times(ages_s: tuple[int, ...], moved: list[tuple[int, int]]) -> None:
    """Each batch fills a segment; one is kept for 150 s after the largest time in it. Younger ones protect older ones
    behind them."""
    bench = bench_with(evolve(CONFIG, segment_bytes=70, retention_us=150 * SECOND))
    now_us = 1_000 * SECOND
    bench.node.epoch_us = bench.node.ahead_us = now_us
    found: list[tuple[int, int]] = []
    bench.trace.fold(LogStartMoved, lambda event: found.append((event.t_us // SECOND, event.log_start_offset)))

    async def body() -> None:
        bench.lead(isr=(ME,))
        for age_s in ages_s:
            produce(bench, records(b"a", timestamp_ms=(now_us - age_s * SECOND) // 1000))
        await bench.world.sleep(55 * SECOND)

    bench.world.run(body)
    assert found == moved


def test_a_segment_rolls_by_the_times_of_clients_records() -> None:
    bench = bench_with(evolve(CONFIG, segment_bytes=10_000, roll_us=60 * SECOND))
    bench.lead()
    for at_ms in (1_000, 61_000, 61_001, 5_000):
        produce(bench, records(b"a", timestamp_ms=at_ms))
    assert bench.partition.log.bases == (0, 2)


def test_records_without_a_time_have_that_of_the_append() -> None:
    bench = bench_with()
    bench.lead()
    bench.at(7 * SECOND)
    produce(bench, records(b"a", timestamp_ms=-1))
    assert [batch.timestamp_us for batch in bench.partition.log.batches] == [7 * SECOND]
