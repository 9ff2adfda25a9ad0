"""Which records survive each kind of crash, which ones recovery truncates, and what causes a flush."""

import pytest

from brokers.broker_config import BrokerConfig
from brokers.broker_policies import BrokerPolicies
from brokers.log.log_config import LogConfig, LogManagerConfig, LogRules, Writeback
from emulator.protocol.events import LogLoaded, LogRecovered
from tests.brokers.bench import ME, Bench

SECOND = 1_000_000


def bench_with(log: LogConfig | None = None, **manager: object) -> Bench:
    """A leader alone, whose log has three batches."""
    bench = Bench(BrokerPolicies(BrokerConfig(log=log or LogConfig(), log_manager=LogManagerConfig(**manager))))  # type: ignore[arg-type]
    lead(bench)
    return bench


def lead(bench: Bench) -> None:
    bench.lead(isr=(ME,))
    for _ in range(3):
        bench.produce()


def end_after(bench: Bench, *, host: bool, tears: bool = False) -> tuple[int, list[tuple[int, int, str]]]:
    """Where the log ends after a crash, and what the recovery cut: (end, batches, reason)."""
    if host:
        bench.node.disk.lose_unflushed(lambda: tears)
    cuts, loaded = bench.see(LogRecovered), bench.see(LogLoaded)
    bench.restart()
    bench.lead(epoch=9, isr=(ME,))
    return loaded[-1].log_end_offset, [(cut.log_end_offset, cut.batches, cut.reason) for cut in cuts]


def test_a_process_crash_loses_nothing() -> None:
    assert end_after(bench_with(), host=False) == (3, [])


@pytest.mark.parametrize("tears", [False, True])
def test_a_host_crash_loses_what_was_not_flushed(tears: bool) -> None:
    cut = [(2, 1, "torn")] if tears else []
    assert end_after(bench_with(LogConfig(flush_messages=2), flushes=True), host=True, tears=tears) == (2, cut)


def test_the_end_of_a_segment_flushes_it() -> None:
    assert end_after(bench_with(LogConfig(segment_bytes=200)), host=True) == (2, [])


def test_an_unclean_start_cuts_at_a_corrupt_batch_after_the_recovery_point() -> None:
    bench = bench_with()
    bench.partition.log.corrupt(1)
    assert end_after(bench, host=False) == (1, [(1, 2, "corrupt")])


def test_a_clean_start_and_one_before_the_recovery_point_do_not_look() -> None:
    bench = bench_with(LogConfig(segment_bytes=100))
    bench.partition.log.corrupt(0)
    bench.manager.close()
    assert end_after(bench, host=False) == (3, [])
    assert end_after(bench, host=False) == (3, [])


def test_logs_of_a_clean_stop_survive_a_host_crash_and_say_so_once() -> None:
    bench = bench_with()
    bench.manager.close()
    assert bench.node.disk.exists(".kafka_cleanshutdown")
    assert end_after(bench, host=True) == (3, [])
    assert not bench.node.disk.exists(".kafka_cleanshutdown")


def test_flushes_by_time_are_looked_for_every_interval() -> None:
    bench = Bench(
        BrokerPolicies(
            BrokerConfig(log=LogConfig(flush_us=15 * SECOND), log_manager=LogManagerConfig(flush_check_us=10 * SECOND))
        )
    )
    points = []

    async def body() -> None:
        lead(bench)
        for _ in range(4):
            await bench.world.sleep(6 * SECOND)
            points.append(bench.partition.log.recovery_point)

    bench.world.run(body)
    assert points == [0, 0, 0, 3]


def test_the_operating_system_writes_back_by_itself() -> None:
    bench = Bench(BrokerPolicies(BrokerConfig(log_manager=LogManagerConfig(writeback=Writeback(10 * SECOND)))))
    durable = []

    async def body() -> None:
        lead(bench)
        for _ in range(2):
            await bench.world.sleep(4 * SECOND)
            durable.append(bench.partition.log.recovery_point)
            await bench.world.sleep(12 * SECOND)
            durable.append(bench.partition.log.recovery_point)
            bench.produce()

    bench.world.run(body)
    assert durable == [0, 3, 3, 4]


@pytest.mark.parametrize("happens", ["crash", "pause"])
def test_the_operating_system_writes_back_what_a_process_has_left(happens: str) -> None:
    """kafka-2.3, seed 78 of the default swarm."""
    bench = Bench(BrokerPolicies(BrokerConfig(log_manager=LogManagerConfig(writeback=Writeback(10 * SECOND)))))

    async def body() -> None:
        lead(bench)
        await bench.world.sleep(4 * SECOND)
        if happens == "crash":
            bench.process.kill()
        else:
            bench.process.pause()
        assert bench.partition.log.recovery_point == 0
        await bench.world.sleep(12 * SECOND)
        assert bench.partition.log.recovery_point == 3

    bench.world.run(body)


@pytest.mark.parametrize(("recovers", "epoch"), [(True, 0), (False, -1)])
def test_a_recovery_finds_leader_epoch_0(recovers: bool, epoch: int) -> None:
    """Since KAFKA-10432 (2.7), after a stop that was not in order."""
    bench = Bench(BrokerPolicies(log_rules=LogRules(recovers_epoch_0=recovers)))
    lead(bench)
    bench.restart()
    bench.follow(epoch=9)
    assert bench.partition.log.epochs.latest == epoch
