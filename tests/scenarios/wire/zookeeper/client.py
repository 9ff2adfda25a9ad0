"""A small client of ZooKeeper over a socket, which sends what it likes."""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping
from typing import Any

from attrs import define, field

from scenarios.wire.zookeeper.jute import JuteReader, MalformedRecord
from scenarios.wire.zookeeper.jute_records import (
    CONNECT_REQUEST,
    CONNECT_RESPONSE,
    END,
    ERROR,
    ERROR_RESULT,
    IN_MULTI,
    MULTI_HEADER,
    NOTIFICATION_XID,
    REPLY_HEADER,
    REQUEST_HEADER,
    REQUESTS,
    RESPONSES,
    WATCHER_EVENT,
    Op,
    OpCode,
)
from tests.scenarios.wire.gateway.served import LIMIT_S, Raw, Served

OPEN_ACL = [{"perms": 31, "scheme": "world", "id": "anyone"}]
PING, AUTH, SET_WATCHES = -2, -4, -8
"""The xids that these have."""


def write_multi(ops: list[Op]) -> bytes:
    """The bytes of a multi, which ``read_multi`` reads."""
    parts = [
        MULTI_HEADER.write({"type": code, "done": False, "err": -1}) + REQUESTS[code].write(op) for code, op in ops
    ]
    return b"".join(parts) + MULTI_HEADER.write(END)


def read_multi_results(data: bytes) -> list[Op | int]:
    """The results in such an answer. Raises: MalformedRecord."""
    source, results = JuteReader(data), list[Op | int]()
    while not (header := MULTI_HEADER.read(source))["done"]:
        if header["type"] == ERROR:
            results.append(ERROR_RESULT.read(source)["err"])
        elif header["type"] in IN_MULTI:
            code = OpCode(header["type"])
            results.append((code, RESPONSES[code].read(source)))
        else:
            raise MalformedRecord(f"a result of operation {header['type']} in a multi")
    return results


class Refused(Exception):
    """An answer with an error code."""

    def __init__(self, code: int) -> None:
        super().__init__(str(code))
        self.code = code


@define(eq=False)
class Zk:
    """One connection.

    Attributes:
        events: the notifications that came: type and path.
        order: what came, in order: the xid of each frame.
        zxid: of the last answer.
    """

    raw: Raw
    session: int = 0
    password: bytes = bytes(16)
    timeout_ms: int = 0
    events: list[tuple[int, str]] = field(factory=list)
    order: list[int] = field(factory=list)
    zxid: int = 0
    _xid: int = 0

    def send_frame(self, data: bytes) -> None:
        self.raw.socket.sendall(struct.pack(">i", len(data)) + data)

    def greet(self, **changes: Any) -> dict[str, Any]:
        asked = {
            "protocol_version": 0, "last_zxid_seen": 0, "time_out": 6000, "session_id": self.session,
            "passwd": self.password, "read_only": False, **changes,
        }  # fmt: skip
        self.send_frame(CONNECT_REQUEST.write(asked))
        found = CONNECT_RESPONSE.decode(self.raw.frame())
        self.session, self.password, self.timeout_ms = found["session_id"], found["passwd"], found["time_out"]
        return found

    def send(self, code: int, data: bytes, xid: int | None = None) -> int:
        if xid is None:
            self._xid = xid = self._xid + 1
        self.send_frame(REQUEST_HEADER.write({"xid": xid, "type": code}) + data)
        return xid

    def until(self, xid: int) -> tuple[int, bytes]:
        """Error code and body of an answer; what comes before it is noted."""
        while True:
            data = self.raw.frame()
            source = JuteReader(data)
            header = REPLY_HEADER.read(source)
            self.order.append(header["xid"])
            if header["xid"] == NOTIFICATION_XID:
                event = WATCHER_EVENT.read(source)
                self.events.append((event["type"], event["path"]))
            elif header["xid"] == xid:
                self.zxid = header["zxid"]
                return header["err"], data[source.at :]

    def ask(self, code: OpCode, xid: int | None = None, **body: Any) -> dict[str, Any]:
        """Raises: Refused."""
        error, data = self.until(self.send(code, REQUESTS[code].write(body), xid))
        if error:
            raise Refused(error)
        return RESPONSES[code].decode(data)

    def multi(self, *ops: Op) -> list[Op | int]:
        error, data = self.until(self.send(OpCode.MULTI, write_multi(list(ops))))
        assert not error
        return read_multi_results(data)

    # -- operations ---------------------------------------------------------------------------------------------------

    def create(self, path: str, data: bytes | None = b"", flags: int = 0) -> str:
        found: str = self.ask(OpCode.CREATE, **created(path, data, flags))["path"]
        return found

    def get(self, path: str, watch: bool = False) -> bytes | None:
        found: bytes | None = self.ask(OpCode.GET_DATA, path=path, watch=watch)["data"]
        return found

    def set(self, path: str, data: bytes | None, version: int = -1) -> Mapping[str, int]:
        found: Mapping[str, int] = self.ask(OpCode.SET_DATA, path=path, data=data, version=version)["stat"]
        return found

    def stat(self, path: str, watch: bool = False) -> Mapping[str, int] | None:
        try:
            found: Mapping[str, int] = self.ask(OpCode.EXISTS, path=path, watch=watch)["stat"]
        except Refused as refused:
            if refused.code == -101:
                return None
            raise
        return found

    def children(self, path: str, watch: bool = False) -> list[str]:
        found: list[str] = self.ask(OpCode.GET_CHILDREN, path=path, watch=watch)["children"]
        return found

    def delete(self, path: str, version: int = -1) -> None:
        self.ask(OpCode.DELETE, path=path, version=version)

    def close(self) -> None:
        self.ask(OpCode.CLOSE_SESSION)


def created(path: str, data: bytes | None = b"", flags: int = 0) -> dict[str, Any]:
    """The body of a create."""
    return {"path": path, "data": data, "acl": OPEN_ACL, "flags": flags}


def connected(cluster: Served) -> Zk:
    """A connection without a session."""
    host, port = cluster.run.zookeeper_connect.rsplit(":", 1)
    return Zk(Raw(socket.create_connection((host, int(port)), LIMIT_S)))


def session(cluster: Served, **wanted: Any) -> Zk:
    """A connection with a session of its own."""
    client = connected(cluster)
    client.greet(**wanted)
    return client
