"""Ids for producers, from blocks of a thousand that brokers claim in ZooKeeper (ProducerIdManager, 2.3.1). A block is
claimed when the first producer asks; Kafka's broker claims one as it starts.
"""

from collections import deque
from collections.abc import Callable

from attrs import define, field

from emulator.nodes import Process
from emulator.protocol.znodes import PRODUCER_ID_BLOCK, decode_producer_id_block, encode_producer_id_block
from emulator.zookeeper import BadVersion, NodeExists, NoNode, SessionExpired, ZkClient

BLOCK_SIZE = 1000
EXPIRED_RETRY_US = 1_000_000
Generated = Callable[[int], object]
"""Gets a producer id."""


@define(eq=False)
class ProducerIds:
    """One broker's. What asks while a block is being claimed waits for it."""

    process: Process
    zk: ZkClient
    _next: int = 0
    _end: int = 0
    _waiting: deque[Generated] = field(factory=deque)

    def generate(self, generated: Generated) -> None:
        """Give ``generated`` an id that no other producer has, now or when a block of them is claimed."""
        self._waiting.append(generated)
        if self._next < self._end:
            self._answer()
        elif len(self._waiting) == 1:
            self.process.spawn(self._claim, name="producer ids")

    def _answer(self) -> None:
        while self._waiting and self._next < self._end:
            id = self._next
            self._next += 1
            self._waiting.popleft()(id)

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
