"""Replica fetcher threads: start and end, failed partitions (KIP-461), fetch positions. Fetchers that copy between log
directories are in ``log_dirs``."""

from typing import NamedTuple


class FetcherStarted(NamedTuple):
    t_us: int
    seq: int
    cause: int
    node: int
    fetcher: str
    leader: int


class FetcherStopped(NamedTuple):
    """A fetcher thread ended.

    Attributes:
        reason: ``idle``, ``all-failed``, ``replaced`` (the address of its leader changed), ``resized`` or ``died``.
        topic, partition: the partition where a thread died; else empty and -1.
        error: the error that a thread died of: Kafka's name of its code, or the class of the exception.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    fetcher: str
    leader: int
    reason: str
    topic: str
    partition: int
    error: str


class PartitionFailed(NamedTuple):
    """A partition was moved from its fetcher thread to the failed partitions (KIP-461).

    Attributes:
        reason: the operation that failed, and its error.
        error: Kafka's name of the error's code, or the class of the exception.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    fetcher: str
    topic: str
    partition: int
    leader_epoch: int
    reason: str
    error: str


class PartitionFailureCleared(NamedTuple):
    """A partition was removed from the failed partitions (KIP-461).

    Attributes:
        reason: ``epoch`` (LeaderAndIsr with a higher leader epoch) or ``stop-replica``.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    reason: str


class FetchPosition(NamedTuple):
    """A fetcher added a partition, moved its fetch offset by truncation, or removed it (``offset`` -1).

    Between two of these events the fetch offset follows the appends, so the lag can be derived from the trace.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader: int
    leader_epoch: int
    offset: int
