"""A producer that behaves as Kafka's (Sender, 2.3.1).

Batches gather for ``linger``. One request to a leader carries one batch of each of its partitions. Metadata is
requested again when a leader may have changed. A batch that failed with a retriable error is sent again until the
retries are used up or the delivery timeout is over.
"""

from typing import Any

from attrs import define, field

from emulator.network import Network
from emulator.nodes import Process
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.events import BatchesProduced, ProducerIdentified
from emulator.protocol.produce import (
    InitProducerIdRequest,
    InitProducerIdResponse,
    ProducedBatch,
    ProduceRequest,
    ProduceResponse,
)
from emulator.protocol.types import NO_LEADER
from scenarios.cluster.clients.metadata import Metadata
from scenarios.cluster.clients.producing.accumulator import Accumulator, Pending, Queue
from scenarios.cluster.clients.producing.connections import Connections, Group
from scenarios.cluster.clients.producing.idempotence import NO_PRODUCER_ID, Idempotence
from scenarios.cluster.clients.producing.partitioner import Keyed, Partitioner, RoundRobin, Sticky
from scenarios.cluster.clients.question import Question
from scenarios.cluster.clients.workload import Workload

IDS_PER_PRODUCER = 1 << 32
RETRIABLE = frozenset(
    {
        Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.LEADER_NOT_AVAILABLE, Errors.NOT_LEADER_FOR_PARTITION,
        Errors.REQUEST_TIMED_OUT, Errors.NETWORK_EXCEPTION, Errors.CORRUPT_MESSAGE, Errors.NOT_ENOUGH_REPLICAS,
        Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND, Errors.KAFKA_STORAGE_ERROR,
    }
)  # fmt: skip
"""The subclasses of RetriableException, 2.3."""
STALE_METADATA = frozenset(
    {
        Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.LEADER_NOT_AVAILABLE, Errors.NOT_LEADER_FOR_PARTITION,
        Errors.NETWORK_EXCEPTION, Errors.KAFKA_STORAGE_ERROR,
    }
)  # fmt: skip
"""The subclasses of InvalidMetadataException, 2.3: the leader may have changed."""


