"""A disk of append-only files behind a page cache.

A *process* crash keeps all that was appended; a *host* crash keeps what was flushed. The unit of an append is
whatever the owner calls an entry (a record batch, a checkpoint); entries are never mutated.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import define, evolve, field

from emulator.kernel import DeadIncarnation


class DiskError(Exception):
    """The disk refused an operation (I/O error): injected by a fault."""


class UnexpectedError(Exception):
    """Not the disk, but a program that has not foreseen what it met: injected by a fault."""


@define(eq=False, weakref_slot=False)
class File:
    """A file: entries, and how many of them are durable.

    Attributes:
        entries: what a process sees, page cache included. Owners may read it; only the methods change it.
        flushed: the first ``flushed`` entries survive a host crash.
    """

    path: str
    entries: list[Any] = field(factory=list)
    flushed: int = 0
    failing: str = ""
    """While set, operations raise ``DiskError`` with this reason."""
    failing_operation: str = ""
    """Only this operation fails (``append``, ``truncate``, ``flush``, ``replace``); empty: all."""
    failures: int | None = None
    """How many operations are still to fail; None: all of them, while ``failing`` is set."""
    failing_with: type[Exception] = DiskError
    closed: bool = False
    """The process that had it open is gone: every operation raises ``DeadIncarnation``."""

    def fail(
        self, reason: str, operation: str = "", times: int | None = None, error: type[Exception] = DiskError
    ) -> None:
        """A fault: let the next ``times`` operations (None: all, until ``mend``) fail, with ``error``."""
        self.failing, self.failing_operation, self.failures, self.failing_with = reason, operation, times, error

    def mend(self) -> None:
        """End the fault."""
        self.failing, self.failing_operation, self.failures = "", "", None

    def _check(self, operation: str) -> None:
        if self.closed:
            raise DeadIncarnation(f"{self.path}: the process that had it open is dead")
        if not self.failing or self.failing_operation not in ("", operation):
            return
        reason = self.failing
        if self.failures is not None:
            self.failures -= 1
            if self.failures <= 0:
                self.mend()
        raise self.failing_with(f"{self.path}: {reason}")

    def append(self, entry: Any) -> None:
        """Write ``entry`` into the page cache. Raises: DiskError."""
        if self.failing or self.closed:
            self._check("append")
        self.entries.append(entry)

    def truncate(self, length: int) -> None:
        """Keep the first ``length`` entries. Raises: DiskError."""
        self._check("truncate")
        del self.entries[length:]
        self.flushed = min(self.flushed, length)

    def flush(self) -> None:
        """Make everything durable (fsync)."""
        self._check("flush")
        self.flushed = len(self.entries)

    def replace(self, *entries: Any) -> None:
        """Put ``entries`` in the place of the whole content, atomically and durably (write, fsync,
        rename)."""
        self._check("replace")
        self.entries = list(entries)
        self.flushed = len(entries)

    def amend(self, places: Mapping[int, Any], more: Iterable[Any]) -> None:
        """Put entries in the places of others and ``more`` behind them, atomically and durably: what a ``replace``
        does to a file of which little changes."""
        self._check("replace")
        for place, entry in places.items():
            self.entries[place] = entry
        self.entries.extend(more)
        self.flushed = len(self.entries)


@define(eq=False)
class Disk:
    """The files of one disk, by path. ``name``: where its machine has it mounted."""

    name: str = "/data/0"
    files: dict[str, File] = field(factory=dict)

    def open(self, path: str) -> File:
        """The file at ``path``, created empty where it is missing."""
        file = self.files.get(path)
        if file is None:
            file = self.files[path] = File(path)
        return file

    def close(self) -> None:
        """The process is gone: the files it has open refuse it from now on; whoever opens them anew has them."""
        for path, file in self.files.items():
            self.files[path] = evolve(file)
            file.closed = True

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

    def lose_unflushed(self) -> None:
        """The host crashed: the page cache is gone."""
        for file in self.files.values():
            del file.entries[file.flushed :]
