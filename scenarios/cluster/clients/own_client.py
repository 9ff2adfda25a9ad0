"""A client whose behaviour a plug-in has written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define, field

from emulator.network import Network
from emulator.nodes import Process
from emulator.protocol.clients.fetch import ConsumerFetchRequest
from emulator.protocol.produce import ProducedBatch
from emulator.protocol.types import TopicPartition
from emulator.streams import Stream
from scenarios.cluster.clients.admin import AdminClient
from scenarios.cluster.clients.batch_producer import ACKS, BatchProducer, Sending
from scenarios.cluster.clients.fetch_answers import FollowedSessions, record_answer
from scenarios.errors import BadInput
from scenarios.language.clients import Behaviour
from scenarios.language.topic_spec import split_partition
from scenarios.units import parse_duration


@define(eq=False)
class OwnClient:
    """One such client: ``scenarios.language.clients.Client`` says what its behaviour can do.

    Attributes:
        brokers: brokers that it asks in turn (bootstrap.servers).
        first_id: the id of its first batch.
    """

    network: Network
    process: Process
    brokers: tuple[int, ...]
    first_id: int
    _producer: BatchProducer = field(init=False)
    _admin: AdminClient = field(init=False)
    _draws: Stream = field(init=False)
    _sessions: FollowedSessions = field(factory=FollowedSessions, init=False)

    def __attrs_post_init__(self) -> None:
        node = self.process.node
        self._producer = BatchProducer(self.network, node, self.brokers, self.first_id)
        self._admin = AdminClient(self.network, self.process, self.brokers)
        self._draws = node.world.stream("clients", f"{node.name}.{node.incarnations}")

    @classmethod
    async def main(
        cls, network: Network, behaviour: Behaviour, brokers: tuple[int, ...], first_id: int,
        started: Callable[[OwnClient], object], process: Process,
    ) -> None:  # fmt: skip
        """The main function of its process."""
        client = cls(network, process, brokers, first_id)
        started(client)
        world = process.world
        if behaviour.stop_us is not None:
            world.call_at(max(world.now, behaviour.stop_us), lambda _: process.node.crash(), None, True)
        await world.sleep(max(0, behaviour.start_us - world.now), background=True)
        await behaviour.run(client)

    @property
    def next_id(self) -> int:
        return self._producer.next_id

    @property
    def now_s(self) -> float:
        return self.process.world.now / 1_000_000

    def below(self, bound: int) -> int:
        return self._draws.below(bound)

    async def sleep(self, time: str) -> None:
        await self.process.world.sleep(parse_duration(time), background=True)

    async def produce(
        self, partition: str, records: int = 1, *, acks: str = "all", size: int = 1024, within: str = "2m",
        retries: bool = True,
    ) -> range:  # fmt: skip
        if acks not in ACKS:
            raise BadInput(f"acks={acks!r}; write 'all', '1' or '0'")
        tp = TopicPartition(*split_partition(partition))
        return await self._producer.send(Sending(tp, records, size, ACKS[acks], None, retries, parse_duration(within)))

    async def produce_batch(
        self, make: Callable[[int], ProducedBatch], within: str = "2m", *, transactional_id: str | None = None
    ) -> range:
        return await self._producer.send_batch(make, parse_duration(within), transactional_id)

    async def ask(self, broker: int, request: Any, within: str = "30s", *, retries: bool = True) -> Any:
        response = await self._admin.ask_broker(broker, request, parse_duration(within), retries=retries)
        if isinstance(request, ConsumerFetchRequest):
            record_answer(self.process, broker, request, response)
            self._sessions.follow(self.process, broker, request, response)
        return response

    async def ask_controller(self, request: Any) -> Any:
        return await self._admin.ask_controller(request)
