"""A producer of a test, and the batches that it has under way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

from attrs import define, field

from emulator.kernel import Signal, World
from emulator.nodes import Process
from emulator.protocol.events import ProducerIdentified
from emulator.protocol.produce import IdempotentBatch, InitProducerIdRequest
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.admin import KafkaError
from scenarios.cluster.clients.batch_producer import ACKS, BatchProducer, Sending
from scenarios.cluster.clients.producing.idempotence import NO_PRODUCER_ID
from scenarios.cluster.clients.workload import IDS_PER_PRODUCER
from scenarios.errors import BadInput
from scenarios.testing.virtual_time import NotInTime, duration_us, passes

Acks = Literal["all", "1", "0", -1, 1, 0]


@define(eq=False)
class ProduceHandle:
    """A batch that is under way: ``handle = c.begin("orders-0")``, and later ``await handle.result()``.

    Attributes:
        partition: the name of the partition that it goes to.
    """

    partition: str
    _world: World
    _ended: Signal
    _offsets: range | None = None
    _error: KafkaError | None = None

    @property
    def done(self) -> bool:
        """Whether its fate is known: its offsets, or an error."""
        return self._offsets is not None or self._error is not None

    async def result(self, within: str = "2m") -> range:
        """The offsets of its records, once they are known (none with acks=0).

        Raises: KafkaError with the last error; NotInTime.
        """
        __tracebackhide__ = True
        if not await passes(self._world, lambda: self.done, duration_us(within)):
            raise NotInTime(f"the batch to {self.partition} has no answer within {within}")
        if self._error is not None:
            raise self._error
        assert self._offsets is not None
        return self._offsets

    async def follow(self, send: Callable[[], Awaitable[range]]) -> None:
        """Send, and keep what comes of it."""
        try:
            self._offsets = await send()
        except KafkaError as error:
            self._error = error
        self._ended.set()

    async def over(self) -> None:
        """Wait until it is done."""
        if not self.done:
            await self._ended.wait()


@define(eq=False)
class ProducerInstance:
    """A producer that a test has started: Kafka's, on a machine of its own. It sends a batch when the test asks.

    Attributes:
        idempotent: whether its records are numbered (enable.idempotence): the batches of a partition go one after the
            other, and a batch that is sent again is written once. After a batch without a fate it asks for another id,
            as Kafka's producer does.
    """

    idempotent: bool
    _world: World
    _batches: BatchProducer
    _parse: Callable[[str | TopicPartition], TopicPartition]
    _broker: Callable[[int], int]
    _producer_id: int = NO_PRODUCER_ID
    _sequences: dict[TopicPartition, int] = field(factory=dict)
    _last: dict[TopicPartition, ProduceHandle] = field(factory=dict)

    async def produce(
        self, partition: str | TopicPartition, records: int = 1, *, acks: Acks = "all", size: int = 1024,
        within: str = "2m", retries: bool = True, broker: int | None = None,
    ) -> range:  # fmt: skip
        """Send one batch, and return the offsets of its records (none with acks=0).

        Args:
            size: the size of a record, in bytes.
            within: delivery.timeout.ms.
            retries: False: the first error is raised.
            broker: send it to this broker, also if it does not lead.

        Raises: KafkaError with the last error.
        """
        __tracebackhide__ = True
        return await self._sending(partition, records, acks, size, within, retries, broker)()

    def begin(
        self, partition: str | TopicPartition, records: int = 1, *, acks: Acks = "all", size: int = 1024,
        within: str = "2m", retries: bool = True, broker: int | None = None,
    ) -> ProduceHandle:  # fmt: skip
        """Send one batch as ``produce`` does, without waiting for its answer."""
        send = self._sending(partition, records, acks, size, within, retries, broker)
        tp = self._parse(partition)
        handle = ProduceHandle(str(tp), self._world, Signal(self._world, f"the batch to {tp}"))
        process = self._process
        before = self._last.get(tp) if self.idempotent else None
        self._last[tp] = handle

        async def in_turn() -> range:
            if before is not None:
                await before.over()
            return await send()

        process.call_later(0, lambda _: process.spawn(handle.follow, in_turn, name="begun batch"), background=False)
        return handle

    @property
    def _process(self) -> Process:
        process = self._batches.node.process
        assert process is not None
        return process

    def _sending(
        self, partition: str | TopicPartition, records: int, acks: Acks, size: int, within: str, retries: bool,
        broker: int | None,
    ) -> Callable[[], Awaitable[range]]:  # fmt: skip
        """The sending of one batch. Raises: BadInput."""
        if str(acks) not in ACKS:
            raise BadInput(f"acks={acks!r}; write 'all', '1' or '0'")
        if type(records) is not int or records < 1:
            raise BadInput(f"records={records!r}; write how many, from 1")
        to = None if broker is None else self._broker(broker)
        tp, needed = self._parse(partition), duration_us(within)
        if not self.idempotent:
            sending = Sending(tp, records, size, ACKS[str(acks)], to, retries, needed)
            return lambda: self._batches.send(sending)
        if ACKS[str(acks)] != -1 or to is not None or not retries:
            raise BadInput(
                "an idempotent producer sends to the leader with acks='all', and again; leave the others out"
            )
        return lambda: self._send_numbered(tp, records, size, needed)

    async def _send_numbered(self, tp: TopicPartition, records: int, size: int, within_us: int) -> range:
        if self._producer_id == NO_PRODUCER_ID:
            await self._identify(within_us)
        first = self._sequences.get(tp, 0)
        self._sequences[tp] = first + records
        own = self._producer_id
        try:
            return await self._batches.send_batch(
                lambda id: IdempotentBatch(tp, records, records * size, id, own, first), within_us
            )
        except KafkaError:
            if self._producer_id == own:
                self._producer_id = NO_PRODUCER_ID
            raise

    async def _identify(self, within_us: int) -> None:
        """Ask for an id. Raises: KafkaError."""
        batches, process = self._batches, self._process
        answer = await batches.ask_any(InitProducerIdRequest(), within_us)
        self._producer_id = answer.producer_id
        self._sequences.clear()
        first = batches.next_id
        last = first + IDS_PER_PRODUCER - 1 - (first - 1) % IDS_PER_PRODUCER
        process.emit(ProducerIdentified, process.node.id, answer.producer_id, first, last)
