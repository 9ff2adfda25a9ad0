"""A partition's log, high watermark and ISR as PartitionTest of Kafka 2.4.1 has them; what a reader of another history
is answered (2.7.2)."""

import pytest

from brokers.log.log import OffsetMismatch
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import FetchPartition, FetchRequest
from emulator.zookeeper import ZkCode
from tests.brokers.bench import MS, TP, Bench, batch, config
from tests.brokers.partition.test_isr import written

MAX_LAG = 10_000 * MS
WRITTEN = ((0, 2), (3, 3), (3, 3), (4, 5), (7, 1), (9, 3))
"""Epochs and numbers of records of the batches in the log; it ends at 17."""


def test_append_records_as_follower_below_log_start_offset() -> None:
    """testAppendRecordsAsFollowerBelowLogStartOffset: a batch that begins before the log's start is appended where the
    log is empty and the batch contains its start, which then goes back."""
    bench = Bench()
    partition = bench.follow()

    def ends() -> tuple[int, int]:
        return partition.log_start_offset, partition.log_end_offset

    partition.truncate_fully_and_start_at(5)
    with pytest.raises(OffsetMismatch):
        partition.append_as_follower((batch(3),), 0)
    assert ends() == (5, 5)
    partition.append_as_follower((batch(4, count=3),), 0)
    assert ends() == (4, 7)
    partition.append_as_follower((batch(7),), 0)
    with pytest.raises(OffsetMismatch):
        partition.append_as_follower((batch(3, count=2),), 0)
    assert ends() == (4, 8)


def leading_two() -> Bench:
    """A leader under epoch 5 with ten records, and broker 1, which is in the ISR and has not fetched."""
    bench = Bench(config(replica_lag_time_max_us=MAX_LAG))
    bench.lead(5, isr=(0, 1), version=1, replicas=(0, 1))
    bench.produce(count=10)
    return bench


def test_maybe_shrink_isr() -> None:
    """testMaybeShrinkIsr: a follower counts as caught up at the election; the high watermark follows the shrink."""
    bench = leading_two()
    bench.expire_isrs()
    assert not bench.zk.waiting
    bench.at(MAX_LAG + MS)
    bench.expire_isrs()
    assert written(bench) == (0,)
    bench.zk.answer(ZkCode.OK, version=2)
    assert (bench.partition.isr, bench.partition.high_watermark) == ((0,), 10)


def test_isr_not_shrunk_if_update_fails() -> None:
    """testIsrNotShrunkIfUpdateFails."""
    bench = leading_two()
    bench.at(MAX_LAG + MS)
    bench.expire_isrs()
    bench.zk.answer(ZkCode.BAD_VERSION)
    bench.zk.answer(ZkCode.OK, version=6, data="another leader's")
    assert (bench.partition.isr, bench.partition.high_watermark) == ((0, 1), 0)


def test_should_not_shrink_isr_if_follower_caught_up_to_log_end() -> None:
    """testShouldNotShrinkIsrIfFollowerCaughtUpToLogEnd, however long ago it fetched."""
    bench = leading_two()
    bench.follower(1).at(10, 5)
    assert bench.partition.high_watermark == 10
    bench.at(MAX_LAG + MS)
    bench.expire_isrs()
    assert not bench.zk.waiting


def test_update_follower_fetch_state() -> None:
    """testUpdateFollowerFetchState: only a fetch at the end of the log says that it is caught up now."""
    bench = leading_two()
    follower, seen = bench.follower(1), []
    for offset in (-1, 3, 10):
        if offset >= 0:
            bench.at(bench.world.now + 500 * MS)
            follower.at(offset, 5)
        remote = bench.remote(1)
        seen.append((remote.log_end_offset, remote.last_caught_up_us))
    assert seen == [(-1, 0), (3, 0), (10, 1_000 * MS)]


def test_use_checkpoint_to_initialize_high_watermark() -> None:
    """testUseCheckpointToInitializeHighWatermark."""
    bench = Bench()
    bench.follow().append_as_follower(tuple(batch(base, 5) for base in range(6)), 4)
    bench.manager.logs.write_high_watermarks()
    bench.restart()
    assert bench.lead(6, isr=(0, 1)).high_watermark == 4


OUT_OF_RANGE = "out of range"


@pytest.mark.parametrize(
    ("log_start", "last_epoch", "offset", "expected"),
    [
        (0, 2, 5, (0, 2)), (0, 0, 4, (0, 2)), (0, 6, 6, (4, 13)), (0, 5, 9, (4, 13)), (0, 10, 18, (10, 17)),
        (0, 0, 2, None), (0, 7, 14, None), (0, 9, 17, None), (0, 10, 17, None), (0, 11, 5, OUT_OF_RANGE),
        (5, 2, 8, (2, 5)), (5, 0, 5, None), (5, 3, 5, None), (5, 0, 0, OUT_OF_RANGE),
        (10, 5, 6, OUT_OF_RANGE), (10, 3, 6, OUT_OF_RANGE),
    ],
)  # fmt: skip
def test_last_fetched_offset_validation(log_start: int, last_epoch: int, offset: int, expected: object) -> None:
    """testLastFetchedOffsetValidation (2.7.2): the leader leads under epoch 10 and has written nothing in it."""
    bench = Bench()
    partition = bench.follow()
    for epoch, count in WRITTEN:
        partition.append_as_follower((batch(partition.log_end_offset, epoch, count=count),), 0)
    bench.lead(10, isr=(0,))
    partition.log.raise_start_to(log_start)
    wanted = FetchPartition(TP, 10, offset, 0, last_epoch)
    [answer] = bench.send(FetchRequest(1, 0, 0, 0, 0, 10_000, 1_000, (wanted,), ())).last.partitions
    if expected is OUT_OF_RANGE:
        assert answer.error is Errors.OFFSET_OUT_OF_RANGE
        return
    assert (answer.error, answer.diverging) == (Errors.NONE, expected)
    assert not (answer.diverging and answer.batches)
