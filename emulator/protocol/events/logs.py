"""Logs and the disks that hold them."""

from typing import NamedTuple


class LogLoaded(NamedTuple):
    """A replica's log as found on disk after a start, or empty when just created (``log_end_offset`` 0).

    ``base_id`` and ``size``: for preloaded data, see ``Batch.id``.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    log_start_offset: int
    log_end_offset: int
    high_watermark: int


class Appended(NamedTuple):
    """One batch was appended to a replica's log, by its leader (``leader`` true) or by a fetch."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader: bool
    leader_epoch: int
    base_offset: int
    next_offset: int
    id: int
    size: int


class Truncated(NamedTuple):
    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader_epoch: int
    log_end_offset: int
    high_watermark: int


class HighWatermark(NamedTuple):
    """A replica's high watermark moved. ``leader``: as leader of ``leader_epoch``; else learnt from the leader."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader: bool
    leader_epoch: int
    high_watermark: int


class LogRecovered(NamedTuple):
    """After an unclean stop a log was cut at the first batch that is ``torn`` or ``corrupt`` (``reason``): where it
    ends now, and how many batches went, the spoilt one included."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    log_end_offset: int
    batches: int
    reason: str


class LogStartMoved(NamedTuple):
    """A replica's log begins later. ``reason``: old segments went, by ``time`` or ``size``; or ``leader``: the leader's
    log begins there, as a follower learns when it fetches."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    log_start_offset: int
    reason: str


class LogDirFailed(NamedTuple):
    """A log directory is offline, and with it ``replicas`` replicas (KIP-112); ``broker_halts``: with it the broker."""

    t_us: int
    seq: int
    cause: int
    node: int
    directory: str
    reason: str
    replicas: int
    broker_halts: bool


class ReplicaLost(NamedTuple):
    """A replica whose log directory has failed: the broker neither leads nor follows it any more."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
