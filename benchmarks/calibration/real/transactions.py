"""ZooKeeper's transaction log: every write, in order (org.apache.zookeeper.server.persistence.FileTxnLog, 3.4 to 3.5).

A file is a header of 16 bytes, then records: checksum, length, header (session, request, transaction, time, kind),
body, and the byte ``B``. What follows the last record is filled with zeros.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CLOSE, CREATE, DELETE, SET, MULTI, CREATE2 = -11, 1, 2, 5, 14, 15
_HEADER = struct.Struct(">qiqqi")


class Transaction(NamedTuple):
    """A write.

    Attributes:
        session: the session that wrote it.
        time_ms: the server's clock.
        op: ``create``, ``setData``, ``delete``, or ``close`` for the end of a session (closed or expired), which
            deletes its ephemeral znodes.
        version: the version of the data after a ``setData``.
        ephemeral: whether a ``create`` made an ephemeral znode.
    """

    session: int
    time_ms: int
    op: str
    path: str
    data: str
    version: int
    ephemeral: bool


def transactions(folder: Path) -> Iterator[Transaction]:
    """All writes in the log files below ``folder``, in order."""
    for file in sorted(folder.glob("version-2/log.*"), key=lambda path: int(path.suffix[1:], 16)):
        yield from _of_file(file.read_bytes())


def _of_file(log: bytes) -> Iterator[Transaction]:
    at = 16
    while at + 12 <= len(log):
        (size,) = struct.unpack_from(">i", log, at + 8)
        if size == 0:
            return
        record, at = log[at + 12 : at + 12 + size], at + 12 + size + 1
        session, _request, _id, time_ms, kind = _HEADER.unpack_from(record)
        yield from _writes(session, time_ms, kind, record[_HEADER.size :])


def _writes(session: int, time_ms: int, kind: int, body: bytes) -> Iterator[Transaction]:
    if kind == MULTI:
        (count,), at = struct.unpack_from(">i", body), 4
        for _ in range(count):
            inner, size = struct.unpack_from(">ii", body, at)
            yield from _writes(session, time_ms, inner, body[at + 8 : at + 8 + size])
            at += 8 + size
    elif kind == CLOSE:
        yield Transaction(session, time_ms, "close", "", "", 0, True)
    elif kind in (CREATE, CREATE2):
        path, at = _read(body, 0)
        data, at = _read(body, at)
        (rules,) = struct.unpack_from(">i", body, at)
        at += 4
        for _ in range(rules):
            _scheme, at = _read(body, at + 4)
            _name, at = _read(body, at)
        yield Transaction(session, time_ms, "create", path, data, 0, bool(body[at]))
    elif kind == DELETE:
        yield Transaction(session, time_ms, "delete", _read(body, 0)[0], "", 0, False)
    elif kind == SET:
        path, at = _read(body, 0)
        data, at = _read(body, at)
        (version,) = struct.unpack_from(">i", body, at)
        yield Transaction(session, time_ms, "setData", path, data, version, False)


def _read(body: bytes, at: int) -> tuple[str, int]:
    """A text, and where it ends."""
    (size,) = struct.unpack_from(">i", body, at)
    end = at + 4 + max(0, size)
    return body[at + 4 : end].decode("utf-8", "replace"), end
