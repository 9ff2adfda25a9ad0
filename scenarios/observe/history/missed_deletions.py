"""The brokers that may go on to know a topic which is deleted, because nothing has told them."""

from __future__ import annotations

from emulator.protocol.control_requests import ControlChannelClosed, ControlDelivered, ControlQueued
from emulator.protocol.events import ControllerElected, ControllerResigned, NodeCrashed
from emulator.protocol.types import LEADER_DURING_DELETE
from emulator.protocol.update_metadata import UpdateMetadataRequest
from emulator.protocol.znodes import DELETE_TOPICS
from emulator.trace.events import ZkWritten
from scenarios.observe.past.cluster_state import FoldedState


class MissedDeletions:
    """The fold: when the deletion of each topic was asked for, and whether each broker has been notified.

    A controller tells it to each live broker once, by an UpdateMetadata. A broker that registers again is sent what
    there is, without the topics that are being deleted (ControllerContext.partitionsWithLeaders, 2.4 to 2.7). What a
    controller has queued for a broker is gone with its term, and the next one does not know the topic
    (ControllerChannelManager.shutdown, 1.1 to 3.9).
    """

    def __init__(self, cluster: FoldedState) -> None:
        self._cluster = cluster
        self._asked_us: dict[str, int] = {}
        self._queued: dict[tuple[int, int], list[UpdateMetadataRequest]] = {}
        """The requests without an answer that tell of deletions, by controller and broker."""
        self._lost: dict[int, dict[str, None]] = {}
        """The topics of such requests that were lost, by broker."""

    def is_missed(self, broker: int, topic: str) -> bool:
        """Whether a broker may still know ``topic``, which was deleted."""
        asked_us, cluster = self.asked_us(topic), self._cluster
        if (cluster.started_us(broker) or 0) > asked_us:
            return False
        registered_us = cluster.registered_us(broker)
        return registered_us is None or registered_us >= asked_us or topic in self._lost.get(broker, ())

    def asked_us(self, topic: str) -> int:
        """When the last deletion of a topic of that name was asked for; 0: none was."""
        return self._asked_us.get(topic, 0)

    def on_written(self, event: ZkWritten) -> None:
        if event.op == "create" and event.path.startswith(f"{DELETE_TOPICS}/"):
            self._asked_us[event.path.rpartition("/")[2]] = event.t_us

    def on_queued(self, event: ControlQueued) -> None:
        request = event.request
        if isinstance(request, UpdateMetadataRequest) and _deleted(request):
            self._queued.setdefault((event.node, event.broker), []).append(request)

    def on_delivered(self, event: ControlDelivered) -> None:
        queue = self._queued.get((event.node, event.broker), [])
        queue[:] = [request for request in queue if request is not event.request]

    def on_closed(self, event: ControlChannelClosed) -> None:
        self._lose((event.node, event.broker))

    def on_other_controller(self, event: ControllerResigned | ControllerElected | NodeCrashed) -> None:
        for channel in [channel for channel in self._queued if channel[0] == event.node]:
            self._lose(channel)

    def _lose(self, channel: tuple[int, int]) -> None:
        for request in self._queued.pop(channel, ()):
            self._lost.setdefault(channel[1], {}).update(_deleted(request))


def _deleted(request: UpdateMetadataRequest) -> dict[str, None]:
    return {state.tp.topic: None for state in request.partitions if state.leader == LEADER_DURING_DELETE}
