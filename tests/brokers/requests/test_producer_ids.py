"""Blocks of producer ids that the controller gives (RPCProducerIdManager, 3.0; KIP-730)."""

from typing import Any, cast

from attrs import define, field

from brokers.requests.producer_ids import BLOCK_SIZE, PREFETCHED_AT, ControllersProducerIds
from emulator.kernel import Mailbox, World
from emulator.nodes import Process
from emulator.protocol.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse
from emulator.protocol.errors import Errors
from emulator.protocol.records import NO_PRODUCER_ID
from emulator.zookeeper import ZkClient
from tests.brokers.one_process import play


@define(eq=False)
class Desk:
    """A broker's source of ids in a process of its own, and a controller's answers."""

    world: World = field(factory=lambda: World(1))
    asked: list[AllocateProducerIdsRequest] = field(factory=list)
    given: list[int] = field(factory=list)
    ids: ControllersProducerIds = field(init=False)
    answers: Mailbox = field(init=False)

    async def main(self, process: Process) -> None:
        self.answers = Mailbox(self.world)
        self.ids = ControllersProducerIds(process, cast(ZkClient, None), ask=self._ask, broker_epoch=lambda: 42)

    async def _ask(self, request: AllocateProducerIdsRequest) -> AllocateProducerIdsResponse:
        self.asked.append(request)
        response: AllocateProducerIdsResponse = await self.answers.get()
        return response

    async def want(self, count: int) -> None:
        for _ in range(count):
            self.ids.generate(self.given.append)
        await self.world.sleep(1)

    async def answer(self, start: int, error: Errors = Errors.NONE) -> None:
        self.answers.put(AllocateProducerIdsResponse(error, start, BLOCK_SIZE))
        await self.world.sleep(1)

    def play(self, test: Any) -> None:
        play(self.world, self.main, test, self)


def test_the_first_producers_wait_for_a_block_and_the_next_one_is_asked_for_before_it_ends() -> None:
    async def test(desk: Desk) -> None:
        await desk.want(3)
        assert [(each.broker, each.broker_epoch) for each in desk.asked] == [(0, 42)]
        assert desk.given == []
        await desk.answer(5000)
        assert desk.given == [5000, 5001, 5002]
        await desk.want(BLOCK_SIZE - PREFETCHED_AT - 4)
        assert len(desk.asked) == 1
        await desk.want(1)
        assert len(desk.asked) == 2
        await desk.want(PREFETCHED_AT + 2)
        assert desk.given[-1] == 5999
        await desk.answer(9000)
        assert desk.given[-2:] == [9000, 9001]
        assert len(desk.asked) == 2

    Desk().play(test)


def test_a_block_that_came_ahead_is_used_when_the_last_one_is() -> None:
    async def test(desk: Desk) -> None:
        await desk.want(1)
        await desk.answer(0)
        await desk.want(BLOCK_SIZE - PREFETCHED_AT)
        await desk.answer(7000)
        await desk.want(PREFETCHED_AT)
        assert desk.given == [*range(BLOCK_SIZE), 7000]

    Desk().play(test)


def test_an_error_is_asked_about_again() -> None:
    async def test(desk: Desk) -> None:
        await desk.want(1)
        await desk.answer(0, Errors.STALE_BROKER_EPOCH)
        await desk.world.sleep(1_000_000)
        assert len(desk.asked) == 2
        await desk.answer(3000)
        assert desk.given == [3000]

    Desk().play(test)


def test_since_kafka_14694_no_producer_waits_for_a_block() -> None:
    async def test(desk: Desk) -> None:
        desk.ids.waits = False
        await desk.want(2)
        assert (desk.given, len(desk.asked)) == ([NO_PRODUCER_ID] * 2, 1)
        await desk.answer(5000)
        await desk.want(BLOCK_SIZE - PREFETCHED_AT)
        assert (desk.given[2], len(desk.asked)) == (5000, 2)
        await desk.want(PREFETCHED_AT + 1)
        assert desk.given[-2:] == [5999, NO_PRODUCER_ID]
        await desk.answer(9000)
        await desk.want(1)
        assert (desk.given[-1], len(desk.asked)) == (9000, 2)

    Desk().play(test)
