"""What a run records of replica fetchers (see ``emulator.protocol.events``); those of fetchers that copy between log
directories are in ``copy_events``."""

from typing import NamedTuple


class FetcherStarted(NamedTuple):
    t_us: int
    seq: int
    cause: int
    node: int
    fetcher: str
    leader: int


class FetcherStopped(NamedTuple):
    """``reason``: idle, all-failed, replaced (its leader has another address), resized or died."""

    t_us: int
    seq: int
    cause: int
    node: int
    fetcher: str
    leader: int
    reason: str


class PartitionFailed(NamedTuple):
    """KIP-461: a partition left its fetcher thread for ``failedPartitions``."""

    t_us: int
    seq: int
    cause: int
    node: int
    fetcher: str
    topic: str
    partition: int
    leader_epoch: int
    reason: str


class PartitionUnfailed(NamedTuple):
    """KIP-461: ``reason``: epoch (LeaderAndIsr with a higher leader epoch) or stop-replica."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    reason: str


class FetchPosition(NamedTuple):
    """A fetcher's state for one partition began, moved by truncation, or ended (``offset`` -1).

    Between two of them the position follows the appends, so the lag can be derived from the trace.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader: int
    leader_epoch: int
    offset: int
