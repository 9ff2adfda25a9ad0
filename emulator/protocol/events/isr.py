"""ISR changes of leaders, from proposal to result, and the latest offsets that leaders give to consumers."""

from typing import NamedTuple

UNCHECKED = -1
"""In place of a leader epoch that is not checked."""


class IsrProposed(NamedTuple):
    """A leader begins to change its ISR. An IsrChanged or an IsrUpdateFailed follows, or neither if a LeaderAndIsr
    arrives first.

    Attributes:
        kind: ``shrink`` or ``expand``.
        isr: the proposed ISR.
        replicas: the replicas that join or leave.
        ends: the log end offset of each replica, as the leader knows it.
        epochs: the leader epoch of each replica's fetches; ``UNCHECKED`` if fetches are not fenced, or there is no
            fetch session.
        overdue_us: the time for which each replica has been behind, to be compared with ``lag_time_us``.
        lag_time_us: replica.lag.time.max.ms.
        max_messages: replica.lag.max.messages; -1: no such limit.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader_epoch: int
    kind: str
    isr: tuple[int, ...]
    high_watermark: int
    epoch_start_offset: int
    log_end_offset: int
    replicas: tuple[int, ...]
    ends: tuple[int, ...]
    epochs: tuple[int, ...]
    overdue_us: tuple[int, ...]
    lag_time_us: int
    max_messages: int


class IsrChanged(NamedTuple):
    """A leader changed its ISR, and ZooKeeper, or the controller, has accepted it.

    Attributes:
        kind: ``shrink`` or ``expand``.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader_epoch: int
    kind: str
    isr: tuple[int, ...]
    zk_version: int


class IsrUpdateFailed(NamedTuple):
    """A change of the ISR was not made: the conditional write lost against a newer version, or the controller refused
    it (FailedIsrUpdatesPerSec)."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader_epoch: int


class UnassignedFollowerAdded(NamedTuple):
    """A leader began to keep the state of a follower that no LeaderAndIsr named, because it fetches (0.8.0)."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    broker: int


class LatestOffsetReturned(NamedTuple):
    """A leader answered a consumer's ListOffsets with the latest offset that consumers can read."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    offset: int
