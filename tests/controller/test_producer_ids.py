"""AllocateProducerIds at the controller (KafkaController.processAllocateProducerIds, 3.0; KIP-730)."""

from emulator.protocol.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse
from emulator.protocol.errors import Errors
from emulator.protocol.znodes import PRODUCER_ID_BLOCK, decode_producer_id_block
from tests.controller.lab import Lab, run


def request(lab: Lab, broker: int, late: int = 0) -> AllocateProducerIdsRequest:
    return AllocateProducerIdsRequest(broker, lab.active.context.brokers[broker] + late)


def test_each_broker_gets_a_block_of_its_own() -> None:
    async def test(lab: Lab) -> None:
        answers: list[AllocateProducerIdsResponse] = [await lab.ask(request(lab, broker)) for broker in (0, 1, 0)]
        assert [(each.error, each.start, each.length) for each in answers] == [
            (Errors.NONE, 0, 1000), (Errors.NONE, 1000, 1000), (Errors.NONE, 2000, 1000),
        ]  # fmt: skip
        assert decode_producer_id_block(lab.zookeeper.tree.get(PRODUCER_ID_BLOCK) or "") == 2999

    run(test, brokers=3, joins=False)


def test_an_earlier_incarnation_and_a_stranger_get_none() -> None:
    async def test(lab: Lab) -> None:
        late = await lab.ask(request(lab, 0, -1))
        stranger = await lab.ask(AllocateProducerIdsRequest(17, 1))
        assert (late.error, stranger.error) == (Errors.STALE_BROKER_EPOCH, Errors.BROKER_ID_NOT_REGISTERED)
        assert lab.zookeeper.tree.get(PRODUCER_ID_BLOCK) is None

    run(test, brokers=3, joins=False)
