"""Asking the controller to take over before the process ends (KafkaServer.controlledShutdown, 2.3).

Up to controlled.shutdown.max.retries times, controlled.shutdown.retry.backoff.ms apart, that pause included after the
last failure; then the broker goes down all the same.
"""

from collections.abc import Callable

import structlog
from attrs import define

from brokers.config import BrokerConfig
from emulator.kernel import Busy
from emulator.network import Client, Disconnected
from emulator.nodes import Process
from emulator.protocol.controlled_shutdown import ControlledShutdownRequest, ControlledShutdownResponse
from emulator.protocol.errors import Errors
from emulator.protocol.events import ShutdownAsked
from emulator.protocol.znodes import CONTROLLER, broker_path, decode_controller
from emulator.zookeeper import NoNode, SessionExpired, ZkClient

log = structlog.get_logger("brokers.shutdown")


@define(eq=False)
class ControlledShutdown:
    """One broker on its way down.

    Attributes:
        connect: a connection to a broker's listener.
        broker_epoch: this incarnation's; a new session during the shutdown brings a new one.
    """

    process: Process
    zk: ZkClient
    config: BrokerConfig
    connect: Callable[[int], Client]
    broker_epoch: Callable[[], int]
    _client: Client | None = None

    async def ask(self) -> bool:
        """Ask until nothing is left to move. Returns whether it came to that."""
        for attempt in range(1, self.config.controlled_shutdown_max_retries + 1):
            try:
                await self._find_controller()
            except SessionExpired:
                break  # what Kafka's shutdown swallows, and goes on without the controller
            if self._client is not None and await self._moved_all(self._client, attempt):
                return True
            await self.process.world.sleep(self.config.controlled_shutdown_retry_backoff_us)
        log.warning("going down without the controller", broker=self.process.node.id)
        return False

    async def _find_controller(self) -> None:
        """The broker that /controller names, if it is registered. Without one the last one known is asked again."""
        try:
            data, _ = await self.zk.get(CONTROLLER)
        except NoNode:
            return
        controller = decode_controller(data)
        if await self.zk.exists(broker_path(controller)) is None:
            return
        if self._client is None or self._client.host != controller:
            self._client = self.connect(controller)

    async def _moved_all(self, client: Client, attempt: int) -> bool:
        process = self.process
        request = ControlledShutdownRequest(process.node.id, self.broker_epoch())
        with Busy(process.world):
            try:
                response: ControlledShutdownResponse = await client.call(request, request.size)
                error, left = response.error.name, len(response.remaining)
            except Disconnected:
                error, left = "DISCONNECTED", -1
        process.anchor(ShutdownAsked, process.node.id, client.host, attempt, error, left)
        return error == Errors.NONE.name and left == 0
