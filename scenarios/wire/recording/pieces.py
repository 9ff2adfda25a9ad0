"""The bytes of a log in pieces: files of a bounded size, each compressed by gzip, ``log-00001.gz`` and so on.

The next file is made before a piece is ended, and the last piece is ended with the log. So a piece that is not ended is
the last one of a process that was killed, or of a full disk; anywhere else it was cut. And where a piece is ended and
the log is not, the next one is missing.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import suppress
from io import BufferedReader, FileIO, RawIOBase
from pathlib import Path

from attrs import define, field

from scenarios.errors import BadInput
from scenarios.reading import opened_file

PIECE_BYTES = 1 << 25
"""The most bytes of a piece before they are compressed. Where they cannot be compressed its file has little more."""
WANTED = "the log that serve --record writes"
AGAIN = "copy the whole folder, or record the run again"
_CHUNK = 1 << 16
_FASTEST = 1
_GZIP = 31


def piece(folder: Path, number: int) -> Path:
    """The file of a piece. The first one has the number 1."""
    return folder / f"log-{number:05}.gz"


@define(eq=False)
class PieceWriter:
    """Appends bytes to the pieces of a new log.

    Raises: OSError where the disk refuses, in every method but ``close``. What was flushed before can be read then, and
    nothing more is written: it would not follow what the disk has.

    Attributes:
        most: the most bytes of a piece before they are compressed.
    """

    folder: Path
    most: int = PIECE_BYTES
    _number: int = 0
    _file: FileIO = field(init=False)
    _packing: zlib._Compress = field(init=False)
    _room: int = 0
    """The bytes that the present piece can still take."""
    _unflushed: bool = False
    _refused: OSError | None = None

    def __attrs_post_init__(self) -> None:
        self._begin()

    def write(self, data: bytes) -> None:
        """Append bytes. They can stay in the memory of this process until ``flush``."""
        rest = memoryview(data)
        while len(rest) > self._room:
            self._put(self._file, self._packing.compress(rest[: self._room]))
            rest = rest[self._room :]
            file, packing = self._file, self._packing
            self._begin()
            self._end(file, packing.flush())
        self._room -= len(rest)
        self._unflushed = True
        self._put(self._file, self._packing.compress(rest))

    def flush(self) -> None:
        """Give what was appended to the operating system, so that it survives the end of this process."""
        if self._unflushed:
            self._unflushed = False
            self._put(self._file, self._packing.flush(zlib.Z_SYNC_FLUSH))

    def finish(self) -> None:
        """End the log: there is no further piece."""
        self._end(self._file, self._packing.flush())

    def close(self) -> None:
        """Close the file. A log that was not finished has what was appended before, if the disk takes it."""
        with suppress(OSError):
            if not self._file.closed:
                self.flush()
        with suppress(OSError):
            self._file.close()

    def _begin(self) -> None:
        self._number += 1
        try:
            self._file = FileIO(piece(self.folder, self._number), "xb")
        except OSError as error:
            self._refused = error
            raise
        self._packing = zlib.compressobj(_FASTEST, wbits=_GZIP)
        self._room = self.most

    def _end(self, file: FileIO, last: bytes) -> None:
        self._put(file, last)
        file.close()

    def _put(self, file: FileIO, data: bytes) -> None:
        if self._refused is not None:
            raise self._refused
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[file.write(rest) :]
        except OSError as error:
            self._refused = error
            raise


@define(eq=False)
class PieceReader:
    """The content of the pieces in a folder.

    Attributes:
        is_ended: whether the last piece was ended; known when all were read.
    """

    folder: Path
    is_ended: bool = False
    _number: int = 1

    def open(self) -> BufferedReader:
        """The content as a file. Raises: BadInput, as it is read, where a piece is missing, cut or damaged."""
        return BufferedReader(_Content(self._chunks()), _CHUNK)

    def _chunks(self) -> Iterator[bytes]:
        while True:
            path, follow = piece(self.folder, self._number), self._follow
            if follow and not path.exists():
                raise self.missing(path)
            yield from self._unpacked(path)
            if not self.is_ended:
                if any(each.lstat().st_size for each in follow):
                    raise BadInput(f"is cut short: {follow[0].name} follows it; {AGAIN}", source=str(path))
                return
            if not follow:
                return
            self._number += 1

    @property
    def _follow(self) -> list[Path]:
        """The pieces after the present one."""
        return [each for each in sorted(self.folder.glob("log-*.gz")) if each > piece(self.folder, self._number)]

    def _unpacked(self, path: Path) -> Iterator[bytes]:
        unpacking, room = zlib.decompressobj(_GZIP), PIECE_BYTES
        with opened_file(path, WANTED) as file:
            try:
                while not unpacking.eof:
                    data = unpacking.unconsumed_tail or file.read(_CHUNK)
                    found = unpacking.decompress(data, _CHUNK)
                    if not (data or found):
                        break
                    room -= len(found)
                    if room < 0:
                        raise zlib.error("more than a piece has")
                    yield found
                if unpacking.unused_data or file.read(1):
                    raise zlib.error("more after its end")
            except zlib.error as error:
                raise BadInput(f"is damaged ({error}); {AGAIN}", source=str(path)) from None
        self.is_ended = unpacking.eof

    def missing(self, path: Path | None = None) -> BadInput:
        """The refusal of a log that lacks a piece; None: the one after the last."""
        name = (path or piece(self.folder, self._number + 1)).name
        return BadInput(f"{name} is missing; {AGAIN}", source=str(self.folder))


class _Content(RawIOBase):
    """A file of chunks of bytes."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count
