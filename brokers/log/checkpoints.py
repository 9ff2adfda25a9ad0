"""replication-offset-checkpoint: the high watermarks that a restarted broker begins with (every 5 s)."""

from emulator.disks import Disk
from emulator.protocol.types import TopicPartition

PATH = "replication-offset-checkpoint"


class HighWatermarkCheckpoint:
    """The file, kept in memory beside the disk; rewritten whole, as Kafka does, when anything changed."""

    def __init__(self, disk: Disk) -> None:
        self._file = disk.open(PATH)
        self._offsets: dict[TopicPartition, int] = dict(self._file.entries)
        self._dirty = False

    def get(self, tp: TopicPartition) -> int:
        """The high watermark on disk; 0 for an unknown partition."""
        return self._offsets.get(tp, 0)

    def put(self, tp: TopicPartition, high_watermark: int) -> None:
        self._offsets[tp] = high_watermark
        self._dirty = True

    def forget(self, tp: TopicPartition) -> None:
        self._dirty |= self._offsets.pop(tp, None) is not None

    def write(self) -> None:
        """Write the file if anything changed."""
        if self._dirty:
            self._file.replace(*self._offsets.items())
            self._dirty = False
