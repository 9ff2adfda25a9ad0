"""Interfaces of a fetcher thread: an end to fetch from, and a log that follows."""

from typing import Any, Protocol

from attrs import define

from emulator.protocol.fetch import FetchedFields, FetchedPartition, FetchFields, FetchPartition
from emulator.protocol.offsets_for_leader_epoch import EpochEndOffset, EpochQuery, ListOffsetsResponse
from emulator.protocol.types import Batch, TopicPartition


class FollowerLog(Protocol):
    """A follower's replica of one partition."""

    @property
    def log_end_offset(self) -> int: ...
    @property
    def log_start_offset(self) -> int: ...
    @property
    def latest_epoch(self) -> int: ...

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """The largest local epoch that is at most ``epoch``, and its end offset in this log."""
        ...

    def append_as_follower(
        self, batches: tuple[Batch, ...], leader_high_watermark: int, leader_log_start: int = 0
    ) -> int:
        """Append, take over the leader's high watermark and log start offset, and return the new end offset.

        May raise any exception: the failure rule of the thread judges it (``fetchers.failures``).
        """
        ...

    def truncate_to(self, offset: int) -> None:
        """Remove everything from ``offset`` on. May raise any exception: the partition fails."""
        ...

    def truncate_fully_and_start_at(self, offset: int) -> None: ...


class BlockingSend(Protocol):
    """A connection to a broker with one request in flight (Kafka's BlockingSend): an ``emulator.network.Client``, or
    what a test puts in its place."""

    async def call(self, request: Any, size: int, background: bool = False) -> Any:
        """Send ``request`` and wait for the response. Raises: emulator.network.Disconnected."""
        ...

    def close(self) -> None: ...


class LeaderEndPoint(Protocol):
    """The end that a fetcher thread fetches from: the leader on another broker, or this broker's own current logs.

    The thread says which partitions to fetch from where (``want``, ``forget``), and each ``fetch`` reads them. The
    coroutines raise emulator.network.Disconnected if there is no answer.
    """

    asks_starts: bool
    """Whether the leader asks where the logs of its followers begin, whenever that changes (``FetchResponse``)."""

    def want(self, wanted: FetchFields) -> None:
        """Fetch this partition from that offset on."""
        ...

    def want_only(self, wanted: dict[TopicPartition, FetchFields]) -> None:
        """Fetch these partitions and no others. The dictionary is the endpoint's from now on."""
        ...

    def forget(self, tp: TopicPartition) -> None:
        """Do not fetch this partition any more."""
        ...

    def nothing_wanted(self) -> None:
        """Take note that nothing is to be fetched at the moment."""
        ...

    def reset(self) -> None:
        """Drop the fetch session, because a request had no answer. The wanted partitions stay the same."""
        ...

    async def fetch(self) -> tuple[FetchedFields, ...]:
        """Wait for new data in the wanted partitions. Answers for positions that were changed meanwhile are left
        out."""
        ...

    async def epoch_ends(self, queries: tuple[EpochQuery, ...]) -> tuple[EpochEndOffset, ...]:
        """The end of each epoch in the leader's log, in the order of ``queries``."""
        ...

    async def offsets(self, tp: TopicPartition, leader_epoch: int) -> ListOffsetsResponse:
        """The start and end offset of the leader's log."""
        ...

    def close(self) -> None:
        """Close the connection: the thread has ended."""
        ...


class CurrentLogs(Protocol):
    """This broker's own current logs, from which its future ones, in other log directories, are copied."""

    async def read(self, wanted: FetchPartition, max_bytes: int) -> FetchedPartition:
        """Read the log from the wanted position on; on an error, answer as a fetch would. Takes the time that the disks
        need."""
        ...

    def epoch_end(self, query: EpochQuery) -> EpochEndOffset:
        """The end of the epoch in the current log, whether this broker leads the partition or not."""
        ...

    def offsets(self, tp: TopicPartition, leader_epoch: int) -> ListOffsetsResponse:
        """The start and end offset of the current log."""
        ...

    def replace(self, tp: TopicPartition) -> bool:
        """Replace the current log by the future one if that has caught up, and return whether it did. May raise any
        exception: the copy fails."""
        ...


@define(eq=False)
class InitialFetchState:
    """A partition that a follower begins to fetch.

    Attributes:
        leader, leader_epoch: the broker to fetch from, and its leader epoch.
        offset: the follower's own high watermark.
        adding: whether a reassignment adds this replica, as far as the controller says.
        address: the address of the leader; a thread that has another address for this leader is replaced.
    """

    tp: TopicPartition
    leader: int
    leader_epoch: int
    offset: int
    log: FollowerLog
    adding: bool = False
    address: str = ""
