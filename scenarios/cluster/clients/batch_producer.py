"""A producer that sends a batch when it is asked to, for tests and for clients of plug-ins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define, frozen

from emulator.network import Client, Disconnected, Network
from emulator.nodes import Node, Process
from emulator.protocol.address import LISTENER
from emulator.protocol.errors import Errors
from emulator.protocol.events import BatchesProduced
from emulator.protocol.metadata import MetadataRequest, MetadataResponse
from emulator.protocol.produce import InitProducerIdRequest, ProducedBatch, ProduceRequest, ProduceResponse
from emulator.protocol.types import NO_LEADER, TopicPartition
from scenarios.cluster.clients.admin import KafkaError
from scenarios.cluster.clients.producer import RETRIABLE

ACKS = {"all": -1, "-1": -1, "1": 1, "0": 0}
RETRY_BACKOFF_US = 100_000
REQUEST_TIMEOUT_US = 30_000_000
METADATA_TIMEOUT_US = 1_000_000
Asked = MetadataRequest | ProduceRequest | InitProducerIdRequest


@frozen
class Sending:
    """One batch, and how it is sent.

    Attributes:
        broker: the broker that gets it; None: the leader, by the metadata of the brokers.
        retries: whether errors that Kafka's producer retries are retried, until ``within_us`` is over.
        transactional_id: that of a transactional producer.
    """

    tp: TopicPartition
    records: int
    record_size: int
    acks: int
    broker: int | None
    retries: bool
    within_us: int
    transactional_id: str | None = None


@define(eq=False)
class BatchProducer:
    """A producer that sends a batch when it is asked to. Its batches have ids as those of other producers, so that the
    checkers follow them.

    Attributes:
        node: the producer's machine, on which a process runs.
        next_id: the id of its next batch.
        bootstrap: the brokers that it asks for the leader, in turn.
    """

    network: Network
    node: Node
    bootstrap: tuple[int, ...]
    next_id: int
    _turn: int = 0

    @property
    def _process(self) -> Process:
        process = self.node.process
        assert process is not None
        return process

    async def send(self, sending: Sending) -> range:
        """The offsets of the records; all of them -1 with acks=0.

        Raises: KafkaError.
        """
        records = sending.records
        batch = ProducedBatch(sending.tp, records, records * sending.record_size, self.next_id)
        self.next_id += 1
        return await self._send(sending, batch)

    async def send_batch(
        self, make: Callable[[int], ProducedBatch], within_us: int, transactional_id: str | None = None
    ) -> range:
        """Send the batch that ``make`` makes with its id, as ``send`` does with acks=all.

        Raises: KafkaError.
        """
        batch = make(self.next_id)
        self.next_id += 1
        each = batch.size // max(1, batch.count)
        sending = Sending(batch.tp, batch.count, each, ACKS["all"], None, True, within_us, transactional_id)
        return await self._send(sending, batch)

    async def _send(self, sending: Sending, batch: ProducedBatch) -> range:
        world, records = self.node.world, sending.records
        began_us = world.now
        attempts = 0
        while True:
            attempts += 1
            deadline_us = began_us + sending.within_us
            leader, error, base = await self._attempt(sending, batch, deadline_us)
            if error is Errors.NONE:
                fate = "acked" if sending.acks else "sent"
                self._report(sending, batch, error, base, leader, began_us, attempts, fate)
                return range(base, base + records) if base >= 0 else range(0)
            late = world.now + RETRY_BACKOFF_US >= deadline_us
            if late or not sending.retries or error not in RETRIABLE:
                fate = "expired" if late else "failed"
                self._report(sending, batch, error, -1, leader, began_us, attempts, fate)
                tried = f"after {attempts} attempts in {(world.now - began_us) / 1e6:g} s" if attempts > 1 else ""
                raise KafkaError(error, f"produce to {sending.tp} {tried}".rstrip())
            await world.sleep(RETRY_BACKOFF_US)

    async def _attempt(self, sending: Sending, batch: ProducedBatch, deadline_us: int) -> tuple[int, Errors, int]:
        """The broker that was asked, its answer, and the base offset."""
        left_us = max(1, deadline_us - self.node.world.now)
        leader = NO_LEADER
        try:
            leader = await self._leader(sending.tp, left_us) if sending.broker is None else sending.broker
            if leader == NO_LEADER:
                return leader, Errors.LEADER_NOT_AVAILABLE, -1
            timeout_us = min(REQUEST_TIMEOUT_US, left_us)
            size, id = batch.size + 60, sending.transactional_id
            request = ProduceRequest(sending.acks, timeout_us, (batch,), size, transactional_id=id)
            if not sending.acks:
                endpoint = self.network.connect(self._process, leader, LISTENER, lambda _: None)
                endpoint.send(request, request.size)
                return leader, Errors.NONE, -1
            # The broker answers when its own timeout is over; the client waits longer.
            response: ProduceResponse = await self._ask(leader, request, timeout_us + REQUEST_TIMEOUT_US)
        except Disconnected:
            return leader, Errors.NETWORK_EXCEPTION, -1
        [(_tp, error, base)] = response.partitions
        return leader, error, base

    async def _leader(self, tp: TopicPartition, timeout_us: int) -> int:
        """The leader, as a broker knows it. Raises: Disconnected where none answers."""
        response: MetadataResponse = await self._ask_in_turn(MetadataRequest((tp.topic,)), timeout_us)
        return next((known.leader for known in response.partitions if known.tp == tp), NO_LEADER)

    async def ask_any(self, request: Asked, within_us: int) -> Any:
        """The answer of the first broker that gives one. Raises: KafkaError."""
        world = self.node.world
        deadline_us = world.now + within_us
        while True:
            try:
                return await self._ask_in_turn(request, max(1, deadline_us - world.now))
            except Disconnected:
                if world.now + RETRY_BACKOFF_US >= deadline_us:
                    raise KafkaError(Errors.NETWORK_EXCEPTION, request.api.name) from None
                await world.sleep(RETRY_BACKOFF_US)

    async def _ask_in_turn(self, request: Asked, timeout_us: int) -> Any:
        """Ask the brokers in turn, from the one that answered last. Raises: Disconnected where none answers."""
        for _ in self.bootstrap:
            broker = self.bootstrap[self._turn % len(self.bootstrap)]
            try:
                return await self._ask(broker, request, min(METADATA_TIMEOUT_US, timeout_us))
            except Disconnected:
                self._turn += 1
        raise Disconnected("no broker answers")

    async def _ask(self, broker: int, request: Asked, timeout_us: int) -> Any:
        client = Client(self.network, self._process, broker, LISTENER, timeout_us)
        try:
            return await client.call(request, request.size)
        finally:
            client.close()

    def _report(
        self, sending: Sending, batch: ProducedBatch, error: Errors, base: int, leader: int, began_us: int,
        attempts: int, fate: str,
    ) -> None:  # fmt: skip
        end = base + batch.count if base >= 0 else -1
        self._process.emit_columns(
            BatchesProduced, 1, self.node.id, batch.tp.topic, sending.acks, error.name, leader, fate,
            (batch.tp.partition,), (batch.id,), (base,), (end,), (self.node.world.now - began_us,), (attempts,),
        )  # fmt: skip
