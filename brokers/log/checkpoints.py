"""Checkpoint files: an offset for each partition with its log in one directory (kafka.server.checkpoints)."""

from emulator.disks import Disk
from emulator.protocol.types import TopicPartition

HIGH_WATERMARKS = "replication-offset-checkpoint"
"""The high watermarks with which a restarted broker begins (written every 5 s)."""

RECOVERY_POINTS = "recovery-point-offset-checkpoint"
"""The offsets up to which logs had been flushed (written every minute): after an unclean stop they are recovered from
there on."""

LOG_STARTS = "log-start-offset-checkpoint"
"""The start offsets of logs that begin in the middle of a segment (written every minute)."""

CLEANED = "cleaner-offset-checkpoint"
"""The offsets up to which compacted logs were compacted (written after each compaction)."""


class OffsetCheckpointFile:
    """The file on the disk, and the changes since it was written. Kafka rewrites it whole; here the cost of a write
    depends on the number of changes, so that idle partitions cost nothing."""

    def __init__(self, disk: Disk, path: str) -> None:
        self._file = disk.open(path)
        self._places: dict[TopicPartition, int] = {}
        self._changed: dict[TopicPartition, int] = {}
        self._gone: dict[TopicPartition, None] = {}
        self._find_places()

    def _find_places(self) -> None:
        self._places = {tp: place for place, (tp, _) in enumerate(self._file.entries)}

    def get(self, tp: TopicPartition) -> int:
        """The offset, from the file or yet to be written; 0 for an unknown partition."""
        if not self._changed and not self._places:
            return 0
        changed = self._changed.get(tp)
        if changed is not None:
            return changed
        place = self._places.get(tp)
        if place is None or tp in self._gone:
            return 0
        offset: int = self._file.entries[place][1]
        return offset

    @property
    def partitions(self) -> tuple[TopicPartition, ...]:
        """The partitions that have an offset, written or yet to be written."""
        there = {**self._places, **self._changed}
        return tuple(tp for tp in there if tp in self._changed or tp not in self._gone)

    def is_changed(self, tp: TopicPartition) -> bool:
        """Whether an offset is yet to be written."""
        return tp in self._changed

    def put(self, tp: TopicPartition, offset: int) -> None:
        self._changed[tp] = offset

    def forget(self, tp: TopicPartition) -> None:
        self._changed.pop(tp, None)
        if tp in self._places:
            self._gone[tp] = None

    def forget_all(self) -> None:
        for tp in self._places:
            self.forget(tp)

    def write(self) -> None:
        """Write the changes, if there are any. Raises: DiskError."""
        if self._gone:
            kept = [entry for entry in self._file.entries if entry[0] not in self._gone]
            self._file.replace(*kept)
            self._find_places()
            self._gone.clear()
        if self._changed:
            known, places = self._changed.items(), self._places
            self._file.amend(
                {places[tp]: (tp, offset) for tp, offset in known if tp in places},
                [(tp, offset) for tp, offset in known if tp not in places],
            )
            for tp in self._changed:
                places.setdefault(tp, len(places))
            self._changed.clear()
