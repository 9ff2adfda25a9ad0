"""Events of transactions: where their coordinators are, and what happens to them."""

from typing import NamedTuple


class TransactionsLoaded(NamedTuple):
    """A broker became the coordinator of the ids of one partition of ``__transaction_state``, and has read it.

    Attributes:
        ids: how many it found.
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
        ids: how many it has dropped from its memory.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    ids: int


class TransactionStateChanged(NamedTuple):
    """A transactional id is in another state than before, or its transaction has more partitions: that is in the log.

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
