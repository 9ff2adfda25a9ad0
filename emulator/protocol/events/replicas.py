"""Replicas: a broker becomes leader or follower of a partition, or stops."""

from typing import NamedTuple


class BecameLeader(NamedTuple):
    """A broker adopted leadership. ``isr``, ``adding``, ``removing``: as it was told; ``replicas``: those that it
    counts, itself first."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader_epoch: int
    log_end_offset: int
    high_watermark: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


class ReplicasKnown(NamedTuple):
    """A leader was told which replicas count and which impend (KIP-352's draft); only while there are impending ones,
    and once when they are gone."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader_epoch: int
    current: tuple[int, ...]
    impending: tuple[int, ...]


class BecameFollower(NamedTuple):
    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader_epoch: int
    leader: int
    log_end_offset: int
    high_watermark: int


class ReplicaStopped(NamedTuple):
    """StopReplica took effect."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    deleted: bool
