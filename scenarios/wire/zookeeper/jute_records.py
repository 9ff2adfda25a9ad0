"""The records of ZooKeeper's client protocol (zookeeper.jute, 3.4 and 3.5), as far as tools of Kafka's use them."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from scenarios.wire.zookeeper.jute import BOOLEAN, BUFFER, INT, LONG, TEXT, JuteReader, MalformedRecord, Record, Vector


class OpCode(IntEnum):
    """The type of a request (org.apache.zookeeper.ZooDefs.OpCode)."""

    CREATE = 1
    DELETE = 2
    EXISTS = 3
    GET_DATA = 4
    SET_DATA = 5
    GET_ACL = 6
    SET_ACL = 7
    GET_CHILDREN = 8
    SYNC = 9
    PING = 11
    GET_CHILDREN2 = 12
    CHECK = 13
    MULTI = 14
    CREATE2 = 15
    AUTH = 100
    SET_WATCHES = 101
    CLOSE_SESSION = -11


NOTIFICATION_XID = -1
"""The xid of the announcement of a watch. Pings, auth and setWatches have xids of their own, too, which clients choose
and servers return (-2, -4, -8)."""

CONNECT_REQUEST = Record(
    {
        "protocol_version": INT, "last_zxid_seen": LONG, "time_out": INT, "session_id": LONG, "passwd": BUFFER,
        "read_only": BOOLEAN,
    },
    frozenset({"read_only"}),
)  # fmt: skip
CONNECT_RESPONSE = Record(
    {"protocol_version": INT, "time_out": INT, "session_id": LONG, "passwd": BUFFER, "read_only": BOOLEAN},
    frozenset({"read_only"}),
)
REQUEST_HEADER = Record({"xid": INT, "type": INT})
REPLY_HEADER = Record({"xid": INT, "zxid": LONG, "err": INT})
WATCHER_EVENT = Record({"type": INT, "state": INT, "path": TEXT})
STAT = Record(
    {
        "czxid": LONG, "mzxid": LONG, "ctime": LONG, "mtime": LONG, "version": INT, "cversion": INT, "aversion": INT,
        "ephemeral_owner": LONG, "data_length": INT, "num_children": INT, "pzxid": LONG,
    }
)  # fmt: skip
ACL = Record({"perms": INT, "scheme": TEXT, "id": TEXT})
_ACLS = Vector(ACL)
_PATH_ONLY, _WATCHED = Record({"path": TEXT}), Record({"path": TEXT, "watch": BOOLEAN})
_AT_VERSION = Record({"path": TEXT, "version": INT})
_CREATE = Record({"path": TEXT, "data": BUFFER, "acl": _ACLS, "flags": INT})
_NOTHING = Record({})
_STAT_ONLY = Record({"stat": STAT})

REQUESTS: Mapping[OpCode, Record] = {
    OpCode.CREATE: _CREATE,
    OpCode.CREATE2: _CREATE,
    OpCode.DELETE: _AT_VERSION,
    OpCode.EXISTS: _WATCHED,
    OpCode.GET_DATA: _WATCHED,
    OpCode.SET_DATA: Record({"path": TEXT, "data": BUFFER, "version": INT}),
    OpCode.GET_ACL: _PATH_ONLY,
    OpCode.SET_ACL: Record({"path": TEXT, "acl": _ACLS, "version": INT}),
    OpCode.GET_CHILDREN: _WATCHED,
    OpCode.GET_CHILDREN2: _WATCHED,
    OpCode.SYNC: _PATH_ONLY,
    OpCode.PING: _NOTHING,
    OpCode.CHECK: _AT_VERSION,
    OpCode.AUTH: Record({"type": INT, "scheme": TEXT, "auth": BUFFER}),
    OpCode.SET_WATCHES: Record(
        {
            "relative_zxid": LONG, "data_watches": Vector(TEXT), "exist_watches": Vector(TEXT),
            "child_watches": Vector(TEXT),
        }
    ),
    OpCode.CLOSE_SESSION: _NOTHING,
}  # fmt: skip
"""The body of each request except multi."""

RESPONSES: Mapping[OpCode, Record] = {
    OpCode.CREATE: _PATH_ONLY,
    OpCode.CREATE2: Record({"path": TEXT, "stat": STAT}),
    OpCode.DELETE: _NOTHING,
    OpCode.EXISTS: _STAT_ONLY,
    OpCode.GET_DATA: Record({"data": BUFFER, "stat": STAT}),
    OpCode.SET_DATA: _STAT_ONLY,
    OpCode.GET_ACL: Record({"acl": _ACLS, "stat": STAT}),
    OpCode.SET_ACL: _STAT_ONLY,
    OpCode.GET_CHILDREN: Record({"children": Vector(TEXT)}),
    OpCode.GET_CHILDREN2: Record({"children": Vector(TEXT), "stat": STAT}),
    OpCode.SYNC: _PATH_ONLY,
    OpCode.PING: _NOTHING,
    OpCode.CHECK: _NOTHING,
    OpCode.AUTH: _NOTHING,
    OpCode.SET_WATCHES: _NOTHING,
    OpCode.CLOSE_SESSION: _NOTHING,
}
"""The body of each answer without an error."""

# -- multi ------------------------------------------------------------------------------------------------------------

MULTI_HEADER = Record({"type": INT, "done": BOOLEAN, "err": INT})
ERROR_RESULT = Record({"err": INT})
ERROR, END = -1, {"type": -1, "done": True, "err": -1}
IN_MULTI = (OpCode.CREATE, OpCode.CREATE2, OpCode.DELETE, OpCode.SET_DATA, OpCode.CHECK)

Op = tuple[OpCode, Mapping[str, Any]]
"""An operation of a multi, or its result."""


def read_multi(data: bytes) -> list[Op]:
    """The operations of a multi (MultiTransactionRecord). Raises: MalformedRecord."""
    source, ops = JuteReader(data), list[Op]()
    while not (header := MULTI_HEADER.read(source))["done"]:
        if header["type"] not in IN_MULTI:
            raise MalformedRecord(f"operation {header['type']} in a multi")
        code = OpCode(header["type"])
        ops.append((code, REQUESTS[code].read(source)))
    if source.left:
        raise MalformedRecord(f"{source.left} bytes are left over")
    return ops


def write_multi_results(results: list[Op | int]) -> bytes:
    """The answer to a multi (MultiResponse): a number is an error code."""
    parts = []
    for result in results:
        if isinstance(result, int):
            parts.append(MULTI_HEADER.write({"type": ERROR, "done": False, "err": result}))
            parts.append(ERROR_RESULT.write({"err": result}))
        else:
            code, body = result
            parts.append(MULTI_HEADER.write({"type": code, "done": False, "err": 0}) + RESPONSES[code].write(body))
    return b"".join(parts) + MULTI_HEADER.write(END)
