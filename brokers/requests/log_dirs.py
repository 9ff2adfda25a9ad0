"""AlterReplicaLogDirs and DescribeLogDirs: where a broker's replicas have their logs (KIP-113)."""

from brokers.log.directory import LogDirectory
from brokers.log.log import Log
from brokers.replica_manager import ReplicaManager
from brokers.requests.router import handles
from emulator.network import Channel
from emulator.protocol.errors import Errors
from emulator.protocol.log_dirs import (
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    LogDirInfo,
    ReplicaInfo,
)
from emulator.protocol.types import TopicPartition

INVALID_OFFSET_LAG = -1
"""The lag of a copy whose current log is offline."""


class LogDirsHandler:
    """Answers admin clients."""

    def __init__(self, manager: ReplicaManager) -> None:
        self._manager = manager

    @handles(AlterReplicaLogDirsRequest)
    def alter(self, request: AlterReplicaLogDirsRequest, channel: Channel) -> None:
        response = AlterReplicaLogDirsResponse(tuple((tp, self._alter(tp, name)) for tp, name in request.partitions))
        channel.reply(response, response.size)

    def _alter(self, tp: TopicPartition, name: str) -> Errors:
        """A replica that is not here, of a topic that the broker does not know, is an error of its own (2.3; not 1.1).
        Its log will be in that directory all the same."""
        manager = self._manager
        error = manager.moves.alter(tp, name)
        if error is not Errors.REPLICA_NOT_AVAILABLE or not manager.policies.knows_whose_replica:
            return error
        return error if manager.metadata.knows(tp) else Errors.UNKNOWN_TOPIC_OR_PARTITION

    @handles(DescribeLogDirsRequest)
    def describe(self, request: DescribeLogDirsRequest, channel: Channel) -> None:
        """Replicas that no LeaderAndIsr has named since the broker started are left out; Kafka shows their logs. One
        that is asked for twice is described once (KafkaApis, 2.3: a set)."""
        manager = self._manager
        orphans = manager.moves.orphans
        wanted = {**manager.partitions, **orphans} if request.partitions is None else dict.fromkeys(request.partitions)
        held: dict[LogDirectory, list[ReplicaInfo]] = {directory: [] for directory in manager.logs.directories}
        for tp in wanted:
            partition = manager.partitions.get(tp)
            if partition is None:
                orphan = orphans.get(tp)
                if orphan is not None:
                    held[orphan.directory].append(_info(orphan, INVALID_OFFSET_LAG, True))
                continue
            log, future = partition.log, manager.moves.futures.get(tp)
            held[log.directory].append(_info(log, max(partition.high_watermark - log.end_offset, 0), False))
            if future is not None:
                held[future.log.directory].append(_info(future.log, log.end_offset - future.log.end_offset, True))
        response = DescribeLogDirsResponse(tuple(_directory(each, infos) for each, infos in held.items()))
        channel.reply(response, response.size)


def _info(log: Log, lag: int, future: bool) -> ReplicaInfo:
    return ReplicaInfo(log.tp, log.size, lag, future)


def _directory(directory: LogDirectory, infos: list[ReplicaInfo]) -> LogDirInfo:
    if not directory.online:
        return LogDirInfo(directory.name, Errors.KAFKA_STORAGE_ERROR, ())
    return LogDirInfo(directory.name, Errors.NONE, tuple(infos))
