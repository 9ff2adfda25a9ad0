"""Logs and the disks that hold them."""

from typing import NamedTuple

from emulator.trace import columns_of


class LogLoaded(NamedTuple):
    """A replica's log was opened: as found on disk after a start, or empty when just created (``log_end_offset`` 0)."""

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
    """One batch was appended to a replica's log.

    Attributes:
        leader: appended as leader; false: by a fetch of a follower.
        base_offset, next_offset: its records are ``[base_offset, next_offset)``.
        id: ``Batch.id``.
        size: the size in bytes.
    """

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


@columns_of(Appended)
class BatchesAppended(NamedTuple):
    """One transition appended batches to logs of one topic on one broker. Its rows are ``Appended``.

    Attributes:
        partitions: one entry for each batch, in the order of the appends.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    leader: bool
    partitions: tuple[int, ...]
    leader_epochs: tuple[int, ...]
    base_offsets: tuple[int, ...]
    next_offsets: tuple[int, ...]
    ids: tuple[int, ...]
    sizes: tuple[int, ...]

    def rows(self) -> list[Appended]:
        t_us, seq, cause, node, topic, leader, *columns = self
        return [
            Appended(t_us, number, cause, node, topic, partition, leader, *values)
            for number, (partition, *values) in enumerate(zip(*columns, strict=True), seq)
        ]


class UnknownProducerAppended(NamedTuple):
    """A leader appended a batch of an idempotent producer that its log did not know: a new producer, or a forgotten
    one. It is not checked whether the log had that batch before (KIP-98).

    Attributes:
        producer_id, base_sequence: those of the batch.
        id: ``Batch.id``.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    producer_id: int
    base_sequence: int
    id: int
    base_offset: int


class BatchRepeated(NamedTuple):
    """A leader received a batch of an idempotent producer that its log has already: it gave the first answer again, and
    appended nothing (KIP-98).

    Attributes:
        producer_id, base_sequence: those of the batch.
        id: ``Batch.id`` of the batch as it was sent again.
        base_offset: its place in the log.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    producer_id: int
    base_sequence: int
    id: int
    base_offset: int


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
    """A replica's high watermark moved.

    Attributes:
        leader: true: it moved as leader of ``leader_epoch``; false: it was received from the leader.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader: bool
    leader_epoch: int
    high_watermark: int


@columns_of(HighWatermark)
class HighWatermarksMoved(NamedTuple):
    """One transition moved high watermarks of one topic on one broker. Its rows are ``HighWatermark``."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    leader: bool
    partitions: tuple[int, ...]
    leader_epochs: tuple[int, ...]
    high_watermarks: tuple[int, ...]

    def rows(self) -> list[HighWatermark]:
        t_us, seq, cause, node, topic, leader, *columns = self
        return [
            HighWatermark(t_us, number, cause, node, topic, partition, leader, epoch, high_watermark)
            for number, (partition, epoch, high_watermark) in enumerate(zip(*columns, strict=True), seq)
        ]


class LogRecovered(NamedTuple):
    """After an unclean stop, a log was truncated at its first damaged batch.

    Attributes:
        log_end_offset: after the truncation.
        batches: the number of removed batches, including the damaged one.
        reason: ``torn`` or ``corrupt``.
    """

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
    """A replica's log start offset moved.

    Attributes:
        reason: ``time`` or ``size`` (old segments were deleted), ``request`` (a client had records deleted, KIP-107),
            ``leader`` (a follower adopted the leader's log start offset from a fetch), or ``copy`` (a log that began
            elsewhere has taken its place).
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    log_start_offset: int
    reason: str


class LogCompacted(NamedTuple):
    """A broker has compacted a log (``brokers.log.cleaner``).

    Attributes:
        from_offset, next_offset: the part of the log that was dirty; all before ``next_offset`` was compacted.
        records: the number of records that were removed.
        size_before, size_after: the bytes of these segments.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    from_offset: int
    next_offset: int
    records: int
    size_before: int
    size_after: int


class CleanerFailed(NamedTuple):
    """A log cannot be compacted.

    Attributes:
        reason: what is wrong with it.
        ends: the log cleaner ends with it (before KIP-346, 2.1). Else it leaves this log alone.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    reason: str
    ends: bool


class LogDirFailed(NamedTuple):
    """A log directory went offline (KIP-112).

    Attributes:
        replicas: the number of replicas in it.
        broker_halts: the broker stops too.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    directory: str
    reason: str
    replicas: int
    broker_halts: bool


class ReplicaOffline(NamedTuple):
    """The log directory of a replica has failed: the broker neither leads nor follows the partition any more."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
