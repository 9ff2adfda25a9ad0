"""The errors of ZooKeeper that only clients from outside meet."""

from enum import IntEnum

from emulator.zookeeper import ZkCode


class Code(IntEnum):
    """Error codes of answers (org.apache.zookeeper.KeeperException.Code) that the emulated ensemble has no use for."""

    SYSTEM_ERROR = -1
    UNIMPLEMENTED = -6
    NO_AUTH = -102
    INVALID_ACL = -114
    AUTH_FAILED = -115


class RefusedOperation(Exception):
    """An operation that is answered with an error before ZooKeeper sees it."""

    def __init__(self, code: Code | ZkCode, why: str) -> None:
        super().__init__(why)
        self.code = code
