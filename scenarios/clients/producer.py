"""A producer with Kafka's manners: batches gather for ``linger``, one request per leader broker carries them, metadata
is asked again when a leader turns out to be another, and what failed for now is tried again until the delivery timeout.
"""

from collections.abc import Sequence
from typing import Any

from attrs import define, field, frozen

from emulator.network import Endpoint, Network
from emulator.nodes import Process
from emulator.protocol.errors import Errors
from emulator.protocol.events import Produced
from emulator.protocol.metadata import MetadataRequest, MetadataResponse
from emulator.protocol.produce import ProducedBatch, ProduceRequest, ProduceResponse
from emulator.protocol.types import NO_LEADER, TopicPartition

PORT = "kafka"
MOST_IN_FLIGHT = 5
"""max.in.flight.requests.per.connection: how many batches of one partition go out at a time. The rest of a backlog
waits behind them; each to be refused again and again would be a flood that grows with the backlog's square."""
RETRIABLE = frozenset(
    {
        Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.LEADER_NOT_AVAILABLE, Errors.NOT_LEADER_FOR_PARTITION,
        Errors.REQUEST_TIMED_OUT, Errors.NOT_ENOUGH_REPLICAS, Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        Errors.KAFKA_STORAGE_ERROR,
    }
)  # fmt: skip


@frozen
class Workload:
    """A steady load on some partitions.

    Attributes:
        rate: messages per second over all partitions together.
        message_size: bytes.
        acks: 0, 1 or -1.
        linger_us: how long a batch gathers; one tick of the producer.
    """

    partitions: tuple[TopicPartition, ...]
    rate: int
    message_size: int = 1024
    acks: int = -1
    linger_us: int = 100_000
    start_us: int = 0
    stop_us: int | None = None
    request_timeout_us: int = 30_000_000
    delivery_timeout_us: int = 120_000_000
    retry_backoff_us: int = 100_000


@define(eq=False)
class _Pending:
    """A batch that has no fate yet."""

    batch: ProducedBatch
    closed_us: int
    attempts: int = 0
    error: Errors = Errors.NONE


@define(eq=False)
class _Connection:
    """A broker's connection and the requests on it, oldest first."""

    endpoint: Endpoint
    in_flight: list[list[_Pending]] = field(factory=list)


