"""What a run records of fetchers that copy a replica to another log directory of its broker. They are events like those
of ``emulator.protocol.events``, which has them too, and have the fields of those of replica fetchers."""

from typing import NamedTuple


class CopyPosition(NamedTuple):
    """As FetchPosition; ``leader`` is the broker itself, whose current log is copied to the future one."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader: int
    leader_epoch: int
    offset: int


class CopyFailed(NamedTuple):
    """As PartitionFailed."""

    t_us: int
    seq: int
    cause: int
    node: int
    fetcher: str
    topic: str
    partition: int
    leader_epoch: int
    reason: str


class CopyUnfailed(NamedTuple):
    """As PartitionUnfailed."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    reason: str
