"""A broker's requests to the controller: NodeToControllerRequestThreadTest (3.9; BrokerToControllerRequestThreadTest
since 2.8)."""

from typing import Any, cast

from attrs import define, field

from brokers.metadata_cache import MetadataCache
from brokers.to_controller import RECONNECT_US, BrokerToControllerChannel
from emulator.kernel import World
from emulator.network import Client, Disconnected
from emulator.nodes import Process
from emulator.protocol.alter_isr import AlterIsrRequest, AlterIsrResponse
from emulator.protocol.errors import Errors
from emulator.protocol.update_metadata import UpdateMetadataRequest
from tests.brokers.one_process import play

OLD, NEW = 1, 2
ASKED = AlterIsrRequest(0, 42, ())


@define(eq=False)
class Line:
    """A connection to one broker, with the answers that it gives; None: it is lost."""

    channels: "Channels"
    host: int
    closed: bool = False

    async def call(self, request: Any, _size: int) -> Any:
        self.channels.asked.append((self.channels.world.now, self.host))
        answer = self.channels.answers.pop(0)
        if answer is None:
            raise Disconnected("gone")
        return answer

    def close(self) -> None:
        self.closed = True


@define(eq=False)
class Channels:
    """The channel of a broker whose metadata a test changes."""

    world: World = field(factory=lambda: World(1))
    answers: list[Any] = field(factory=list)
    asked: list[tuple[int, int]] = field(factory=list)
    lines: list[Line] = field(factory=list)
    metadata: MetadataCache = field(init=False)
    channel: BrokerToControllerChannel = field(init=False)

    async def main(self, process: Process) -> None:
        self.metadata = MetadataCache()
        self.channel = BrokerToControllerChannel(process, self.metadata, self._connect)

    def _connect(self, host: int) -> Client:
        self.lines.append(Line(self, host))
        return cast(Client, self.lines[-1])

    def learn(self, controller: int) -> None:
        self.metadata.update(UpdateMetadataRequest(controller, controller, -1, (), (0, OLD, NEW)))


def test_not_controller() -> None:
    """testNotController: it asks the controller that its metadata names by then."""

    async def test(channels: Channels) -> None:
        channels.learn(OLD)
        channels.answers += [AlterIsrResponse(Errors.NOT_CONTROLLER, ()), AlterIsrResponse(Errors.NONE, ())]
        channels.world.call_later(RECONNECT_US // 2, lambda _: channels.learn(NEW), None)
        response = await channels.channel.send_request(ASKED)
        assert response.error is Errors.NONE
        assert [host for _, host in channels.asked] == [OLD, NEW]
        assert [line.closed for line in channels.lines] == [True, False]

    channels = Channels()
    play(channels.world, channels.main, test, channels)


def test_controller_changed() -> None:
    """testControllerChanged: the connection to the old controller is lost."""

    async def test(channels: Channels) -> None:
        channels.learn(OLD)
        channels.answers += [None, AlterIsrResponse(Errors.NONE, ())]
        channels.world.call_later(RECONNECT_US // 2, lambda _: channels.learn(NEW), None)
        assert (await channels.channel.send_request(ASKED)).error is Errors.NONE
        assert [host for _, host in channels.asked] == [OLD, NEW]

    channels = Channels()
    play(channels.world, channels.main, test, channels)
