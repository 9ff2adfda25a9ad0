"""DeleteRecords (API 21, KIP-107, 0.11): a client asks a leader to delete the records before an offset.

Versions: v1 (2.0, KIP-219) clients throttle themselves; v2 (2.6, KIP-482) flexible. What they carry is the same.
"""

from typing import NamedTuple

from attrs import define

from emulator.protocol.api import OfPartitions, Request, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition

TO_HIGH_WATERMARK = -1
"""The offset that stands for the leader's high watermark: everything that is committed."""

INVALID_LOW_WATERMARK = -1
"""The low watermark of an answer with an error."""


@define(eq=False)
class DeleteRecordsRequest(OfPartitions, Request):
    """To the leader of these partitions.

    Attributes:
        partitions: each with the offset before which its records are to be deleted, or TO_HIGH_WATERMARK.
        timeout_us: how long the answer may wait for the other live replicas.
    """

    SIZES = 20, 30
    partitions: tuple[tuple[TopicPartition, int], ...]
    timeout_us: int


class DeletedRecords(NamedTuple):
    """The result in one partition.

    Attributes:
        low_watermark: the lowest log start offset of its live replicas, as far as the leader knows.
    """

    tp: TopicPartition
    low_watermark: int
    error: Errors


@define(eq=False)
class DeleteRecordsResponse(OfPartitions, Response):
    """The results, in the order of the request."""

    SIZES = 10, 30
    partitions: tuple[DeletedRecords, ...]


declare(
    21,
    "DeleteRecords",
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    help="a client asks a leader to delete the records before an offset",
)
