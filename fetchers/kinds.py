"""The events of the two kinds of fetcher: replica fetchers, and those that copy between log directories."""

from typing import Any

from attrs import frozen

from emulator.protocol.events import (
    CopyFailed,
    CopyFailureCleared,
    CopyPosition,
    FetchPosition,
    PartitionFailed,
    PartitionFailureCleared,
)


@frozen
class Records:
    """The event classes of one kind: the fetch position of a partition, its failure, and the end of its failure."""

    position: type[Any]
    failed: type[Any]
    failure_cleared: type[Any]


REPLICA = Records(FetchPosition, PartitionFailed, PartitionFailureCleared)
COPY = Records(CopyPosition, CopyFailed, CopyFailureCleared)
