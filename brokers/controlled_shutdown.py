"""Asking the controller to move leadership away before the process ends (KafkaServer.controlledShutdown, 2.3).

The broker asks up to controlled.shutdown.max.retries times, with a pause of controlled.shutdown.retry.backoff.ms after
each failure, the last one included; then it ends without the controller.
"""

from collections.abc import Callable

from attrs import define

from brokers.broker_config import BrokerConfig
from brokers.metadata_cache import MetadataCache
from emulator.kernel import Busy
from emulator.logger import get_logger
from emulator.network import Client, Disconnected
from emulator.nodes import Process
from emulator.protocol.controlled_shutdown import ControlledShutdownRequest, ControlledShutdownResponse
from emulator.protocol.errors import Errors
from emulator.protocol.events import ControlledShutdownAnswered
from emulator.protocol.znodes import CONTROLLER, broker_path, decode_controller
from emulator.zookeeper import NoNode, SessionExpired, ZkClient

log = get_logger("brokers.shutdown")


@define(eq=False)
class ControlledShutdown:
    """The controlled shutdown of one broker.

    Attributes:
        connect: opens a connection to a broker's listener.
        broker_epoch: the current broker epoch; it changes if the session expires during the shutdown.
        metadata: where it finds the controller; None: in ZooKeeper.
    """

    process: Process
    zk: ZkClient
    config: BrokerConfig
    connect: Callable[[int], Client]
    broker_epoch: Callable[[], int]
    metadata: MetadataCache | None = None
    _client: Client | None = None

    async def ask(self) -> bool:
        """Ask until no partition is left to move. Returns whether that was reached."""
        for attempt in range(1, self.config.controlled_shutdown_max_retries + 1):
            try:
                await self._find_controller()
            except SessionExpired:
                break  # Kafka ignores the exception, and ends without the controller
            if self._client is not None and await self._moved_all(self._client, attempt):
                return True
            await self.process.world.sleep(self.config.controlled_shutdown_retry_backoff_us)
        log.warning("going down without the controller", broker=self.process.node.id)
        return False

    async def _find_controller(self) -> None:
        """Connect to the broker that /controller names, if it is registered; else keep the last known one. Since
        KAFKA-9189 (3.0) the broker's metadata is asked, which it has without ZooKeeper."""
        if self.metadata is not None:
            if self.metadata.controller in self.metadata.live_brokers:
                self._connect_to(self.metadata.controller)
            return
        try:
            data, _ = await self.zk.get(CONTROLLER)
        except NoNode:
            return
        controller = decode_controller(data)
        if await self.zk.exists(broker_path(controller)) is None:
            return
        self._connect_to(controller)

    def _connect_to(self, controller: int) -> None:
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
        process.anchor(ControlledShutdownAnswered, process.node.id, client.host, attempt, error, left)
        return error == Errors.NONE.name and left == 0
