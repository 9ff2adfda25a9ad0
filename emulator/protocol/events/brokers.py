"""Machines and broker processes: start, crash, registration, controlled shutdown."""

from typing import NamedTuple


class NodeStarted(NamedTuple):
    t_us: int
    seq: int
    cause: int
    node: int
    incarnation: int


class NodeCrashed(NamedTuple):
    """``kind``: ``process`` or ``host``."""

    t_us: int
    seq: int
    cause: int
    node: int
    incarnation: int
    kind: str


class BrokerRegistered(NamedTuple):
    """A broker registered in /brokers/ids. Its epoch is the czxid of the znode (KIP-380)."""

    t_us: int
    seq: int
    cause: int
    node: int
    broker_epoch: int


class ControlledShutdownAnswered(NamedTuple):
    """A broker that shuts down sent ControlledShutdown and received an answer, or none.

    Attributes:
        error: Kafka's name of the code, or DISCONNECTED.
        remaining: the number of partitions with more than one replica that it still leads; -1: unknown.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    controller: int
    attempt: int
    error: str
    remaining: int
