"""AlterReplicaLogDirs (API 34) and DescribeLogDirs (API 35): which log directory of a broker has a replica (KIP-113,
1.1). A client asks each broker about its own replicas."""

from collections.abc import Iterable
from typing import NamedTuple

from attrs import define

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition


@define(eq=False)
class AlterReplicaLogDirsRequest(Request):
    """``partitions``: each with its replica's new home, by the directory's name."""

    partitions: tuple[tuple[TopicPartition, str], ...]

    @property
    def size(self) -> int:
        return 20 + 40 * len(self.partitions)

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (each[0] for each in self.partitions)


@define(eq=False)
class AlterReplicaLogDirsResponse(Response):
    """NONE where the replica is there, or on its way; REPLICA_NOT_AVAILABLE where the broker has no such replica yet:
    it remembers the directory for when it gets it."""

    partitions: tuple[tuple[TopicPartition, Errors], ...]

    @property
    def size(self) -> int:
        return 20 + 20 * len(self.partitions)

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (each[0] for each in self.partitions)


class ReplicaInfo(NamedTuple):
    """One log. ``lag``, in messages: what a future log lacks of the current, or a current one of its high watermark.
    ``future``: it is to replace the log in another directory."""

    tp: TopicPartition
    size: int
    lag: int
    future: bool


class LogDirInfo(NamedTuple):
    """One directory. ``error``: KAFKA_STORAGE_ERROR if it is offline; then nothing is known of what it holds."""

    name: str
    error: Errors
    replicas: tuple[ReplicaInfo, ...]


@define(eq=False)
class DescribeLogDirsRequest(Request):
    """``partitions``: None for all."""

    partitions: tuple[TopicPartition, ...] | None = None

    @property
    def size(self) -> int:
        return 20 + 20 * len(self.partitions or ())

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return self.partitions or ()


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
