"""What a topic holds when the run begins: written to the disks of its replicas, as if it had been there for long."""

from collections.abc import Mapping

from brokers.log import HighWatermarkCheckpoint
from brokers.log.log import log_path
from emulator.disks import Disk
from emulator.protocol.types import Batch, TopicPartition

BATCH_BYTES = 1_048_576
"""One preloaded batch: what one fetch carries of one partition (replica.fetch.max.bytes)."""


def preload(tp: TopicPartition, disks: list[Disk], size: int, message_size: int) -> int:
    """Give every disk the same ``size`` bytes of ``tp``, of leader epoch 0 and flushed; the offset where they end."""
    batches: list[Batch] = []
    offset, left = 0, size
    while left > 0:
        batch_size = min(left, BATCH_BYTES)
        count = max(1, batch_size // message_size)
        batches.append(Batch(offset, offset + count, 0, batch_size, -1 - len(batches)))
        offset += count
        left -= batch_size
    for disk in disks:
        file = disk.open(log_path(tp))
        for batch in batches:
            file.append(batch)
        file.flush()
    return offset


def checkpoint(disk: Disk, high_watermarks: Mapping[TopicPartition, int]) -> None:
    """Put all that lies on ``disk`` below the high watermark: at once, since the file is written as a whole."""
    file = HighWatermarkCheckpoint(disk)
    for tp, high_watermark in high_watermarks.items():
        file.put(tp, high_watermark)
    file.write()
