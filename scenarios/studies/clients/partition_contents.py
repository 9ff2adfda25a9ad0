"""The contents of a topic of a served cluster, read over the wire with the house's own codec: what any reader from the
beginning would find, whatever client is judged."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import define, field, frozen

from emulator.protocol.compression import unpack
from emulator.protocol.records import COMPRESSION, HEADER_BYTES, read_records
from scenarios.wire.apis.base import Address
from scenarios.wire.codec import decode_response, encode_request
from scenarios.wire.codec.records import headers

FETCH, METADATA = (1, 4), (3, 4)
"""API and version: those that all releases have which know transactions."""
SOCKET_S = 10.0
AGAIN_S = 0.1
FETCHED_BYTES = 1 << 20
COMMIT_MARKER = 1


class NotReadable(Exception):
    """A partition has no leader, or none that answers, in time."""


@frozen
class WrittenRecord:
    """One record of a log.

    Attributes:
        committed: whether its transaction was committed; True where it is of none; None: its transaction is open.
    """

    offset: int
    value: str
    committed: bool | None = True


@define
class _OpenRecords:
    """The records of a log until their transactions are decided."""

    found: list[WrittenRecord] = field(factory=list)
    open: dict[int, list[int]] = field(factory=dict)
    """The places in ``found`` of the records of each producer's open transaction."""

    def take(self, batches: bytes) -> int:
        """Take in batches. Returns the offset after them."""
        after = -1
        for header in headers(batches):
            data = batches[header.at : header.end]
            after = header.last_offset + 1
            if header.is_control:
                marker = next(read_records(data))
                self._decide(header.producer_id, struct.unpack_from(">hh", marker.key or b"\0\0\0\0")[1])
                continue
            packed = header.attributes & COMPRESSION
            for record in read_records(data[:HEADER_BYTES] + unpack(packed, data[HEADER_BYTES:])):
                committed = None if header.is_transactional else True
                if committed is None:
                    self.open.setdefault(header.producer_id, []).append(len(self.found))
                value = (record.value or b"").decode(errors="replace")
                self.found.append(WrittenRecord(header.base_offset + record.offset_delta, value, committed))
        return after

    def _decide(self, producer_id: int, marker: int) -> None:
        for place in self.open.pop(producer_id, ()):
            one = self.found[place]
            self.found[place] = WrittenRecord(one.offset, one.value, marker == COMMIT_MARKER)


@frozen
class TopicReader:
    """Reads one topic from its beginning to its high watermarks.

    Attributes:
        addresses: the addresses of the brokers.
    """

    addresses: Mapping[int, Address]
    topic: str
    partitions: int

    def read(self, late_s: float) -> dict[int, tuple[WrittenRecord, ...]]:
        """The records of each partition. Raises: NotReadable where that takes longer than ``late_s`` of the monotonic
        clock."""
        return {partition: tuple(self._partition(partition, late_s)) for partition in range(self.partitions)}

    def _partition(self, partition: int, late_s: float) -> list[WrittenRecord]:
        why = "it was not tried"
        while time.monotonic() < late_s:
            try:
                return self._read_from(self._leader(partition), partition)
            except (OSError, NotReadable) as error:
                why = str(error)
                time.sleep(AGAIN_S)
        raise NotReadable(f"{self.topic}-{partition}: {why}")

    def _leader(self, partition: int) -> int:
        for broker in sorted(self.addresses):
            try:
                found = self._ask(broker, METADATA, {"topics": [{"name": self.topic}]})
            except OSError:
                continue
            for topic in found["topics"]:
                for each in topic["partitions"]:
                    if each["partition_index"] == partition and each["leader_id"] in self.addresses:
                        return int(each["leader_id"])
        raise NotReadable("it has no leader")

    def _read_from(self, leader: int, partition: int) -> list[WrittenRecord]:
        found, offset = _OpenRecords(), 0
        with self._connected(leader) as connection:
            while True:
                body = _fetch(self.topic, partition, offset)
                answer = _exchange(connection, FETCH, body)
                [topic] = answer["responses"]
                [one] = topic["partitions"]
                if one["error_code"]:
                    raise NotReadable(f"broker {leader} answers with error {one['error_code']}")
                after = found.take(bytes(one["records"] or b""))
                offset = max(offset, after)
                if offset >= one["high_watermark"]:
                    return found.found
                if after < 0:
                    raise NotReadable(f"broker {leader} has no more at {offset} of {one['high_watermark']}")

    def _ask(self, broker: int, api: tuple[int, int], body: Mapping[str, Any]) -> dict[str, Any]:
        with self._connected(broker) as connection:
            return _exchange(connection, api, body)

    def _connected(self, broker: int) -> socket.socket:
        return socket.create_connection(self.addresses[broker], SOCKET_S)


def _fetch(topic: str, partition: int, offset: int) -> dict[str, Any]:
    one = {"partition": partition, "fetch_offset": offset, "partition_max_bytes": FETCHED_BYTES}
    return {
        "replica_id": -1, "max_wait_ms": 0, "min_bytes": 0, "max_bytes": FETCHED_BYTES, "isolation_level": 0,
        "topics": [{"topic": topic, "partitions": [one]}],
    }  # fmt: skip


def _exchange(connection: socket.socket, api: tuple[int, int], body: Mapping[str, Any]) -> dict[str, Any]:
    frame = encode_request(*api, 1, "contents", body)
    connection.sendall(struct.pack(">i", len(frame)) + frame)
    (size,) = struct.unpack(">i", _exactly(connection, 4))
    return decode_response(*api, _exactly(connection, size))[1]


def _exactly(connection: socket.socket, count: int) -> bytes:
    parts = b"".join(_parts(connection, count))
    if len(parts) < count:
        raise ConnectionError("the connection was closed")
    return parts


def _parts(connection: socket.socket, count: int) -> Iterator[bytes]:
    left = count
    while left:
        part = connection.recv(left)
        if not part:
            return
        left -= len(part)
        yield part
