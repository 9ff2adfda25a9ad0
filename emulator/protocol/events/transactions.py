"""Events of transactions: their coordinators, their states, their records and markers."""

from typing import NamedTuple


class TransactionsLoaded(NamedTuple):
    """A broker became the coordinator of the ids of one partition of ``__transaction_state``, and has read it.

    Attributes:
        ids: the number of transactional ids that it found.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader_epoch: int
    ids: int


class TransactionsUnloaded(NamedTuple):
    """A broker is no longer the coordinator of these transactional ids.

    Attributes:
        ids: the number of transactional ids that it has dropped from its memory.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    ids: int


class TransactionStateChanged(NamedTuple):
    """A transactional id is in another state than before, or its transaction has more partitions. The coordinator's log
    has that by now.

    Attributes:
        state: Kafka's name.
        topics, partitions: columns, a row for each partition of the transaction.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    transactional_id: str
    producer_id: int
    producer_epoch: int
    state: str
    topics: tuple[str, ...]
    partitions: tuple[int, ...]


class TransactionalAppended(NamedTuple):
    """A leader has appended a batch of a transaction.

    Attributes:
        batch: the id of the batch.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    producer_id: int
    batch: int
    base_offset: int


class TransactionMarked(NamedTuple):
    """A leader appends the marker of a transaction, which ends it in the partition.

    Attributes:
        coordinator_epoch: the epoch of the coordinator that has sent it.
        committed: False: the transaction was aborted.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    committed: bool


class CommittedFetched(NamedTuple):
    """A broker's answer to a fetch of committed records has reached its client, with records of a partition in which
    there are transactions.

    Attributes:
        leader: the broker.
        ids: the ids of the batches, but of those of which compaction has left nothing.
        last_stable_offset: the last stable offset in the same answer.
        producer_ids, first_offsets: columns, a row for each transaction that the client has to leave out.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader: int
    ids: tuple[int, ...]
    last_stable_offset: int
    producer_ids: tuple[int, ...]
    first_offsets: tuple[int, ...]
