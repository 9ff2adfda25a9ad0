"""The requests of transactional producers (kafka.server.KafkaApis, 2.7)."""

from collections.abc import Callable

from attrs import define

from brokers.groups.config import GROUP_METADATA_TOPIC
from brokers.log.disk_work import ResponseChannel
from brokers.requests.router import handles
from brokers.transactions.coordinator import TransactionCoordinator
from emulator.protocol.errors import Errors
from emulator.protocol.transactions.coordination import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
)
from emulator.protocol.types import TopicPartition


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
        metadata = self.coordinator.manager.metadata
        unknown = [tp for tp in request.partitions if not metadata.knows(tp)]

        def answer(error_of: Callable[[TopicPartition], Errors]) -> None:
            response = AddPartitionsToTxnResponse(tuple([(tp, error_of(tp)) for tp in request.partitions]))
            channel.reply(response, response.size)

        if unknown:
            missing, not_tried = Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.OPERATION_NOT_ATTEMPTED
            answer(lambda tp: missing if tp in unknown else not_tried)
            return
        self.coordinator.transitions.ending(self.coordinator.add_partitions)(
            request, request.partitions, lambda error: answer(lambda _tp: error)
        )

    @handles(AddOffsetsToTxnRequest)
    def add_offsets(self, request: AddOffsetsToTxnRequest, channel: ResponseChannel) -> None:
        """Add the group's partition of ``__consumer_offsets``."""
        home = TopicPartition.of(GROUP_METADATA_TOPIC, self.partition_of_group(request.group))

        def answer(error: Errors) -> None:
            channel.reply(AddOffsetsToTxnResponse(error), 10)

        self.coordinator.transitions.ending(self.coordinator.add_partitions)(request, (home,), answer)

    @handles(EndTxnRequest)
    def end(self, request: EndTxnRequest, channel: ResponseChannel) -> None:
        def answer(error: Errors) -> None:
            channel.reply(EndTxnResponse(error), 10)

        self.coordinator.transitions.ending(self.coordinator.end)(request, answer)
