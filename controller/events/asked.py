"""Events that somebody waits for."""

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from attrs import define

from controller.events.state import ControllerState
from emulator.network import Channel

if TYPE_CHECKING:
    from controller.controller import Controller

Request = TypeVar("Request")


@define(eq=False)
class Asked(Generic[Request]):
    """A request, to be answered once: when the event is done, or as soon as it will not be (``Preemptable``)."""

    state: ClassVar[ControllerState]

    request: Request
    channel: Channel

    async def process(self, controller: "Controller", /) -> None:
        raise NotImplementedError

    def answer(self, response: Any) -> None:
        self.channel.reply(response, response.size)
