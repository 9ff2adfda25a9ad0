"""Fetch, as a real consumer sends it: with sessions that it may or may not want, and limits for each partition."""

from typing import NamedTuple

from attrs import define, field

from emulator.protocol.api import variant
from emulator.protocol.fetch import FetchRequest, FetchResponse
from emulator.protocol.types import TopicPartition

NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
"""The session epochs of a full request: INITIAL_EPOCH asks for a session, FINAL_EPOCH does not (FetchMetadata)."""
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
"""Isolation levels. With READ_COMMITTED, a reader does not get records of a transaction which is open or was
aborted."""
DEBUGGING_CONSUMER = -2
"""The replica id of a reader that also reads from followers (kafka-replica-verification)."""


class PartitionData(NamedTuple):
    """The position and limits of a reader in one partition (FetchRequest.PartitionData).

    Attributes:
        last_fetched_epoch: as in ``FetchPartition``.
        max_bytes: the most bytes of this partition in the answer.
    """

    tp: TopicPartition
    leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int
    max_bytes: int


@variant(FetchRequest)
@define(eq=False)
class ConsumerFetchRequest(FetchRequest):
    """A fetch of a real consumer. ``wanted`` says the same as ``positions`` does, and more."""

    wanted: tuple[PartitionData, ...]
    isolation: int = READ_UNCOMMITTED


class Stability(NamedTuple):
    """The answer's facts about transactions in one partition, for readers of committed records.

    Attributes:
        last_stable_offset: no batch that is sent to such a reader reaches beyond it.
        aborted: the transactions that have records in the answer, and that the reader has to leave out: producer id and
            first offset of each.
    """

    last_stable_offset: int
    aborted: tuple[tuple[int, int], ...] = ()


@variant(FetchResponse)
@define(eq=False)
class ConsumerFetchResponse(FetchResponse):
    """The answer to a real consumer.

    Attributes:
        stability: the stability of the partitions in whose logs there are transactions; elsewhere all that is committed
            is stable.
    """

    stability: dict[TopicPartition, Stability] = field(factory=dict)