class Producer:
    """One producer process. ``first_id``: its batches are numbered from there, so that no two producers share an id."""

    def __init__(self, network: Network, workload: Workload, bootstrap: tuple[int, ...], first_id: int) -> None:
        self._network = network
        self._workload = workload
        self._bootstrap = bootstrap
        self._next_id = first_id
        self._leaders: dict[TopicPartition, int] = {}
        self._connections: dict[int, _Connection] = {}
        self._metadata: Endpoint | None = None
        self._asking = False
        self._known = False
        self._retries: list[_Pending] = []
        self._owed = 0
        self._turn = 0
        self._process: Process = None  # type: ignore[assignment]  # set by main

    async def main(self, process: Process) -> None:
        """Begin at the workload's start."""
        self._process = process
        process.call_later(max(0, self._workload.start_us - process.world.now), self._tick)

    # -- batches ----------------------------------------------------------------------------------------------------

    def _tick(self, _: Any) -> None:
        """Close the batches that have gathered for a linger, and send what can be sent."""
        load, world = self._workload, self._process.world
        if load.stop_us is not None and world.now >= load.stop_us:
            if self._retries:
                self._flush()
                self._process.call_later(load.linger_us, self._tick)
            return
        self._process.call_later(load.linger_us, self._tick)
        self._flush([_Pending(batch, world.now) for batch in self._gather()])

    def _gather(self) -> list[ProducedBatch]:
        """This tick's batches: the rate's whole messages, dealt evenly over the partitions."""
        load = self._workload
        self._owed += load.rate * load.linger_us
        messages, self._owed = divmod(self._owed, 1_000_000)
        partitions = load.partitions
        each, extra = divmod(messages, len(partitions))
        batches = []
        for place, tp in enumerate(partitions):
            count = each + ((place - self._turn) % len(partitions) < extra)
            if count:
                batches.append(ProducedBatch(tp, count, count * load.message_size, self._next_id))
                self._next_id += 1
        self._turn = (self._turn + extra) % len(partitions)
        return batches

    def _flush(self, closed: Sequence[_Pending] = ()) -> None:
        """Send what waits to be tried again, and behind it what has just been closed."""
        retries, self._retries = self._retries, []
        self._send([*retries, *closed])

    def _send(self, pending: list[_Pending]) -> None:
        """One request per leader broker; what has no known leader waits for metadata."""
        leaders = self._leaders
        groups: dict[tuple[int, int], list[_Pending]] = {}
        earlier: dict[TopicPartition, int] = {}
        for one in pending:
            tp = one.batch.tp
            leader = leaders.get(tp, NO_LEADER)
            if leader == NO_LEADER:
                self._keep(one, Errors.LEADER_NOT_AVAILABLE)
            else:
                # A request carries one batch of a partition; a backlog goes out in several, in order.
                place = earlier[tp] = earlier.get(tp, -1) + 1
                if place < MOST_IN_FLIGHT:
                    groups.setdefault((place, leader), []).append(one)
                else:
                    self._keep(one, one.error or Errors.REQUEST_TIMED_OUT)
        for (_place, leader), group in groups.items():
            self._request(leader, group)
        if self._retries:
            self._ask_metadata()

    def _request(self, leader: int, group: list[_Pending]) -> None:
        load = self._workload
        batches = []
        size = 60
        for one in group:
            one.attempts += 1
            batches.append(one.batch)
            size += one.batch.size
        connection = self._connections.get(leader) or self._connect(leader)
        if load.acks != 0:
            connection.in_flight.append(group)
        connection.endpoint.send(ProduceRequest(load.acks, load.request_timeout_us, tuple(batches), size), size)
        if load.acks == 0:
            for one in group:
                self._finish(one, Errors.NONE, -1, leader)

    # -- answers ----------------------------------------------------------------------------------------------------

    def _connect(self, leader: int) -> _Connection:
        def answered(response: ProduceResponse) -> None:
            self._answered(leader, connection.in_flight.pop(0), response)

        def closed(_reason: str) -> None:
            if self._connections.get(leader) is connection:
                del self._connections[leader]
            lost, connection.in_flight = connection.in_flight, []
            for group in lost:
                for one in group:
                    self._keep(one, Errors.REQUEST_TIMED_OUT)
            self._ask_metadata()

        endpoint = self._network.connect(self._process, leader, PORT, answered, closed)
        connection = self._connections[leader] = _Connection(endpoint)
        self._watch(leader, connection)
        return connection

    def _watch(self, leader: int, connection: _Connection) -> None:
        """Hang up on a broker that leaves the oldest request without an answer for the request timeout."""
        timeout_us = self._workload.request_timeout_us
        oldest = connection.in_flight[0] if connection.in_flight else None

        def look(_: Any) -> None:
            if self._connections.get(leader) is not connection:
                return
            if oldest is not None and connection.in_flight and connection.in_flight[0] is oldest:
                connection.endpoint.close("timed out")
                connection.endpoint.closed("timed out")
            else:
                self._watch(leader, connection)

        self._process.call_later(timeout_us, look)

    def _answered(self, leader: int, group: list[_Pending], response: ProduceResponse) -> None:
        outcomes = {tp: (error, base) for tp, error, base in response.partitions}
        failed = False
        for one in group:
            error, base = outcomes[one.batch.tp]
            if error is Errors.NONE or error not in RETRIABLE:
                self._finish(one, error, base, leader)
            else:
                self._keep(one, error)
                failed = True
        if failed:
            self._ask_metadata()

    def _keep(self, one: _Pending, error: Errors) -> None:
        """Try again later, unless the delivery timeout is over."""
        one.error = error
        if self._process.world.now - one.closed_us >= self._workload.delivery_timeout_us:
            self._finish(one, error, -1, -1)
        else:
            self._retries.append(one)

    def _finish(self, one: _Pending, error: Errors, base: int, leader: int) -> None:
        process, batch = self._process, one.batch
        process.emit(
            Produced, process.node.id, batch.tp.topic, batch.tp.partition, batch.id, self._workload.acks, error.name,
            base, base + batch.count if base >= 0 else -1, leader, process.world.now - one.closed_us, one.attempts,
        )  # fmt: skip

    # -- metadata ---------------------------------------------------------------------------------------------------

    def _ask_metadata(self) -> None:
        """Ask one broker who leads what; the next one if it does not answer. At most one question in a back-off."""
        if self._asking:
            return
        self._asking = True
        process = self._process
        host = self._bootstrap[0]
        self._bootstrap = (*self._bootstrap[1:], host)
        if self._metadata is not None:
            self._metadata.close()
        self._metadata = self._network.connect(process, host, PORT, self._learn)
        topics = tuple(dict.fromkeys(tp.topic for tp in self._workload.partitions))
        self._metadata.send(MetadataRequest(topics), 60, background=True)
        process.call_later(self._workload.retry_backoff_us, self._may_ask)

    def _may_ask(self, _: Any) -> None:
        self._asking = False
        if self._retries:
            self._flush()

    def _learn(self, response: MetadataResponse) -> None:
        for state in response.partitions:
            self._leaders[state.tp] = state.leader
        if not self._known:
            # The first answer: nothing has failed yet, so nothing has to back off.
            self._known = True
            self._flush()
