"""The store for the bytes of real clients' batches: memory, and beyond a limit for each partition one file.

The file has no name: the operating system removes it when this process ends, however it ends. The place of a batch
depends only on the batches that were appended before, so that a replay decides as the live run did.
"""

import os
import tempfile
from collections.abc import Callable
from typing import IO

from attrs import define, field, frozen

from emulator.disks import DiskError
from emulator.protocol.records import InMemory, Records
from emulator.protocol.types import TopicPartition

MEMORY_BYTES = 64 << 20
"""The bytes of each partition that are kept in memory."""
FILE_BYTES = 8 << 30
"""The most bytes of the file, for all partitions together."""
FIRST_ID = 1 << 60
"""A number above the ids of emulated producers' batches."""


@define(eq=False)
class Spool:
    """A file without a name in the folder for temporary files, opened with the first batch."""

    _file: IO[bytes] | None = None
    size: int = 0

    def add(self, data: bytes) -> int:
        """Write ``data`` at the end. Returns its place. Raises: OSError."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="understudy-", buffering=0)  # noqa: SIM115  it lives as long
        at, left = self.size, memoryview(data)
        while left:
            left = left[os.pwrite(self._file.fileno(), left, self.size + len(data) - len(left)) :]
        self.size += len(data)
        return at

    def read(self, at: int, size: int) -> bytes:
        assert self._file is not None
        return os.pread(self._file.fileno(), size, at)


@frozen(weakref_slot=False)
class Spooled:
    """Bytes in the file."""

    spool: Spool
    at: int
    size: int

    def read(self) -> bytes:
        return self.spool.read(self.at, self.size)


@define(eq=False)
class ClientBatches:
    """The batches of all real clients of a run: their ids, and their bytes.

    Space is not used again: batches that are deleted, or truncated, count as long as the run lasts.

    Attributes:
        memory_bytes: the bytes of each partition in memory, before the file is used.
        file_bytes: the most bytes of the file.
        log: called with a line when there is no room for the first time.
    """

    memory_bytes: int = MEMORY_BYTES
    file_bytes: int = FILE_BYTES
    log: Callable[[str], object] = lambda _: None
    _next_id: int = FIRST_ID
    _kept: dict[TopicPartition, int] = field(factory=dict)
    _spool: Spool = field(factory=Spool)
    _full: bool = False

    def next_id(self) -> int:
        id = self._next_id
        self._next_id += 1
        return id

    def keep(self, tp: TopicPartition, data: bytes) -> Records:
        """Keep the bytes of a batch that a leader appends to ``tp``. Raises: DiskError, where there is no room."""
        kept = self._kept.get(tp, 0) + len(data)
        if kept <= self.memory_bytes:
            self._kept[tp] = kept
            return InMemory(data)
        if self._spool.size + len(data) > self.file_bytes:
            raise self._no_room(f"{self.file_bytes} bytes of records beyond those in memory are the most that is kept")
        try:
            return Spooled(self._spool, self._spool.add(data), len(data))
        except OSError as error:
            raise self._no_room(f"{tempfile.gettempdir()}: {error.strerror}") from error

    def _no_room(self, why: str) -> DiskError:
        if not self._full:
            self._full = True
            self.log(f"no room for more records: producers get KAFKA_STORAGE_ERROR ({why})")
        return DiskError(why)
