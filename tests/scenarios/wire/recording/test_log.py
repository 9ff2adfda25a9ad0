"""The log of a live run: what is written is read, whatever is cut off its end."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.errors import BadInput
from scenarios.wire.inputs import Accepted, Closed, Frame, Operation
from scenarios.wire.recording.log import MAGIC, Ended, Entry, InputLog, read_log

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


def written(folder: Path, entries: list[Entry]) -> Path:
    path = folder / "log"
    path.unlink(missing_ok=True)
    with InputLog(path) as log:
        for entry in entries:
            log.write(*entry)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("log")
    return path


@given(entries=ENTRIES)
def test_what_is_written_is_read(folder: Path, entries: list[Entry]) -> None:
    read = read_log(written(folder, entries))
    assert read.entries == entries
    assert not read.cut_short
    assert read.ended is None


@given(entries=ENTRIES, data=st.data())
def test_wherever_it_is_cut_off_the_whole_entries_before_are_read(
    folder: Path, entries: list[Entry], data: st.DataObject
) -> None:
    path = written(folder, entries)
    whole = path.read_bytes()
    length = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:length])
    read = read_log(path)
    assert read.entries == entries[: len(read.entries)]
    assert read.cut_short == (length not in ends(folder, entries))


def ends(folder: Path, entries: list[Entry]) -> set[int]:
    """The sizes of a log after each of its entries."""
    return {written(folder, entries[:count]).stat().st_size for count in range(len(entries) + 1)}


def test_the_end_is_its_digest(tmp_path: Path) -> None:
    entries = [Entry(5, Frame(1, b"x")), Entry(9, Ended("abc", 7))]
    assert read_log(written(tmp_path, entries)).ended == Ended("abc", 7)


def test_an_entry_that_is_damaged_before_the_end_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, [Entry(5, Frame(1, b"first")), Entry(6, Frame(1, b"second"))])
    path.write_bytes(path.read_bytes().replace(b"first", b"fXrst"))
    with pytest.raises(BadInput, match=f"damaged at byte {len(MAGIC)}"):
        read_log(path)


def test_other_files_and_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"something else altogether")
    with pytest.raises(BadInput, match="not the log of a live run"):
        read_log(tmp_path / "log")
    with pytest.raises(BadInput, match="serve --record"):
        read_log(tmp_path / "none" / "log")


def test_a_log_never_goes_over_another(tmp_path: Path) -> None:
    written(tmp_path, [])
    with pytest.raises(FileExistsError):
        InputLog(tmp_path / "log")
