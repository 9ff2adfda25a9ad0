"""What leaders want of their ISRs and get, whom they count, and what they say of the end of their logs (see
``emulator.protocol.events``)."""

from typing import NamedTuple

UNCHECKED = -1
"""In place of a leader epoch that nobody looks at."""


class IsrProposed(NamedTuple):
    """A leader begins to change its ISR: ``kind`` is ``shrink`` or ``expand``. An IsrChanged or an IsrUpdateFailed
    follows, or nothing where a LeaderAndIsr comes first.

    ``replicas``: those that are to join or leave. Of each: the end of its log as the leader knows it, the leader epoch
    that it fetches under (``UNCHECKED`` where fetches are not fenced, or there is no fetch session), for how long it
    has owed what ``lag_time_us`` (replica.lag.time.max.ms) allows. ``max_messages``: the limit of
    replica.lag.max.messages, -1 without one.
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
    """A leader changed its ISR: ``kind`` is ``shrink`` or ``expand``; ZooKeeper, or the controller, has said so."""

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


class ReplicaTakenIn(NamedTuple):
    """A leader counts a follower that it was not told of, because it fetches (0.8.0)."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    broker: int


class LatestOffsetTold(NamedTuple):
    """A leader told a consumer where the partition ends for consumers."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    offset: int
