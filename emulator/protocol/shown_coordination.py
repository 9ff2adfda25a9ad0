"""Facts about the coordinators of groups and transactions that no recorded event has: shown to folds and not recorded
(``Trace.show``)."""

from typing import Any, NamedTuple

from emulator.protocol.groups.group_offsets import OffsetToCommit
from emulator.protocol.types import TopicPartition


class CommitAccepted(NamedTuple):
    """A coordinator begins to write the offsets that a group, or a transaction for it, commits.

    Attributes:
        home: the partition of ``__consumer_offsets`` that the group belongs to.
        member, generation: the sender as it says; ``""`` and -1 for a client that is no member.
        producer_id, producer_epoch: the producer of the transaction; -1: there is none.
        offsets: the offsets by partition.
        rows: the same as the request has them, with all that is committed.
        retention_us: how long they are kept; negative: as the settings say.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    group: str
    home: TopicPartition
    member: str
    generation: int
    producer_id: int
    producer_epoch: int
    offsets: tuple[tuple[TopicPartition, int], ...]
    rows: tuple[OffsetToCommit, ...] = ()
    retention_us: int = -1


class CoordinatorAppends(NamedTuple):
    """A coordinator is about to append records to its topic.

    Attributes:
        records: the batch, without a place in the log yet.
        clock_us: the time by the clock of the broker.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    records: Any
    clock_us: int


class GroupsRead(NamedTuple):
    """A coordinator has read a partition of __consumer_offsets, to its end.

    Attributes:
        groups: the state of each group that has one, as records have it.
        offsets: the committed offsets, by group and partition.
        opened: the offsets of transactions that have not ended, by producer id, group and partition.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    home: TopicPartition
    groups: dict[str, Any]
    offsets: dict[tuple[str, TopicPartition], Any]
    opened: dict[tuple[int, str, TopicPartition], Any]


class TransactionsRead(NamedTuple):
    """A coordinator has read a partition of __transaction_state, to its end.

    Attributes:
        ids: the state of each transactional id, as records have it.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    home: TopicPartition
    ids: dict[str, Any]


class OffsetsRead(NamedTuple):
    """A coordinator answers with the committed offsets of a group.

    Attributes:
        home: the partition of ``__consumer_offsets`` that the group belongs to.
        offsets: the offsets by partition; -1: none.
        stable: the client takes none that an open transaction may replace (KIP-447).
        unstable: the partitions for which it gets none, as another offset is being committed.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    group: str
    home: TopicPartition
    offsets: tuple[tuple[TopicPartition, int], ...]
    stable: bool
    unstable: tuple[TopicPartition, ...]


class MembersLoaded(NamedTuple):
    """A coordinator has read a group with members: their sessions begin (GroupCoordinator.onGroupLoaded).

    Attributes:
        state: the state in which the group is taken over.
        members: each member with its session timeout in microseconds.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    group: str
    state: str
    members: tuple[tuple[str, int], ...]


class TransactionLoaded(NamedTuple):
    """A coordinator has read a transactional id: it goes on from there (loadTransactionMetadata)."""

    t_us: int
    seq: int
    cause: int
    node: int
    transactional_id: str
    producer_id: int
    state: str


class MemberHeard(NamedTuple):
    """A coordinator has accepted a request of a member, or of a client that becomes one: its session begins again, now
    or when its JoinGroup is answered. A JoinGroup that only gets its generation again does not count (doJoinGroup).

    Attributes:
        session_us, rebalance_us: its session and rebalance timeouts.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    group: str
    member: str
    session_us: int
    rebalance_us: int


class SequencedAccepted(NamedTuple):
    """A leader has accepted a batch of an idempotent or transactional producer.

    Attributes:
        repeated: it has recognised the batch, and appended nothing.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    tp: TopicPartition
    producer_id: int
    producer_epoch: int
    repeated: bool


class TransactionTimed(NamedTuple):
    """A transactional id is in another state (``TransactionStateChanged`` comes before).

    Attributes:
        timeout_us: how long a transaction of its producer may last.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    transactional_id: str
    timeout_us: int


class TransactionLate(NamedTuple):
    """A coordinator aborts a transaction by itself, for the time that it has lasted.

    Attributes:
        home: the partition of ``__transaction_state`` that the transactional id belongs to.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    transactional_id: str
    home: TopicPartition


class TransactionEndAsked(NamedTuple):
    """A broker has got an EndTxn, and has not looked at it yet."""

    t_us: int
    seq: int
    cause: int
    node: int
    transactional_id: str
    producer_id: int
    producer_epoch: int
    committed: bool


class CoordinatorWrote(NamedTuple):
    """A write of a coordinator has its outcome.

    Attributes:
        of: what it is about, as ``brokers.coordinators.internal_topic.Coordinated`` names it.
        failed: it has failed as far as the coordinator knows. The record may be in the log.
        producer_id: that of the transaction which commits what is written; -1: none.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    of: tuple[str, ...]
    failed: bool
    producer_id: int


class MarkerAppends(NamedTuple):
    """A leader appends the marker of a transaction (``TransactionMarked`` comes before).

    Attributes:
        offset: the marker's.
        id: that of its batch.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    tp: TopicPartition
    producer_id: int
    offset: int
    id: int


class MemberJoins(NamedTuple):
    """A coordinator has accepted the JoinGroup of a client that is a member already.

    Attributes:
        changed: it names other protocols, or other topics in them, than it did before.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    group: str
    member: str
    changed: bool


class MemberReturned(NamedTuple):
    """A coordinator answers a static member that has joined again: it takes its place in the present generation.

    Attributes:
        member: its new member id.
        stored: the release writes that id into the log before it answers (KAFKA-10284, 2.7).
        rebalances: the release rebalances instead while the leader assigns (KAFKA-9801, 2.5).
    """

    t_us: int
    seq: int
    cause: int
    node: int
    group: str
    instance: str
    member: str
    stored: bool
    rebalances: bool


class MemberRefused(NamedTuple):
    """A coordinator refuses a request: its sender is no member.

    Attributes:
        home: the partition of ``__consumer_offsets`` that the group belongs to.
        error: Kafka's name of the code.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    group: str
    home: TopicPartition
    member: str
    error: str


class MemberIdGiven(NamedTuple):
    """A coordinator gives a client a member id, with which it is to join (MEMBER_ID_REQUIRED).

    Attributes:
        session_us: how long the client has for that.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    group: str
    member: str
    session_us: int


class MemberIdForgotten(NamedTuple):
    """A coordinator does not wait any more for the client to which it gave this member id, whatever the reason."""

    t_us: int
    seq: int
    cause: int
    node: int
    group: str
    member: str


class AssignmentsMade(NamedTuple):
    """The leader of a group has sent the assignments of a generation.

    Attributes:
        assignments: each with its member, in the order of the request.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    group: str
    generation: int
    assignments: tuple[tuple[str, bytes], ...]


class AssignmentGiven(NamedTuple):
    """A coordinator gives a member its assignment."""

    t_us: int
    seq: int
    cause: int
    node: int
    group: str
    generation: int
    member: str
    assignment: bytes


class ProducerInitialized(NamedTuple):
    """A coordinator answers an InitProducerId with a transactional id.

    Attributes:
        producer_id, producer_epoch: those that the producer says it has (KIP-360); -1: it says none.
        given_id, given_epoch: those of the answer; -1 with an error.
        error: Kafka's name of the code.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    transactional_id: str
    producer_id: int
    producer_epoch: int
    given_id: int
    given_epoch: int
    error: str
