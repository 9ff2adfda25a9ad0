"""The log of a live run: what is written is read, whatever is cut off its end."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.errors import BadInput
from scenarios.wire.inputs import Accepted, Closed, Frame, Operation
from scenarios.wire.recording.log import MAGIC, Ended, Entry, InputLog, RecordedInputs, entries_of, read_log
from scenarios.wire.recording.pieces import PieceWriter

NUMBERS = st.integers(0, 2**32 - 1)
WHATS = st.one_of(
    st.builds(Accepted, NUMBERS, st.integers(-1, 1000), *[st.text(max_size=20)] * 3),
    st.builds(Frame, NUMBERS, st.binary(max_size=50)),
    st.builds(Closed, NUMBERS),
    st.builds(Operation, st.text(max_size=30), NUMBERS),
)
ENTRIES = st.lists(st.builds(Entry, st.integers(0, 2**62), WHATS), max_size=8).map(
    lambda found: sorted(found, key=lambda entry: entry.t_us)
)


def written(entries: list[Entry]) -> bytes:
    file = BytesIO()
    log = InputLog(file)
    for entry in entries:
        log.write(*entry)
    return file.getvalue()


def read(data: bytes) -> RecordedInputs:
    return entries_of(data, "here")


@given(entries=ENTRIES)
def test_what_is_written_is_read(entries: list[Entry]) -> None:
    found = read(written(entries))
    assert list(found.entries) == list(found.entries) == entries
    assert (found.count, found.last_us) == (len(entries), entries[-1].t_us if entries else 0)
    assert not found.cut_short
    assert found.ended is None


@given(entries=ENTRIES, data=st.data())
def test_wherever_it_is_cut_off_the_whole_entries_before_are_read(entries: list[Entry], data: st.DataObject) -> None:
    whole = written(entries)
    length = data.draw(st.integers(0, len(whole)))
    found = read(whole[:length])
    assert list(found.entries) == entries[: found.count]
    assert found.cut_short == (length not in ends(entries))


def ends(entries: list[Entry]) -> set[int]:
    """The sizes of a log after each of its entries."""
    return {len(written(entries[:count])) for count in range(len(entries) + 1)}


def test_the_end_is_its_digest() -> None:
    entries = [Entry(5, Frame(1, b"x")), Entry(9, Ended("abc", 7))]
    assert read(written(entries)).ended == Ended("abc", 7)


def test_an_entry_that_is_damaged_is_refused() -> None:
    data = written([Entry(5, Frame(1, b"first")), Entry(6, Frame(1, b"second"))])
    with pytest.raises(BadInput, match=f"damaged at byte {len(MAGIC)}"):
        read(data.replace(b"first", b"fXrst"))


def test_other_files_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not the log of a live run"):
        read(b"something else altogether")
    with pytest.raises(BadInput, match="serve --record"):
        read_log(tmp_path / "none")


def test_a_log_never_goes_over_another(tmp_path: Path) -> None:
    PieceWriter(tmp_path).close()
    with pytest.raises(FileExistsError):
        PieceWriter(tmp_path)
