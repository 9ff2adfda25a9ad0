"""S20: what compaction removes."""

from __future__ import annotations

import pytest
from attrs import evolve

from emulator.protocol import events as e
from emulator.protocol.shown import RecordsCompacted
from emulator.protocol.types import Batch
from scenarios.observe.checkers.compaction_keeps import CompactionKeeps
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

BEFORE = tuple(Batch(at, at + 1, 0, 100, 1 + 100 * at) for at in range(3))
"""Emulated batches whose records have one and the same key."""


def compacted(*gone: int) -> list[str]:
    after = tuple(evolve(batch, size=0) if batch.base_offset in gone else batch for batch in BEFORE)
    run = WrittenHistory(CompactionKeeps.name).begin()
    run.show(RecordsCompacted, 0, ORDERS_0, 2, 2, 5_000, 86_400_000, BEFORE, after)
    return [violation.state for violation in run.violations()]


def test_the_last_record_of_a_key_stays() -> None:
    [state] = compacted(0, 1)
    assert "at 1, the last record of key b'1-0' is gone" in state


def test_an_earlier_one_goes_for_what_is_committed_only() -> None:
    """Nothing is committed here."""
    [state] = compacted()
    assert "at 0, a record of key b'1-0' stays, and there is one at 1" in state


@pytest.mark.parametrize(("cleaned", "cut", "count"), [(True, 3, 0), (False, 3, 1), (True, 1, 1)])
def test_what_a_cleaning_has_skipped_before_the_start_stays(cleaned: bool, cut: int, count: int) -> None:
    """kafka-1.1, seed 3029 of the default swarm: a crash takes the start of a log back, as its checkpoint was older."""
    run = WrittenHistory(CompactionKeeps.name).begin()
    run.emit(e.LogStartMoved, 0, *ORDERS_0, 2, "leader")
    if cleaned:
        run.show(RecordsCompacted, 0, ORDERS_0, 2, 2, 5_000, 86_400_000, BEFORE, BEFORE)
    run.truncated(0, cut)
    run.loaded(0, end=3)
    run.show(RecordsCompacted, 0, ORDERS_0, 2, 2, 6_000, 86_400_000, BEFORE, BEFORE)
    assert len(run.violations()) == count


@pytest.mark.parametrize(("end", "begins", "count"), [(0, 2, 0), (0, 0, 1), (None, 2, 1), (2, 2, 1)])
def test_what_comes_below_the_checkpoint_after_a_recovery_stays(end: int | None, begins: int, count: int) -> None:
    """kafka-1.1, seed 16125: the log was cut to its start, and was longer again before the cleaner looked at it."""
    run = WrittenHistory(CompactionKeeps.name).begin()
    if end is not None:
        run.emit(e.LogRecovered, 0, *ORDERS_0, end, 2, "corrupt")
        run.loaded(0, end=end)
    for now_ms in (5_000, 6_000):
        run.emit(e.LogCompacted, 0, *ORDERS_0, begins, 2, 0, 300, 300)
        run.show(RecordsCompacted, 0, ORDERS_0, 2, 2, now_ms, 86_400_000, BEFORE, BEFORE)
    assert len(run.violations()) == 2 * count