@define(eq=False)
class Producer:
    """One producer process, from its start on.

    Attributes:
        first_id: the id of its first batch. The ids of a producer follow each other, and no two producers share one.
    """

    _network: Network
    _process: Process
    _workload: Workload
    _bootstrap: tuple[int, ...]
    _first_id: int
    _next_id: int = field(init=False)
    _queues: list[Queue] = field(init=False)
    _open_to: range | list[int] = field(init=False)
    _accumulator: Accumulator = field(init=False, factory=Accumulator)
    _idempotence: Idempotence | None = field(init=False)
    _partitioner: Partitioner = field(init=False)
    _connections: Connections = field(init=False)
    _metadata: Metadata = field(init=False)
    _producer_id: Question = field(init=False)
    _owed: int = field(init=False, default=0)
    _waking: bool = field(init=False, default=False)

    def __attrs_post_init__(self) -> None:
        network, process, load = self._network, self._process, self._workload
        backoff_us, timeout_us = load.retry_backoff_us, load.request_timeout_us
        self._next_id = self._first_id
        self._queues = [Queue(tp) for tp in load.partitions]
        self._open_to = range(len(self._queues))
        self._idempotence = Idempotence() if load.idempotent else None
        self._partitioner = _partitioner(load, process)
        self._connections = Connections(network, process, timeout_us, self._answered, self._disconnected)
        self._metadata = Metadata(
            network, process, self._bootstrap, load.partitions, backoff_us, timeout_us, self._learnt
        )
        self._producer_id = Question(
            network, process, self._bootstrap, backoff_us, timeout_us, InitProducerIdRequest(), self._identified
        )
        process.call_later(max(0, load.start_us - process.world.now), self._tick)

    @classmethod
    async def main(
        cls, network: Network, workload: Workload, bootstrap: tuple[int, ...], first_id: int, process: Process
    ) -> None:
        """The main function of the producer's process: it begins at the workload's start."""
        cls(network, process, workload, bootstrap, first_id)

    # -- batches ----------------------------------------------------------------------------------------------------

    def _tick(self, _: Any) -> None:
        """Close the batches that have gathered for a linger, and send those that can be sent. After the load's stop
        this goes on until every batch is acknowledged, has failed or has expired, as KafkaProducer.close does (2.3)."""
        load, process = self._workload, self._process
        now, stop_us = process.world.now, load.stop_us
        # From a stop on the ticks are in the foreground: a run does not end before the last batch has a outcome.
        routine = stop_us is None or now + load.tick_us < stop_us
        if stop_us is None or now < stop_us:
            process.call_later(load.tick_us, self._tick, background=routine)
            for batch, queue in self._gather():
                self._accumulator.add(Pending(batch, queue, now))
        elif self._accumulator.unfinished:
            process.call_later(load.tick_us, self._tick, background=routine)
        self._expire(now)
        self._drain()

    def _gather(self) -> list[tuple[ProducedBatch, Queue]]:
        """The batches of this tick: the whole messages that the rate gives, distributed over the partitions."""
        load = self._workload
        self._owed += load.rate * load.tick_us
        messages, self._owed = divmod(self._owed, 1_000_000)
        most, size, queues = load.batch_messages, load.message_size, self._queues
        batches = []
        id = self._next_id
        for place, count in self._partitioner.deal(messages, self._open_to):
            queue = queues[place]
            while count > most:
                batches.append((ProducedBatch(queue.tp, most, most * size, id), queue))
                id += 1
                count -= most
            batches.append((ProducedBatch(queue.tp, count, count * size, id), queue))
            id += 1
        self._next_id = id
        return batches

    def _expire(self, now_us: int) -> None:
        for pending in self._accumulator.expired(now_us - self._workload.delivery_timeout_us):
            if self._idempotence is not None:
                self._idempotence.expired(pending)
            self._finish(pending, "expired", pending.error or Errors.REQUEST_TIMED_OUT)

    # -- sending ----------------------------------------------------------------------------------------------------

    def _drain(self) -> None:
        """Send to each leader one batch of each partition, and again until no batch can be sent."""
        if self._idempotence is not None and not self._has_producer_id(self._idempotence):
            return
        ready, most = self._accumulator.ready, self._workload.max_in_flight
        now = self._process.world.now
        while ready:
            full = self._connections.full(most)
            groups: dict[int, Group] = {}
            for queue in list(ready):
                waiting, leader = queue.waiting, queue.leader
                if leader == NO_LEADER or leader in full or queue.muted or waiting[0].rests_until_us > now:
                    self._hold_back(queue)
                elif self._idempotence is None or self._idempotence.may_send(queue, waiting[0]):
                    if leader in groups:
                        groups[leader].append(waiting.popleft())
                    else:
                        groups[leader] = [waiting.popleft()]
                    if not waiting:
                        del ready[queue]
            if not groups:
                return
            for leader, group in groups.items():
                self._request(leader, group)

    def _hold_back(self, queue: Queue) -> None:
        """The first batch of ``queue`` cannot be sent now: request the metadata, or set the timer, it waits for."""
        rests_us = queue.waiting[0].rests_until_us - self._process.world.now
        if queue.leader == NO_LEADER:
            self._metadata.ask()
        elif rests_us > 0 and not self._waking:
            self._waking = True
            self._process.call_later(rests_us, self._wake)

    def _has_producer_id(self, idempotence: Idempotence) -> bool:
        idempotence.resolve(self._queues)
        known = idempotence.producer_id != NO_PRODUCER_ID
        if not known:
            self._producer_id.ask()
        return known

    def _wake(self, _: Any) -> None:
        self._waking = False
        self._drain()

    def _request(self, leader: int, group: Group) -> None:
        load = self._workload
        batches = []
        size = 60
        if self._idempotence is not None or load.max_in_flight == 1:
            self._prepare(group)
        for pending in group:
            pending.attempts += 1
            batches.append(pending.batch)
            size += pending.batch.size
        request = ProduceRequest(load.acks, load.request_timeout_us, tuple(batches), size)
        self._connections.send(leader, request, group)
        if load.acks == 0:
            for pending in group:
                pending.queue.muted = False
                self._finish(pending, "sent", Errors.NONE, -1, leader)

    def _prepare(self, group: Group) -> None:
        for pending in group:
            pending.queue.muted = self._workload.max_in_flight == 1
            if self._idempotence is not None:
                self._idempotence.number(pending)

    # -- answers ----------------------------------------------------------------------------------------------------

    def _answered(self, leader: int, group: Group, response: ProduceResponse) -> None:
        outcomes = {tp: (error, base) for tp, error, base in response.partitions}
        for pending in group:
            error, base = outcomes[pending.batch.tp]
            if error and error in STALE_METADATA:
                self._metadata.ask()
            self._settle(pending, error, base, leader)
        if self._accumulator.ready:
            self._drain()

    def _disconnected(self, leader: int, lost: list[Group]) -> None:
        self._metadata.ask()
        for group in lost:
            for pending in group:
                self._settle(pending, Errors.NETWORK_EXCEPTION, -1, leader)
        self._drain()

    def _settle(self, pending: Pending, error: Errors, base: int, leader: int) -> None:
        """One attempt at a batch is over (Sender.completeBatch)."""
        pending.queue.muted = False
        if pending.done:
            return  # it has expired in the meantime
        idempotence = self._idempotence
        if not error or error is Errors.DUPLICATE_SEQUENCE_NUMBER:
            if idempotence is not None:
                idempotence.acknowledged(pending)
            outcome = "duplicate" if error else "acked"
            self._finish(pending, outcome, NO_ERROR, base, leader)
        elif self._may_retry(pending, error):
            self._put_back(pending, error)
        else:
            exhausted = pending.attempts > self._workload.retries
            if idempotence is not None:
                if idempotence.has_old_producer_id(pending):
                    error = Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
                idempotence.failed(pending, error, refused=not exhausted)
            self._finish(pending, "retries" if exhausted and error in RETRIABLE else "failed", error)

    def _may_retry(self, pending: Pending, error: Errors) -> bool:
        load, idempotence = self._workload, self._idempotence
        if pending.attempts > load.retries:
            return False
        if idempotence is None:
            return error in RETRIABLE
        if idempotence.has_old_producer_id(pending):
            return False
        return error in RETRIABLE or idempotence.may_retry(pending, error)

    def _put_back(self, pending: Pending, error: Errors) -> None:
        pending.error = error
        pending.rests_until_us = self._process.world.now + self._workload.retry_backoff_us
        if self._idempotence is None:
            self._accumulator.put_back(pending)
        else:
            self._accumulator.put_back_in_order(pending)

    def _finish(self, pending: Pending, outcome: str, error: Errors, base: int = -1, leader: int = -1) -> None:
        pending.done = True
        process, batch = self._process, pending.batch
        process.emit_columns(
            BatchesProduced, 1, process.node.id, batch.tp.topic, self._workload.acks, error.name, leader, outcome,
            (batch.tp.partition,), (batch.id,), (base,), (base + batch.count if base >= 0 else -1,),
            (process.world.now - pending.closed_us,), (pending.attempts,),
        )  # fmt: skip

    # -- metadata and ids ------------------------------------------------------------------------------------------

    def _learnt(self) -> None:
        partitions = self._metadata.partitions
        for queue in self._queues:
            state = partitions.get(queue.tp)
            queue.leader = NO_LEADER if state is None else state.leader
        led = [place for place, queue in enumerate(self._queues) if queue.leader != NO_LEADER]
        self._open_to = led or range(len(self._queues))
        self._drain()

    def _identified(self, response: InitProducerIdResponse) -> None:
        assert self._idempotence is not None
        self._idempotence.producer_id = response.producer_id
        process, first = self._process, self._first_id
        last = first + IDS_PER_PRODUCER - 1
        process.emit(ProducerIdentified, process.node.id, response.producer_id, first, last)
        self._drain()


def _partitioner(load: Workload, process: Process) -> Partitioner:
    if load.keys is not None:
        return Keyed.of(load.keys, len(load.partitions))
    if load.sticky:
        return Sticky(process.world.stream("sticky partitions", process.name), load.batch_messages)
    return RoundRobin()
