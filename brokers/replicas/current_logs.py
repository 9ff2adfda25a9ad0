"""A broker's own current logs, as its alter-log-dirs fetchers read them (``fetchers.ports.CurrentLogs``)."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from brokers.partition import Partition
from brokers.partition.fencing import refusal
from emulator.disks import DiskError
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import FetchedPartition, FetchPartition
from emulator.protocol.offsets_for_leader_epoch import (
    UNDEFINED_EPOCH,
    UNDEFINED_OFFSET,
    EpochEndOffset,
    EpochQuery,
    ListOffsetsResponse,
)
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from brokers.replicas.manager import ReplicaManager

READ_US = 1_000
"""What a read takes at least, on a disk without a speed of its own: a loop has to take time."""


class CurrentLogs:
    """Reads past the high watermark, leader or not; ``replace`` ends a copy."""

    def __init__(self, manager: "ReplicaManager", replace: Callable[[TopicPartition], bool]) -> None:
        self._manager = manager
        self.replace = replace

    async def read(self, wanted: FetchPartition, max_bytes: int) -> FetchedPartition:
        """What the log holds from there on, when the disk has read it."""
        await self._manager.process.world.sleep(READ_US)
        error, partition = self._find(wanted.tp, wanted.leader_epoch)
        if partition is None or partition.log is None:
            return FetchedPartition(wanted.tp, error, -1, -1, ())
        log = partition.log
        if not log.start_offset <= wanted.fetch_offset <= log.end_offset:
            return FetchedPartition(wanted.tp, Errors.OFFSET_OUT_OF_RANGE, -1, -1, ())
        try:
            batches = log.read(wanted.fetch_offset, max_bytes)
        except DiskError:
            return FetchedPartition(wanted.tp, Errors.KAFKA_STORAGE_ERROR, -1, -1, ())
        return FetchedPartition(wanted.tp, Errors.NONE, partition.high_watermark, log.start_offset, batches)

    def epoch_end(self, query: EpochQuery) -> EpochEndOffset:
        """Where the epoch ends in the current log."""
        error, partition = self._find(query.tp, query.current_leader_epoch)
        if partition is None:
            return EpochEndOffset(query.tp, error, UNDEFINED_EPOCH, UNDEFINED_OFFSET)
        epoch, offset = partition.end_offset_for_epoch(query.leader_epoch)
        return EpochEndOffset(query.tp, Errors.NONE, epoch, offset)

    def offsets(self, tp: TopicPartition, leader_epoch: int) -> ListOffsetsResponse:
        """Where the current log begins and ends."""
        error, partition = self._find(tp, leader_epoch)
        start, end = (-1, -1) if partition is None else (partition.log_start_offset, partition.log_end_offset)
        return ListOffsetsResponse(tp, error, start, end)

    def _find(self, tp: TopicPartition, epoch: int) -> tuple[Errors, Partition | None]:
        manager = self._manager
        partition = manager.partitions.get(tp)
        if partition is None:
            return Errors.KAFKA_STORAGE_ERROR if tp in manager.offline else Errors.REPLICA_NOT_AVAILABLE, None
        refused = refusal(partition, epoch, leader_only=False)
        return refused, None if refused else partition
