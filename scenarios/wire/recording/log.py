"""The log of a live run: each input with the virtual time at which it came in, in order, and at the end the digest.

The file begins with ``MAGIC``. Each entry follows as its length (4 bytes), the CRC-32 of what comes next (4 bytes), its
kind (1 byte), its virtual time in microseconds (8 bytes), a number (4 bytes: of its connection or operation; at the end
the checksum of the answers), and its data. All numbers are unsigned and little-endian. Entries are only appended, so
that a process that is killed leaves at most one that is cut short.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple
from zlib import crc32

from attrs import define, field, frozen

from scenarios.errors import BadInput
from scenarios.reading import opened_file
from scenarios.units import LARGEST
from scenarios.wire.inputs import Accepted, Closed, Frame, Input, Operation

MAGIC = b"understudy live run 2\n"
MOST_BYTES = 104_857_600 + 1024
"""The most bytes of an entry: no request is longer (socket.request.max.bytes)."""
_FRONT = struct.Struct("<II")
_HEAD = struct.Struct("<BQI")
_PLACE = struct.Struct("<iHH")
"""The broker of an accepted connection, and the lengths of the address and of the listener's name."""
_ACCEPTED, _FRAME, _CLOSED, _OPERATION, _ENDED = range(1, 6)


@frozen
class Ended:
    """The end of a live run that was not killed.

    Attributes:
        digest: the digest of its trace.
        answers: the checksum over the responses to clients (``CountedAnswers``).
    """

    digest: str
    answers: int = 0


class Entry(NamedTuple):
    """One entry: virtual time in microseconds, and the input at that time."""

    t_us: int
    what: Input | Ended


class RecordedInputs(NamedTuple):
    """The content of a log.

    Attributes:
        entries: the whole entries, in order.
        cut_short: whether the process ended while it wrote the next entry.
    """

    entries: list[Entry]
    cut_short: bool

    @property
    def ended(self) -> Ended | None:
        """The end of the run; None: it was killed."""
        last = self.entries[-1].what if self.entries else None
        return last if isinstance(last, Ended) else None


@define(eq=False)
class InputLog:
    """Appends entries to a new file. Use it as a context manager, or ``close`` it.

    Raises: OSError where the disk refuses, in every method; the entries before are whole then.
    """

    path: Path
    _file: BinaryIO = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._file = self.path.open("xb")
        self._file.write(MAGIC)

    def write(self, t_us: int, what: Input | Ended) -> None:
        """Append an entry. It can stay in the memory of this process until ``flush``."""
        kind, number, data = _taken_apart(what)
        rest = _HEAD.pack(kind, t_us, number) + data
        self._file.write(_FRONT.pack(len(rest), crc32(rest)) + rest)

    def flush(self) -> None:
        """Give what was appended to the operating system, so that it survives the end of this process."""
        self._file.flush()

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> InputLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def read_log(path: Path) -> RecordedInputs:
    """The entries of a file. Raises: BadInput where it is no such file, or an entry before the last one is damaged."""
    with opened_file(path, "the log that serve --record writes") as file:
        return _entries(file, os.fstat(file.fileno()).st_size, str(path))


def entries_of(data: bytes, source: str) -> RecordedInputs:
    """The entries of a log's bytes. Raises: BadInput as ``read_log``."""
    return _entries(BytesIO(data), len(data), source)


def _entries(file: BinaryIO, size: int, source: str) -> RecordedInputs:
    magic = file.read(len(MAGIC))
    if magic != MAGIC:
        if MAGIC.startswith(magic):
            return RecordedInputs([], cut_short=True)
        raise BadInput("is not the log of a live run of this version; record the run again", source=source)
    entries: list[Entry] = []
    for place, rest in _rests(file, size, source):
        if rest is None:
            return RecordedInputs(entries, cut_short=True)
        try:
            entry = _entry(rest)
            if entries and not entries[-1].t_us <= entry.t_us <= LARGEST:
                raise ValueError("earlier than the one before")
            entries.append(entry)
        except (struct.error, ValueError, KeyError) as error:
            what = f"has an entry at byte {place} that this version does not know; record the run again"
            raise BadInput(what, source=source) from error
    return RecordedInputs(entries, cut_short=False)


def _rests(file: BinaryIO, size: int, source: str) -> Iterator[tuple[int, bytes | None]]:
    """The place and the content of each entry; None for the content of one that is cut short."""
    place = len(MAGIC)
    while place < size:
        front = file.read(_FRONT.size)
        if len(front) < _FRONT.size:
            yield place, None
            return
        length, checksum = _FRONT.unpack(front)
        end = place + _FRONT.size + length
        rest = file.read(length) if end <= size and length <= MOST_BYTES else b""
        if end > size or (crc32(rest) != checksum and end == size):
            yield place, None
            return
        if crc32(rest) != checksum or length > MOST_BYTES:
            raise BadInput(f"is damaged at byte {place}: the checksum is wrong; record the run again", source=source)
        yield place, rest
        place = end


def _taken_apart(what: Input | Ended) -> tuple[int, int, bytes]:
    """Kind, number and data of an entry."""
    match what:
        case Accepted(connection, broker, address, listener, principal):
            where, how = address.encode(), listener.encode()
            return _ACCEPTED, connection, _PLACE.pack(broker, len(where), len(how)) + where + how + principal.encode()
        case Frame(connection, data):
            return _FRAME, connection, data
        case Closed(connection):
            return _CLOSED, connection, b""
        case Operation(text, number):
            return _OPERATION, number, text.encode()
        case Ended(digest, answers):
            return _ENDED, answers, digest.encode()


def _entry(rest: bytes) -> Entry:
    kind, t_us, number = _HEAD.unpack_from(rest)
    data = rest[_HEAD.size :]
    return Entry(t_us, _PUT_TOGETHER[kind](number, data))


def _accepted(number: int, data: bytes) -> Accepted:
    broker, *lengths = _PLACE.unpack_from(data)
    texts, begin = list[str](), _PLACE.size
    for length in (*lengths, len(data)):
        texts.append(data[begin : begin + length].decode())
        begin += length
    return Accepted(number, broker, *texts)


_PUT_TOGETHER: dict[int, Callable[[int, bytes], Input | Ended]] = {
    _ACCEPTED: _accepted,
    _FRAME: Frame,
    _CLOSED: lambda number, _: Closed(number),
    _OPERATION: lambda number, data: Operation(data.decode(), number),
    _ENDED: lambda answers, data: Ended(data.decode(), answers),
}
