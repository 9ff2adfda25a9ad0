"""ListOffsets, for several partitions and any time."""

from collections.abc import Iterable
from typing import NamedTuple

from attrs import define

from emulator.protocol.api import Request, Response, variant
from emulator.protocol.clients.fetch import READ_UNCOMMITTED
from emulator.protocol.errors import Errors
from emulator.protocol.offsets_for_leader_epoch import (
    UNDEFINED_EPOCH,
    UNDEFINED_OFFSET,
    ListOffsetsRequest,
    ListOffsetsResponse,
)
from emulator.protocol.records import NO_TIMESTAMP
from emulator.protocol.types import TopicPartition

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED = -1, -2, -3, -4, -5
"""Times that stand for a place in the log: MAX_TIMESTAMP for the record with the latest time (KIP-734, 3.0); the last
two for the start of what is local of a tiered log (KIP-405, 3.5), and for the end of what is not (KIP-1005, 3.9). No
log is tiered here."""


class OffsetQuery(NamedTuple):
    """The first record of ``tp`` whose time is ``timestamp_ms`` or later.

    Attributes:
        is_known: whether the version of the request has a place that the time stands for.
    """

    tp: TopicPartition
    current_leader_epoch: int
    timestamp_ms: int
    is_known: bool = True


class FoundOffset(NamedTuple):
    """The offset of a record, with its time and its leader epoch; UNDEFINED_OFFSET: there is none."""

    tp: TopicPartition
    error: Errors
    offset: int = UNDEFINED_OFFSET
    timestamp_ms: int = NO_TIMESTAMP
    leader_epoch: int = UNDEFINED_EPOCH


@variant(ListOffsetsRequest)
@define(eq=False)
class OffsetsByTimeRequest(Request):
    """Ask a leader for the offsets of times.

    Attributes:
        replica_id: CONSUMER, or a broker's.
        isolation: READ_COMMITTED: the log ends at its last stable offset.
    """

    replica_id: int
    queries: tuple[OffsetQuery, ...]
    isolation: int = READ_UNCOMMITTED

    @property
    def size(self) -> int:
        return 20 + 20 * len(self.queries)

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (query.tp for query in self.queries)


@variant(ListOffsetsResponse)
@define(eq=False)
class OffsetsByTimeResponse(Response):
    """The answers, in the order of the questions."""

    found: tuple[FoundOffset, ...]

    @property
    def size(self) -> int:
        return 10 + 30 * len(self.found)

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (one.tp for one in self.found)
