"""ZooKeeper as Kafka's brokers use it: versions, ephemerals, sessions and their expiry, one-shot watches armed by
reads, multi, pipelining, and writes that took effect although their answer was lost."""

from emulator.zookeeper.client import ZkClient
from emulator.zookeeper.errors import (
    BadArguments,
    BadVersion,
    ConnectionLoss,
    NoChildrenForEphemerals,
    NodeExists,
    NoNode,
    NotEmpty,
    SessionExpired,
    ZkCode,
    ZkError,
    error_of,
)
from emulator.zookeeper.messages import (
    Check,
    Create,
    Delete,
    EventType,
    Exists,
    GetChildren,
    GetData,
    Multi,
    Op,
    Request,
    Response,
    SetData,
    Stat,
    WatchEvent,
)
from emulator.zookeeper.server import Tree, ZooKeeper
from emulator.zookeeper.spec import ZOOKEEPER, ZkSpec

__all__ = [
    "ZOOKEEPER",
    "BadArguments",
    "BadVersion",
    "Check",
    "ConnectionLoss",
    "Create",
    "Delete",
    "EventType",
    "Exists",
    "GetChildren",
    "GetData",
    "Multi",
    "NoChildrenForEphemerals",
    "NoNode",
    "NodeExists",
    "NotEmpty",
    "Op",
    "Request",
    "Response",
    "SessionExpired",
    "SetData",
    "Stat",
    "Tree",
    "WatchEvent",
    "ZkClient",
    "ZkCode",
    "ZkError",
    "ZkSpec",
    "ZooKeeper",
    "error_of",
]
