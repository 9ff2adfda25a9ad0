"""The data that a topic holds when the run begins: written to the disks of its replicas before the brokers start."""

from collections.abc import Callable, Mapping

from brokers.log.directory import LogDirectory, emptiest_first
from brokers.log.log import Log
from brokers.log.log_config import LogConfig
from brokers.log.log_manager import CLEAN_SHUTDOWN
from emulator.disks import Disk
from emulator.protocol.types import Batch, TopicPartition

BATCH_BYTES = 1_048_576
"""The size of a preloaded batch: that of one partition's data in a fetch response (replica.fetch.max.bytes)."""


class Preload:
    """Fills the disks of ``brokers``."""

    def __init__(self, disks: Mapping[int, tuple[Disk, ...]], config_of: Callable[[str], LogConfig]) -> None:
        self._directories = {broker: [LogDirectory(disk, config_of) for disk in its] for broker, its in disks.items()}

    def write(
        self, tp: TopicPartition, replicas: tuple[int, ...], size: int, message_size: int, places: tuple[int, ...] = ()
    ) -> None:
        """Give every replica the same ``size`` bytes of ``tp``: of leader epoch 0, flushed, below the high
        watermark. ``places``: the number of each replica's log directory; empty: the emptiest."""
        batches = preloaded(size, message_size)
        for number, broker in enumerate(replicas):
            its = self._directories[broker]
            directory = its[places[number]] if places else emptiest_first(its)[0]
            log = Log(directory, tp)
            for batch in batches:
                log.append(batch)
            log.flush()
            directory.logs += 1
            directory.high_watermarks.put(tp, log.end_offset)

    def end(self) -> None:
        """Write the checkpoints, each of them once."""
        for directories in self._directories.values():
            for directory in directories:
                directory.high_watermarks.write()
                directory.recovery_points.write()
                directory.disk.open(CLEAN_SHUTDOWN)


def preloaded(size: int, message_size: int) -> list[Batch]:
    """The batches of ``size`` bytes, of messages of about ``message_size``."""
    batches: list[Batch] = []
    offset, left = 0, size
    while left > 0:
        batch_size = min(left, BATCH_BYTES)
        count = max(1, batch_size // message_size)
        batches.append(Batch(offset, offset + count, 0, batch_size, -1 - len(batches)))
        offset += count
        left -= batch_size
    return batches
