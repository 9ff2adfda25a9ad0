"""The errors of ZooKeeper: codes in responses, exceptions for callers.

The numbers are those of ``org.apache.zookeeper.KeeperException.Code``.
"""

from enum import IntEnum
from typing import ClassVar


class ZkCode(IntEnum):
    """The error field of a response."""

    OK = 0
    RUNTIME_INCONSISTENCY = -2
    """The code of an operation of a multi that was not tried, because one before it failed."""
    CONNECTION_LOSS = -4
    BAD_ARGUMENTS = -8
    NO_NODE = -101
    BAD_VERSION = -103
    NO_CHILDREN_FOR_EPHEMERALS = -108
    NODE_EXISTS = -110
    NOT_EMPTY = -111
    SESSION_EXPIRED = -112


class ZkError(Exception):
    """An operation failed. ``path`` is the znode, ``code`` ZooKeeper's number."""

    code: ClassVar[ZkCode]

    def __init__(self, path: str) -> None:
        super().__init__(f"{self.code.name} for {path}")
        self.path = path


class NoNode(ZkError):
    """The znode, or the parent of one to be created, is missing."""

    code = ZkCode.NO_NODE


class NodeExists(ZkError):
    """The znode exists already. After a reconnection, the caller's own first attempt may have created it."""

    code = ZkCode.NODE_EXISTS


class BadVersion(ZkError):
    """The znode has another version. After a reconnection, the caller's own first attempt may have changed it."""

    code = ZkCode.BAD_VERSION


class NotEmpty(ZkError):
    """A znode with children cannot be deleted."""

    code = ZkCode.NOT_EMPTY


class NoChildrenForEphemerals(ZkError):
    """An ephemeral znode cannot have children."""

    code = ZkCode.NO_CHILDREN_FOR_EPHEMERALS


class BadArguments(ZkError):
    """The path is not absolute, ends with a slash or has an empty part; or the request would delete the root."""

    code = ZkCode.BAD_ARGUMENTS


class ConnectionLoss(ZkError):
    """No answer came: the operation may have been done or not."""

    code = ZkCode.CONNECTION_LOSS


class SessionExpired(ZkError):
    """The session is gone, with its ephemerals and watches; ``ZkClient.reopen`` begins another."""

    code = ZkCode.SESSION_EXPIRED


_ERRORS: dict[ZkCode, type[ZkError]] = {
    kind.code: kind
    for kind in (
        NoNode, NodeExists, BadVersion, NotEmpty, NoChildrenForEphemerals, BadArguments, ConnectionLoss,
        SessionExpired,
    )
}  # fmt: skip


def error_of(code: ZkCode, path: str) -> ZkError:
    """The exception for an error code other than ``OK``."""
    return _ERRORS[code](path)
