"""A log whose batches came in extents against one that got the same batches one by one."""

from typing import Any

import pytest
from attrs import define, field
from hypothesis import given
from hypothesis import strategies as st

from brokers.log.batch_runs import BatchRuns
from brokers.log.directory import LogDirectory, log_path
from brokers.log.log import Log, OffsetMismatch
from brokers.log.log_config import LogConfig, LogRules
from brokers.log.log_manager import recover
from brokers.log.times import first_since, latest_time_ms
from emulator.disks import Disk
from emulator.protocol.extents import Extent, ExtentPart
from emulator.protocol.types import Batch, SequencedBatch
from tests.brokers.bench import TP

CONFIG = LogConfig(segment_bytes=700, roll_us=60_000, retention_us=100_000, retention_bytes=1500)
SMALL = st.integers(0, 40)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 3), st.integers(0, 1), st.just(1)),
        st.tuples(st.just("extent"), st.integers(1, 20), st.integers(1, 3), st.integers(0, 3)),
        st.tuples(st.just("copy"), st.integers(0, 30), st.integers(1, 700), st.integers(0, 1)),
        st.tuples(st.just("truncate"), SMALL, st.just(0), st.just(0)),
        st.tuples(st.just("retain"), st.integers(0, 200), st.integers(0, 200_000), st.just(0)),
        st.tuples(st.sampled_from(("corrupt", "start at")), SMALL, st.just(0), st.just(0)),
        st.tuples(st.sampled_from(("flush", "checkpoint", "restart")), st.just(0), st.just(0), st.just(0)),
        st.tuples(st.just("host crash"), st.integers(0, 1), st.just(0), st.just(0)),
    ),
    max_size=30,
)


def shape(batch: Batch) -> tuple[Any, ...]:
    """All that a reader of ``batch`` can see."""
    numbered: tuple[int, ...] = ()
    if isinstance(batch, SequencedBatch):
        numbered = (batch.producer_id, batch.base_sequence, batch.last_sequence, batch.producer_epoch)
    return (
        batch.base_offset, batch.next_offset, batch.leader_epoch, batch.size, batch.id, batch.timestamp_us,
        batch.corrupt, batch.sequenced, batch.transactional, *numbered,
    )  # fmt: skip


def plain(batch: Batch) -> Batch:
    """A batch like ``batch``, of no extent."""
    if isinstance(batch, SequencedBatch):
        return SequencedBatch(
            batch.base_offset, batch.next_offset, batch.leader_epoch, batch.size, batch.id, batch.producer_id,
            batch.base_sequence, timestamp_us=batch.timestamp_us, producer_epoch=batch.producer_epoch,
        )  # fmt: skip
    return Batch(
        batch.base_offset, batch.next_offset, batch.leader_epoch, batch.size, batch.id, timestamp_us=batch.timestamp_us
    )


@define(eq=False)
class Replica:
    """A log, and a follower of it on another disk."""

    disks: tuple[Disk, Disk] = field(factory=lambda: (Disk(), Disk()))
    logs: list[Log] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.logs = [self.open(disk) for disk in self.disks]

    def open(self, disk: Disk) -> Log:
        return Log(LogDirectory(disk, lambda _: CONFIG, rules=LogRules(keeps_producers=True)), TP)

    def restart(self) -> None:
        for place, disk in enumerate(self.disks):
            recover(disk.open(log_path(TP)), LogDirectory(disk).recovery_points.get(TP))
            self.logs[place] = self.open(disk)

    def seen(self) -> list[Any]:
        """All that can be read of both logs."""
        return [
            (
                [shape(batch) for batch in log.batches], log.start_offset, log.end_offset, log.epochs, log.bases,
                log.segments, log.size, log.recovery_point, log.expires_us(), latest_time_ms(log),
                [first_since(log, ms) for ms in range(0, 400, 7)],
                [
                    [shape(batch) for batch in log.read(offset, most)]
                    for offset in range(log.start_offset, log.end_offset, 3)
                    for most in (0, 1, 99, 250, 10_000)
                ],
                {id: [shape(batch) for batch in kept] for id, kept in log.producers._batches.items()},
            )
            for log in self.logs
        ]  # fmt: skip


