"""Fetch, OffsetsForLeaderEpoch and ListOffsets: what followers and consumers ask the leaders."""

from typing import TYPE_CHECKING

from brokers.partition import Partition
from brokers.partition.fencing import refusal
from brokers.requests.consumer_session import ConsumerSession
from brokers.requests.fetch_session import FetchSession
from brokers.requests.router import handles
from emulator.network import Channel
from emulator.protocol.errors import Errors
from emulator.protocol.events import LatestOffsetTold
from emulator.protocol.fetch import CONSUMER, NEW_SESSION, FetchRequest, FetchResponse
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

if TYPE_CHECKING:
    from brokers.replicas.manager import ReplicaManager


class FetchHandler:
    """Answers those who read. Sessions live as long as their connection."""

    def __init__(self, manager: "ReplicaManager") -> None:
        self._manager = manager
        self._sessions: dict[int, FetchSession] = {}
        self._last_id = NEW_SESSION

    @handles(FetchRequest)
    def fetch(self, request: FetchRequest, channel: Channel) -> None:
        if request.session_id == NEW_SESSION:
            session = self._open(request, channel)
        else:
            found = self._sessions.get(request.session_id)
            if found is None or found.epoch != request.session_epoch:
                error = Errors.FETCH_SESSION_ID_NOT_FOUND if found is None else Errors.INVALID_FETCH_SESSION_EPOCH
                channel.reply(FetchResponse(error, NEW_SESSION, (), 60), 60)
                return
            session = found
        session.fetch(request)
        self._manager.complete_woken()

    def _open(self, request: FetchRequest, channel: Channel) -> FetchSession:
        self._last_id += 1
        kind = ConsumerSession if request.replica_id == CONSUMER else FetchSession
        session = kind(self._manager, self._last_id, request.replica_id, channel)
        self._sessions[session.id] = session

        def closed() -> None:
            session.closed()
            self._sessions.pop(session.id, None)

        if channel.on_close is not None:
            channel.on_close()
        channel.on_close = closed
        return session

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
                self._manager.process.emit(LatestOffsetTold, node, request.tp.topic, request.tp.partition, end)
        channel.reply(ListOffsetsResponse(request.tp, error, start, end), 40)

    def _leader(self, tp: TopicPartition, epoch: int) -> tuple[Errors, Partition | None]:
        partition = self._manager.partitions.get(tp)
        if partition is None:
            return self._manager.error_without_replica(tp), None
        refused = refusal(partition, epoch)
        return refused, None if refused else partition
