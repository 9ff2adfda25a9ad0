"""A disk of append-only files behind a page cache.

A *process* crash keeps everything that was appended. A *host* crash keeps what was flushed, and perhaps a part of the
next entry. The owner of a file decides what an entry is (a record batch, a checkpoint); entries are never mutated.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from attrs import define, evolve, field, frozen

from emulator.disks.fault import CLOSED, DiskFault
from emulator.disks.pace import DiskSpeed, Pace


@frozen
class Torn:
    """The part of an entry that a host crash left on the disk."""

    entry: Any


NO_ENTRIES: list[Any] = []
"""The content of every file that is new: most logs of a large cluster are empty. It is never changed."""


@define(eq=False, weakref_slot=False)
class File:
    """A file: entries, and how many of them are durable.

    Attributes:
        entries: the content, page cache included. The owner may read it, and put a sequence of its own in the place of
            the list that has the same entries and the same methods; only the methods here change it. The first write
            into an empty file replaces the list.
        flushed: the number of entries, from the start, that survive a host crash.
        label: information that the owner keeps in the file's name, which survives every crash.
        fault: injected, if any.
    """

    path: str
    entries: list[Any] = NO_ENTRIES
    flushed: int = 0
    label: Any = None
    fault: DiskFault | None = None

    def check(self, operation: str) -> None:
        """Fail if ``operation`` fails now. Raises: DiskError, UnexpectedError, DeadIncarnation."""
        if self.fault is not None:
            self.fault.strike(self.path, operation)

    def append(self, entry: Any) -> None:
        """Write ``entry`` into the page cache. Raises: DiskError."""
        if self.fault is not None:
            self.fault.strike(self.path, "append")
        if self.entries:
            self.entries.append(entry)
        else:
            self.entries = [entry]

    def truncate(self, length: int) -> None:
        """Keep the first ``length`` entries. Raises: DiskError."""
        self.check("truncate")
        del self.entries[length:]
        self.flushed = min(self.flushed, length)

    def drop(self, count: int) -> None:
        """Remove the first ``count`` entries, durably. Raises: DiskError."""
        self.check("delete")
        del self.entries[:count]
        self.flushed = max(0, self.flushed - count)

    def damage(self, place: int, damaged: Any) -> None:
        """Inject a fault: damage a written entry, which becomes ``damaged``. Not an operation of the owner."""
        self.entries[place] = damaged

    def flush(self) -> None:
        """Make everything durable (fsync). Raises: DiskError."""
        self.check("flush")
        self.flushed = len(self.entries)

    def write_back(self) -> None:
        """The operating system writes the page cache to the disk. Not an operation of the owner; never fails."""
        self.flushed = len(self.entries)

    def replace(self, *entries: Any) -> None:
        """Replace the whole content, atomically and durably (write, fsync, rename). Raises: DiskError."""
        self.check("replace")
        self.entries = list(entries)
        self.flushed = len(entries)

    def rewrite(self, entries: Sequence[Any]) -> None:
        """Replace as many of the first entries as there are ``entries``, atomically; they are as durable as before.
        Raises: DiskError."""
        self.check("replace")
        self.entries[: len(entries)] = entries

    def amend(self, places: Mapping[int, Any], more: Iterable[Any]) -> None:
        """Replace the entries at ``places`` and append ``more``, atomically and durably. Equals ``replace`` of the
        whole content, for a file of which little changes. Raises: DiskError."""
        self.check("replace")
        for place, entry in places.items():
            self.entries[place] = entry
        if self.entries:
            self.entries.extend(more)
        else:
            self.entries = list(more)
        self.flushed = len(self.entries)

    def lose_unflushed(self, tears: Callable[[], bool]) -> None:
        """Lose the page cache. If ``tears()``, a part of its first entry had reached the disk (``Torn``)."""
        if len(self.entries) > self.flushed:
            pieces = [Torn(self.entries[self.flushed])] if tears() else []
            self.entries[self.flushed :] = pieces
            self.flushed = len(self.entries)


@define(eq=False)
class Disk:
    """The files of one disk, by path.

    Attributes:
        name: its mount point on the machine.
        fault: a fault of the whole disk, if one was injected.
        pace: how long operations take; None: no time.
        on_error: called with the reason when an operation fails; set by the process that has the disk open.
    """

    name: str = "/data/0"
    files: dict[str, File] = field(factory=dict)
    fault: DiskFault | None = None
    on_error: Callable[[str], object] | None = None
    pace: Pace | None = None

    def take_time(self, speed: DiskSpeed | None, now_us: int) -> None:
        """Set the speed of the disk, from ``now_us`` on (virtual us). It also counts for operations under way. None:
        operations take no time."""
        if self.pace is not None:
            self.pace.change(DiskSpeed() if speed is None else speed, now_us)
        self.pace = None if speed is None else self.pace or Pace(speed)

    @property
    def unusable(self) -> bool:
        """Whether every operation fails until the disk is repaired."""
        return self.fault is not None and not self.fault.operations and self.fault.left is None

    def report(self, reason: str) -> None:
        """Report a failed operation to the process that has the disk open, if there is one."""
        if self.on_error is not None:
            self.on_error(reason)

    def open(self, path: str) -> File:
        """The file at ``path``; created empty if it does not exist."""
        file = self.files.get(path)
        if file is None:
            file = self.files[path] = File(path, fault=self.fault)
        return file

    def create(self, path: str) -> File:
        """A new file at ``path``. Raises: DiskError."""
        self.check("create")
        return self.open(path)

    def check(self, operation: str) -> None:
        """Fail if ``operation`` fails now on the whole disk. Raises: DiskError, UnexpectedError."""
        if self.fault is not None:
            self.fault.strike(self.name, operation)

    def close(self) -> None:
        """Close the files of a process that is dead: every operation on them fails from now on. The next process opens
        them again."""
        for path, file in self.files.items():
            fault = file.fault
            self.files[path] = evolve(file, fault=None if fault is not None and fault.of_process else fault)
            file.fault = CLOSED
        self.on_error = None

    def exists(self, path: str) -> bool:
        return path in self.files

    def rename(self, path: str, new: str) -> None:
        """Rename the file at ``path`` to ``new``, atomically and durably. A file that was there is replaced. Raises:
        DiskError."""
        self.files[path].check("rename")
        file = self.files.pop(path)
        file.path = new
        self.files[new] = file

    def delete(self, path: str) -> None:
        """Delete ``path``, if it exists."""
        self.files.pop(path, None)

    def list(self, prefix: str = "") -> list[str]:
        """The paths that begin with ``prefix``, sorted."""
        return sorted(path for path in self.files if path.startswith(prefix))

    def fail(self, fault: DiskFault) -> None:
        """Inject a fault of the whole disk: of all files, and of those created later."""
        self.fault = fault
        for file in self.files.values():
            file.fault = fault

    def mend(self) -> None:
        """End every fault, of the disk and of its files. Damaged entries stay damaged."""
        self.fault = None
        for file in self.files.values():
            file.fault = None

    def lose_unflushed(self, tears: Callable[[], bool] = lambda: False) -> None:
        """The host crashed: every file loses its page cache (``File.lose_unflushed``)."""
        for file in self.files.values():
            file.lose_unflushed(tears)
