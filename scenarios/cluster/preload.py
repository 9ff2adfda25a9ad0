"""The data that a topic holds when the run begins: written to the disks of its replicas before the brokers start."""

from collections.abc import Callable, Mapping

from brokers.log.batch_runs import Piece
from brokers.log.directory import LogDirectory, emptiest_first
from brokers.log.log import Log
from brokers.log.log_config import LogConfig
from brokers.log.log_manager import CLEAN_SHUTDOWN
from emulator.disks import Disk
from emulator.protocol.extents import Extent, ExtentPart
from emulator.protocol.types import Batch, TopicPartition

BATCH_BYTES = 1_048_576
"""The size of a preloaded batch: that of one partition's data in a fetch response (replica.fetch.max.bytes)."""


class Preload:
    """Fills the disks of ``brokers``. ``at_us``: the time at which all of it was appended."""

    def __init__(
        self, disks: Mapping[int, tuple[Disk, ...]], config_of: Callable[[str], LogConfig], at_us: int = 0
    ) -> None:
        self._at_us = at_us
        self._directories = {broker: [LogDirectory(disk, config_of) for disk in its] for broker, its in disks.items()}

    def write(
        self, tp: TopicPartition, replicas: tuple[int, ...], size: int, message_size: int, places: tuple[int, ...] = ()
    ) -> None:
        """Give every replica the same ``size`` bytes of ``tp``: of leader epoch 0, flushed, below the high
        watermark. ``places``: the number of each replica's log directory; empty: the emptiest."""
        pieces = preloaded(size, message_size, self._at_us)
        for number, broker in enumerate(replicas):
            its = self._directories[broker]
            directory = its[places[number]] if places else emptiest_first(its)[0]
            log = Log(directory, tp)
            for piece in pieces:
                if isinstance(piece, ExtentPart):
                    log.append_part(piece)
                else:
                    log.append(piece)
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


def preloaded(size: int, message_size: int, at_us: int = 0) -> list[Piece]:
    """The batches of ``size`` bytes, of messages of about ``message_size``: all that are full as one extent."""
    pieces: list[Piece] = []
    full, rest = divmod(size, BATCH_BYTES)
    count = max(1, BATCH_BYTES // message_size)
    if full:
        pieces.append(Extent(0, full, count, BATCH_BYTES, 0, -1, -1, first_us=at_us).whole)
    if rest:
        pieces.append(
            Batch(full * count, full * count + max(1, rest // message_size), 0, rest, -1 - full, timestamp_us=at_us)
        )
    return pieces
