"""Compaction of one log: what stays, with which offsets, for how long."""

import pytest
from attrs import evolve

from brokers.log.cleaner.contents import Entry, Uncleanable, entries, without_records
from brokers.log.log_config import RULES
from brokers.log.times import first_since
from emulator.protocol.compression import GZIP, LZ4, NONE, SNAPPY, ZSTD
from emulator.protocol.made_up_records import made_up_records
from emulator.protocol.records import COMPRESSION, StoredBatch
from emulator.protocol.rewriting import whole_records
from emulator.protocol.types import Batch
from tests.brokers.log.cleaner.compacted_logs import CONFIG, CompactedLog, Read

A, B, C = b"a", b"b", b"c"
ANNE, BERT = 7, 8
HOUR_MS = 3_600_000


def offsets(log: CompactedLog) -> list[int]:
    return [one.offset for one in log.read()]


def sizes(log: CompactedLog) -> list[int]:
    return [batch.size for batch in log.log.batches]


def test_the_last_record_of_each_key_stays_at_its_offset() -> None:
    log = CompactedLog()
    log.write((A, b"1"), (B, b"1"))
    log.write((A, b"2"))
    log.roll()
    log.write((C, b"1"))
    done = log.clean()
    assert done is not None
    assert (done.from_offset, done.next_offset, done.records) == (0, 3, 1)
    assert log.read() == [Read(1, B, b"1"), Read(2, A, b"2"), Read(3, C, b"1")]


def test_the_active_segment_is_left_alone() -> None:
    log = CompactedLog()
    log.write((A, b"1"))
    log.write((A, b"2"))
    assert log.clean() is None
    log.roll()
    log.write((A, b"3"))
    log.write((A, b"4"))
    log.clean()
    assert offsets(log) == [1, 2, 3]


def test_a_later_cleaning_removes_what_an_earlier_one_has_left() -> None:
    log = CompactedLog()
    for value in (b"1", b"2", b"3"):
        log.write((A, value))
        log.roll()
    log.write((B, b"1"))
    log.clean()
    assert offsets(log) == [2, 3]
    log.roll()
    log.write((A, b"4"))
    log.roll()
    log.write((A, b"5"))
    log.clean()
    assert offsets(log) == [3, 4, 5]


def test_a_batch_of_which_nothing_is_left_keeps_its_place() -> None:
    """It has no bytes, and is not sent; the next batch is found from any offset in it."""
    log = CompactedLog()
    log.write((A, b"1"), (A, b"2"))
    log.write((A, b"3"))
    log.roll()
    log.write((B, b"1"))
    log.clean()
    assert sizes(log)[0] == 0
    for offset in (0, 1, 2):
        assert [batch.base_offset for batch in log.log.read(offset, 1) if batch.size] == [2]
    assert log.log.end_offset == 4


def test_a_search_by_time_goes_past_a_batch_of_which_nothing_is_left() -> None:
    log = CompactedLog()
    log.write((A, b"1"))
    log.write((A, b"2"))
    log.roll()
    log.write((B, b"1"))
    log.clean()
    assert sizes(log)[0] == 0
    found = first_since(log.log, 0)
    assert found is not None
    assert found.offset == 1


@pytest.mark.parametrize("compression", [NONE, GZIP, SNAPPY, LZ4, ZSTD])
def test_a_compressed_batch_stays_compressed(compression: int) -> None:
    log = CompactedLog()
    log.write((A, b"1"), (B, b"1"), (C, b"1"), compression=compression)
    log.write((B, b"2"))
    log.roll()
    log.write((B, b"3"))
    log.clean()
    assert log.read() == [Read(0, A, b"1"), Read(2, C, b"1"), Read(3, B, b"2"), Read(4, B, b"3")]
    first = log.log.batches[0]
    assert isinstance(first, StoredBatch)
    assert first.header.attributes & COMPRESSION == compression


def test_records_without_a_key_go() -> None:
    """They may be in the log if the topic was not compacted before."""
    log = CompactedLog()
    log.write((None, b"1"), (A, b"1"))
    log.roll()
    log.write((B, b"1"))
    log.clean()
    assert offsets(log) == [1, 2]


def test_a_batch_that_cannot_be_read_stops_the_cleaning_and_changes_nothing() -> None:
    log = CompactedLog()
    log.write((A, b"1"))
    log.write((A, b"2"))
    log.roll()
    log.write((A, b"3"))
    log.log.corrupt(1)
    before = sizes(log)
    with pytest.raises(Uncleanable, match="the batch at 1 is corrupt"):
        log.clean()
    assert sizes(log) == before


