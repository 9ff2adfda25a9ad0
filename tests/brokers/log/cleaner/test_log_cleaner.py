"""The log cleaner of a broker: when it compacts which log, and what happens where it cannot. Batches whose ids are
equal modulo 100 have the same key."""

from typing import Any

import pytest
from attrs import evolve

from brokers.broker_config import BrokerConfig
from brokers.broker_policies import BrokerPolicies
from brokers.log.cleaner.cleanable import log_to_clean
from brokers.log.log_config import RULES, LogConfig, LogManagerConfig, LogRules
from emulator.protocol.events import CleanerFailed, LogCompacted
from emulator.protocol.produce import ProducedBatch, ProduceRequest
from tests.brokers.bench import BATCH_BYTES, ME, TP, Bench
from tests.brokers.log.cleaner.compacted_logs import CompactedLog

SECOND = 1_000_000
CONFIG = LogConfig(cleanup_policy="compact", segment_bytes=200, min_cleanable_ratio=0.3)
"""Two batches of the bench to a segment."""


def bench_with(log: LogConfig = CONFIG, rules: LogRules = RULES, **settings: Any) -> Bench:
    manager = LogManagerConfig(cleaner_backoff_us=10 * SECOND, **settings)
    return Bench(BrokerPolicies(BrokerConfig(log=log, log_manager=manager), log_rules=rules))


