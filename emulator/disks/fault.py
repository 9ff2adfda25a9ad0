"""Injected faults of a file, or of a whole disk."""

from collections.abc import Callable

from attrs import define

from emulator.kernel import DeadIncarnation


class DiskError(Exception):
    """An injected I/O error of the disk."""


class UnexpectedError(Exception):
    """An injected error of the program, not of the disk: an exception that its code does not handle."""


@define(eq=False)
class DiskFault:
    """A fault that makes operations fail.

    Attributes:
        reason: the text of the error.
        operations: the operations that fail: ``append``, ``read``, ``truncate`` (at the end), ``delete`` (at the
            beginning), ``flush``, ``replace``, ``rename``, ``create``; empty: all.
        left: the number of operations that still fail; None: all, until the fault is repaired.
        error: makes the exception that a failing operation raises.
        report: called with the path and the reason of each failure.
        of_process: whether the process that has the file open is the cause, and not the disk. The fault then ends with
            the process.
    """

    reason: str
    operations: tuple[str, ...] = ()
    left: int | None = None
    error: Callable[[str], Exception] = DiskError
    report: Callable[[str], object] | None = None
    of_process: bool = False

    def strike(self, path: str, operation: str) -> None:
        """Raise the error if this operation fails."""
        if self.left == 0 or (self.operations and operation not in self.operations):
            return
        if self.left is not None:
            self.left -= 1
        if self.report is not None:
            self.report(f"{path}: {self.reason}")
        raise self.error(f"{path}: {self.reason}")


CLOSED = DiskFault("the process that had it open is dead", error=DeadIncarnation)
"""The fault of the files that a dead process had open."""
