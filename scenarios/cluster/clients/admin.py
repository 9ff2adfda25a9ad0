"""Kafka's AdminClient, as far as the tools need it: ask the controller, wherever it is (KafkaAdminClient, 2.5)."""

from collections.abc import Iterable
from typing import Any

from attrs import define, field

from emulator.kernel import World
from emulator.network import Client, Disconnected, Network
from emulator.nodes import Process
from emulator.protocol.address import LISTENER
from emulator.protocol.errors import Errors
from emulator.protocol.metadata import NO_CONTROLLER, MetadataRequest
from emulator.protocol.types import TopicPartition


class KafkaError(Exception):
    """A request was refused, or got no answer in time.

    Attributes:
        error: Kafka's error code; the text begins with its name.
    """

    def __init__(self, error: Errors, detail: str = "") -> None:
        super().__init__(f"{error.name}: {detail}" if detail else error.name)
        self.error = error


@define(eq=False)
class AdminClient:
    """Asks a broker which broker is the controller, and sends the request there; again after NOT_CONTROLLER or a lost
    connection, until the time is over.

    Attributes:
        brokers: brokers that are asked in turn for the controller (bootstrap.servers).
        api_timeout_us: default.api.timeout.ms, for one call with all its attempts (KIP-533).
        request_timeout_us: request.timeout.ms, for one attempt.
        retry_backoff_us: retry.backoff.ms, between two attempts.
        live: the brokers that its last metadata names.
    """

    network: Network
    process: Process
    brokers: tuple[int, ...]
    api_timeout_us: int = 60_000_000
    request_timeout_us: int = 30_000_000
    retry_backoff_us: int = 100_000
    live: tuple[int, ...] = field(default=(), init=False)
    _turn: int = field(default=0, init=False)

    @property
    def _world(self) -> World:
        return self.process.world

    async def ask_controller(self, request: Any) -> Any:
        """The controller's response to ``request``.

        Raises: KafkaError, REQUEST_TIMED_OUT: the request may have been carried out.
        """
        deadline_us = self._world.now + self.api_timeout_us
        while self._world.now < deadline_us:
            try:
                controller = await self._find_controller(deadline_us)
                if controller != NO_CONTROLLER:
                    response = await self._ask(controller, request, deadline_us)
                    if response.error is not Errors.NOT_CONTROLLER:
                        return response
            except Disconnected:
                pass  # the next attempt asks another broker
            await self._world.sleep(self.retry_backoff_us)
        raise _timed_out(f"no controller has answered within {self.api_timeout_us / 1e6:g} s")

    async def ask_broker(self, broker: int, request: Any, timeout_us: int, *, retries: bool = True) -> Any:
        """That broker's response to ``request``. ``retries``: a lost connection is opened again, until the time is
        over.

        Raises: KafkaError, REQUEST_TIMED_OUT: the request may have been carried out.
        """
        deadline_us = self._world.now + timeout_us
        while self._world.now < deadline_us:
            try:
                return await self._ask(broker, request, deadline_us)
            except Disconnected:
                if not retries:
                    raise _timed_out(f"broker {broker} has closed the connection") from None
                await self._world.sleep(self.retry_backoff_us)
        raise _timed_out(f"broker {broker} has not answered within {timeout_us / 1e6:g} s")

    async def find_leaders(self, topics: Iterable[str], timeout_us: int) -> dict[TopicPartition, int]:
        """The leader of each partition of ``topics`` that a broker knows.

        Raises: KafkaError, REQUEST_TIMED_OUT.
        """
        request = MetadataRequest(tuple(topics))
        deadline_us = self._world.now + timeout_us
        while self._world.now < deadline_us:
            try:
                response = await self._ask(self._next_broker(), request, deadline_us)
            except Disconnected:
                await self._world.sleep(self.retry_backoff_us)
                continue
            return {state.tp: state.leader for state in response.partitions}
        raise _timed_out(f"no broker has answered within {timeout_us / 1e6:g} s")

    def _next_broker(self) -> int:
        broker = self.brokers[self._turn % len(self.brokers)]
        self._turn += 1
        return broker

    async def _find_controller(self, deadline_us: int) -> int:
        response = await self._ask(self._next_broker(), MetadataRequest(()), deadline_us)
        self.live = response.live_brokers
        return int(response.controller)

    async def _ask(self, broker: int, request: Any, deadline_us: int) -> Any:
        """Raises: Disconnected."""
        left_us = max(1, deadline_us - self._world.now)
        client = Client(self.network, self.process, broker, LISTENER, min(self.request_timeout_us, left_us))
        try:
            return await client.call(request, request.size)
        finally:
            client.close()


def _timed_out(what: str) -> KafkaError:
    return KafkaError(Errors.REQUEST_TIMED_OUT, what)
