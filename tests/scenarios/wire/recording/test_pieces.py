"""The pieces of a log: however it was written and wherever it ended, what was flushed is read, and nothing else is."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.errors import BadInput
from scenarios.wire.inputs import Frame
from scenarios.wire.recording import pieces
from scenarios.wire.recording.log import Ended, InputLog, read_log
from scenarios.wire.recording.pieces import PIECE_BYTES, PieceReader, PieceWriter, piece

MOST = 100
WRITES = st.lists(st.tuples(st.binary(max_size=3 * MOST), st.booleans()), max_size=12)
"""The bytes of each write, and whether it is flushed after that."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("pieces")
    return path


def new(place: Path) -> Path:
    folder = place / "new"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def content(folder: Path) -> bytes:
    return PieceReader(folder).open().read()


@given(writes=WRITES)
def test_what_is_written_is_read_from_files_of_a_bounded_size(place: Path, writes: list[tuple[bytes, bool]]) -> None:
    writer = PieceWriter(folder := new(place), MOST)
    for data, flushed in writes:
        writer.write(data)
        if flushed:
            writer.flush()
    writer.finish()
    writer.close()
    whole = b"".join(data for data, _ in writes)
    assert content(folder) == whole
    assert len(list(folder.iterdir())) == max(1, -(-len(whole) // MOST))
    assert all(path.stat().st_size < 3 * MOST for path in folder.iterdir())


@given(writes=WRITES, room=st.integers(0, 15 * MOST))
def test_a_full_disk_has_all_that_was_flushed(place: Path, writes: list[tuple[bytes, bool]], room: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "FileIO", limited(room))
        whole, safe, writer = b"", 0, PieceWriter(folder := new(place), MOST)
        refused = False
        for data, flushed in writes:
            try:
                whole += data
                writer.write(data)
                if flushed:
                    writer.flush()
                    safe = len(whole)
                assert not refused, "what follows a refused write is written"
            except OSError as error:
                refused = error.errno == errno.ENOSPC
        writer.close()
    found = content(folder)
    assert whole.startswith(found)
    assert len(found) >= safe
    assert refused or found == whole


def limited(room: int) -> type[FileIO]:
    """Files that take so many bytes together; the last ones in part, as those of an operating system do."""
    left = room

    class Limited(FileIO):
        def write(self, data: Any, /) -> int:
            nonlocal left
            if not left:
                raise OSError(errno.ENOSPC, "No space left on device")
            count = super().write(data[:left])
            left -= count
            return count

    return Limited


@given(writes=WRITES, data=st.data())
def test_a_process_that_is_killed_leaves_all_that_was_flushed(
    place: Path, writes: list[tuple[bytes, bool]], data: st.DataObject
) -> None:
    count = data.draw(st.integers(0, len(writes)))
    writer, whole, safe = PieceWriter(folder := new(place), MOST), b"", 0
    for each, flushed in writes[:count]:
        writer.write(each)
        whole += each
        if flushed:
            writer.flush()
            safe = len(whole)
    found = content(folder)
    assert whole.startswith(found)
    assert len(found) >= safe
    writer.close()


def test_a_process_that_is_killed_between_two_pieces_leaves_both(tmp_path: Path) -> None:
    writer = PieceWriter(tmp_path, MOST)
    writer.write(b"x" * MOST)
    writer.flush()
    piece(tmp_path, 2).touch()
    assert content(tmp_path) == b"x" * MOST
    writer.close()


def some_pieces(folder: Path) -> None:
    with InputLog(writer := PieceWriter(folder, MOST)) as log:
        for number in range(10):
            log.write(number, Frame(1, bytes([number]) * 20))
        log.write(99, Ended("abc", 7))
        writer.finish()
    assert read_log(folder).ended == Ended("abc", 7)
    assert len(list(folder.iterdir())) == 5


@pytest.mark.parametrize(
    ("harm", "wrong"),
    [
        (lambda folder: piece(folder, 1).unlink(), r"log-00001.gz is missing; copy the whole folder"),
        (lambda folder: piece(folder, 3).unlink(), r"log-00003.gz is missing; copy the whole folder"),
        (lambda folder: piece(folder, 5).unlink(), r"log-00005.gz is missing; copy the whole folder"),
        (lambda folder: cut(piece(folder, 2), -5), r"log-00002.gz.* is cut short: log-00003.gz follows it"),
        (lambda folder: cut(piece(folder, 2), 0), r"log-00002.gz.* is cut short: log-00003.gz follows it"),
        (lambda folder: shutil.copy(piece(folder, 3), piece(folder, 2)), r"is damaged at byte|does not know"),
        (lambda folder: piece(folder, 4).write_bytes(b"something else"), r"log-00004.gz.* is damaged"),
        (lambda folder: piece(folder, 4).open("ab").write(b"more"), r"log-00004.gz.* is damaged .more after its end"),
    ],
)
def test_a_piece_that_is_missing_or_cut_is_refused(tmp_path: Path, harm: Callable[[Path], object], wrong: str) -> None:
    some_pieces(tmp_path)
    harm(tmp_path)
    with pytest.raises(BadInput, match=wrong) as refused:
        read_log(tmp_path)
    assert "\n" not in str(refused.value)


def cut(path: Path, end: int) -> None:
    path.write_bytes(path.read_bytes()[:end])


def test_a_piece_that_inflates_to_more_than_one_has_is_refused(tmp_path: Path) -> None:
    writer = PieceWriter(tmp_path, 2 * PIECE_BYTES)
    writer.write(bytes(PIECE_BYTES + 1))
    writer.close()
    with pytest.raises(BadInput, match="more than a piece has"):
        content(tmp_path)
