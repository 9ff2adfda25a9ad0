"""What a run records of fetchers that copy a replica to another log directory of its broker. They are events like those
of ``emulator.protocol.events``, which has them too, and have the fields of those of replica fetchers."""

from typing import NamedTuple


class CopyBegun(NamedTuple):
    """A replica is to move from the log directory ``source`` to ``target``: its future log is there."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    source: str
    target: str
    log_end_offset: int


class LogDirAsked(NamedTuple):
    """A broker has answered the wish that its replica be in the log directory ``target``; the same answer again is not
    told. ``node`` is the broker, ``error`` Kafka's name."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    target: str
    error: str


class LogDirsVerified(NamedTuple):
    """What an operator has found: how many replicas are in the directories that they were wished in, on their way
    there, or neither."""

    t_us: int
    seq: int
    cause: int
    done: int
    open: int
    failed: int


class LogReplaced(NamedTuple):
    """The future log in ``target`` has become the replica's log; that in ``source`` is to be deleted."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    source: str
    target: str
    log_end_offset: int


class CopyGivenUp(NamedTuple):
    """A future log has gone. ``reason``: another directory is wanted (``altered``), the replica is deleted
    (``stopped``) or a directory failed (``offline``)."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    target: str
    reason: str


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