class Pair:
    """``extents`` gets extents, ``single`` the batches of them."""

    def __init__(self) -> None:
        self.extents, self.single = Replica(), Replica()
        self.both = (self.extents, self.single)
        self.epoch = self.ids = self.now_us = 0
        self.sequences: dict[int, int] = {}

    def append(self, records: int, newer: int, size: int) -> None:
        self.epoch += newer
        self.now_us += 5_000
        self.ids += 1
        batch = Batch(self.extents.logs[0].end_offset, self.extents.logs[0].end_offset + records, self.epoch,
                      100 * size, self.ids, timestamp_us=self.now_us)  # fmt: skip
        for replica in self.both:
            replica.logs[0].append(batch)

    def extent(self, count: int, records: int, producer: int) -> None:
        log, base = self.extents.logs[0], self.sequences.get(producer, 0)
        extent = Extent(
            log.end_offset, count, records, 90, self.epoch, self.ids + 1, first_us=self.now_us, over_us=5_000 * count,
            producer_id=producer or -1, base_sequence=base,
        )  # fmt: skip
        self.now_us += 5_000 * count
        self.ids += count
        self.sequences[producer] = base + count * records
        log.append_part(extent.whole)
        for batch in extent.whole.batches():
            self.single.logs[0].append(plain(batch))

    def copy(self, times: int, most: int, in_parts: int) -> None:
        """The follower copies what the log has, by fetches or a part of an extent at once."""
        for replica in self.both:
            log, follower = replica.logs
            if not log.start_offset <= follower.end_offset <= log.end_offset:
                follower.truncate_fully_and_start_at(log.start_offset)
            end = follower.end_offset
            for _ in range(times):
                for batch in log.read(follower.end_offset, most):
                    if batch.base_offset != follower.end_offset:  # it holds the start of the log
                        follower.truncate_fully_and_start_at(batch.base_offset)
                    follower.append(batch)
            if in_parts and replica is self.extents:
                reached = follower.end_offset
                if end < reached and end in [batch.base_offset for batch in log.batches]:
                    follower.truncate_to(end)
                    for piece in log.pieces(end, reached):
                        follower.append_part(piece) if isinstance(piece, ExtentPart) else follower.append(piece)

    def truncate(self, offset: int, *_: int) -> None:
        assert len({replica.logs[0].truncate_to(offset) for replica in self.both}) == 1

    def retain(self, high_watermark: int, later: int, _: int) -> None:
        self.now_us += later
        end = self.extents.logs[0].end_offset
        reasons = {each.logs[0].delete_old_segments(self.now_us, min(high_watermark, end)) for each in self.both}
        assert len(reasons) == 1

    def corrupt(self, at: int, *_: int) -> None:
        for replica in self.both:
            if replica.logs[0].batches:
                replica.logs[0].corrupt(at % len(replica.logs[0].batches))

    def start_at(self, offset: int, *_: int) -> None:
        for replica in self.both:
            replica.logs[0].truncate_fully_and_start_at(offset)

    def flush(self, *_: int) -> None:
        for replica in self.both:
            replica.logs[0].flush()

    def checkpoint(self, *_: int) -> None:
        for replica in self.both:
            replica.logs[0].directory.recovery_points.write()

    def restart(self, *_: int) -> None:
        for replica in self.both:
            replica.restart()

    def host_crash(self, tears: int, *_: int) -> None:
        for replica in self.both:
            for disk in replica.disks:
                disk.lose_unflushed(lambda: bool(tears))
            replica.restart()


@given(STEPS)
def test_against_single_batches(steps: list[tuple[str, int, int, int]]) -> None:
    pair = Pair()
    for step, *numbers in steps:
        getattr(pair, step.replace(" ", "_"))(*numbers)
        assert pair.extents.seen() == pair.single.seen()


def extent(count: int = 1_000_000) -> Extent:
    return Extent(0, count, 10, 1 << 20, 0, -1, -1)


def test_a_million_batches_are_one_object_in_the_logs_of_all_replicas() -> None:
    whole = extent().whole
    leader, follower = Replica().logs
    for log in (leader, follower):
        log.directory.config_of = lambda _: LogConfig(segment_bytes=1 << 60)
    leader.append_part(whole)
    for piece in leader.pieces(0, 10_000):
        assert isinstance(piece, ExtentPart)
        follower.append_part(piece)
    for batch in leader.read(10_000, 5 << 20):
        follower.append(batch)
    for log, count in ((leader, 1_000_000), (follower, 1_005)):
        assert isinstance(log.batches, BatchRuns)
        [piece] = log.batches.pieces(0, len(log.batches))
        assert isinstance(piece, ExtentPart)
        assert (piece.extent, piece.count) == (whole.extent, count)
        assert log.size == count << 20


def test_a_part_has_to_begin_at_the_end() -> None:
    log = Replica().logs[0]
    with pytest.raises(OffsetMismatch):
        log.append_part(extent(5).whole.between(1, 5))
    assert not log.batches
