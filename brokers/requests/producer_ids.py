"""Ids for producers, from blocks of a thousand: brokers claim them in ZooKeeper (ProducerIdManager, 2.3.1), or, since
KIP-730 (3.0), ask the controller for them. A block is claimed when the first producer asks; Kafka's broker claims one
in ZooKeeper as it starts.
"""

from collections import deque
from collections.abc import Awaitable, Callable

from attrs import define, field

from emulator.kernel import Signal
from emulator.nodes import Process
from emulator.protocol.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse
from emulator.protocol.errors import Errors
from emulator.protocol.records import NO_PRODUCER_ID
from emulator.protocol.znodes import (
    PRODUCER_ID_BLOCK,
    PRODUCER_ID_BLOCK_SIZE,
    decode_producer_id_block,
    encode_producer_id_block,
)
from emulator.zookeeper import BadVersion, NodeExists, NoNode, SessionExpired, ZkClient

BLOCK_SIZE = PRODUCER_ID_BLOCK_SIZE
PREFETCHED_AT = BLOCK_SIZE // 10
"""A broker asks for the next block when so many ids are left (ProducerIdManager.PidPrefetchThreshold, 3.0)."""
FAILED_RETRY_US = 50_000
EXPIRED_RETRY_US = 1_000_000
Generated = Callable[[int], object]
"""Gets a producer id; ``NO_PRODUCER_ID`` where there is none yet, and its producer has to ask again."""


@define(eq=False)
class ProducerIds:
    """One broker's. What asks while a block is being claimed waits for it.

    Attributes:
        complete: ends a transition in which ids were given (``Purgatory.complete``): they may be written to a log.
    """

    process: Process
    zk: ZkClient
    complete: Callable[[], object] = field(default=lambda: None, kw_only=True)
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
            self.complete()

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


@define(eq=False)
class ControllersProducerIds(ProducerIds):
    """One broker's, since KIP-730 (RPCProducerIdManager, 3.0): the next block is asked for before the last one ends.

    Kafka's producer that waits for a block longer than request.timeout.ms, or for one that the controller cannot
    write, gets an error. Here it waits on. Since KAFKA-14694 (3.6) none waits.

    Attributes:
        ask: sends a request to the current controller, until one answers.
        waits: whether a producer waits where there is no id.
    """

    ask: Callable[[AllocateProducerIdsRequest], Awaitable[AllocateProducerIdsResponse]] = field(kw_only=True)
    broker_epoch: Callable[[], int] = field(kw_only=True)
    waits: bool = True
    _following: int | None = None
    """Where the block begins that was asked for ahead."""
    _asked: Signal | None = None
    """Ends the wait for a request that is under way."""

    def generate(self, generated: Generated) -> None:
        if not self.waits and self._next == self._end:
            if self._following is not None:
                self._next, self._following = self._following, None
                self._end = self._next + BLOCK_SIZE
            else:
                self._ask_ahead()
                generated(NO_PRODUCER_ID)
                return
        super().generate(generated)
        if self._end - self._next <= PREFETCHED_AT and not self._waiting:
            self._ask_ahead()

    def _ask_ahead(self) -> None:
        if self._following is None and self._asked is None:
            self._asked = Signal(self.process.world, "a block of producer ids")
            self.process.spawn(self._prefetch, self._asked, name="next producer ids")

    async def _prefetch(self, asked: Signal) -> None:
        self._following = await self._ask_for_block()
        self._asked = None
        asked.set()

    async def _next_block(self) -> int:
        if self._asked is not None:
            await self._asked.wait()
        if self._following is None:
            return await self._ask_for_block()
        start, self._following = self._following, None
        return start

    async def _ask_for_block(self) -> int:
        while True:
            response = await self.ask(AllocateProducerIdsRequest(self.process.node.id, self.broker_epoch()))
            if response.error is Errors.NONE:
                return response.start
            await self.process.world.sleep(FAILED_RETRY_US, background=True)
