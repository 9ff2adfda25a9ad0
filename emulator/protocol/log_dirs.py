"""AlterReplicaLogDirs (API 34) and DescribeLogDirs (API 35): the log directories of a broker's replicas (KIP-113, 1.1).
A client asks each broker about its own replicas."""

from typing import NamedTuple

from attrs import define

from emulator.protocol.api import OfPartitions, Request, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition


@define(eq=False)
class AlterReplicaLogDirsRequest(OfPartitions, Request):
    """Move replicas of the receiving broker to other log directories.

    Attributes:
        partitions: each with the name of the log directory that its replica shall be in.
    """

    SIZES = 20, 40
    partitions: tuple[tuple[TopicPartition, str], ...]


@define(eq=False)
class AlterReplicaLogDirsResponse(OfPartitions, Response):
    """NONE: the replica is in the directory, or is being copied to it. REPLICA_NOT_AVAILABLE: the broker has no such
    replica yet, and remembers the directory for it."""

    SIZES = 20, 20
    partitions: tuple[tuple[TopicPartition, Errors], ...]


class ReplicaInfo(NamedTuple):
    """One log.

    Attributes:
        size: the size in bytes.
        lag: the lag in messages: of a future log, to the current log; of a current log, to its high watermark.
        future: the log will replace the one in another directory.
    """

    tp: TopicPartition
    size: int
    lag: int
    future: bool


class LogDirInfo(NamedTuple):
    """One directory.

    Attributes:
        error: KAFKA_STORAGE_ERROR if it is offline; then ``replicas`` is empty.
    """

    name: str
    error: Errors
    replicas: tuple[ReplicaInfo, ...]


@define(eq=False)
class DescribeLogDirsRequest(OfPartitions, Request):
    """Ask what the receiving broker's log directories contain.

    Attributes:
        partitions: None: all.
    """

    SIZES = 20, 20
    partitions: tuple[TopicPartition, ...] | None = None


@define(eq=False)
class DescribeLogDirsResponse(Response):
    """All directories of the broker, in the order of ``log.dirs``."""

    directories: tuple[LogDirInfo, ...]

    @property
    def size(self) -> int:
        return 20 + sum(20 + 30 * len(each.replicas) for each in self.directories)


declare(
    34,
    "AlterReplicaLogDirs",
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    help="the operator tells a broker which log directory a replica has to be in",
)
declare(
    35,
    "DescribeLogDirs",
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    help="the operator asks a broker what its log directories hold",
)
