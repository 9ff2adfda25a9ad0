"""The requests of brokers and clients that the controller answers: each becomes an event that answers when it is done.

They arrive whether or not this controller is active; the event knows by then. If the event of a client's request fails
there is no answer, and the client's timeout ends its wait, as in Kafka.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from controller.events.asked import Asked
from emulator.network import Channel
from emulator.protocol.api import Request

if TYPE_CHECKING:
    from controller.controller import Controller

Event = TypeVar("Event", bound=type[Asked[Any]])

_events: dict[type[Request], type[Asked[Any]]] = {}


def answers(request: type[Request]) -> Callable[[Event], Event]:
    """Declare that each request of this class becomes an event of the decorated class."""

    def declare(event: Event) -> Event:
        assert request not in _events, f"two events for {request.__name__}"
        _events[request] = event
        return event

    return declare


def serve(c: "Controller") -> None:
    """Have the requests that an event answers put into the queue of events."""
    for request, event in _events.items():
        c.serve(request, partial(_queue, c, event))


def _queue(c: "Controller", event: type[Asked[Any]], request: Any, channel: Channel) -> None:
    c.queue.put(event(request, channel))
