"""Requests to the coordinator of a group or of a transactional id, wherever it is (AbstractCoordinator, 2.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define

from emulator.protocol.errors import Errors
from emulator.protocol.groups.find_coordinator import NO_NODE, FindCoordinatorRequest

if TYPE_CHECKING:
    from scenarios.language.clients import Client

BACKOFF = "100ms"
MOVED = (
    Errors.NOT_COORDINATOR, Errors.COORDINATOR_NOT_AVAILABLE, Errors.COORDINATOR_LOAD_IN_PROGRESS,
    Errors.REQUEST_TIMED_OUT,
)  # fmt: skip
"""The errors after which a client looks for the coordinator again."""


@define(eq=False)
class Coordinator:
    """The coordinator of one key, as one client knows it.

    Attributes:
        key: a group, or a transactional id.
        type: a ``CoordinatorType``.
    """

    client: Client
    key: str
    type: int
    _broker: int = NO_NODE

    async def ask(self, request: Any, within: str = "10s") -> Any:
        """The response of the coordinator. One that does not answer, or closes the connection, is looked for again
        before it is asked once more.

        Raises: KafkaError, REQUEST_TIMED_OUT.
        """
        # Imported here, as the clients of most runs have no coordinators.
        from scenarios.cluster.clients.admin import KafkaError

        while self._broker == NO_NODE:
            await self._find()
        try:
            return await self.client.ask(self._broker, request, within, retries=False)
        except KafkaError:
            self._broker = NO_NODE
            raise

    def moved(self) -> None:
        """Look for the coordinator again before the next request."""
        self._broker = NO_NODE

    async def _find(self) -> None:
        """Ask one of the brokers, any of them."""
        from scenarios.cluster.clients.admin import KafkaError

        brokers = self.client.brokers
        broker = brokers[self.client.below(len(brokers))]
        try:
            found = await self.client.ask(broker, FindCoordinatorRequest((self.key,), self.type), "2s", retries=False)
        except KafkaError:
            await self.client.sleep(BACKOFF)
            return
        (one,) = found.coordinators
        self._broker = one.node
        if self._broker == NO_NODE:
            await self.client.sleep(BACKOFF)
