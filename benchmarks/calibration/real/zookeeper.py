"""ZooKeeper's protocol, as far as an operator needs it: a session that creates, sets, deletes and reads znodes.

The wire format is that of Jute records (org.apache.zookeeper.proto, 3.4).
"""

import socket
import struct

from attrs import define, field

_TIMEOUT_MS = 60_000
_ANSWERS_WITHIN_S, _BEGINS_WITHIN_S = 30, 2
"""A server that has only just begun to listen forgets the session that it is asked for then (3.6, 3.8)."""

_NO_NODE, _NODE_EXISTS, _NOT_EMPTY = -101, -110, -111
_EVERYONE = struct.pack(">ii", 1, 31)
"""One access rule, with all five permissions."""


_RANDOM = (1 << 48) - 1
_OWNER_AT = 44
"""The place of the owner in a Stat: after four longs and three integers."""


def password(session: int) -> bytes:
    """The password of a client that resumes a session: the first bytes of a ``java.util.Random`` whose seed is made of
    the session's id and a constant (ZooKeeperServer.generatePasswd, 3.4 and 3.5)."""
    seed, found = (session ^ 0xB3415C00 ^ 0x5DEECE66D) & _RANDOM, b""
    for _ in range(4):
        seed = seed * 0x5DEECE66D + 0xB & _RANDOM
        found += struct.pack("<I", seed >> 16)
    return found


class ZooKeeperError(Exception):
    """A request was answered with an error code."""

    def __init__(self, code: int, path: str) -> None:
        super().__init__(f"ZooKeeper answered {code} for {path}")
        self.code = code


def _buffer(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def _text(text: str) -> bytes:
    return _buffer(text.encode())


@define(eq=False)
class Session:
    """A session with the server on a port of this machine. It ends with the server, or after a minute of silence."""

    SEQUENTIAL = 2

    port: int
    _socket: socket.socket = field(init=False)
    _xid: int = 0

    def open(self, session: int = 0) -> None:
        """Begin a session, or take over one that there is. Raises: OSError, while nothing listens."""
        self._socket = socket.create_connection(("127.0.0.1", self.port), timeout=_BEGINS_WITHIN_S)
        word = password(session) if session else bytes(16)
        self._send(struct.pack(">iqiq", 0, 0, _TIMEOUT_MS, session) + _buffer(word) + b"\0")
        self._receive()
        self._socket.settimeout(_ANSWERS_WITHIN_S)

    def end(self) -> None:
        """Close the session: its ephemeral znodes go."""
        self._ask(-11, b"", "/")

    def owner(self, path: str) -> int:
        """The session whose ephemeral znode this is."""
        (found,) = struct.unpack_from(">q", self._ask(3, _text(path) + b"\0", path), _OWNER_AT)
        return int(found)

    def create(self, path: str, data: str, flags: int = 0) -> None:
        """``flags``: ``SEQUENTIAL`` appends a number."""
        rules = _EVERYONE + _text("world") + _text("anyone")
        self._ask(1, _text(path) + _text(data) + rules + struct.pack(">i", flags), path)

    def ensure(self, path: str) -> None:
        """Create a persistent znode and those above it, where they do not exist."""
        parts = path.strip("/").split("/")
        for count in range(1, len(parts) + 1):
            each = "/" + "/".join(parts[:count])
            if not self.exists(each):
                self.create(each, "")

    def write(self, path: str, data: str) -> None:
        """Create the znode, or set its data."""
        if self.exists(path):
            self.set(path, data)
        else:
            self.ensure(path.rpartition("/")[0])
            self.create(path, data)

    def delete(self, path: str) -> None:
        self._ask(2, _text(path) + struct.pack(">i", -1), path)

    def exists(self, path: str) -> bool:
        try:
            self._ask(3, _text(path) + b"\0", path)
        except ZooKeeperError as error:
            if error.code == _NO_NODE:
                return False
            raise
        return True

    def get(self, path: str) -> str | None:
        """The data; None where there is no such znode."""
        try:
            answer = self._ask(4, _text(path) + b"\0", path)
        except ZooKeeperError as error:
            if error.code == _NO_NODE:
                return None
            raise
        (size,) = struct.unpack_from(">i", answer)
        return answer[4 : 4 + max(0, size)].decode()

    def set(self, path: str, data: str) -> None:
        self._ask(5, _text(path) + _text(data) + struct.pack(">i", -1), path)

    def children(self, path: str) -> list[str]:
        """Sorted; empty where there is no such znode."""
        try:
            answer = self._ask(8, _text(path) + b"\0", path)
        except ZooKeeperError as error:
            if error.code == _NO_NODE:
                return []
            raise
        (count,), at, names = struct.unpack_from(">i", answer), 4, []
        for _ in range(count):
            (size,) = struct.unpack_from(">i", answer, at)
            names.append(answer[at + 4 : at + 4 + size].decode())
            at += 4 + size
        return sorted(names)

    def _ask(self, kind: int, body: bytes, path: str) -> bytes:
        self._xid += 1
        self._send(struct.pack(">ii", self._xid, kind) + body)
        answer = self._receive()
        _xid, _zxid, error = struct.unpack_from(">iqi", answer)
        if error:
            raise ZooKeeperError(error, path)
        return answer[16:]

    def _send(self, body: bytes) -> None:
        self._socket.sendall(_buffer(body))

    def _receive(self) -> bytes:
        (size,) = struct.unpack(">i", self._read(4))
        return self._read(size)

    def _read(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            more = self._socket.recv(size - len(found))
            if not more:
                raise ConnectionError("ZooKeeper closed the connection")
            found += more
        return found
