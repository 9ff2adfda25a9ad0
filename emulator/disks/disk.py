"""A disk of append-only files behind a page cache.

A *process* crash keeps all that was appended; a *host* crash keeps what was flushed, and perhaps a piece of what came
next. The unit of an append is whatever the owner calls an entry (a record batch, a checkpoint); entries are never
mutated.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import define, evolve, field, frozen

from emulator.disks.fault import CLOSED, Fault
from emulator.disks.pace import Pace


@frozen
class Torn:
    """What a host crash left of an entry that was being written."""

    entry: Any


@define(eq=False, weakref_slot=False)
class File:
    """A file: entries, and how many of them are durable.

    Attributes:
        entries: what a process sees, page cache included. Owners may read it; only the methods change it.
        flushed: the first ``flushed`` entries survive a host crash.
        label: what the owner keeps in the file's name, as durable as names are.
        fault: what is wrong with it, if anything is.
    """

    path: str
    entries: list[Any] = field(factory=list)
    flushed: int = 0
    label: Any = None
    fault: Fault | None = None

    def check(self, operation: str) -> None:
        """Whether ``operation`` works now. Raises: DiskError, UnexpectedError, DeadIncarnation."""
        if self.fault is not None:
            self.fault.strike(self.path, operation)

    def append(self, entry: Any) -> None:
        """Write ``entry`` into the page cache. Raises: DiskError."""
        if self.fault is not None:
            self.fault.strike(self.path, "append")
        self.entries.append(entry)

    def truncate(self, length: int) -> None:
        """Keep the first ``length`` entries. Raises: DiskError."""
        self.check("truncate")
        del self.entries[length:]
        self.flushed = min(self.flushed, length)

    def drop(self, count: int) -> None:
        """Let the first ``count`` entries go, durably. Raises: DiskError."""
        self.check("truncate")
        del self.entries[:count]
        self.flushed = max(0, self.flushed - count)

    def damage(self, place: int, damaged: Any) -> None:
        """A fault: the medium has changed what was written. No operation of the owner's."""
        self.entries[place] = damaged

    def flush(self) -> None:
        """Make everything durable (fsync). Raises: DiskError."""
        self.check("flush")
        self.flushed = len(self.entries)

    def write_back(self) -> None:
        """The operating system has written the page cache to the disk, by itself."""
        self.flushed = len(self.entries)

    def replace(self, *entries: Any) -> None:
        """Put ``entries`` in the place of the whole content, atomically and durably (write, fsync,
        rename)."""
        self.check("replace")
        self.entries = list(entries)
        self.flushed = len(entries)

    def amend(self, places: Mapping[int, Any], more: Iterable[Any]) -> None:
        """Put entries in the places of others and ``more`` behind them, atomically and durably: what a ``replace``
        does to a file of which little changes."""
        self.check("replace")
        for place, entry in places.items():
            self.entries[place] = entry
        self.entries.extend(more)
        self.flushed = len(self.entries)

    def lose_unflushed(self, tears: Callable[[], bool]) -> None:
        """The page cache is gone; where ``tears()``, a piece of the first entry in it had reached the disk."""
        if len(self.entries) > self.flushed:
            pieces = [Torn(self.entries[self.flushed])] if tears() else []
            self.entries[self.flushed :] = pieces
            self.flushed = len(self.entries)


@define(eq=False)
class Disk:
    """The files of one disk, by path.

    Attributes:
        name: where its machine has it mounted.
        fault: what is wrong with all of it, if anything is.
        pace: how long it takes; None: no time.
        on_error: the process that has it open is told why an operation failed.
    """

    name: str = "/data/0"
    files: dict[str, File] = field(factory=dict)
    fault: Fault | None = None
    on_error: Callable[[str], object] | None = None
    pace: Pace | None = None

    @property
    def unusable(self) -> bool:
        """Every operation fails, until the disk is mended."""
        return self.fault is not None and not self.fault.operations and self.fault.left is None

    def report(self, reason: str) -> None:
        """An operation failed: tell who has it open, if anybody does."""
        if self.on_error is not None:
            self.on_error(reason)

    def open(self, path: str) -> File:
        """The file at ``path``, created empty where it is missing."""
        file = self.files.get(path)
        if file is None:
            file = self.files[path] = File(path, fault=self.fault)
        return file

    def close(self) -> None:
        """The process is gone: the files it has open refuse it from now on; whoever opens them anew has them."""
        for path, file in self.files.items():
            self.files[path] = evolve(file)
            file.fault = CLOSED
        self.on_error = None

    def exists(self, path: str) -> bool:
        return path in self.files

    def rename(self, path: str, new: str) -> None:
        """Call the file at ``path`` ``new`` from now on, atomically and durably, in the place of what was there."""
        file = self.files.pop(path)
        file.path = new
        self.files[new] = file

    def delete(self, path: str) -> None:
        """Unlink ``path``; a missing file is fine."""
        self.files.pop(path, None)

    def list(self, prefix: str = "") -> list[str]:
        """The paths that begin with ``prefix``, sorted."""
        return sorted(path for path in self.files if path.startswith(prefix))

    def fail(self, fault: Fault) -> None:
        """A fault of the whole disk: of all files, and of those yet to come."""
        self.fault = fault
        for file in self.files.values():
            file.fault = fault

    def mend(self) -> None:
        """End every fault, of the disk and of its files; what was damaged stays so."""
        self.fault = None
        for file in self.files.values():
            file.fault = None

    def lose_unflushed(self, tears: Callable[[], bool] = lambda: False) -> None:
        """The host crashed: the page cache is gone. ``tears``: see ``File.lose_unflushed``."""
        for file in self.files.values():
            file.lose_unflushed(tears)
