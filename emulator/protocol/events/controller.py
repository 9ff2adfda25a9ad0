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
    """The controller sent a request to a broker.

    Attributes:
        api: LeaderAndIsr, UpdateMetadata or StopReplica.
        node, broker: the controller and the receiver.
        partitions: the number of partitions that the request names.
    """

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
    """A broker handled a control request.

    Attributes:
        error: Kafka's name of the code.
        refused, errors: columns, a row for each partition that it refuses: its name, and Kafka's name of the code.
    """

    t_us: int
    seq: int
    cause: int
    api: str
    node: int
    controller: int
    controller_epoch: int
    error: str
    refused: tuple[str, ...]
    errors: tuple[str, ...]


class LeaderElected(NamedTuple):
    """A leader was elected and written to ZooKeeper.

    Attributes:
        selector: ``offline``, ``unclean`` (requested by an administrator), ``reassigned``, ``preferred``,
            ``controlled-shutdown`` or ``new``.
        unclean: the leader was not in the ISR.
    """

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
    """The answer to an ElectLeaders request for one partition: NONE, or Kafka's name of the code."""

    t_us: int
    seq: int
    cause: int
    topic: str
    partition: int
    error: str
