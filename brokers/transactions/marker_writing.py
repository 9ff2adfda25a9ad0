"""WriteTxnMarkers: a leader appends the markers of transactions to its partitions, and answers when all in-sync
replicas have them (KafkaApis.handleWriteTxnMarkersRequest, 2.7)."""

from collections.abc import Callable
from typing import Protocol

from attrs import define, field

from brokers.coordinators.appending import AppendCallback, Appender, BatchIds
from brokers.coordinators.transitions import Transitions, replying
from brokers.groups.config import GROUP_METADATA_TOPIC
from brokers.log.disk_work import ResponseChannel
from brokers.log.producer_state_manager import ProducerStateManager
from brokers.replica_manager import ReplicaManager
from brokers.requests.produce import refusal
from brokers.requests.router import handles
from emulator.protocol.control_batches import ControlRecords
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.events import TransactionMarked
from emulator.protocol.produce import ProduceRequest
from emulator.protocol.shown_coordination import MarkerAppends
from emulator.protocol.transactions.markers import TxnMarker, WriteTxnMarkersRequest, WriteTxnMarkersResponse
from emulator.protocol.types import TopicPartition

ALL = -1
"""acks of a marker."""
FIRST_ID = 1 << 62
"""A number below the ids of a leader's control batches."""


class EndsTransactions(Protocol):
    """The group coordinator, as far as transactions are concerned (``brokers.groups.transactional``)."""

    def ended(self, producer_id: int, partitions: tuple[int, ...], *, committed: bool) -> None: ...


@define(eq=False)
class Request:
    """A request whose markers are being written.

    Attributes:
        errors: the errors of the partitions, for each marker; REQUEST_TIMED_OUT until they are known.
        left: the number of partitions that have not answered.
    """

    reply: Callable[[WriteTxnMarkersResponse], object]
    errors: list[dict[TopicPartition, Errors]]
    left: int

    def answer_if_done(self) -> None:
        if not self.left:
            self.reply(WriteTxnMarkersResponse(tuple([tuple(each.items()) for each in self.errors])))


@define(eq=False)
class MarkerWriter:
    """The WriteTxnMarkers requests of one broker. ``transitions``: those of its group coordinator."""

    manager: ReplicaManager
    appender: Appender
    groups: EndsTransactions
    transitions: Transitions
    _ids: BatchIds = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._ids = BatchIds(self.manager.process, FIRST_ID)

    @handles(WriteTxnMarkersRequest)
    def write(self, request: WriteTxnMarkersRequest, channel: ResponseChannel) -> None:
        errors = [dict.fromkeys(marker.partitions, Errors.REQUEST_TIMED_OUT) for marker in request.markers]
        reply = replying(channel)
        pending = Request(reply, errors, sum(map(len, errors)))
        for place, marker in enumerate(request.markers):
            for tp in errors[place]:
                self._append(pending, place, marker, tp)
        if not any(errors):
            pending.answer_if_done()

    def _append(self, pending: Request, place: int, marker: TxnMarker, tp: TopicPartition) -> None:
        def done(error: Errors, _base_offset: int) -> None:
            pending.errors[place][tp] = error
            if not error and tp.topic == GROUP_METADATA_TOPIC:
                self.groups.ended(marker.producer_id, (tp.partition,), committed=marker.committed)
            pending.left -= 1
            pending.answer_if_done()

        partition = self.manager.partitions.get(tp)
        error = NO_ERROR
        if partition is None:
            error = Errors.UNKNOWN_TOPIC_OR_PARTITION
        elif partition.is_leader:
            error = _fenced(partition.log.producers, marker)
        if error:
            done(error, -1)
            return
        records = ControlRecords.of(
            tp, self._ids.next(), marker.producer_id, marker.producer_epoch, marker.coordinator_epoch, marker.committed
        )
        least = self.manager.policies.min_insync_replicas(tp.topic)
        if partition is not None and not refusal(partition, ALL, least):
            process = self.manager.process
            process.emit(
                TransactionMarked, process.node.id, *tp, marker.producer_id, marker.producer_epoch,
                marker.coordinator_epoch, marker.committed,
            )  # fmt: skip
            end = partition.log.end_offset
            process.mark(MarkerAppends, process.node.id, tp, marker.producer_id, end, records.id)
        timeout_us = self.manager.policies.config.request_timeout_us
        request = ProduceRequest(ALL, timeout_us, (records,), records.size)
        self.appender.append(request, AppendCallback(self.transitions.ending(done)), internal=True)


def _fenced(producers: ProducerStateManager, marker: TxnMarker) -> Errors:
    """The error if the log does not accept the marker (checkProducerEpoch, checkCoordinatorEpoch)."""
    if marker.producer_epoch < producers.epoch_of(marker.producer_id):
        return Errors.INVALID_PRODUCER_EPOCH
    if marker.coordinator_epoch < producers.coordinator_epoch_of(marker.producer_id):
        return Errors.TRANSACTION_COORDINATOR_FENCED
    return NO_ERROR
