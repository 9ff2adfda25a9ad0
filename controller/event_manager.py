"""The controller's event queue (KAFKA-5028, Kafka 0.11): watches, responses and timers only put events in; all state
belongs to the one task that takes them out."""

from collections.abc import Awaitable, Callable

from attrs import define, field

from controller.events import Event
from controller.metrics.event_metrics import EventMetrics
from emulator.kernel import Busy, Mailbox
from emulator.nodes import Process


@define(eq=False, repr=False)
class ControllerEventManager:
    """First in, first out, one at a time. Each event carries the cause that the trace had when it was put.

    Attributes:
        process_event: processes one event.
    """

    process: Process
    process_event: Callable[[Event], Awaitable[None]]
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

    def clear_and_put(self, event: Event) -> list[Event]:
        """Drop everything queued, so that ``event`` comes after the one in progress. Returns what was dropped."""
        dropped = [dropped for dropped, _cause, _put_us in self._mailbox.clear()]
        self.put(event)
        return dropped

    async def _run(self) -> None:
        world, trace = self.process.world, self.process.node.trace
        while True:
            event, cause, put_us = await self._mailbox.get()
            with Busy(world), self._metrics.handling(event.state, put_us):
                trace.cause = cause
                await self.process_event(event)
