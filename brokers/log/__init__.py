"""A broker's logs: batches on disks, with the epochs they were written under, in one or more log directories."""

from brokers.log.config import LogConfig, LogManagerConfig, Writeback
from brokers.log.directory import LogDirectory
from brokers.log.log import Log, OffsetMismatch
from brokers.log.manager import LogManager
from fetchers import StorageError

__all__ = [
    "Log", "LogConfig", "LogDirectory", "LogManager", "LogManagerConfig", "OffsetMismatch", "StorageError", "Writeback",
]  # fmt: skip
