"""What is wrong with a file, or with the whole disk it lies on."""

from collections.abc import Callable

from attrs import define

from emulator.kernel import DeadIncarnation


class DiskError(Exception):
    """The disk refused an operation (I/O error): injected by a fault."""


class UnexpectedError(Exception):
    """Not the disk, but a program that has not foreseen what it met: injected by a fault."""


@define(eq=False)
class Fault:
    """Operations that fail.

    Attributes:
        reason: what the error says.
        operations: which ones: ``append``, ``read``, ``truncate``, ``flush``, ``replace``; empty: all.
        left: how many are still to fail; None: all of them, until the fault is mended.
        error: what they raise.
        report: who is told of each, with its reason; the disk's owner, where the disk is to blame.
    """

    reason: str
    operations: tuple[str, ...] = ()
    left: int | None = None
    error: Callable[[str], Exception] = DiskError
    report: Callable[[str], object] | None = None

    def strike(self, path: str, operation: str) -> None:
        """Raise the error if this operation is to fail."""
        if self.left == 0 or (self.operations and operation not in self.operations):
            return
        if self.left is not None:
            self.left -= 1
        if self.report is not None:
            self.report(f"{path}: {self.reason}")
        raise self.error(f"{path}: {self.reason}")


CLOSED = Fault("the process that had it open is dead", error=DeadIncarnation)
"""Of the files of a process that is gone."""
