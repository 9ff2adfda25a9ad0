"""Fetch, as a real consumer sends it: with sessions that it may or may not want, and limits for each partition."""

from typing import NamedTuple

from attrs import define

from emulator.protocol.api import variant
from emulator.protocol.fetch import FetchRequest
from emulator.protocol.types import TopicPartition

NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
"""The session epochs of a full request: one that asks for a session, and one that does not (FetchMetadata)."""
DEBUGGING_CONSUMER = -2
"""The replica id of a reader that also reads from followers (kafka-replica-verification)."""


class PartitionData(NamedTuple):
    """What a reader wants of one partition (FetchRequest.PartitionData).

    Attributes:
        last_fetched_epoch: as in ``FetchPartition``.
        max_bytes: of this partition.
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
