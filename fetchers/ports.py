"""What a fetcher thread needs from its surroundings; brokers implement it."""

from typing import Any, Protocol

from attrs import define

from emulator.protocol.fetch import FetchedPartition, FetchPartition
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
        """The largest local epoch that is at most ``epoch``, and where it ends locally."""
        ...

    def append_as_follower(
        self, batches: tuple[Batch, ...], leader_high_watermark: int, leader_log_start: int = 0
    ) -> int:
        """Append, learn the high watermark and where the leader's log begins, return the new end.

        Raises anything: the thread's rule judges it (``fetchers.failures``).
        """
        ...

    def truncate_to(self, offset: int) -> None:
        """Drop what lies behind ``offset``. Raises anything: the partition fails."""
        ...

    def truncate_fully_and_start_at(self, offset: int) -> None: ...


class Connection(Protocol):
    """The way to a broker: one request at a time. ``emulator.network.Client`` is one."""

    async def call(self, request: Any, size: int, background: bool = False) -> Any:
        """Ask and wait. Raises: emulator.network.Disconnected."""
        ...

    def close(self) -> None: ...


class LeaderEndPoint(Protocol):
    """What a fetcher thread fetches from: the leader on another broker, or this broker's own current logs.

    It is told what to read, and reads that with each ``fetch``. Each question raises
    emulator.network.Disconnected if there is no answer.
    """

    def want(self, wanted: FetchPartition) -> None:
        """Read this partition from that offset on."""
        ...

    def forget(self, tp: TopicPartition) -> None:
        """Read this partition no more."""
        ...

    def reset(self) -> None:
        """No answer came: whatever the other side remembered is void. What is wanted stays."""
        ...

    async def fetch(self) -> tuple[FetchedPartition, ...]:
        """What is new in the partitions that are wanted, now or before long; answers to positions that have changed
        meanwhile are left out."""
        ...

    async def epoch_ends(self, queries: tuple[EpochQuery, ...]) -> tuple[EpochEndOffset, ...]:
        """Where each epoch ends over there, in the order of the questions."""
        ...

    async def offsets(self, tp: TopicPartition, leader_epoch: int) -> ListOffsetsResponse:
        """Where the log over there begins and ends."""
        ...

    def close(self) -> None:
        """Nothing more is asked."""
        ...


class CurrentLogs(Protocol):
    """This broker's own current logs, from which its future ones, in other log directories, are copied."""

    async def read(self, wanted: FetchPartition, max_bytes: int) -> FetchedPartition:
        """What the log holds from there on, or the error that a fetch would get; takes the time that the disks need."""
        ...

    def epoch_end(self, query: EpochQuery) -> EpochEndOffset:
        """Where the epoch ends in the current log, whoever leads the partition."""
        ...

    def offsets(self, tp: TopicPartition, leader_epoch: int) -> ListOffsetsResponse:
        """Where the current log begins and ends."""
        ...

    def replace(self, tp: TopicPartition) -> bool:
        """Let the future log take the current one's place if it holds as much. Raises anything: the copy fails."""
        ...


@define(eq=False)
class InitialFetchState:
    """What a follower begins to fetch: from which leader, under which epoch, from its own high watermark on.

    ``adding``: whether a reassignment adds this replica, as far as the controller says. ``address``: where the leader
    listens; a thread that knows another address for it is replaced.
    """

    tp: TopicPartition
    leader: int
    leader_epoch: int
    offset: int
    log: FollowerLog
    adding: bool = False
    address: str = ""
