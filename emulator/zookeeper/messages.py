"""The messages between clients and ZooKeeper. They are immutable once sent."""

from enum import IntEnum
from typing import Any, NamedTuple

from attrs import define

from emulator.zookeeper.zk_errors import ZkCode


class Stat(NamedTuple):
    """The metadata of a znode.

    Attributes:
        version: the version of the data.
        czxid, mzxid: the transactions that created the znode and last changed its data.
        cversion: the number of times that a child was created or deleted.
        ephemeral_owner: the session that owns it; 0 for a persistent znode.
    """

    version: int
    czxid: int
    mzxid: int
    cversion: int
    ephemeral_owner: int
    num_children: int


# -- requests ------------------------------------------------------------------------------------------------


@define(eq=False)
class GetData:
    path: str


@define(eq=False)
class Exists:
    path: str


@define(eq=False)
class GetChildren:
    path: str


@define(eq=False)
class Create:
    path: str
    data: str = ""
    ephemeral: bool = False
    sequential: bool = False


@define(eq=False)
class SetData:
    """Replace the data. ``version`` -1 matches any version."""

    path: str
    data: str
    version: int = -1


@define(eq=False)
class Delete:
    """Delete the znode. ``version`` -1 matches any version."""

    path: str
    version: int = -1


@define(eq=False)
class Check:
    """Check that the znode exists and has ``version`` (-1: any). Only inside a multi."""

    path: str
    version: int = -1


Op = Create | SetData | Delete | Check


@define(eq=False)
class Multi:
    """All operations are done, or none is."""

    ops: tuple[Op, ...]

    @property
    def path(self) -> str:
        return self.ops[0].path if self.ops else "/"


Request = GetData | Exists | GetChildren | Create | SetData | Delete | Check | Multi


@define(eq=False)
class ZkResponse:
    """The answer to one request.

    Attributes:
        path: the path of the znode; for a create, the path it was created at; for a failed multi, that of the operation
            that failed.
        stat: the metadata of the znode after the operation (None after a delete, a check or an error).
        results: the results of a multi, one per operation. If one failed, those before it have OK (and were undone),
            those after it RUNTIME_INCONSISTENCY.
        zxid: the last transaction of the server when it answered.
        cause: the trace event that caused the answer: the write itself, or the event that caused a read.
        details: facts that a hook of the server adds, for a client that asks for more than ``Stat`` has.
    """

    error: ZkCode
    path: str
    data: str = ""
    stat: Stat | None = None
    children: tuple[str, ...] = ()
    results: tuple["ZkResponse", ...] = ()
    zxid: int = 0
    cause: int = 0
    details: Any = None


# -- watches -------------------------------------------------------------------------------------------------


class EventType(IntEnum):
    """ZooKeeper's numbers."""

    NODE_CREATED = 1
    NODE_DELETED = 2
    NODE_DATA_CHANGED = 3
    NODE_CHILDREN_CHANGED = 4


@define(eq=False)
class WatchEvent:
    """A watch fired, and is no longer armed. It carries no data: the client reads the znode again."""

    type: EventType
    path: str


# -- the session ---------------------------------------------------------------------------------------------


@define(eq=False)
class Connect:
    """The first message of a connection. ``session_id`` 0 asks for a new session.

    Attributes:
        timeout_us: the timeout of the session, from now on; 0: that of the ensemble's settings.
    """

    session_id: int
    timeout_us: int = 0


@define(eq=False)
class Connected:
    """The answer to ``Connect``; ``session_id`` 0: that session is gone (SESSION_EXPIRED)."""

    session_id: int


@define(eq=False)
class Ask:
    """A request on the wire. ``watch``: this read arms a watch. ``number``: how many its client had submitted before
    it; -1: not known."""

    request: Request
    watch: bool
    number: int = -1


@define(eq=False)
class SetWatches:
    """The watches of a client that has reconnected, to be armed again. Those that missed a change since ``zxid`` fire
    at once."""

    zxid: int
    data: tuple[str, ...]
    exists: tuple[str, ...]
    children: tuple[str, ...]


@define(eq=False)
class Ping:
    """A heartbeat of the client."""


@define(eq=False)
class Pong:
    zxid: int


@define(eq=False)
class CloseSession:
    """The client ends its session; its ephemerals are deleted at once."""
