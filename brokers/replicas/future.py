"""A replica's future log: a copy in another log directory, made by an alter-log-dirs fetcher (KIP-113)."""

from attrs import define

from brokers.log import Log
from brokers.partition.replica import refuse
from emulator.protocol.types import Batch


@define(eq=False)
class FutureReplica:
    """A ``fetchers.ports.FollowerLog``. Nobody but its fetcher reads it until it takes the current log's place."""

    log: Log
    high_watermark: int = 0

    @property
    def log_end_offset(self) -> int:
        return self.log.end_offset

    @property
    def log_start_offset(self) -> int:
        return self.log.start_offset

    @property
    def latest_epoch(self) -> int:
        return self.log.epochs.latest

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """See ``LeaderEpochFileCache.end_offset_for``."""
        return self.log.epochs.end_offset_for(epoch, self.log.end_offset)

    def append_as_follower(
        self, batches: tuple[Batch, ...], leader_high_watermark: int, leader_log_start: int = 0
    ) -> int:
        """Append what the current log holds; return the new end. Raises: CorruptBatch, DiskError, OffsetMismatch."""
        for batch in batches:
            if batch.corrupt:
                refuse(batch, self.log)
            self.log.append(batch)
        self.high_watermark = min(leader_high_watermark, self.log.end_offset)
        if leader_log_start > self.log.start_offset:
            self.log.raise_start_to(min(leader_log_start, self.log.end_offset))
        return self.log.end_offset

    def truncate_to(self, offset: int) -> None:
        """Drop what lies behind ``offset``. Raises: DiskError."""
        self.log.truncate_to(offset)

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Drop everything and begin anew at ``offset``. Raises: DiskError."""
        self.log.truncate_fully_and_start_at(offset)
