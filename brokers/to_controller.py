"""A broker's connection to the controller that its metadata names (BrokerToControllerChannelManager, 2.7)."""

from collections.abc import Callable
from typing import Any

from attrs import define

from brokers.metadata_cache import MetadataCache
from emulator.network import Client, Disconnected
from emulator.nodes import Process
from emulator.protocol.alter_isr import AlterIsrResponse
from emulator.protocol.errors import Errors
from emulator.protocol.shown import ControllerLeft

NO_CONTROLLER_US = 100_000
RECONNECT_US = 50_000


@define(eq=False)
class BrokerToControllerChannel:
    """One connection with one request in flight.

    Attributes:
        connect: opens a connection to a broker's listener.
    """

    process: Process
    metadata: MetadataCache
    connect: Callable[[int], Client]
    _client: Client | None = None

    async def send_request(self, request: Any) -> Any:
        """Send ``request`` until a broker answers that is the controller. Returns its response, which has an
        ``error``."""
        while True:
            client = self._connected()
            if client is None:
                await self.process.world.sleep(NO_CONTROLLER_US)
                continue
            try:
                response = await client.call(request, request.size)
            except Disconnected:
                await self.process.world.sleep(RECONNECT_US)
                continue
            if not _is_refused(response):
                return response
            client.close()
            await self.process.world.sleep(RECONNECT_US)

    def _connected(self) -> Client | None:
        controller = self.metadata.controller
        if controller not in self.metadata.live_brokers:
            return None
        if self._client is None or self._client.host != controller:
            if self._client is not None:
                node = self.process.node
                self.process.show(ControllerLeft, node.id, self._client.host, controller)
                self._client.close()
            self._client = self.connect(controller)
        return self._client


def _is_refused(response: Any) -> bool:
    """Whether the broker that answers is not the controller, or knows less than the leader of a partition
    (BrokerToControllerRequestThread.handleResponse looks at the errors of all partitions, 3.0.2 and 3.3.2)."""
    if isinstance(response, AlterIsrResponse):
        return Errors.NOT_CONTROLLER in (response.error, *(error for _tp, error, _state in response.partitions))
    return response.error is Errors.NOT_CONTROLLER
