"""The events of the two kinds of fetcher: replica fetchers, and those that copy between log directories."""

from typing import Any

from attrs import frozen

from emulator.protocol.events import (
    CopyFailed,
    CopyPosition,
    CopyUnfailed,
    FetchPosition,
    PartitionFailed,
    PartitionUnfailed,
)


@frozen
class Records:
    """The event classes of one kind: the fetch position of a partition, its failure, and the end of its failure."""

    position: type[Any]
    failed: type[Any]
    unfailed: type[Any]


REPLICA = Records(FetchPosition, PartitionFailed, PartitionUnfailed)
COPY = Records(CopyPosition, CopyFailed, CopyUnfailed)
