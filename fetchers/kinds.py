"""The two kinds of fetcher, as the trace tells them apart."""

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
    """The events of one kind of fetcher: where it stands, and what failed or no longer does."""

    position: type[Any]
    failed: type[Any]
    unfailed: type[Any]


REPLICA = Records(FetchPosition, PartitionFailed, PartitionUnfailed)
COPY = Records(CopyPosition, CopyFailed, CopyUnfailed)
