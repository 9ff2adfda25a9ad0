"""The log of a live run: each input with the virtual time at which it came in, in order, and at the end the digest.

It begins with ``MAGIC``. Each entry follows as its length (4 bytes), the CRC-32 of what comes next (4 bytes), its kind
(1 byte), its virtual time in microseconds (8 bytes), a number (4 bytes: of its connection or operation; at the end the
checksum of the answers), and its data. All numbers are unsigned and little-endian. Entries are only appended, so that a
process that is killed leaves at most one that is cut short. A recording has it in pieces (``pieces``), the frames of a
scenario in one file.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple, Protocol
from zlib import crc32

from attrs import define, frozen

from scenarios.errors import BadInput
from scenarios.units import LARGEST
from scenarios.wire.inputs import Accepted, Closed, Frame, Input, Operation
from scenarios.wire.recording.pieces import PieceReader

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


@frozen(kw_only=True)
class RecordedInputs:
    """The content of a log that was read once, to its end. Its entries are read again when they are asked for: those of
    an hour under load do not fit in memory.

    Attributes:
        opened: opens the content.
        count: the whole entries.
        last_us: the time of the last one; 0: there is none.
        cut_short: whether the process ended while it wrote the next entry.
        ended: the end of the run; None: it was killed.
    """

    opened: Callable[[], BinaryIO]
    source: str
    count: int = 0
    last_us: int = 0
    cut_short: bool = False
    ended: Ended | None = None

    @property
    def entries(self) -> Iterator[Entry]:
        """The whole entries, in order."""
        with self.opened() as file:
            for entry in _entries(file, self.source):
                if entry is not None:
                    yield entry


class Appended(Protocol):
    """A file that a log is written to."""

    def write(self, data: bytes, /) -> object: ...
    def flush(self) -> object: ...
    def close(self) -> object: ...


@define(eq=False)
class InputLog:
    """Appends entries to a new file. Use it as a context manager, or ``close`` it.

    Raises: OSError where the disk refuses, in every method; the entries that were flushed before are whole then.
    """

    file: Appended

    def __attrs_post_init__(self) -> None:
        self.file.write(MAGIC)

    def write(self, t_us: int, what: Input | Ended) -> None:
        """Append an entry. It can stay in the memory of this process until ``flush``."""
        kind, number, data = _taken_apart(what)
        rest = _HEAD.pack(kind, t_us, number) + data
        self.file.write(_FRONT.pack(len(rest), crc32(rest)) + rest)

    def flush(self) -> None:
        """Give what was appended to the operating system, so that it survives the end of this process."""
        self.file.flush()

    def close(self) -> None:
        self.file.close()

    def __enter__(self) -> InputLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def read_log(folder: Path) -> RecordedInputs:
    """The log of a recording. Raises: BadInput where it is none or damaged, or lacks a piece."""
    pieces = PieceReader(folder)
    found = _looked_through(lambda: PieceReader(folder).open(), str(folder), pieces.open())
    if pieces.is_ended and found.ended is None:
        raise pieces.missing()
    return found


def entries_of(data: bytes, source: str) -> RecordedInputs:
    """The log in some bytes. Raises: BadInput as ``read_log``."""
    return _looked_through(lambda: BytesIO(data), source, BytesIO(data))


def _looked_through(opened: Callable[[], BinaryIO], source: str, file: BinaryIO) -> RecordedInputs:
    count, last, cut_short = 0, None, False
    with file:
        for entry in _entries(file, source):
            if entry is None:
                cut_short = True
            else:
                count, last = count + 1, entry
    return RecordedInputs(
        opened=opened, source=source, count=count, last_us=last.t_us if last else 0, cut_short=cut_short,
        ended=last.what if last and isinstance(last.what, Ended) else None,
    )  # fmt: skip


def _entries(file: BinaryIO, source: str) -> Iterator[Entry | None]:
    """The entries; at the end None for one that is cut short."""
    magic = file.read(len(MAGIC))
    if magic != MAGIC:
        if not MAGIC.startswith(magic):
            raise BadInput("is not the log of a live run of this version; record the run again", source=source)
        yield None
        return
    before_us = 0
    for place, rest in _rests(file, source):
        if rest is None:
            yield None
            return
        try:
            entry = _entry(rest)
            if not before_us <= entry.t_us <= LARGEST:
                raise ValueError("earlier than the one before")
        except (struct.error, ValueError, KeyError) as error:
            what = f"has an entry at byte {place} that this version does not know; record the run again"
            raise BadInput(what, source=source) from error
        before_us = entry.t_us
        yield entry


def _rests(file: BinaryIO, source: str) -> Iterator[tuple[int, bytes | None]]:
    """The place and the content of each entry; None for the content of one that is cut short."""
    place = len(MAGIC)
    while front := file.read(_FRONT.size):
        length, checksum = _FRONT.unpack(front) if len(front) == _FRONT.size else (0, None)
        rest = file.read(min(length, MOST_BYTES))
        if checksum is None or len(rest) < min(length, MOST_BYTES):
            yield place, None
            return
        if crc32(rest) != checksum:
            raise BadInput(f"is damaged at byte {place}: the checksum is wrong; record the run again", source=source)
        yield place, rest
        place += len(front) + length


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