def test_small_segments_become_one() -> None:
    log = CompactedLog(evolve(CONFIG, segment_bytes=220))
    for number in range(9):
        log.write((b"%d" % number, b"x"))
    assert log.log.bases == (0, 3, 6)
    log.roll()
    log.write((A, b"1"))
    log.config = evolve(CONFIG, segment_bytes=430)
    log.clean()
    assert log.log.bases == (0, 6, 9)


# -- tombstones -----------------------------------------------------------------------------------------------------


def tombstone(*, apart: bool) -> CompactedLog:
    """A log with a tombstone at offset 1. ``apart``: no two batches fit into one segment."""
    log = CompactedLog(evolve(CONFIG, segment_bytes=80 if apart else 1 << 20))
    log.write((A, b"1"))
    log.write((A, None))
    log.roll()
    log.write((B, b"1"))
    log.clean()
    return log


def write_and_clean(log: CompactedLog, after_ms: int) -> None:
    log.now_ms += after_ms
    log.roll()
    log.write((C, b"1"))
    log.clean()


def test_a_tombstone_stays_until_the_clean_part_has_changed_a_day_after_it() -> None:
    """Its segment has to be older than delete.retention.ms when the last clean segment was changed (up to 3.0)."""
    log = tombstone(apart=True)
    assert offsets(log) == [1, 2]
    write_and_clean(log, 25 * HOUR_MS)  # the last clean segment is that of the tombstone
    write_and_clean(log, 1)  # the last clean segment is that of the record before
    assert 1 in offsets(log)
    write_and_clean(log, 1)  # the last clean segment is a day younger than the tombstone
    assert 1 not in offsets(log)


def test_a_tombstone_stays_for_ever_where_its_segment_is_joined_with_younger_ones() -> None:
    """KAFKA-8522, up to 3.0."""
    log = tombstone(apart=False)
    for _ in range(10):
        write_and_clean(log, 25 * HOUR_MS)
    assert 1 in offsets(log)


@pytest.mark.parametrize("apart", [True, False])
def test_with_delete_horizons_a_tombstone_stays_a_day_after_it_was_first_compacted(apart: bool) -> None:
    """KIP-534, 3.1."""
    log = tombstone(apart=apart)
    log.rules = evolve(RULES, sets_delete_horizons=True)
    log.reload()
    write_and_clean(log, 23 * HOUR_MS)  # from here on it has a horizon
    write_and_clean(log, 23 * HOUR_MS)
    assert 1 in offsets(log)
    write_and_clean(log, HOUR_MS)
    assert 1 not in offsets(log)


def test_an_aborted_transaction_that_is_gone_with_its_segment_says_nothing_of_the_next() -> None:
    """kafka-2.7, seed 308 of the default swarm: retention deletes its records and its marker (compact,delete)."""
    config = evolve(CONFIG, cleanup_policy="compact,delete", retention_us=HOUR_MS * 1000)
    log = CompactedLog(config, evolve(RULES, keeps_producers=True))
    log.write((A, b"1"), producer=ANNE, sequence=0, transactional=True)
    log.end(ANNE, committed=False)
    log.roll()
    log.now_ms += 2 * HOUR_MS
    log.write((A, b"2"), (A, b"3"), producer=ANNE, sequence=1, transactional=True)
    log.end(ANNE, committed=True)
    log.roll()
    log.write((B, b"1"))
    assert log.log.delete_old_segments(log.now_ms * 1000, log.log.end_offset)
    log.clean()
    assert log.read() == [Read(3, A, b"3"), Read(5, B, b"1")]


@pytest.mark.parametrize(("count", "size", "id"), [(1, 70, 0), (7, 7_000, 142), (300, 300, 99)])
def test_the_records_of_an_emulated_batch_are_those_of_its_bytes(count: int, size: int, id: int) -> None:
    """They are named without the bytes, which a batch of thousands takes long to write."""
    batch = Batch(5, 5 + count, 0, size, id, timestamp_us=1_000_000)
    parsed = [Entry(one.offset_delta, one.key, one.has_value) for one in whole_records(made_up_records(batch))]
    assert entries(batch) == parsed


def test_a_marker_that_was_emptied_is_no_aborted_transaction_to_a_follower() -> None:
    """kafka-2.3, seed 404 of the default swarm: it fetched from a leader that had compacted its log."""
    leader, follower = CompactedLog(), CompactedLog()
    leader.write((A, b"1"), producer=ANNE, sequence=0, transactional=True)
    leader.end(ANNE, committed=False)
    emptied = without_records(leader.log.batches[-1])
    follower.write((B, b"1"))
    follower.write((B, b"2"))
    follower.log.append(evolve(emptied, base_offset=2, next_offset=3))
    follower.write((A, b"2"), producer=ANNE, sequence=1, transactional=True)
    follower.end(ANNE, committed=True)
    follower.roll()
    follower.write((C, b"1"))
    follower.clean()
    assert Read(3, A, b"2") in follower.read()
