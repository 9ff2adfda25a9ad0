"""The requests of transactional producers (kafka.server.KafkaApis, 2.7)."""

from collections.abc import Callable
from functools import partial

from attrs import define

from brokers.coordinators.transitions import replying
from brokers.groups.config import GROUP_METADATA_TOPIC
from brokers.log.disk_work import ResponseChannel
from brokers.requests.router import handles
from brokers.transactions.coordinator import TransactionCoordinator
from emulator.protocol.errors import Errors
from emulator.protocol.shown_coordination import TransactionEndAsked
from emulator.protocol.transactions.add_partitions_to_txns import (
    AddPartitionsToTxnsRequest,
    AddPartitionsToTxnsResponse,
    AddPartitionsToTxnTransaction,
)
from emulator.protocol.transactions.coordination import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
)
from emulator.protocol.types import TopicPartition

AddsPartitions = AddPartitionsToTxnRequest | AddPartitionsToTxnTransaction
Outcomes = tuple[tuple[TopicPartition, Errors], ...]


@define(eq=False)
class TransactionsHandler:
    """Answers transactional producers.

    Attributes:
        partition_of_group: the partition of ``__consumer_offsets`` that a group belongs to.
    """

    coordinator: TransactionCoordinator
    partition_of_group: Callable[[str], int]

    @handles(AddPartitionsToTxnRequest)
    def add_partitions(self, request: AddPartitionsToTxnRequest, channel: ResponseChannel) -> None:
        """Add all the partitions, or none."""
        reply = replying(channel)
        self.coordinator.transitions.ending(self._add)(
            request, lambda outcomes: reply(AddPartitionsToTxnResponse(outcomes))
        )

    @handles(AddPartitionsToTxnsRequest)
    def add_to_several(self, request: AddPartitionsToTxnsRequest, channel: ResponseChannel) -> None:
        """Answer for each transaction (KafkaApis.handleAddPartitionsToTxnRequest, 3.6.2 and 3.9.0, which never answers
        where there is none)."""
        response = AddPartitionsToTxnsResponse({})
        if not request.transactions:
            channel.reply(response, response.size)

        def answer(id: str, outcomes: Outcomes) -> None:
            response.transactions[id] = outcomes
            if len(response.transactions) == len(request.transactions):
                channel.reply(response, response.size)

        def add_all() -> None:
            for each in request.transactions:
                self._add(each, partial(answer, each.transactional_id), verify_only=each.verify_only)

        self.coordinator.transitions.ending(add_all)()

    def _add(
        self, request: AddsPartitions, callback: Callable[[Outcomes], object], *, verify_only: bool = False
    ) -> None:
        """Add partitions to a transaction, or look whether it has them. Where one is not known, none is tried."""
        coordinator, partitions = self.coordinator, request.partitions
        unknown = [tp for tp in partitions if not coordinator.manager.metadata.knows(tp)]
        if unknown:
            missing, not_tried = Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.OPERATION_NOT_ATTEMPTED
            callback(tuple([(tp, missing if tp in unknown else not_tried) for tp in partitions]))
        elif verify_only:
            coordinator.transitions.answer(callback, coordinator.verify(request, partitions))
        else:
            coordinator.add_partitions(
                request, partitions, lambda error: callback(tuple([(tp, error) for tp in partitions]))
            )

    @handles(AddOffsetsToTxnRequest)
    def add_offsets(self, request: AddOffsetsToTxnRequest, channel: ResponseChannel) -> None:
        """Add the group's partition of ``__consumer_offsets``."""
        home = TopicPartition.of(GROUP_METADATA_TOPIC, self.partition_of_group(request.group))
        reply = replying(channel)
        self.coordinator.transitions.ending(self.coordinator.add_partitions)(
            request, (home,), lambda error: reply(AddOffsetsToTxnResponse(error))
        )

    @handles(EndTxnRequest)
    def end(self, request: EndTxnRequest, channel: ResponseChannel) -> None:
        process, producer = self.coordinator.process, (request.producer_id, request.producer_epoch)
        process.mark(TransactionEndAsked, process.node.id, request.transactional_id, *producer, request.committed)
        reply = replying(channel)
        self.coordinator.transitions.ending(self.coordinator.end)(request, lambda error: reply(EndTxnResponse(error)))
