"""A transaction coordinator on a bench: one broker that leads the only partition of ``__transaction_state``. Markers
are written down, and answered by the test."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from attrs import define, evolve, field

from brokers.broker_config import BrokerConfig
from brokers.broker_policies import BrokerPolicies
from brokers.replica_manager.replica_manager import Coordinator
from brokers.requests.produce import ProduceHandler
from brokers.transactions.config import TRANSACTION_STATE_TOPIC, TransactionConfig
from brokers.transactions.coordinator import TransactionCoordinator
from brokers.transactions.handler import TransactionsHandler
from brokers.transactions.marker_sending import Connect, Queued, TransactionMarkerChannelManager
from brokers.transactions.metadata import TransactionMetadata
from brokers.transactions.policies import TransactionPolicies
from emulator.protocol.errors import Errors
from emulator.protocol.produce import InitProducerIdRequest, InitProducerIdResponse
from emulator.protocol.transactions.coordination import AddPartitionsToTxnRequest, EndTxnRequest
from emulator.protocol.transactions.markers import WriteTxnMarkersResponse
from emulator.protocol.types import TopicPartition
from tests.brokers.bench import TP, Bench, state

SECOND = 1_000_000
STATES = TopicPartition.of(TRANSACTION_STATE_TOPIC, 0)
ID = "billing"
Producer = tuple[int, int]
"""A producer's id and its epoch."""


@define(eq=False)
class NotedMarkers(TransactionMarkerChannelManager):
    """Attributes:
    noted: what would be sent, and to which broker.
    """

    noted: list[tuple[int, Queued]] = field(factory=list)

    def _queue(self, broker: int, queued: Queued) -> None:
        self.noted.append((broker, queued))


class TransactionBench(Bench):
    """The coordinator is elected unless the test says otherwise."""

    def __init__(
        self,
        transactions: TransactionPolicies | None = None,
        *,
        elected: bool = True,
        isr: Sequence[int] = (0,),
        **settings: Any,
    ) -> None:
        self.isr, self.ids = tuple(isr), 1000
        config = BrokerConfig(transactions=evolve(TransactionConfig(num_partitions=1), **settings))
        super().__init__(BrokerPolicies(config, transactions=transactions or TransactionPolicies()))
        if elected:
            self.elect()

    def restart(self) -> None:
        super().restart()
        self.coordinator = TransactionCoordinator(
            self.process, self.manager, ProduceHandler(self.manager), self._generate, cast(Connect, None)
        )
        self.markers = NotedMarkers(self.process, self.coordinator.store, cast(Connect, None))
        self.coordinator.markers = self.markers
        self.manager.coordinators[TRANSACTION_STATE_TOPIC] = cast(Coordinator, self.coordinator)
        self.router.add(TransactionsHandler(self.coordinator, lambda _group: 0))
        self.learn(TP, 0)

    def _generate(self, generated: Callable[[int], object]) -> None:
        self.ids += 1
        generated(self.ids)

    def elect(self, epoch: int = 0) -> None:
        """Lead the partition, and read it."""
        self.lead(epoch, self.isr, tp=STATES, replicas=self.isr)
        self.wait(0)

    def resign(self, epoch: int = 1) -> None:
        assert not self.leader_and_isr(state(1, epoch, (1, 0), replicas=(1, 0), tp=STATES)).error

    @property
    def metadata(self) -> TransactionMetadata:
        return self.coordinator.store.transactions[0][ID]

    @property
    def state(self) -> str:
        return str(self.metadata.state)

    # -- requests ---------------------------------------------------------------------------------------------------

    def init(
        self, *, timeout_us: int = 60 * SECOND, id: str = ID, known: Producer = (-1, -1)
    ) -> InitProducerIdResponse:
        answers: list[InitProducerIdResponse] = []
        request = InitProducerIdRequest(
            transactional_id=id, producer_id=known[0], producer_epoch=known[1], transaction_timeout_us=timeout_us
        )
        transitions = self.coordinator.transitions
        transitions.ending(self.coordinator.init_producer_id)(request, answers.append)
        (answer,) = answers
        return answer

    def producer(self, **more: Any) -> Producer:
        answer = self.init(**more)
        assert not answer.error, answer.error.name
        return answer.producer_id, answer.producer_epoch

    def add(self, producer: Producer, *partitions: TopicPartition, id: str = ID) -> Errors:
        answer = self.send(AddPartitionsToTxnRequest(id, *producer, partitions or (TP,))).last
        error: Errors = answer.partitions[0][1]
        return error

    def end(self, producer: Producer, *, committed: bool = True, id: str = ID) -> Errors:
        error: Errors = self.send(EndTxnRequest(id, *producer, committed)).last.error
        return error

    def answer_markers(self, error: Errors = Errors.NONE) -> None:
        """The leader answers all that was sent."""
        noted, self.markers.noted = self.markers.noted, []
        sent = [queued for _broker, queued in noted]
        outcomes = tuple(tuple((tp, error) for tp in queued.marker.partitions) for queued in sent)
        answered = self.coordinator.transitions.alone(self.markers._answered)
        answered(sent, WriteTxnMarkersResponse(outcomes))
