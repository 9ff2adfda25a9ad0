"""Drawn histories of writes, transactions, rolls, cleanings and restarts: what readers may rely on, and that each of
these properties fails when its guard is taken out of the cleaner."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brokers.log.cleaner import cleanable, cleaning, contents
from brokers.log.cleaner.cleaned_transactions import CleanedTransactions
from brokers.log.log_config import RULES
from emulator.protocol.compression import GZIP, LZ4, NONE, SNAPPY, ZSTD
from tests.brokers.log.cleaner.compacted_logs import CONFIG, CompactedLog, Read, last_values

KEYS = (b"a", b"b", b"c", b"d")
DAY_MS = 24 * 3_600_000
PRODUCERS = (5, 6)

pairs = st.lists(st.tuples(st.sampled_from(KEYS), st.none() | st.binary(max_size=3)), min_size=1, max_size=4)
writes = st.tuples(st.just("write"), pairs, st.sampled_from((NONE, NONE, GZIP, SNAPPY, LZ4, ZSTD)))
parts = st.tuples(st.just("part"), st.sampled_from(PRODUCERS), pairs)
ends = st.tuples(st.just("end"), st.sampled_from(PRODUCERS), st.booleans())
others = st.tuples(st.sampled_from(("roll", "roll", "clean", "clean", "reload")))
passing = st.tuples(st.just("pass"), st.sampled_from((1, 1000, DAY_MS // 2, 2 * DAY_MS)))
histories = st.lists(st.one_of(writes, parts, ends, others, passing), max_size=40)


class History:
    """A compacted log, and all that was ever written to it."""

    def __init__(self, *, horizons: bool, small: bool) -> None:
        config = evolve(CONFIG, segment_bytes=200 if small else 1 << 20)
        self.log = CompactedLog(config, evolve(RULES, sets_delete_horizons=horizons, compacts_stable=horizons))
        self.written: dict[int, Read] = {}
        self.times_ms: dict[int, int] = {}
        self.open: dict[int, list[int]] = {}
        self.aborted: dict[int, None] = {}
        self.sequences = dict.fromkeys(PRODUCERS, 0)

    def play(self, events: list[Any]) -> None:
        for event in (*events, ("roll",), ("write", [(b"end", b"x")], NONE), ("clean",)):
            getattr(self, f"on_{event[0]}")(*event[1:])

    def _note(self, base: int, found: list[Any]) -> list[int]:
        for delta, (key, value) in enumerate(found):
            self.written[base + delta] = Read(base + delta, key, value)
            self.times_ms[base + delta] = self.log.now_ms
        return list(range(base, base + len(found)))

    def on_write(self, found: list[Any], compression: int) -> None:
        self._note(self.log.write(*found, compression=compression), found)

    def on_part(self, producer: int, found: list[Any]) -> None:
        sequence = self.sequences[producer]
        base = self.log.write(*found, producer=producer, sequence=sequence, transactional=True)
        self.sequences[producer] += len(found)
        self.open.setdefault(producer, []).extend(self._note(base, found))

    def on_end(self, producer: int, committed: bool) -> None:
        if producer in self.open:
            offsets = self.open.pop(producer)
            self.log.end(producer, committed=committed)
            if not committed:
                self.aborted |= dict.fromkeys(offsets)

    def on_roll(self) -> None:
        self.log.roll()

    def on_clean(self) -> None:
        self.log.clean()

    def on_reload(self) -> None:
        self.log.reload()

    def on_pass(self, for_ms: int) -> None:
        self.log.now_ms += for_ms

    def committed(self) -> list[Read]:
        """All that was written and not aborted, up to the first open transaction."""
        end = min((offsets[0] for offsets in self.open.values()), default=self.log.log.end_offset)
        return [one for offset, one in self.written.items() if offset < end and offset not in self.aborted]

    def read(self) -> list[Read]:
        end = min((offsets[0] for offsets in self.open.values()), default=self.log.log.end_offset)
        return [one for one in self.log.read(committed=True) if one.offset < end]


# -- what readers may rely on -----------------------------------------------------------------------------------------


def offsets_and_records_are_those_that_were_written(history: History) -> None:
    found = history.read()
    assert [one.offset for one in found] == sorted({one.offset for one in found})
    assert all(history.written[one.offset] == one for one in found)


def no_aborted_record_is_read(history: History) -> None:
    assert not [one for one in history.read() if one.offset in history.aborted]


def each_key_has_its_last_value(history: History) -> None:
    """A key whose last value is a tombstone may be missing."""
    wanted, found = last_values(history.committed()), last_values(history.read())
    assert {key: value for key, value in found.items() if value is not None} == {
        key: value for key, value in wanted.items() if value is not None
    }
    assert all(wanted[key] is None for key in found if found[key] is None)


def tombstones_stay_for_a_day(history: History) -> None:
    """The last record of a key, if it is a tombstone younger than delete.retention.ms."""
    last = {one.key: one for one in history.committed()}
    young = [
        one for one in last.values() if one.value is None and history.log.now_ms - history.times_ms[one.offset] < DAY_MS
    ]
    assert set(young) <= set(history.read())


def what_is_not_clean_is_whole(history: History) -> None:
    """Nothing from the first open transaction on, nor in the active segment, was touched."""
    log = history.log.log
    begin = min((log.bases[-1], *(offsets[0] for offsets in history.open.values())))
    kept = {one.offset for one in history.log.read(begin)}
    assert kept >= {offset for offset in history.written if offset >= begin}


def a_restart_changes_nothing(history: History) -> None:
    log = history.log.log
    before = history.read(), log.end_offset, log.producers.last_records(), log.epochs.entries
    known = log.producers.remembered_batches()
    log = history.log.reload()
    assert (history.read(), log.end_offset, log.producers.last_records(), log.epochs.entries) == before
    assert log.producers.remembered_batches() == known


PROPERTIES: tuple[Callable[[History], None], ...] = (
    offsets_and_records_are_those_that_were_written, no_aborted_record_is_read, each_key_has_its_last_value,
    tombstones_stay_for_a_day, what_is_not_clean_is_whole, a_restart_changes_nothing,
)  # fmt: skip


def check(events: list[Any], horizons: bool, small: bool, properties: tuple[Callable[[History], None], ...]) -> None:
    history = History(horizons=horizons, small=small)
    history.play(events)
    for holds in properties:
        holds(history)


@settings(max_examples=150)
@given(histories, st.booleans(), st.booleans())
def test_a_reader_from_the_beginning_gets_what_the_keys_are_worth(
    events: list[Any], horizons: bool, small: bool
) -> None:
    check(events, horizons, small, PROPERTIES)


# -- and each fails without its guard ---------------------------------------------------------------------------------


def no_tombstone_stays(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cleaning._Cleaning, "_stays", lambda self, batch, entry, _: _stays(self, batch, entry, False))


_stays = cleaning._Cleaning._stays


def earlier_records_win(patch: pytest.MonkeyPatch) -> None:
    def first(self: Any, batch: Any) -> None:
        for delta, key, _ in contents.entries(batch):
            self.last_offsets.setdefault(key, batch.base_offset + delta)

    def stays(self: Any, batch: Any, entry: Any, _: bool) -> bool:
        return bool(batch.base_offset + entry.delta <= self.last_offsets.get(entry.key, 1 << 60))

    patch.setattr(cleaning._Cleaning, "_map", first)
    patch.setattr(cleaning._Cleaning, "_stays", stays)


def aborted_records_count(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(CleanedTransactions, "batch_read", lambda *_: False)


def open_transactions_are_compacted(patch: pytest.MonkeyPatch) -> None:
    def active_alone(_log: Any, _dirty: Any, active: int, *_: Any) -> int:
        return active

    patch.setattr(cleanable, "_first_uncleanable_offset", active_alone)


def offsets_move(patch: pytest.MonkeyPatch) -> None:
    whole = contents.with_records

    def closed_up(batch: Any, deltas: Any, horizon: int) -> Any:
        return evolve(whole(batch, deltas, horizon), base_offset=batch.base_offset + 1)

    patch.setattr(cleaning, "with_records", closed_up)


MUTANTS: Mapping[Callable[[pytest.MonkeyPatch], None], Callable[[History], None]] = {
    no_tombstone_stays: tombstones_stay_for_a_day,
    earlier_records_win: each_key_has_its_last_value,
    aborted_records_count: each_key_has_its_last_value,
    open_transactions_are_compacted: what_is_not_clean_is_whole,
    offsets_move: offsets_and_records_are_those_that_were_written,
}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_property_fails_without_its_guard(
    mutant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant(monkeypatch)

    @settings(
        max_examples=400,
        database=None,
        derandomize=True,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(histories, st.booleans())
    def holds(events: list[Any], small: bool) -> None:
        check(events, False, small, (MUTANTS[mutant],))

    with pytest.raises((AssertionError, KeyError)):
        holds()
