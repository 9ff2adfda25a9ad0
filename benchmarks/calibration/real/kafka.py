"""Kafka's protocol, as far as an operator needs it: produce batches, ask for moves and for elections.

The layouts are those of Kafka's message definitions (clients/src/main/resources/common/message, 2.4).
"""

import socket
import struct
import time
import zlib
from collections.abc import Mapping, Sequence
from functools import cache

from benchmarks.calibration.errors import CannotRecord

PRODUCE, ELECT_LEADERS, ALTER_REASSIGNMENTS = 0, 43, 45
BATCH_BYTES = 100_000
ATTEMPTS = 50
_CLIENT = "calibration"
_TIMEOUT_MS = 30_000

Moves = Mapping[tuple[str, int], Sequence[int] | None]
"""Partition to its target; None cancels."""


def produce(port: int, topic: str, partition: int, size: int, *, old_format: bool) -> None:
    """Have the leader at ``port`` append ``size`` bytes, rounded up to whole batches, and its ISR replicate them.

    Raises: CannotRecord, where the broker refuses.
    """
    version, body = _produce_request(topic, partition, -1, old_format)
    with _connect(port) as connection:
        for _ in range(-(-size // BATCH_BYTES)):
            _append(connection, topic, partition, version, body)


def _append(connection: socket.socket, topic: str, partition: int, version: int, body: bytes) -> None:
    """One batch, asked for again while the leader does not know yet that it leads."""
    for _ in range(ATTEMPTS):
        answer = _ask(connection, PRODUCE, version, body)
        (error,) = struct.unpack_from(">h", answer, 4 + 2 + len(topic.encode()) + 4 + 4)
        if not error:
            return
        time.sleep(0.2)
    raise CannotRecord(f"producing to {topic}-{partition} was answered {error}")


def produce_one(port: int, topic: str, partition: int, *, old_format: bool) -> None:
    """Have the leader at ``port`` append one batch with acks=1; what it answers does not matter."""
    version, body = _produce_request(topic, partition, 1, old_format)
    with _connect(port) as connection:
        _ask(connection, PRODUCE, version, body)


def _produce_request(topic: str, partition: int, acks: int, old_format: bool) -> tuple[int, bytes]:
    """The version, and a request with one batch."""
    records = _message_set() if old_format else _record_batch()
    head = b"" if old_format else struct.pack(">h", -1)  # no transactional id
    body = head + struct.pack(">hii", acks, _TIMEOUT_MS, 1) + _text(topic)
    return 0 if old_format else 3, body + struct.pack(">iii", 1, partition, len(records)) + records


def alter_reassignments(port: int, moves: Moves) -> dict[tuple[str, int], int]:
    """Ask the controller at ``port``; the error code of each partition."""
    body = struct.pack(">i", _TIMEOUT_MS) + _varint(len(moves) + 1)
    for (topic, partition), target in moves.items():
        body += _compact(topic) + _varint(2) + struct.pack(">i", partition)
        body += _varint(0) if target is None else _varint(len(target) + 1) + struct.pack(f">{len(target)}i", *target)
        body += b"\0\0"
    with _connect(port) as connection:
        answer = _ask(connection, ALTER_REASSIGNMENTS, 0, body + b"\0", flexible=True)
    reader = _Reader(answer, 1 + 4)  # skips the header's tags and the throttle time
    whole, _message = reader.integer(">h"), reader.compact()
    errors = {}
    for _ in range(reader.varint() - 1):
        topic = reader.compact()
        for _ in range(reader.varint() - 1):
            partition, error = reader.integer(">i"), reader.integer(">h")
            reader.compact()
            reader.varint()
            errors[topic, partition] = error or whole
        reader.varint()
    return errors or dict.fromkeys(moves, whole)


def elect_leaders(port: int, partitions: Sequence[tuple[str, int]], *, unclean: bool) -> None:
    """Ask the controller at ``port`` to let the preferred replicas lead; or any, where there is no leader (KIP-460)."""
    body = struct.pack(">bi", int(unclean), len(partitions))
    for topic, partition in partitions:
        body += _text(topic) + struct.pack(">ii", 1, partition)
    with _connect(port) as connection:
        _ask(connection, ELECT_LEADERS, 1, body + struct.pack(">i", _TIMEOUT_MS))


def _connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def _ask(connection: socket.socket, key: int, version: int, body: bytes, *, flexible: bool = False) -> bytes:
    """The answer without its correlation id."""
    request = struct.pack(">hhi", key, version, 1) + _text(_CLIENT) + (b"\0" if flexible else b"") + body
    connection.sendall(struct.pack(">i", len(request)) + request)
    (size,) = struct.unpack(">i", _read(connection, 4))
    return _read(connection, size)[4:]


def _read(connection: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = connection.recv(size - len(found))
        if not more:
            raise ConnectionError("the broker closed the connection")
        found += more
    return found


class _Reader:
    """Reads the compact types of KIP-482."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at

    def integer(self, form: str) -> int:
        (value,) = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return int(value)

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def compact(self) -> str:
        size = max(0, self.varint() - 1)
        self._at += size
        return self._data[self._at - size : self._at].decode()


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text.encode())) + text.encode()


def _compact(text: str) -> bytes:
    return _varint(len(text.encode()) + 1) + text.encode()


def _varint(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _zigzag(value: int) -> bytes:
    return _varint(value << 1 if value >= 0 else (-value << 1) - 1)


@cache
def _record_batch() -> bytes:
    """A batch of one record (magic 2, since 0.11)."""
    value = bytes(BATCH_BYTES - 100)
    record = b"\0" + _zigzag(0) + _zigzag(0) + _zigzag(-1) + _zigzag(len(value)) + value + _zigzag(0)
    record = _zigzag(len(record)) + record
    now_ms = int(time.time() * 1000)
    body = struct.pack(">hiqqqhii", 0, 0, now_ms, now_ms, -1, -1, -1, 1) + record
    return struct.pack(">qiibI", 0, len(body) + 9, -1, 2, _crc32c(body)) + body


@cache
def _message_set() -> bytes:
    """One message (magic 0, 0.8 and later)."""
    value = bytes(BATCH_BYTES - 100)
    body = struct.pack(">bbii", 0, 0, -1, len(value)) + value
    message = struct.pack(">I", zlib.crc32(body)) + body
    return struct.pack(">qi", 0, len(message)) + message


@cache
def _crc32c_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return tuple(table)


def _crc32c(data: bytes) -> int:
    crc, table = 0xFFFFFFFF, _crc32c_table()
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF
