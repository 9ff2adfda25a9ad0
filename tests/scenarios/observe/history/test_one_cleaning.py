"""The records that a cleaning may remove: drawn histories, and cleaners that lack a rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from brokers.log.cleaner import cleanable, cleaning, contents
from brokers.log.cleaner.cleaned_transactions import CleanedTransactions
from emulator.protocol.compression import NONE
from emulator.protocol.records import NO_TIMESTAMP
from emulator.protocol.shown import RecordsCompacted
from emulator.protocol.types import Batch
from scenarios.observe.findings.compaction_facts import Compacts
from scenarios.observe.history.one_cleaning import Cleaning, Wrong
from tests.brokers.log.cleaner import test_histories as written
from tests.brokers.log.cleaner.compacted_logs import TP, CompactedLog

DAY_MS = 24 * 3_600_000


class Judged(written.History):
    """A compacted log with all that its cleanings have done wrong."""

    def __init__(self, *, horizons: bool, small: bool, committed: int | None = None) -> None:
        super().__init__(horizons=horizons, small=small)
        self.committed_end = committed
        self.wrongs: list[Wrong] = []

    def on_clean(self) -> None:
        log = self.log.log
        before, active = tuple(log.batches), log.bases[-1]
        done = self.log.clean()
        if done is not None:
            after = tuple(self.log.log.batches)
            self.judge(done.next_offset, active, before, after)

    def judge(self, end: int, active: int, before: tuple[Batch, ...], after: tuple[Batch, ...]) -> None:
        event = RecordsCompacted(0, 0, 0, 0, TP, end, active, self.log.now_ms, DAY_MS, before, after)
        committed = self.log.log.end_offset if self.committed_end is None else self.committed_end
        self.wrongs += Cleaning(event, committed, 0).wrongs()


@settings(max_examples=60)
@given(written.histories, st.booleans(), st.booleans())
def test_a_cleaner_as_it_is_does_nothing_wrong(events: list[Any], horizons: bool, small: bool) -> None:
    history = Judged(horizons=horizons, small=small)
    history.play(events)
    assert history.wrongs == []


WRITE_A = ("write", [(b"a", b"1")], NONE)
WRITE_B = ("write", [(b"b", b"1")], NONE)
GONE_A = ("write", [(b"a", None)], NONE)
PART_A = ("part", 5, [(b"a", b"2")])
ROLL, CLEAN = ("roll",), ("clean",)
END, ABORT = ("end", 5, True), ("end", 5, False)


def nothing_missing(_patch: pytest.MonkeyPatch) -> None: ...


def aborted_count(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(CleanedTransactions, "batch_read", lambda *_: False)


def open_ones_are_compacted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cleanable, "_first_uncleanable_offset", lambda _log, _dirty, active, *_: active)


def the_last_goes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cleaning._Cleaning, "_stays", lambda self, batch, entry, _: entry.key not in self.last_offsets)


def tombstones_go(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cleaning._Cleaning, "_stays", lambda _self, _batch, entry, _: entry.has_value)


def all_stay(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cleaning._Cleaning, "_stays", lambda *_: True)


def producers_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cleaning._Cleaning, "_is_last", lambda *_: False)


def markers_go(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(CleanedTransactions, "marker_read", lambda *_: True)
    patch.setattr(cleaning._Cleaning, "_tombstones_go_until", lambda *_: 1 << 60)


def batches_move(patch: pytest.MonkeyPatch) -> None:
    whole = contents.with_records

    def closed_up(batch: Any, deltas: Any, horizon: int) -> Any:
        return evolve(whole(batch, deltas, horizon), base_offset=batch.base_offset + 1)

    patch.setattr(cleaning, "with_records", closed_up)


TWO = ("write", [(b"a", b"1"), (b"b", b"1")], NONE)


@pytest.mark.parametrize(
    ("lacks", "events", "part"),
    [
        (aborted_count, [WRITE_A, PART_A, ABORT, ROLL, WRITE_B, CLEAN], Compacts.LAST_RECORDS),
        (open_ones_are_compacted, [WRITE_A, PART_A, ROLL, WRITE_B, CLEAN], Compacts.LAST_RECORDS),
        (the_last_goes, [WRITE_A, ROLL, WRITE_B, CLEAN], Compacts.LAST_RECORDS),
        (tombstones_go, [GONE_A, ROLL, WRITE_B, CLEAN], Compacts.TOMBSTONES),
        (all_stay, [WRITE_A, WRITE_A, ROLL, WRITE_B, CLEAN], Compacts.ONE_EACH),
        (producers_are_forgotten, [PART_A, END, WRITE_A, ROLL, WRITE_B, CLEAN], Compacts.PRODUCERS),
        (markers_go, [PART_A, END, ROLL, WRITE_B, CLEAN], Compacts.MARKERS),
        (batches_move, [TWO, WRITE_A, ROLL, WRITE_B, CLEAN], Compacts.PLACES),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)  # fmt: skip
def test_a_cleaner_that_lacks_a_rule(
    lacks: Callable[[pytest.MonkeyPatch], None], events: list[Any], part: Compacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Judged(horizons=False, small=False)
    for event in events:
        getattr(whole, f"on_{event[0]}")(*event[1:])
    assert whole.wrongs == []
    lacks(monkeypatch)
    history = Judged(horizons=False, small=False)
    for event in events:
        getattr(history, f"on_{event[0]}")(*event[1:])
    assert part in [wrong.part for wrong in history.wrongs]


def test_a_record_goes_only_for_one_that_is_committed() -> None:
    """KAFKA-13194."""
    history = Judged(horizons=False, small=False, committed=1)
    for event in (WRITE_A, WRITE_A, ROLL, WRITE_B, CLEAN):
        getattr(history, f"on_{event[0]}")(*event[1:])
    [wrong] = history.wrongs
    assert (wrong.part, wrong.offset) == (Compacts.COMMITTED, 0)


def test_a_transaction_that_was_aborted_before_the_dirty_part_ends_there() -> None:
    history = Judged(horizons=False, small=False)
    for event in (PART_A, ABORT, ROLL, WRITE_B, ROLL, WRITE_B, CLEAN, WRITE_A, PART_A, ROLL, END, CLEAN):
        getattr(history, f"on_{event[0]}")(*event[1:])
    assert history.wrongs == []


def test_the_active_segment_is_left_alone() -> None:
    history = Judged(horizons=False, small=False)
    history.on_write([(b"a", b"1")], NONE)
    batches = tuple(history.log.log.batches)
    history.judge(1, 0, batches, batches)
    assert [wrong.part for wrong in history.wrongs] == [Compacts.WHAT_IS_CLOSED]


@pytest.mark.parametrize(("start", "count"), [(0, 1), (2, 0)])
def test_keys_before_the_start_of_the_log_are_not_looked_for(start: int, count: int) -> None:
    """kafka-2.5, seed 364 of the default swarm: records were deleted up to the middle of a segment."""
    log = CompactedLog()
    log.write((b"a", b"1"), (b"a", b"2"))
    log.roll()
    log.write((b"b", b"1"))
    batches = tuple(log.log.batches)
    event = RecordsCompacted(0, 0, 0, 0, TP, 2, 2, log.now_ms, DAY_MS, batches, batches)
    assert [wrong.part for wrong in Cleaning(event, 3, start).wrongs()] == [Compacts.ONE_EACH] * count


@pytest.mark.parametrize(("start", "count"), [(0, 1), (1, 1), (2, 0)])
def test_no_transaction_is_open_before_the_start_of_the_log(start: int, count: int) -> None:
    """kafka-1.1, seed 4051: retention had deleted records of an open transaction, and its segment was still there."""
    log = CompactedLog()
    log.write((b"a", b"1"), (b"a", b"2"), producer=5, sequence=0, transactional=True)
    log.roll()
    log.write((b"a", b"3"))
    batches = tuple(log.log.batches)
    after = contents.with_records(batches[0], [0], NO_TIMESTAMP), *batches[1:]
    event = RecordsCompacted(0, 0, 0, 0, TP, 2, 2, log.now_ms, DAY_MS, batches, after)
    parts = [wrong.part for wrong in Cleaning(event, 3, start).wrongs()]
    assert parts == [Compacts.WHAT_IS_CLOSED] * count
