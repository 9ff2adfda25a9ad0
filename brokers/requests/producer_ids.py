"""InitProducerId: ids for idempotent producers, from blocks of a thousand that brokers claim in ZooKeeper
(ProducerIdManager, 2.3.1). A block is claimed when the first producer asks; Kafka's broker claims one as it starts.
"""

from collections import deque

from attrs import define, field

from brokers.requests.router import handles
from emulator.logger import get_logger
from emulator.network import Channel
from emulator.nodes import Process
from emulator.protocol.errors import Errors
from emulator.protocol.produce import InitProducerIdRequest, InitProducerIdResponse
from emulator.protocol.records import NO_PRODUCER_ID
from emulator.protocol.znodes import PRODUCER_ID_BLOCK, decode_producer_id_block, encode_producer_id_block
from emulator.zookeeper import BadVersion, NodeExists, NoNode, SessionExpired, ZkClient

BLOCK_SIZE = 1000
EXPIRED_RETRY_US = 1_000_000


@define(eq=False)
class ProducerIds:
    """Answers InitProducerId. Requests that come while a block is being claimed wait for it."""

    process: Process
    zk: ZkClient
    _next: int = 0
    _end: int = 0
    _waiting: deque[Channel] = field(factory=deque)

    @handles(InitProducerIdRequest)
    def init(self, request: InitProducerIdRequest, channel: Channel) -> None:
        error = self._refused(request)
        if error:
            channel.reply(InitProducerIdResponse(-1, error=error), 20)
            return
        self._waiting.append(channel)
        if self._next < self._end:
            self._answer()
        elif len(self._waiting) == 1:
            self.process.spawn(self._claim, name="producer ids")

    def _refused(self, request: InitProducerIdRequest) -> Errors:
        """A producer without transactions gets a new id, whichever it has (TransactionCoordinator, 2.3 to 3.0). There
        are no transactions."""
        if request.transactional_id is not None:
            get_logger("brokers.producer_ids").error(
                "transactions are not emulated; leave out transactional.id", transactional_id=request.transactional_id
            )
            return Errors.UNSUPPORTED_VERSION if request.transactional_id else Errors.INVALID_REQUEST
        half = (request.producer_id == NO_PRODUCER_ID) is not (request.producer_epoch == -1)
        return Errors.INVALID_REQUEST if half else Errors.NONE

    def _answer(self) -> None:
        while self._waiting and self._next < self._end:
            response = InitProducerIdResponse(self._next)
            self._next += 1
            self._waiting.popleft().reply(response, response.size)

    async def _claim(self) -> None:
        while self._waiting:
            try:
                start = await self._next_block()
            except (BadVersion, NodeExists):
                continue  # another broker was faster
            except SessionExpired:
                await self.process.world.sleep(EXPIRED_RETRY_US, background=True)
                continue
            self._next, self._end = start, start + BLOCK_SIZE
            self._answer()

    async def _next_block(self) -> int:
        """Claim the block after the last one. Returns where it begins."""
        broker = self.process.node.id
        try:
            data, stat = await self.zk.get(PRODUCER_ID_BLOCK)
        except NoNode:
            await self.zk.create(PRODUCER_ID_BLOCK, encode_producer_id_block(broker, 0, BLOCK_SIZE - 1))
            return 0
        start = decode_producer_id_block(data) + 1
        await self.zk.set(
            PRODUCER_ID_BLOCK, encode_producer_id_block(broker, start, start + BLOCK_SIZE - 1), stat.version
        )
        return start
