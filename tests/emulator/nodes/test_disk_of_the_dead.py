"""A dead incarnation cannot reach the disk of its machine, not even through a file it had open."""

from collections.abc import Callable
from functools import partial

import pytest

from emulator.disks import Disk, DiskFault
from emulator.kernel import DeadIncarnation


def test_an_open_file_refuses_the_dead_and_serves_the_next() -> None:
    disk = Disk()
    old = disk.open("log")
    old.append("a")
    old.flush()
    disk.close()
    truncate, replace = partial(old.truncate, 0), partial(old.replace, "c")
    operations: list[Callable[[], None]] = [partial(old.append, "b"), truncate, replace, old.flush]
    for operation in operations:
        with pytest.raises(DeadIncarnation, match="log: the process that had it open is dead"):
            operation()
    new = disk.open("log")
    assert (new.entries, new.flushed) == (["a"], 1)
    new.append("b")
    assert new.entries == ["a", "b"]


def test_an_injected_fault_outlives_the_process() -> None:
    disk = Disk()
    disk.open("log").fault = fault = DiskFault("I/O error")
    disk.close()
    assert disk.open("log").fault is fault
