"""Selection of the events that a timeline shows: of one partition, or of the cluster."""

from __future__ import annotations

import re
from typing import Any

from emulator.protocol import events as e
from emulator.protocol import znodes
from emulator.protocol.types import TopicPartition
from emulator.trace.events import Step, ZkSession, ZkWritten
from scenarios.observe.timeline.log_changes import METRICS

_SEPARATORS = re.compile(r"[, ()]+")

_CLUSTER = (
    e.Fault, e.Drawn, e.NodeStarted, e.NodeCrashed, e.BrokerRegistered, e.ControllerElected, e.ControllerResigned,
    e.Violated,
)  # fmt: skip


def may_name(request: e.ControlRequest, tp: TopicPartition) -> bool:
    """Whether a control request names a partition, or names more partitions than its event lists."""
    return str(tp) in _SEPARATORS.split(request.detail) or " more" in request.detail


class Everything:
    """All events of the cluster, except the positions of its fetchers, routes (faults name them) and metrics."""

    def concerns(self, event: Any) -> bool:
        kind = type(event)
        return kind not in (e.FetchPosition, e.RoutesChanged) and kind not in METRICS


class OfPartition:
    """The events of one partition, and those of brokers and controllers."""

    def __init__(self, tp: TopicPartition) -> None:
        self._tp = tp
        self._paths = (
            znodes.state_path(tp), znodes.topic_path(tp.topic), znodes.CONTROLLER, znodes.CONTROLLER_EPOCH,
        )  # fmt: skip
        self._named = f'"topic":"{tp.topic}","partition":{tp.partition}'
        self._requests: dict[int, None] = {}
        self._admin_names_it = False

    def concerns(self, event: Any) -> bool:
        kind = type(event)
        if kind in _CLUSTER:
            return True
        if kind in METRICS:
            return False
        if kind is ZkWritten:
            return self._written(event)
        if kind is ZkSession:
            return bool(event.state == "expired")
        if kind is e.ControlRequest:
            return self._requested(event)
        if kind is e.ControlResponse:
            return event.cause in self._requests
        if kind is Step and not event.topic:
            return True
        topic = getattr(event, "topic", None)
        return bool(topic == self._tp.topic and event.partition in (self._tp.partition, -1))

    def _written(self, event: ZkWritten) -> bool:
        if event.path == znodes.REASSIGN_PARTITIONS:
            # Also the write that no longer names the partition, and the one that removes the node.
            named, self._admin_names_it = self._admin_names_it, self._is_named(event)
            return named or self._admin_names_it
        return event.path in self._paths or self._is_named(event)

    def _is_named(self, event: ZkWritten) -> bool:
        rest = event.data.partition(self._named)[2]
        return event.op != "delete" and bool(rest) and not rest[0].isdigit()

    def _requested(self, event: e.ControlRequest) -> bool:
        """LeaderAndIsr and StopReplica that name the partition, or that name more partitions than the event lists.
        UpdateMetadata is left out: it goes to every broker."""
        if event.api == "UpdateMetadata":
            return False
        named = may_name(event, self._tp)
        if named:
            self._requests[event.seq] = None
        return named
