"""The controller: its election, its requests to brokers, and the leaders that it elects."""

from typing import NamedTuple


class ControllerElected(NamedTuple):
    t_us: int
    seq: int
    cause: int
    node: int
    controller_epoch: int


class ControllerResigned(NamedTuple):
    t_us: int
    seq: int
    cause: int
    node: int
    controller_epoch: int


class ControlRequest(NamedTuple):
    """The controller put a request on the wire. ``api``: LeaderAndIsr, UpdateMetadata or StopReplica."""

    t_us: int
    seq: int
    cause: int
    api: str
    node: int
    broker: int
    controller_epoch: int
    broker_epoch: int
    partitions: int
    detail: str


class ControlResponse(NamedTuple):
    """A broker handled a control request; ``error`` is Kafka's name of the code."""

    t_us: int
    seq: int
    cause: int
    api: str
    node: int
    controller: int
    controller_epoch: int
    error: str
    partition_errors: int


class LeaderElected(NamedTuple):
    """A leader was chosen and written. ``selector``: offline, unclean (asked for by an administrator), reassigned,
    preferred, controlled-shutdown, new."""

    t_us: int
    seq: int
    cause: int
    topic: str
    partition: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    selector: str
    controller_epoch: int
    unclean: bool


class ElectionAnswered(NamedTuple):
    """What the API answered to a wish for a preferred leader: NONE, or Kafka's name of the code."""

    t_us: int
    seq: int
    cause: int
    topic: str
    partition: int
    error: str
