"""An API that is declared outside the package: a router finds its handler, and a trigger waits for its messages."""

from collections.abc import Iterable, Iterator

import pytest
from attrs import define

from brokers.requests import Router, handles
from emulator.network import Channel, Client, serve
from emulator.nodes import Process
from emulator.protocol.api import Api, Request, Response, declare, withdraw
from emulator.protocol.events import Fault
from emulator.protocol.types import TopicPartition
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.runs.runner import Stage
from tests.scenarios.runs.building import TP, play, scenario

PORT = "watermarks"


@define(eq=False)
class DescribeWatermarkRequest(Request):
    tp: TopicPartition
    size: int = 20

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (self.tp,)


@define(eq=False)
class DescribeWatermarkResponse(Response):
    offset: int
    size: int = 20


@define(eq=False)
class WatermarkHandler:
    """Answers on one broker."""

    asked: list[TopicPartition]

    @handles(DescribeWatermarkRequest)
    def describe(self, request: DescribeWatermarkRequest, channel: Channel) -> None:
        self.asked.append(request.tp)
        channel.reply(DescribeWatermarkResponse(7), 20)


@pytest.fixture
def api() -> Iterator[Api]:
    declared = declare(
        1000, "DescribeWatermark", DescribeWatermarkRequest, DescribeWatermarkResponse, help="of this test alone"
    )
    yield declared
    withdraw(declared)


def waiting(**when: object) -> Scenario:
    """Expire broker 2's session at a DescribeWatermark; a broker without partitions, so that little follows."""
    trigger = {"message": "DescribeWatermark", "edge": "delivered", **when}
    method = [{"when": trigger, "action": "zk.expire", "target": 2}]
    return scenario(brokers=3, controller=0, assignment=[[0, 1]], method=method)


def test_its_messages_are_routed_and_trigger_an_action(api: Api) -> None:
    asked: list[TopicPartition] = []
    answers: list[DescribeWatermarkResponse] = []

    def begin(stage: Stage) -> None:
        cluster = stage.cluster

        def install(_: object) -> None:
            router = Router()
            router.add(WatermarkHandler(asked))
            leader, client = (cluster.nodes[broker].process for broker in (0, 1))
            assert leader is not None
            assert client is not None
            serve(cluster.network, leader, PORT, router.handle)
            client.spawn(ask, client)

        async def ask(client: Process) -> None:
            connection = Client(cluster.network, client, 0, PORT, 30_000_000)
            for tp in (TopicPartition("orders", 1), TP):
                answers.append(await connection.call(DescribeWatermarkRequest(tp), 20))

        cluster.world.call_later(10_000_000, install, None, True)

    played = play(waiting(partition="orders-0", **{"from": 1, "to": 0}), before=begin)
    [expired] = played.of(Fault, lambda event: event.action == "zk.expire")
    assert asked == [TopicPartition("orders", 1), TP]
    assert [answer.offset for answer in answers] == [7, 7]
    assert expired.target == "2"
    assert expired.t_us > 10_000_000
    assert played.run.passed, played.run.explanation


def test_its_answers_name_no_partitions(api: Api) -> None:
    with pytest.raises(BadInput, match="the answer to DescribeWatermark names no partitions; leave 'topic' out"):
        waiting(response=True, topic="orders")


def test_a_message_that_is_not_declared_is_refused() -> None:
    with pytest.raises(BadInput, match="unknown message 'DescribeWatermark'"):
        waiting()
