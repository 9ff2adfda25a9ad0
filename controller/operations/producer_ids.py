"""Brokers ask for blocks of producer ids (KafkaController.processAllocateProducerIds, 3.0; KIP-730)."""

from attrs import define

from controller.context import ControllerContext
from controller.events import AllocateProducerIds
from controller.zk_client import KafkaZkClient
from emulator.protocol.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse
from emulator.protocol.errors import Errors
from emulator.protocol.znodes import (
    PRODUCER_ID_BLOCK,
    PRODUCER_ID_BLOCK_SIZE,
    decode_producer_id_block,
    encode_producer_id_block,
)
from emulator.zookeeper import Create, GetData, SetData, ZkCode, ZkError


@define(eq=False, repr=False)
class ProducerIdBlocks:
    """Claims blocks in /latest_producer_id_block, each for the broker that asks. The writes are on condition of the
    znode's version alone, not of the controller epoch."""

    context: ControllerContext
    zk_client: KafkaZkClient

    async def process(self, event: AllocateProducerIds) -> None:
        event.answer(await self._answer(event.request))

    async def _answer(self, request: AllocateProducerIdsRequest) -> AllocateProducerIdsResponse:
        epoch = self.context.brokers.get(request.broker)
        if epoch is None:
            return AllocateProducerIdsResponse(Errors.BROKER_ID_NOT_REGISTERED)
        if epoch != request.broker_epoch:
            return AllocateProducerIdsResponse(Errors.STALE_BROKER_EPOCH)
        try:
            start = await self._claim(request.broker)
        except ZkError:
            return AllocateProducerIdsResponse(Errors.UNKNOWN_SERVER_ERROR)
        return AllocateProducerIdsResponse(Errors.NONE, start, PRODUCER_ID_BLOCK_SIZE)

    async def _claim(self, broker: int) -> int:
        """Claim the block after the last one; returns its first id. Where another broker is faster, claim the next."""
        while True:
            found = await self.zk_client.ask_one(GetData(PRODUCER_ID_BLOCK))
            start = 0 if found.stat is None else decode_producer_id_block(found.data) + 1
            data = encode_producer_id_block(broker, start, start + PRODUCER_ID_BLOCK_SIZE - 1)
            written = await self.zk_client.ask_one(
                Create(PRODUCER_ID_BLOCK, data)
                if found.stat is None
                else SetData(PRODUCER_ID_BLOCK, data, found.stat.version)
            )
            if written.error is ZkCode.OK:
                return start
