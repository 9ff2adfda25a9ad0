"""An event with columns is one event with one digest, and its rows are what folds and sinks of rows see."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.kernel import World
from emulator.trace import Trace, columns_of, rows
from emulator.trace.trace import CHUNK


class Marked(NamedTuple):
    t_us: int
    seq: int
    cause: int
    topic: str
    partition: int
    offset: int


@columns_of(Marked)
class PartitionsMarked(NamedTuple):
    t_us: int
    seq: int
    cause: int
    topic: str
    partitions: tuple[int, ...]
    offsets: tuple[int, ...]

    def rows(self) -> list[Marked]:
        pairs = zip(self.partitions, self.offsets, strict=True)
        return [Marked(self.t_us, seq, self.cause, self.topic, *pair) for seq, pair in enumerate(pairs, self.seq)]


class Other(NamedTuple):
    t_us: int
    seq: int
    cause: int


OFFSETS = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4), max_size=8)


def mark(trace: Trace, offsets: list[int]) -> PartitionsMarked:
    partitions = tuple(range(len(offsets)))
    return trace.emit_columns(PartitionsMarked, len(offsets), "orders", partitions, tuple(offsets))


@given(OFFSETS)
def test_rows_are_numbered_one_after_the_other_between_the_other_events(passes: list[list[int]]) -> None:
    trace = Trace(World(1))
    seen: list[Marked | Other] = []
    trace.fold(Marked, seen.append)
    trace.fold(Other, seen.append)
    for offsets in passes:
        mark(trace, offsets)
        trace.emit(Other)
    assert [event.seq for event in seen] == list(range(1, trace.seq + 1))
    marked = [event.offset for event in seen if isinstance(event, Marked)]
    assert marked == [offset for offsets in passes for offset in offsets]


@given(OFFSETS)
def test_a_fold_of_columns_and_a_fold_of_rows_see_the_same(passes: list[list[int]]) -> None:
    trace = Trace(World(1))
    columns: list[PartitionsMarked] = []
    first: list[Marked] = []
    second: list[Marked] = []
    trace.fold(Marked, first.append)
    trace.fold(PartitionsMarked, columns.append)
    trace.fold(Marked, second.append)
    for offsets in passes:
        mark(trace, offsets)
    assert first == second == rows(columns)
    assert len(columns) == len(passes)


@given(OFFSETS)
def test_a_sink_gets_rows(passes: list[list[int]]) -> None:
    trace = Trace(World(1))
    got: list[Marked | Other] = []
    trace.sink(got.extend)
    emitted = []
    for offsets in passes:
        emitted.append(mark(trace, offsets))
        trace.emit(Other)
    trace.flush()
    assert [event for event in got if isinstance(event, Marked)] == rows(emitted)
    assert [event.seq for event in got] == list(range(1, trace.seq + 1))


def test_the_next_events_are_caused_by_what_the_transition_says() -> None:
    trace = Trace(World(1))
    trace.cause = 7
    event = mark(trace, [1, 2, 3])
    assert [row.cause for row in event.rows()] == [7, 7, 7]
    assert trace.emit(Other).seq == event.seq + 3


def test_the_digest_is_that_of_the_columns_whether_rows_are_folded_or_not() -> None:
    def digest(*, folded: bool, split: bool) -> str:
        trace = Trace(World(1))
        if folded:
            trace.fold(Marked, lambda row: None)
        for offsets in [[1], [2]] if split else [[1, 2]]:
            mark(trace, offsets)
        return trace.digest()

    assert digest(folded=True, split=False) == digest(folded=False, split=False)
    assert digest(folded=False, split=True) != digest(folded=False, split=False)


def test_rows_count_towards_a_chunk() -> None:
    trace = Trace(World(1))
    chunks: list[int] = []
    trace.sink(lambda events: chunks.append(len(events)))
    for _ in range(3):
        mark(trace, [0] * (CHUNK // 2 + 1))
    assert chunks == [2 * (CHUNK // 2 + 1)]


def test_a_row_cannot_be_emitted_past_those_who_fold_columns() -> None:
    trace = Trace(World(1))
    trace.emit(Marked, "orders", 0, 7)
    with pytest.raises(AssertionError, match="Marked was emitted as a row; emit PartitionsMarked"):
        trace.flush()
