"""The controller's event queue (KAFKA-5028, Kafka 0.11): watches, answers and timers only put events in; all
state belongs to the one task that takes them out."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from attrs import define, field

from controller.events.state import ControllerState
from controller.metrics.events import EventMetrics
from emulator.kernel import Busy, Mailbox
from emulator.nodes import Process

if TYPE_CHECKING:
    from controller.controller import Controller


class Event(Protocol):
    """Something that happened. Handlers of an active controller begin by asking whether it still is. ``state``: what
    the controller is doing meanwhile, by the gauge ControllerState."""

    state: ClassVar[ControllerState]

    async def process(self, controller: "Controller", /) -> None: ...


@runtime_checkable
class Preemptable(Protocol):
    """An event that somebody waits for: it says so when it is dropped unprocessed."""

    def preempted(self, controller: "Controller", /) -> None: ...


@define(eq=False, repr=False)
class EventQueue:
    """First in, first out. Each event carries the trace event that it goes back to."""

    process: Process
    handle: Callable[[Event], Awaitable[None]]
    _mailbox: Mailbox = field(init=False)
    _metrics: EventMetrics = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._mailbox = Mailbox(self.process.world, f"controller events of {self.process.name}")
        self._metrics = EventMetrics(self.process, self._mailbox.__len__)

    def start(self) -> None:
        self.process.spawn(self._run, name="controller")

    def put(self, event: Event) -> None:
        self._mailbox.put((event, self.process.node.trace.cause, self.process.clock_us))
        self._metrics.put()

    def preempt(self, event: Event) -> list[Event]:
        """Drop everything queued: ``event`` is next, after the one in hand. Returns what was dropped."""
        dropped = [dropped for dropped, _cause, _put_us in self._mailbox.clear()]
        self.put(event)
        return dropped

    async def _run(self) -> None:
        world, trace = self.process.world, self.process.node.trace
        while True:
            event, cause, put_us = await self._mailbox.get()
            with Busy(world), self._metrics.handling(event.state, put_us):
                trace.cause = cause
                await self.handle(event)
