"""M4: what a controller has queued for a broker arrives there."""

from __future__ import annotations

from emulator.protocol.control_requests import ControlChannelClosed, ControlDelivered, ControlQueued
from emulator.protocol.events import ControllerElected, ControllerResigned, NodeCrashed
from emulator.trace import Event
from scenarios.observe.checkers.checker import Gravity, Moment, forget
from scenarios.observe.checkers.in_time import InTime
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.control_facts import ChannelClosed, RequestDropped, RequestWaits
from scenarios.observe.history.control_queues import Channel

UNKNOWN = -1
"""A request without a broker epoch, from before KIP-380."""


class RequestsDelivered(InTime[Channel]):
    """A control request is answered by its broker, unless the broker is replaced by a later incarnation or the
    controller by another.

    Verified: requests are answered in the order in which they were queued; a controller that stays drops no queue of a
        broker that has been registered since the request was queued, unless the request is for an earlier incarnation
        (KIP-380), and closes no channel, empty or not, to a broker that is there as it was when the channel was opened;
        once a second, and when the cluster is at rest, no
        request waits at the head of its queue for too long while the controller reaches its broker. The bound is
        controller.socket.timeout.ms (a request whose connection is lost is sent again after that) and 5 s.

    Not verified: that every request is sent that should be (M4, ``replicas_notified``); what the broker does with it.
    """

    ids = ("M4", "V11")
    gravity = Gravity.LIVENESS
    statement = "queued(m, b) ⇒ answered within T ∨ b or the controller replaced: a control request reaches its broker"
    catches = ("KAFKA-4443", "KAFKA-9839")
    fails_when = "a request is given up with its connection"

    def begin(self) -> None:
        super().begin()
        self.bound_us = self.start.time_us("controller.socket.timeout.ms", 30_000) + SETTLING_US
        self._queues = self.history.control_queues
        self._first: dict[Channel, ControlQueued] = {}
        """The first request of each channel that is open."""

    def on_queued(self, event: ControlQueued) -> None:
        self._first.setdefault((event.node, event.broker), event)
        self.lasting.begin((event.node, event.broker), event.t_us)

    def on_delivered(self, event: ControlDelivered) -> None:
        channel, dropped = (event.node, event.broker), self._queues.dropped
        if dropped is None:
            return
        for queued in dropped:
            self._dropped(event, queued)
        self.lasting.end(channel)
        if self._queues.queue(channel):
            self.lasting.begin(channel, event.t_us)

    def on_closed(self, event: ControlChannelClosed) -> None:
        first, dropped = self._first.pop((event.node, event.broker), None), self._queues.dropped or ()
        self.lasting.end((event.node, event.broker))
        if event.resigns:
            return
        for queued in filter(self._is_for_the_registered, dropped):
            self._dropped(event, queued)
        if not dropped and first is not None and self._is_for_the_registered(first):
            self.violated(event, ChannelClosed(event.node, event.broker, first.t_us))

    def _is_for_the_registered(self, queued: ControlQueued) -> bool:
        """Whether its broker is registered as it was when the request was queued."""
        registration = self.cluster.registrations.get(queued.broker)
        if registration is None or UNKNOWN < queued.request.broker_epoch < registration.epoch:
            return False
        return registration.t_us < queued.t_us

    def _dropped(self, event: Event, queued: ControlQueued) -> None:
        facts = RequestDropped(queued.node, queued.request.controller_epoch, _name(queued), queued.broker, queued.t_us)
        self.violated(event, facts)

    def on_other_controller(self, event: ControllerResigned | ControllerElected | NodeCrashed) -> None:
        self.lasting.end_all(lambda channel: channel[0] == event.node)
        forget(event.node, self._first)

    def report(self, moment: Moment, channel: Channel, held_us: int) -> None:
        node, broker = channel
        queue = self._queues.queue((node, broker))
        self.violated(moment, RequestWaits(node, _name(queue[0]), broker, held_us, len(queue) - 1))

    def free_since_us(self, channel: Channel) -> int | None:
        node, broker = channel
        return self.now.reached_since_us(broker) if node == self.cluster.controller else None


def _name(queued: ControlQueued) -> str:
    return queued.request.api.name
