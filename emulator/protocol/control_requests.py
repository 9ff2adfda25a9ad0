"""The controller's requests with all that they say, and its state changes. They are shown to folds and not recorded
(``Trace.show``), since the trace would be many times as large."""

from collections.abc import Mapping
from typing import NamedTuple

from emulator.protocol.api import AbstractControlRequest
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition


class ControlQueued(NamedTuple):
    """The controller queued a request for a broker."""

    t_us: int
    seq: int
    cause: int
    node: int
    broker: int
    request: AbstractControlRequest


class ControlDelivered(NamedTuple):
    """A broker's response to the request at the head of its queue has arrived."""

    t_us: int
    seq: int
    cause: int
    node: int
    broker: int
    request: AbstractControlRequest


class ControlChannelClosed(NamedTuple):
    """The controller closed the queue of a broker, and dropped what was in it.

    Attributes:
        resigns: whether it closes the queues of all brokers, because it is not the controller any more.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    broker: int
    resigns: bool


class PartitionsChanged(NamedTuple):
    """The partition state machine changed partitions.

    Attributes:
        before: the state of each partition before (Kafka's numbers: 0 New, 1 Online, 2 Offline, 3 NonExistent).
        after: the state of all of them.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    partitions: tuple[TopicPartition, ...]
    before: tuple[int, ...]
    after: int


class ReplicasChanged(NamedTuple):
    """The replica state machine changed replicas on one broker.

    Attributes:
        before: the state of each replica before (Kafka's numbers: 1 New, 2 Online, 3 Offline, 4 to 6 DeletionStarted,
            DeletionSuccessful and DeletionIneligible, 7 NonExistent).
        after: the state of all of them.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    broker: int
    partitions: tuple[TopicPartition, ...]
    before: tuple[int, ...]
    after: int


class ControlHandled(NamedTuple):
    """A broker handled a control request. Its ``ControlResponse`` is the last recorded event."""

    t_us: int
    seq: int
    cause: int
    node: int
    request: AbstractControlRequest
    error: Errors


class TopicsAnswered(NamedTuple):
    """A controller answers a client's request about topics.

    Attributes:
        asked: ``create``, also for partitions that are added, or ``delete``.
        partitions: the topics that the answer names without an error, each with the partitions that were asked for.
        known: those of them that are in the broker's metadata: with a leader, where they were created.
        settings: the settings that were asked for, of each topic that was created.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    asked: str
    partitions: Mapping[str, tuple[int, ...]]
    known: Mapping[str, tuple[int, ...]]
    settings: Mapping[str, Mapping[str, str | None]] = {}
