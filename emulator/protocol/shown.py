"""Facts about brokers and controllers that no recorded event has. They are shown to folds and not recorded
(``Trace.show``), like the controller's requests (``control_requests``)."""

from collections.abc import Mapping
from typing import NamedTuple

from emulator.protocol.types import Batch, TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata


class ProducerDropped(NamedTuple):
    """A broker closes the connection of a producer that expects no answer (acks=0).

    Attributes:
        errors: the errors of the batches of its last request.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    errors: tuple[str, ...]


class ProduceRefused(NamedTuple):
    """A broker refuses a batch.

    Attributes:
        acks: the acks that the request asks for; -1: all.
        id: the batch.
        producer_id, producer_epoch: those of an idempotent producer, where no other broker was asked; -1: none.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    acks: int
    error: str
    id: int = -1
    producer_id: int = -1
    producer_epoch: int = -1


class ProduceExpired(NamedTuple):
    """A produce request has timed out, and some in-sync replicas lack batches of it, as far as their leader knows.

    Attributes:
        late: the partition of each such batch, and the end of the batch: the offset that the replicas have to reach.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    acks: int
    late: tuple[tuple[TopicPartition, int], ...]


class ProduceTimedOut(NamedTuple):
    """A producer is answered that the time of its request was over before all batches had their acks.

    Attributes:
        leader: the broker that answers.
        waited_us: the time since the request was sent.
        timeout_us: the time that the request gave the broker.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    leader: int
    waited_us: int
    timeout_us: int


class ProducersLeft(NamedTuple):
    """A StopReplica has ended a replica at which produce requests wait.

    Attributes:
        waiting: how many batches wait there.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    waiting: int


class ControllerLeft(NamedTuple):
    """A broker closes its connection to the controller, and opens one to another (KIP-497).

    Attributes:
        before, after: the brokers that it took for the controller before, and takes now.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    before: int
    after: int


class SessionAnswered(NamedTuple):
    """A client got an answer in its fetch session (KIP-227).

    Attributes:
        besides: the partitions in it that the client does not read in the session.
        left_out: the partitions of the session of which it says nothing, each with the offset at which the client is.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    leader: int
    besides: tuple[TopicPartition, ...]
    left_out: tuple[tuple[TopicPartition, int], ...]


class SessionLost(NamedTuple):
    """A broker refuses a client's fetch session, in whose last request it was answered.

    Attributes:
        error: Kafka's name of the code.
        begun_us: when the client got the session.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    leader: int
    error: str
    begun_us: int


class FetchMisanswered(NamedTuple):
    """A follower got an answer that does not fit its fetch session.

    Attributes:
        error: why the session was refused; ``NONE``: the answer names a partition that is not in it.
        topic, partition: the partition that is not in the session; ``""`` and -1 where the session was refused.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    leader: int
    error: str
    topic: str
    partition: int


class FetchOverdue(NamedTuple):
    """A broker answers a fetch because its time is over, or the broker has to, with as many bytes as it waited for.

    Attributes:
        reader: the follower's broker, or -1 for a consumer.
        waited_us: how long it has waited.
        partitions: the partitions of which it gets records.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    reader: int
    waited_us: int
    partitions: tuple[TopicPartition, ...]


class FetchLost(NamedTuple):
    """A follower got no answer to a fetch.

    Attributes:
        fetcher: the thread that sent the fetch to ``leader``.
        requests: the count of its RequestsPerSec, this request included.
        whole: whether the request was for all partitions of the thread, so that none of them truncates or is left out.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    fetcher: str
    leader: int
    requests: int
    whole: bool


class FetchSessionChanged(NamedTuple):
    """A broker has begun a fetch session, or ended one as its connection was closed.

    Attributes:
        session: its number, which no later one of this process has.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    session: int
    open: bool


class FetchSessionRefused(NamedTuple):
    """A broker refuses a fetch because of its session: the epoch is wrong, or there is no such session."""

    t_us: int
    seq: int
    cause: int
    node: int
    session: int
    error: str


class RecoveryFailed(NamedTuple):
    """A broker that starts could not recover a log, for an error of the disk (LogManager.loadLogs, 2.3)."""

    t_us: int
    seq: int
    cause: int
    node: int
    log_dir: str


class SettingsTaken(NamedTuple):
    """A broker has taken up the dynamic settings of a topic, of all brokers, or its own (DynamicConfigManager, 2.3).

    Attributes:
        entity: the entity's name in ZooKeeper: ``topics/orders``, ``brokers/1``.
        settings: all that it has now, by their names.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    entity: str
    settings: tuple[tuple[str, str], ...]


class EpochEndsAsked(NamedTuple):
    """A fetcher asks for the ends of leader epochs, to know where to truncate (OffsetsForLeaderEpoch, KIP-101).

    Attributes:
        leader: the broker that it asks; ``node`` itself for a copy to another log directory.
        partitions: the partitions, each with the epoch that it asks about.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    leader: int
    partitions: tuple[tuple[TopicPartition, int], ...]


class FetchFenced(NamedTuple):
    """A leader has refused a fetch: it leads in a later leader epoch than the fetcher's."""

    t_us: int
    seq: int
    cause: int
    node: int
    leader: int
    topic: str
    partition: int
    leader_epoch: int


