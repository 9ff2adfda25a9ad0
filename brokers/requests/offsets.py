"""ListOffsets (API 2) and OffsetsForLeaderEpoch (API 23): where a leader's log, or one epoch of it, begins and ends.

Behavior, in this order (ReplicaManager.fetchOffsetForTimestamp and lastOffsetForLeaderEpoch, 2.3.1):

1. there is a replica here: UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_FOR_PARTITION, KAFKA_STORAGE_ERROR
2. the reader's leader epoch is that of the replica, if it names one: FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH
3. the replica leads, unless any replica will do: NOT_LEADER_FOR_PARTITION
4. a consumer that asks for the latest offset: OFFSET_NOT_AVAILABLE while the leader does not know what is committed

Version notes:

- 2.0: the answer names the epoch whose end it is (KIP-279): ``answers_with_epoch``
- 2.2: OFFSET_NOT_AVAILABLE (KIP-207): ``latest_is_committed``
- 3.0: the record with the latest time (KIP-734)
- 3.9: a time that stands for nothing in the request's version is UNSUPPORTED_VERSION (KAFKA-17331):
  ``refuses_unknown_times``
"""

from brokers.log.log import Log
from brokers.log.times import first_since, latest_time_ms
from brokers.partition.partition import Partition
from brokers.replica_manager import ReplicaManager
from brokers.requests.consumer_reads import readable_end
from brokers.requests.router import handles
from emulator.network import Channel
from emulator.protocol.clients.fetch import DEBUGGING_CONSUMER, READ_COMMITTED, READ_UNCOMMITTED
from emulator.protocol.clients.list_offsets import (
    EARLIEST,
    EARLIEST_LOCAL,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    FoundOffset,
    OffsetQuery,
    OffsetsByTimeRequest,
    OffsetsByTimeResponse,
)
from emulator.protocol.errors import NO_ERROR, Errors
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
        response = OffsetsForLeaderEpochResponse(
            tuple(self._epoch_end(query, request.replica_id) for query in request.partitions)
        )
        channel.reply(response, response.size)

    def _epoch_end(self, query: EpochQuery, follower: int) -> EpochEndOffset:
        error, partition = self._leader(query.tp, query.current_leader_epoch)
        if partition is None:
            return EpochEndOffset(query.tp, error, UNDEFINED_EPOCH, UNDEFINED_OFFSET)
        if query.current_leader_epoch != partition.leader_epoch:
            partition.show("KIP-320", follower)
        if self._manager.policies.answers_with_epoch:
            return EpochEndOffset(query.tp, Errors.NONE, *partition.end_offset_for_epoch(query.leader_epoch))
        alone = partition.end_offset_alone(query.leader_epoch)
        found, end = partition.log.epochs.end_offset_for(query.leader_epoch, partition.log_end_offset)
        if found not in (query.leader_epoch, UNDEFINED_EPOCH) or end != alone:
            partition.show("KIP-279", follower)
        return EpochEndOffset(query.tp, Errors.NONE, UNDEFINED_EPOCH, alone)

    @handles(ListOffsetsRequest)
    def list_offsets(self, request: ListOffsetsRequest, channel: Channel) -> None:
        error, partition = self._leader(request.tp, request.current_leader_epoch)
        start = end = -1
        if partition is not None:
            start, end = partition.log_start_offset, self._latest(partition, request.replica_id)
        channel.reply(ListOffsetsResponse(request.tp, error, start, end), 40)

    @handles(OffsetsByTimeRequest)
    def offsets_by_time(self, request: OffsetsByTimeRequest, channel: Channel) -> None:
        seen: dict[TopicPartition, int] = {}
        for query in request.queries:
            seen[query.tp] = seen.get(query.tp, 0) + 1
        found = (
            FoundOffset(query.tp, Errors.INVALID_REQUEST) if seen[query.tp] > 1 else self._find(request, query)
            for query in request.queries
        )
        response = OffsetsByTimeResponse(tuple(found))
        channel.reply(response, response.size)

    def _find(self, request: OffsetsByTimeRequest, query: OffsetQuery) -> FoundOffset:
        """Partition.fetchOffsetForTimestamp, 2.3.1; for the latest time of all, 3.0.0; for tiered logs, 3.9.0."""
        tp, timestamp_ms = query.tp, query.timestamp_ms
        if not query.is_known and self._manager.policies.refuses_unknown_times:
            return FoundOffset(tp, Errors.UNSUPPORTED_VERSION)
        error, partition = self._leader(tp, query.current_leader_epoch, request.replica_id != DEBUGGING_CONSUMER)
        if partition is None:
            return FoundOffset(tp, error)
        if timestamp_ms in (EARLIEST, EARLIEST_LOCAL):
            return FoundOffset(tp, NO_ERROR, partition.log_start_offset, leader_epoch=_earliest_epoch(partition.log))
        if timestamp_ms == LATEST_TIERED:
            return FoundOffset(tp, NO_ERROR)
        if timestamp_ms == LATEST:
            end = self._latest(partition, request.replica_id, request.isolation)
            if end == OFFSET_NOT_AVAILABLE:
                return FoundOffset(tp, Errors.OFFSET_NOT_AVAILABLE)
            return FoundOffset(tp, NO_ERROR, end, leader_epoch=partition.leader_epoch)
        if timestamp_ms == MAX_TIMESTAMP:
            timestamp_ms = latest_time_ms(partition.log)
        record = None if timestamp_ms < 0 else first_since(partition.log, timestamp_ms)
        consumer = request.replica_id == CONSUMER
        end = readable_end(partition, request.isolation) if consumer else partition.log_end_offset
        if record is None or record.offset >= end:
            unknown = consumer and partition.latest_offset == OFFSET_NOT_AVAILABLE
            return FoundOffset(tp, Errors.OFFSET_NOT_AVAILABLE if unknown else NO_ERROR)
        return FoundOffset(tp, NO_ERROR, record.offset, record.timestamp_ms, record.leader_epoch)

    def _latest(self, partition: Partition, replica_id: int, isolation: int = READ_UNCOMMITTED) -> int:
        """Where the log ends for that reader; OFFSET_NOT_AVAILABLE: a new leader does not know yet what is committed
        (KIP-207)."""
        if replica_id != CONSUMER:
            return partition.log_end_offset
        if partition.latest_offset == OFFSET_NOT_AVAILABLE:
            return OFFSET_NOT_AVAILABLE
        end = readable_end(partition, isolation)
        if isolation != READ_COMMITTED:  # the others tell nothing of high watermarks
            process, tp = self._manager.process, partition.tp
            process.emit(LatestOffsetReturned, process.node.id, tp.topic, tp.partition, end)
        return end

    def _leader(self, tp: TopicPartition, epoch: int, needed: bool = True) -> tuple[Errors, Partition | None]:
        """The leader; without one ``needed``, any replica."""
        partition = self._manager.partitions.get(tp)
        if partition is None:
            return self._manager.error_without_replica(tp, needed), None
        refused = partition.check_current_leader_epoch(epoch, require_leader=needed)
        return refused, None if refused else partition


def _earliest_epoch(log: Log) -> int:
    """The epoch of the log's start, where that is known (Log.fetchOffsetByTimestamp, 2.3.1)."""
    epochs = log.epochs.entries
    return epochs[0][0] if epochs and epochs[0][1] <= log.start_offset else UNDEFINED_EPOCH
