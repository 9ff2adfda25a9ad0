"""The part of a broker that coordinates transactions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from attrs import define

from brokers.coordinators.part import CoordinatorPart
from brokers.coordinators.transitions import replying
from brokers.groups.part import GroupsPart
from brokers.requests.producer_ids import ProducerIds
from brokers.requests.router import handles
from emulator.network import Channel
from emulator.protocol.errors import Errors
from emulator.protocol.produce import InitProducerIdRequest, InitProducerIdResponse
from emulator.protocol.records import NO_PRODUCER_ID

if TYPE_CHECKING:
    from brokers.transactions.coordinator import TransactionCoordinator
    from brokers.transactions.marker_sending import Connect
    from brokers.transactions.verification import AddPartitionsToTxnManager, Verified
    from emulator.protocol.transactions.coordination import OfTransaction
    from emulator.protocol.types import TopicPartition


@define(eq=False)
class TransactionsPart(CoordinatorPart["TransactionCoordinator"]):
    """The part of one broker. A deleted partition needs no marker; that is found out when its marker is to be sent.

    Attributes:
        producer_ids: generates producer ids.
        connect: opens a connection to a broker's listener.
    """

    groups: GroupsPart
    producer_ids: ProducerIds
    connect: Connect
    _verifications: AddPartitionsToTxnManager | None = None

    def verify(
        self, producer: OfTransaction, sequences: Mapping[TopicPartition, int], knows_abortable: bool, done: Verified
    ) -> None:
        """Verify a transaction of which this broker leads partitions (``AddPartitionsToTxnManager.verify``)."""
        if self._verifications is None:
            from brokers.transactions.verification import AddPartitionsToTxnManager

            self._verifications = AddPartitionsToTxnManager(
                self.manager, self.coordinator.store.partitions, self.connect
            )
        self._verifications.verify(producer, sequences, knows_abortable, done)

    def stop(self) -> None:
        """Do nothing more with the answers of coordinators."""
        if self._verifications is not None:
            self._verifications.is_over = True

    def _made(self) -> TransactionCoordinator:
        from brokers.transactions.coordinator import TransactionCoordinator

        return TransactionCoordinator(
            self.manager.process, self.manager, self.appender, self.producer_ids.generate, self.connect
        )

    def handlers(self) -> tuple[object, ...]:
        """The handlers of requests of transactional producers, and of coordinators."""
        from brokers.groups.transactional import TransactionalOffsets
        from brokers.transactions.describing import TransactionsDescriber
        from brokers.transactions.handler import TransactionsHandler
        from brokers.transactions.marker_writing import MarkerWriter

        groups = self.groups.coordinator
        offsets = TransactionalOffsets(groups, self.verify)
        return (
            TransactionsHandler(self.coordinator, groups.store.partitions.partition_for), offsets,
            MarkerWriter(self.manager, self.appender, offsets, groups.transitions),
            TransactionsDescriber(self.coordinator.store),
        )  # fmt: skip

    @handles(InitProducerIdRequest)
    def init_producer_id(self, request: InitProducerIdRequest, channel: Channel) -> None:
        """Answer InitProducerId. Without a transactional id a producer gets a new producer id, whichever it has
        (TransactionCoordinator, 2.3 to 3.0)."""
        reply = replying(channel)
        if (request.producer_id == NO_PRODUCER_ID) is not (request.producer_epoch == -1):
            reply(InitProducerIdResponse(NO_PRODUCER_ID, error=Errors.INVALID_REQUEST, producer_epoch=-1))
        elif request.transactional_id is None:
            self.producer_ids.generate(lambda id: reply(_with_id(id)))
        else:
            coordinator = self.coordinator
            coordinator.transitions.ending(coordinator.init_producer_id)(request, reply)


def _with_id(id: int) -> InitProducerIdResponse:
    if id == NO_PRODUCER_ID:
        return InitProducerIdResponse(id, error=Errors.COORDINATOR_LOAD_IN_PROGRESS, producer_epoch=-1)
    return InitProducerIdResponse(id)