def play(bench: Bench, ids_at: dict[int, list[int]], until_s: int, also: dict[int, Any] | None = None) -> list[Any]:
    """Lead, append batches with ``ids_at[t]`` at each second t, call ``also[t]``. Returns what the cleaner reports: the
    second, the offset up to which it has compacted, the number of removed records; or the second, and whether it
    ends."""
    seen: list[Any] = []
    bench.trace.fold(LogCompacted, lambda one: seen.append((one.t_us // SECOND, one.next_offset, one.records)))
    bench.trace.fold(CleanerFailed, lambda one: seen.append((one.t_us // SECOND, one.ends)))
    also = also or {}

    async def body() -> None:
        bench.lead(isr=(ME,))
        for second in sorted({*ids_at, *also}):
            await bench.world.sleep(second * SECOND - bench.world.now)
            for id in ids_at.get(second, ()):
                bench.send(ProduceRequest(1, SECOND, (ProducedBatch(TP, 1, BATCH_BYTES, id),), BATCH_BYTES))
            if second in also:
                also[second]()
        await bench.world.sleep(until_s * SECOND - bench.world.now)

    bench.world.run(body)
    return seen


def test_it_compacts_at_the_next_look_and_only_closed_segments() -> None:
    bench = bench_with()
    assert play(bench, {1: [1, 2, 101, 102, 201]}, 35) == [(10, 4, 2)]
    assert [batch.size for batch in bench.partition.log.batches] == [0, 0, 100, 100, 100]
    assert bench.partition.log.directory.cleaned.get(TP) == 4


def test_it_waits_until_enough_is_dirty() -> None:
    """Four of six batches are clean: a third is too little, and half is not."""
    bench = bench_with(evolve(CONFIG, min_cleanable_ratio=0.4))
    steps = {1: [1, 2, 3, 4, 5], 12: [6, 7], 32: [8, 9]}
    assert play(bench, steps, 60) == [(10, 4, 0), (40, 8, 0)]


def test_a_record_is_not_compacted_before_its_time() -> None:
    bench = bench_with(evolve(CONFIG, min_compaction_lag_us=25 * SECOND))
    assert play(bench, {1: [1, 101, 201]}, 60) == [(30, 2, 1)]


@pytest.mark.parametrize(("in_time", "expected"), [(True, [(10, 4, 0), (30, 6, 0)]), (False, [(10, 4, 0)])])
def test_a_record_is_compacted_in_time_however_little_is_dirty(in_time: bool, expected: list[Any]) -> None:
    """KIP-354."""
    config = evolve(CONFIG, min_cleanable_ratio=0.9, max_compaction_lag_us=25 * SECOND)
    rules = evolve(RULES, compacts_in_time=in_time)
    assert play(bench_with(config, rules), {1: [1, 2, 3, 4, 5], 12: [6, 7]}, 60) == expected


def test_its_rate_delays_what_it_does() -> None:
    """It reads 400 bytes twice and writes as many at most, at 100 bytes a second."""
    assert play(bench_with(cleaner_rate=100.0), {1: [1, 2, 101, 102, 201]}, 60) == [(22, 4, 2)]


def test_a_log_that_is_cut_meanwhile_is_left_as_it_is() -> None:
    bench = bench_with(cleaner_rate=100.0)

    def cut() -> None:
        bench.partition.truncate_to(1)

    assert play(bench, {1: [1, 2, 101, 102, 201]}, 60, {15: cut}) == []


def test_what_was_cut_off_is_dirty_again() -> None:
    bench = bench_with()

    def cut() -> None:
        bench.partition.truncate_to(3)

    play(bench, {1: [1, 2, 101, 102, 201]}, 30, {15: cut})
    assert bench.partition.log.directory.cleaned.get(TP) == 3


@pytest.mark.parametrize(("survives", "expected"), [(True, [(10, False)]), (False, [(10, True)])])
def test_a_log_that_cannot_be_read_is_left_alone(survives: bool, expected: list[Any]) -> None:
    """KIP-346; before, the cleaner ends."""
    bench = bench_with(rules=evolve(RULES, cleaner_survives=survives))

    def damage() -> None:
        bench.partition.log.corrupt(1)

    assert play(bench, {1: [1, 2, 101, 102, 201], 20: [202, 301, 302]}, 60, {5: damage}) == expected
    cleaner = bench.manager.logs.cleaner
    assert cleaner is not None
    assert cleaner.ended is not survives


def test_a_broker_without_a_cleaner_compacts_nothing() -> None:
    assert play(bench_with(cleaner_enable=False), {1: [1, 101, 201]}, 60) == []


def test_topics_that_are_not_compacted_have_no_cleaner() -> None:
    bench = bench_with(evolve(CONFIG, cleanup_policy="delete"))
    assert play(bench, {1: [1, 101, 201]}, 60) == []
    assert bench.manager.logs.cleaner is None
    assert not bench.partition.log.directory.disk.exists("cleaner-offset-checkpoint")


def test_the_dirtiest_part_ends_before_an_open_transaction() -> None:
    log = CompactedLog()
    log.write((b"a", b"1"))
    log.roll()
    log.write((b"a", b"2"), producer=5, sequence=0, transactional=True)
    log.roll()
    log.write((b"a", b"3"))
    assert log_to_clean(log.log, 3, log.now_ms).first_uncleanable == 1
    log.end(5, committed=True)
    assert log_to_clean(log.log, 3, log.now_ms).first_uncleanable == 1, "its marker is not committed"
    assert log_to_clean(log.log, 4, log.now_ms).first_uncleanable == 2


@pytest.mark.parametrize(("stable", "expected"), [(False, 2), (True, 1)])
def test_what_is_not_committed_is_compacted_up_to_a_release(stable: bool, expected: int) -> None:
    """KAFKA-13194, 3.1."""
    log = CompactedLog(rules=evolve(RULES, compacts_stable=stable))
    for value in (b"1", b"2", b"3"):
        log.write((b"a", value))
        log.roll()
    assert log_to_clean(log.log, 1, log.now_ms).first_uncleanable == expected


@pytest.mark.parametrize(
    ("enable", "survives", "damaged", "begin"),
    [(True, True, False, 10), (False, True, False, 0), (True, True, True, 0), (True, False, True, 0)],
)
def test_the_old_segments_of_a_compacted_log_are_the_cleaners_to_delete(
    enable: bool, survives: bool, damaged: bool, begin: int
) -> None:
    """LogCleanerManagerTest.testLogsWithSegmentsToDeleteShouldNotConsiderUncleanablePartitions: not where there is no
    cleaner, where its thread has died, and where it could not compact the log."""
    config = evolve(CONFIG, cleanup_policy="compact,delete", retention_us=20 * SECOND)
    settings = {"cleaner_enable": enable, "retention_check_us": 10 * SECOND}
    bench = bench_with(config, evolve(RULES, cleaner_survives=survives), **settings)

    def damage() -> None:
        if damaged:
            bench.partition.log.corrupt(1)

    play(bench, {1: list(range(1, 10)), 100: [10]}, 300, {5: damage})
    assert bench.partition.log_start_offset == begin


def test_cleans_combined_compact_and_delete_topic() -> None:
    """LogCleanerParameterizedIntegrationTest.testCleansCombinedCompactAndDeleteTopic: what was compacted expires, all
    of it, and what is written then is compacted as before."""
    config = evolve(CONFIG, cleanup_policy="compact,delete", retention_us=100 * SECOND)
    bench, ends = bench_with(config, retention_check_us=10 * SECOND), []

    def look() -> None:
        log = bench.partition.log
        ends.append((log.start_offset, log.end_offset, len(log.segments)))

    def dups(keys: int) -> list[int]:
        return [100 * copy + key for copy in range(3) for key in range(keys)]

    seen = play(bench, {1: dups(100), 300: dups(20)}, 330, {290: look})
    assert [one[:2] for one in seen] == [(10, 298), (310, 358)]
    assert ends == [(300, 300, 1)]
    left = [batch.base_offset for batch in bench.partition.log.batches if batch.size]
    assert left == list(range(338, 360)), "the newest of two keys are in the active segment"