class SegmentRolled(NamedTuple):
    """A log begins a new segment with the batch that is appended next.

    Attributes:
        size, batch_size: the bytes of the segment before it, and of the batch.
        age_us: by how much the batch is younger than the first one of that segment.
        base_offset: where the new segment begins.
        batches: how many the segment before it has.
        span_us: by how much the last of these is younger than the first.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    size: int
    batch_size: int
    age_us: int
    base_offset: int
    batches: int
    span_us: int


class SegmentsDeleted(NamedTuple):
    """A log has deleted its oldest segments: nothing before ``offset`` is on the disk any more. Before that a log may
    begin later than its first segment, and after a crash begins there again."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    offset: int


class RecordsCompacted(NamedTuple):
    """A broker has compacted a log (``events.LogCompacted``): its batches before and after.

    Attributes:
        next_offset: the end of the segments that were compacted.
        active: the base offset of the segment that the log was appended to.
        now_ms: the time, by the broker's clock.
        retention_ms: delete.retention.ms of the topic.
        before, after: all batches of the log.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    tp: TopicPartition
    next_offset: int
    active: int
    now_ms: int
    retention_ms: int
    before: tuple[Batch, ...]
    after: tuple[Batch, ...]


class RecordsTimed(NamedTuple):
    """A leader appends a batch whose producer has stated the times of its records, the latest from another time than
    the append.

    Attributes:
        age_us: by how much the record is older than the append; negative: it is from the future.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    age_us: int


class RecordsDeleted(NamedTuple):
    """A leader is about to answer that records were deleted on request.

    Attributes:
        offset: the offset before which they were to be deleted.
        low_watermark: the lowest log start offset of the live replicas, as the leader knows them.
        counted: these replicas.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader_epoch: int
    offset: int
    low_watermark: int
    counted: tuple[int, ...]


class DeletionWaits(NamedTuple):
    """A leader has deleted records on request, and waits for other replicas.

    Attributes:
        offset: where their logs have to begin.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader_epoch: int
    offset: int


class DeletionExpired(NamedTuple):
    """A leader is about to answer that records were not deleted everywhere in the time of the request.

    Attributes:
        offset: the offset before which they were to be deleted.
        counted: the live replicas, as the leader knows them.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader_epoch: int
    offset: int
    counted: tuple[int, ...]


class QuotaCounted(NamedTuple):
    """In a sampled run: a broker's replication quota has counted what replicas in sync would have read or fetched while
    the load was held back.

    Attributes:
        side: ``leader`` or ``follower``.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    side: str
    size: int


class FetchHeld(NamedTuple):
    """A fetcher leaves a replica out of its fetches from now on, as a quota is exceeded (KIP-73, KIP-542).

    Attributes:
        leader: the broker from which it fetches; ``node`` itself for a copy to another log directory.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    leader: int
    topic: str
    partition: int


class PositionRefused(NamedTuple):
    """A consumer has learnt from a leader that its position is outside the log (OFFSET_OUT_OF_RANGE).

    Attributes:
        leader, leader_epoch: the broker that says so, and the epoch under which the consumer has asked.
        offset: the position.
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


class LeadersLookedAt(NamedTuple):
    """A controller has looked whether leaders are preferred replicas, and has held the elections that it finds due
    (auto.leader.rebalance.enable).

    Attributes:
        percentage: leader.imbalance.per.broker.percentage.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    percentage: int


class MistakeAnswered(NamedTuple):
    """An operator has requested by the API replicas that no partition can have (KIP-455).

    Attributes:
        target: the requested replicas: none, or one twice, or one below 0.
        error: the controller's answer.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    target: tuple[int, ...]
    error: str


class RequestedMovesRead(NamedTuple):
    """A controller has read /admin/reassign_partitions.

    Attributes:
        targets: the requested moves.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    targets: Mapping[TopicPartition, tuple[int, ...]]


class Deviated(NamedTuple):
    """A broker or controller does what a release did before a fix, where that makes a difference: the witness of a
    ticket (``scenarios/profiles/tickets``).

    Attributes:
        ticket: its key.
        topic, partition: what it is about.
        replica: the broker whose replica that is about.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    ticket: str
    topic: str
    partition: int
    replica: int


class FollowerReached(NamedTuple):
    """A follower outside the ISR fetches at its leader's high watermark or above, while no change of the ISR is under
    way: it may join.

    Attributes:
        replica: the follower.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    replica: int


class MetadataCached(NamedTuple):
    """A broker has taken over an UpdateMetadata. The ``ControlHandled`` of the request comes after it.

    Attributes:
        topics: all topics that the broker knows now, by topic and number. It does not change; brokers with equal caches
            may share it.
        live_brokers: the brokers that it takes for alive.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topics: Mapping[str, Mapping[int, PartitionMetadata]]
    live_brokers: tuple[int, ...]


class Remembered(NamedTuple):
    """All that a role of a broker's process remembers, as its declarations (``controller.memories``,
    ``brokers.memories``) read it.

    Attributes:
        role: ``controller`` or ``broker``.
        occasion: ``failover``, as a controller has taken over; ``looked``, as it has looked at preferred leaders;
            ``resigned``, as it has given up; ``rest``, as nothing more happens by itself.
        memories: the values, by the names of the declarations.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    role: str
    occasion: str
    memories: Mapping[str, object]


class RememberedMeanwhile(Remembered):
    """As ``Remembered``, of a role that may have work to do; ``occasion`` is ``meanwhile``. ``memories`` are read as
    they are asked for, in the call that gets this."""

    __slots__ = ()
