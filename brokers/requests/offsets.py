"""OffsetsForLeaderEpoch and ListOffsets: where a leader's log, or one epoch of it, begins and ends."""

from brokers.partition.partition import Partition
from brokers.replica_manager import ReplicaManager
from brokers.requests.router import handles
from emulator.network import Channel
from emulator.protocol.errors import Errors
from emulator.protocol.events import LatestOffsetReturned
from emulator.protocol.fetch import CONSUMER
from emulator.protocol.offsets_for_leader_epoch import (
    OFFSET_NOT_AVAILABLE,
    UNDEFINED_EPOCH,
    UNDEFINED_OFFSET,
    EpochEndOffset,
    EpochQuery,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
)
from emulator.protocol.types import TopicPartition


class OffsetsHandler:
    """Answers followers that truncate, and consumers that look for a position."""

    def __init__(self, manager: ReplicaManager) -> None:
        self._manager = manager

    @handles(OffsetsForLeaderEpochRequest)
    def offsets_for_leader_epoch(self, request: OffsetsForLeaderEpochRequest, channel: Channel) -> None:
        response = OffsetsForLeaderEpochResponse(tuple(self._epoch_end(query) for query in request.partitions))
        channel.reply(response, response.size)

    def _epoch_end(self, query: EpochQuery) -> EpochEndOffset:
        error, partition = self._leader(query.tp, query.current_leader_epoch)
        if partition is None:
            return EpochEndOffset(query.tp, error, UNDEFINED_EPOCH, UNDEFINED_OFFSET)
        if self._manager.policies.answers_with_epoch:
            return EpochEndOffset(query.tp, Errors.NONE, *partition.end_offset_for_epoch(query.leader_epoch))
        return EpochEndOffset(query.tp, Errors.NONE, UNDEFINED_EPOCH, partition.end_offset_alone(query.leader_epoch))

    @handles(ListOffsetsRequest)
    def list_offsets(self, request: ListOffsetsRequest, channel: Channel) -> None:
        error, partition = self._leader(request.tp, request.current_leader_epoch)
        start, end = (-1, -1) if partition is None else (partition.log_start_offset, partition.log_end_offset)
        if partition is not None and request.replica_id == CONSUMER:
            end = partition.latest_offset
            if end != OFFSET_NOT_AVAILABLE:
                node = self._manager.process.node.id
                self._manager.process.emit(LatestOffsetReturned, node, request.tp.topic, request.tp.partition, end)
        channel.reply(ListOffsetsResponse(request.tp, error, start, end), 40)

    def _leader(self, tp: TopicPartition, epoch: int) -> tuple[Errors, Partition | None]:
        partition = self._manager.partitions.get(tp)
        if partition is None:
            return self._manager.error_without_replica(tp), None
        refused = partition.check_current_leader_epoch(epoch)
        return refused, None if refused else partition
