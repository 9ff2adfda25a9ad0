"""A replica's log: batches on a disk, with the epochs they were written under."""

from brokers.log.checkpoints import HighWatermarkCheckpoint
from brokers.log.log import Log, OffsetMismatch

__all__ = ["HighWatermarkCheckpoint", "Log", "OffsetMismatch"]
