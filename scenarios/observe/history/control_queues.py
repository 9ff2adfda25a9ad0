"""The requests that a controller has queued for brokers, and that are not answered yet.

A broker carries out one control request after the other. How long it takes is up to the broker, and that the first of
them is answered in time is checked by ``requests_delivered``. So a checker that waits for what one of them says begins
to wait when it is answered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from emulator.protocol.control_requests import ControlChannelClosed, ControlDelivered, ControlQueued
from emulator.protocol.events import ControllerElected, ControllerResigned, NodeCrashed
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest
from emulator.protocol.types import TopicPartition
from scenarios.observe.past.cluster_state import FoldedState

Channel = tuple[int, int]
"""A controller and a broker."""


class ControlQueues:
    """The fold: the queue of each broker at each controller.

    Attributes:
        dropped: the requests that the last answer, or the last end of a channel, has left without an answer; None: the
            answer is to one from an earlier term, which the controller lost without resigning.
    """

    def __init__(self, cluster: FoldedState) -> None:
        self._cluster = cluster
        self._queues: dict[Channel, deque[ControlQueued]] = {}
        self.dropped: list[ControlQueued] | None = None

    def queue(self, channel: Channel) -> Sequence[ControlQueued]:
        """The requests without an answer, in their order."""
        return self._queues.get(channel, ())

    def waiting_states(self, broker: int, tp: TopicPartition) -> Iterator[LeaderAndIsrPartition]:
        """The states of ``tp`` in the LeaderAndIsr requests that the controller has queued for ``broker``. It walks the
        queue: ask it of what is overdue only."""
        for queued in self._queues.get((self._cluster.controller, broker), ()):
            if isinstance(queued.request, LeaderAndIsrRequest):
                yield from (state for state in queued.request.partitions if state.tp == tp)

    def on_queued(self, event: ControlQueued) -> None:
        self._queues.setdefault((event.node, event.broker), deque()).append(event)

    def on_delivered(self, event: ControlDelivered) -> None:
        queue = self._queues.get((event.node, event.broker))
        self.dropped = None
        if queue and event.request.controller_epoch < queue[0].request.controller_epoch:
            return
        self.dropped = []
        while queue and (first := queue.popleft()).request is not event.request:
            self.dropped.append(first)

    def on_closed(self, event: ControlChannelClosed) -> None:
        self.dropped = list(self._queues.pop((event.node, event.broker), ()))

    def on_other_controller(self, event: ControllerResigned | ControllerElected | NodeCrashed) -> None:
        for channel in [channel for channel in self._queues if channel[0] == event.node]:
            del self._queues[channel]
