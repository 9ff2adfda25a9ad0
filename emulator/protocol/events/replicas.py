"""Replicas: a broker becomes leader or follower of a partition, or stops."""

from typing import NamedTuple


class PartitionCreated(NamedTuple):
    """A LeaderAndIsr brought a partition to a broker that did not have it. Recorded where the broker keeps its
    replication factor (0.8)."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    replication_factor: int


class BecameLeader(NamedTuple):
    """A broker became leader of a partition.

    Attributes:
        isr, adding, removing: those of the LeaderAndIsr request.
        replicas: the replicas whose state the leader keeps, itself first.
    """

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


class ImpendingReplicasReceived(NamedTuple):
    """A leader received its current and impending replicas (KIP-352's draft). Recorded while there are impending
    replicas, and once when there are none any more."""

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
    """A broker stopped a replica because of a StopReplica request."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    deleted: bool
