"""What a fetcher thread needs from its surroundings; brokers implement it."""

from typing import Any, Protocol

from attrs import define

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

    def append_as_follower(self, batches: tuple[Batch, ...], leader_high_watermark: int) -> int:
        """Append, learn the high watermark, return the new end. Raises anything: the partition fails."""
        ...

    def truncate_to(self, offset: int) -> None:
        """Drop what lies behind ``offset``. Raises anything: the partition fails."""
        ...

    def truncate_fully_and_start_at(self, offset: int) -> None: ...


class LeaderEndPoint(Protocol):
    """The way to a leader: one request at a time. ``emulator.network.Client`` is one."""

    async def call(self, request: Any, size: int, background: bool = False) -> Any:
        """Ask and wait. Raises: emulator.network.Disconnected."""
        ...

    def close(self) -> None: ...


@define(eq=False)
class InitialFetchState:
    """What a follower begins to fetch: from which leader, under which epoch, from its own high watermark on."""

    tp: TopicPartition
    leader: int
    leader_epoch: int
    offset: int
    log: FollowerLog
