"""Replicas that are copied to another log directory of their broker (KIP-113). The events of their fetchers have the
fields of those of replica fetchers."""

from typing import NamedTuple


class CopyStarted(NamedTuple):
    """A replica begins to move from the log directory ``source`` to ``target``: its future log was created."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    source: str
    target: str
    log_end_offset: int


class AlterLogDirAnswered(NamedTuple):
    """A broker answered AlterReplicaLogDirs for one replica. Not recorded if it repeats the previous answer.

    Attributes:
        node: the broker.
        target: the requested log directory.
        error: Kafka's name of the code.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    target: str
    error: str


class LogDirsVerified(NamedTuple):
    """An operator checked the log directories of a plan.

    Attributes:
        done, open, failed: the numbers of replicas that are in the requested directory, are being copied to it, or
            neither.
    """

    t_us: int
    seq: int
    cause: int
    done: int
    open: int
    failed: int


class LogReplaced(NamedTuple):
    """The future log in ``target`` became the replica's current log; the one in ``source`` will be deleted."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    source: str
    target: str
    log_end_offset: int


class CopyAbandoned(NamedTuple):
    """A future log was deleted before it replaced the current log.

    Attributes:
        reason: ``altered`` (another directory was requested), ``stopped`` (the replica was stopped) or ``offline`` (a
            directory failed).
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    target: str
    reason: str


class CopyPosition(NamedTuple):
    """Like FetchPosition. ``leader`` is the broker itself, whose current log is copied to the future log."""

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
    """Like PartitionFailed."""

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


class CopyFailureCleared(NamedTuple):
    """Like PartitionFailureCleared."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    reason: str
