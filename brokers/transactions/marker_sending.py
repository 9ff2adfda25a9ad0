"""The markers of a coordinator's decisions, sent to the partitions of its transactions
(TransactionMarkerChannelManager, 2.7): a queue and a connection to each broker, with retries until all partitions have
them."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from attrs import define, field

from brokers.transactions.metadata import TxnTransitMetadata
from brokers.transactions.transaction_state_manager import CoordinatorEpochAndTxnMetadata, TransactionStateManager
from emulator.logger import get_logger
from emulator.network import Client, Disconnected
from emulator.nodes import Process
from emulator.protocol.errors import Errors
from emulator.protocol.shown import Deviated
from emulator.protocol.transactions.markers import TxnMarker, WriteTxnMarkersRequest, WriteTxnMarkersResponse
from emulator.protocol.types import TopicPartition

Connect = Callable[[int], Client]
RETRY_US = 50_000
"""The pause before a marker is sent again that could not be written, or whose partition had no leader. Kafka makes none
after the answer of a leader."""
FENCED = Errors.INVALID_PRODUCER_EPOCH, Errors.TRANSACTION_COORDINATOR_FENCED
"""The errors by which a leader says that another producer or coordinator has taken over."""


class Queued(NamedTuple):
    """A marker on its way to one broker."""

    id: str
    marker: TxnMarker


@define(eq=False)
class Completion:
    """A transaction that is complete when all its partitions have their markers.

    Attributes:
        to: the state that is written then.
    """

    found: CoordinatorEpochAndTxnMetadata
    to: TxnTransitMetadata
    committed: bool


@define(eq=False)
class TransactionMarkerChannelManager:
    """The markers of one coordinator."""

    process: Process
    store: TransactionStateManager
    connect: Connect
    _completions: dict[str, Completion] = field(factory=dict)
    _queues: dict[int, deque[Queued]] = field(factory=dict)
    """The queues by broker. Each queue has a task that sends it."""

    def add(self, found: CoordinatorEpochAndTxnMetadata, to: TxnTransitMetadata, *, committed: bool) -> None:
        """Send the markers of a transaction to the leaders of its partitions, then write ``to``."""
        id = found.metadata.id
        self._completions[id] = Completion(found, to, committed)
        self._enqueue(id, tuple(found.metadata.partitions))
        self._maybe_complete(id)

    def forget(self, partition: int) -> None:
        """This broker is no longer the coordinator of the ids that belong to ``partition``."""
        for id in [id for id in self._completions if self.store.partitions.partition_for(id) == partition]:
            del self._completions[id]

    def _goes_on(self, id: str) -> Completion | None:
        """The transaction that ``id`` completes, unless this coordinator has lost it."""
        completion = self._completions.get(id)
        if completion is not None and self.store.find(id) == completion.found:
            return completion
        self._completions.pop(id, None)
        return None

    # -- queues -----------------------------------------------------------------------------------------------------

    def _enqueue(self, id: str, partitions: Iterable[TopicPartition]) -> None:
        """Queue the markers of these partitions at their leaders, as this broker's metadata has them. Partitions that
        are not in the metadata are deleted, and need none. Kafka takes them for that also where the broker has just
        started, and the controller's LeaderAndIsr is here before an UpdateMetadata about them."""
        completion = self._goes_on(id)
        if completion is None:
            return
        found, brokers = completion.found, dict[int, list[TopicPartition]]()
        metadata, leaderless = self.store.manager.metadata, []
        for tp in partitions:
            state = metadata.partitions_of(tp.topic).get(tp.partition)
            if state is None:
                found.metadata.partitions.pop(tp, None)
                self._show_skipped(tp)
            elif state.leader not in metadata.live_brokers:
                leaderless.append(tp)
            else:
                brokers.setdefault(state.leader, []).append(tp)
        if leaderless:
            self._again(id, leaderless)
        for broker, some in brokers.items():
            marker = TxnMarker(
                found.metadata.producer_id, found.metadata.producer_epoch, found.coordinator_epoch,
                completion.committed, tuple(some),
            )  # fmt: skip
            self._queue(broker, Queued(id, marker))

    def _show_skipped(self, tp: TopicPartition) -> None:
        process = self.process
        process.mark(Deviated, process.node.id, "TransactionMarkerChannelManager", *tp, process.node.id)

    def _again(self, id: str, partitions: Sequence[TopicPartition]) -> None:
        def enqueue(_: object) -> None:
            self._enqueue(id, partitions)
            self._maybe_complete(id)

        self.store.transitions.later(RETRY_US, enqueue, None)

    def _queue(self, broker: int, queued: Queued) -> None:
        queue = self._queues.get(broker)
        if queue is None:
            self._queues[broker] = deque([queued])
            self.process.spawn(self._send, broker, name=f"transaction markers to {broker}")
        else:
            queue.append(queued)

    async def _send(self, broker: int) -> None:
        """Send the queue of ``broker``, one request at a time, until it is empty."""
        queue, client = self._queues[broker], self.connect(broker)
        while queue:
            sent = list(queue)
            queue.clear()
            request = WriteTxnMarkersRequest(tuple([each.marker for each in sent]))
            try:
                response: WriteTxnMarkersResponse = await client.call(request, request.size)
            except Disconnected:
                await self.process.world.sleep(RETRY_US, background=True)
                self.store.transitions.alone(self._not_answered)(sent)
            else:
                self.store.transitions.alone(self._answered)(sent, response)
        del self._queues[broker]
        client.close()

    # -- answers ----------------------------------------------------------------------------------------------------

    def _not_answered(self, sent: Sequence[Queued]) -> None:
        for queued in sent:
            self._enqueue(queued.id, queued.marker.partitions)
            self._maybe_complete(queued.id)

    def _answered(self, sent: Sequence[Queued], response: WriteTxnMarkersResponse) -> None:
        retries_storage_errors = self.store.manager.policies.transactions.retries_storage_errors
        for queued, outcomes in zip(sent, response.outcomes, strict=True):
            completion = self._goes_on(queued.id)
            if completion is None or completion.found.coordinator_epoch != queued.marker.coordinator_epoch:
                continue
            if any(error in FENCED for _tp, error in outcomes):
                get_logger("brokers.transactions").info("markers are fenced", transactional_id=queued.id)
                del self._completions[queued.id]
                continue
            for tp, error in outcomes:
                if not error:
                    completion.found.metadata.partitions.pop(tp, None)
                elif error is Errors.KAFKA_STORAGE_ERROR and not retries_storage_errors:
                    get_logger("brokers.transactions").error("a marker is lost", transactional_id=queued.id)
                    return  # as in Kafka, where the exception loses the rest of the answer
            failed = [tp for tp, error in outcomes if error]
            if failed:
                self._again(queued.id, failed)
            self._maybe_complete(queued.id)

    def _maybe_complete(self, id: str) -> None:
        """Write that the transaction is complete, if all its partitions have their markers."""
        completion = self._goes_on(id)
        if completion is not None and not completion.found.metadata.partitions:
            del self._completions[id]
            self._write(id, completion)

    def _write(self, id: str, completion: Completion) -> None:
        def written(error: Errors) -> None:
            if error is Errors.COORDINATOR_NOT_AVAILABLE:
                self.store.transitions.later(RETRY_US, lambda _: self._write(id, completion), None)

        self.store.append(id, completion.found.coordinator_epoch, completion.to, written, try_again=True)
