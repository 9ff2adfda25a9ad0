"""The way to the controller, which is whoever the metadata names (BrokerToControllerChannelManager, 2.7)."""

from collections.abc import Callable
from typing import Any

from attrs import define

from brokers.metadata_cache import MetadataCache
from emulator.network import Client, Disconnected
from emulator.nodes import Process
from emulator.protocol.errors import Errors

NOBODY_KNOWN_US = 100_000
RECONNECT_US = 50_000


@define(eq=False)
class BrokerToControllerChannel:
    """One connection with one request in flight. ``connect``: to a broker's listener."""

    process: Process
    metadata: MetadataCache
    connect: Callable[[int], Client]
    _client: Client | None = None

    async def ask(self, request: Any) -> Any:
        """Ask until a broker answers that is controller; the answer, which has an ``error``."""
        while True:
            client = self._to_controller()
            if client is None:
                await self.process.world.sleep(NOBODY_KNOWN_US)
                continue
            try:
                response = await client.call(request, request.size)
            except Disconnected:
                await self.process.world.sleep(RECONNECT_US)
                continue
            if response.error is not Errors.NOT_CONTROLLER:
                return response
            client.close()
            await self.process.world.sleep(RECONNECT_US)

    def _to_controller(self) -> Client | None:
        controller = self.metadata.controller
        if controller not in self.metadata.live_brokers:
            return None
        if self._client is None or self._client.host != controller:
            if self._client is not None:
                self._client.close()
            self._client = self.connect(controller)
        return self._client
