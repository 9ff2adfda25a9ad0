"""Record batches with their bytes: what is written is read, and other bytes are refused."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.protocol.records import HEADER_BYTES, read_records, write_records

BYTES = st.none() | st.binary(max_size=300)


@given(st.lists(st.tuples(BYTES, BYTES), min_size=1, max_size=20), st.integers(0, 1 << 45))
def test_what_is_written_is_read(pairs: list[tuple[bytes | None, bytes | None]], timestamp_ms: int) -> None:
    found = list(read_records(write_records(pairs, timestamp_ms)))
    assert [(record.key, record.value) for record in found] == pairs
    assert [record.offset_delta for record in found] == list(range(len(pairs)))
    assert all(record.timestamp_ms == timestamp_ms for record in found)


@given(st.binary(max_size=60))
def test_other_bytes_are_refused_or_read_and_nothing_else(tail: bytes) -> None:
    data = write_records([(b"key", b"value")] * 3, 0)[:HEADER_BYTES] + tail
    with suppress(ValueError):
        assert len(list(read_records(data))) == 3


def test_a_batch_that_ends_too_early() -> None:
    with pytest.raises(ValueError, match="end inside a record"):
        list(read_records(write_records([(None, b"value")], 0)[:-3]))
