"""The log against a plain list: appends, segments, truncation, retention, crashes of both kinds, recovery."""

from typing import Any

from attrs import define, field
from hypothesis import example, given
from hypothesis import strategies as st

from brokers.log.directory import LogDirectory, log_path
from brokers.log.log import Log
from brokers.log.log_config import LogConfig
from brokers.log.log_manager import recover
from emulator.disks import Disk
from emulator.protocol.types import Batch, SequencedBatch
from tests.brokers.bench import TP

CONFIG = LogConfig(segment_bytes=300, roll_us=50, retention_us=100, retention_bytes=600)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 3), st.integers(0, 2)),
        st.tuples(st.just("truncate"), st.integers(0, 40), st.just(0)),
        st.tuples(st.just("retain"), st.integers(0, 40), st.integers(0, 200)),
        st.tuples(st.just("corrupt"), st.integers(0, 40), st.just(0)),
        st.tuples(st.just("start at"), st.integers(0, 60), st.just(0)),
        st.tuples(st.sampled_from(("flush", "checkpoint", "restart", "host crash")), st.booleans(), st.just(0)),
    ),
    max_size=40,
)


@define(eq=False)
class Model:
    """The expected log: ``batches`` and how many of them are durable."""

    disk: Disk = field(factory=Disk)
    log: Log = field(init=False)
    batches: list[Batch] = field(factory=list)
    durable: int = 0
    epoch: int = 0
    now_us: int = 0
    start: int = 0

    def __attrs_post_init__(self) -> None:
        self.log = self.open()

    def open(self) -> Log:
        return Log(LogDirectory(self.disk, lambda _: CONFIG), TP)

    @property
    def end(self) -> int:
        return self.batches[-1].next_offset if self.batches else self.start

    def append(self, count: int, newer: int) -> None:
        self.epoch += newer
        self.now_us += 10
        batch = SequencedBatch(self.end, self.end + count, self.epoch, 100, 1, count, 0, timestamp_us=self.now_us)
        segments = len(self.log.bases)
        self.log.append(batch)
        if len(self.log.bases) > segments:
            self.durable = len(self.batches)
        self.batches.append(batch)

    def truncate(self, offset: int, _: int) -> None:
        if offset < self.log.bases[0]:
            return self.begin_at(offset, 0)
        self.log.truncate_to(offset)
        self.cut(sum(batch.next_offset <= offset for batch in self.batches))
        return None

    def cut(self, keep: int) -> None:
        del self.batches[keep:]
        self.durable = min(self.durable, keep)

    def begin_at(self, offset: int, _: int) -> None:
        self.log.truncate_fully_and_start_at(offset)
        self.batches, self.durable, self.start = [], 0, offset

    def retain(self, high_watermark: int, later: int) -> None:
        self.now_us += later
        before = [(s.base_offset, s.next_offset, s.newest_us, s.size) for s in self.log.segments]
        self.log.delete_old_segments(self.now_us, min(high_watermark, self.end))
        gone = self.log.bases[0]
        assert gone <= max(high_watermark, self.start)
        deleted = [segment for segment in before if segment[1] <= gone and segment[0] < segment[1]]
        left = sum(batch.size for batch in self.batches if batch.base_offset >= gone)
        assert all(self.now_us - newest > 100 or left >= 600 for _, _, newest, _ in deleted)
        count = sum(batch.base_offset < gone for batch in self.batches)
        del self.batches[:count]
        self.durable = max(0, self.durable - count)
        self.start = max(self.start, gone)

    def corrupt(self, at: int, _: int) -> None:
        if self.batches:
            self.batches[at % len(self.batches)] = self.log.corrupt(at % len(self.batches))

    def flush(self, *_: Any) -> None:
        self.log.flush()
        self.durable = len(self.batches)

    def checkpoint(self, *_: Any) -> None:
        self.log.directory.recovery_points.write()

    def restart(self, *_: Any) -> None:
        """The process dies: the page cache survives, and damaged batches after the recovery point are removed."""
        points = LogDirectory(self.disk).recovery_points
        bases = self.log.bases
        looked = max((base for base in bases if base <= points.get(TP)), default=bases[0])
        bad = (p for p, b in enumerate(self.batches) if b.corrupt and b.base_offset >= looked)
        recover(self.disk.open(log_path(TP)), points.get(TP))
        self.cut(next(bad, len(self.batches)))
        self.log = self.open()
        if not self.batches:
            self.start = self.log.start_offset

    def host_crash(self, tears: int, _: int) -> None:
        self.disk.lose_unflushed(lambda: bool(tears))
        torn = bool(tears) and self.durable < len(self.batches)
        del self.batches[self.durable :]
        assert len(self.disk.open(log_path(TP)).entries) == len(self.batches) + torn
        self.restart()


SHORTER_AGAIN = [*[("append", 3, 0)] * 4, ("truncate", 3, 0), *[("append", 1, 0)] * 3]
"""A segment that was closed is cut, and closed again sooner."""


@given(STEPS)
@example(SHORTER_AGAIN)
def test_against_a_list(steps: list[tuple[str, int, int]]) -> None:
    model = Model()
    acts = {
        "append": model.append, "truncate": model.truncate, "retain": model.retain, "corrupt": model.corrupt,
        "flush": model.flush, "checkpoint": model.checkpoint, "restart": model.restart,
        "host crash": model.host_crash, "start at": model.begin_at,
    }  # fmt: skip
    for step, first, second in steps:
        acts[step](first, second)
        log = model.log
        assert log.batches == model.batches
        assert log.end_offset == model.end
        assert log.bases[0] <= log.start_offset <= log.end_offset
        found = log.segments
        assert [batch for s in found for batch in model.batches[s.begin : s.end]] == model.batches
        assert all(s.size <= 300 and s.begin < s.end for s in found[:-1])
        assert all(s.newest_us == model.batches[s.end - 1].timestamp_us for s in found[:-1])
        producers = log.loaded_producers().remembered_batches()
        assert log.producers_found().remembered_batches() == producers
        epochs = {epoch: start for epoch, start in log.epochs.entries if start < log.end_offset}
        firsts: dict[int, int] = {}
        for batch in model.batches:
            firsts.setdefault(batch.leader_epoch, max(batch.base_offset, log.start_offset))
        assert epochs == firsts
        offset = log.start_offset
        while offset < log.end_offset:
            (batch, *_) = log.read(offset, 1)
            assert batch.base_offset <= offset < batch.next_offset
            offset = batch.next_offset
