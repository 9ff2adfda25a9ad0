"""CPU time of this process and all below it: Spark's JVM and its Python workers, or the processes of a pool.

On a machine with other users it says what work costs, where the time on the wall says how busy the machine was.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import define

_TICKS = os.sysconf("SC_CLK_TCK")


@define
class Spent:
    """``seconds``: of CPU, once the context has ended."""

    seconds: float = 0.0


@contextmanager
def cpu() -> Iterator[Spent]:
    """The CPU time of what is done in the context. A process that begins and ends in it counts with its parent, which
    has to have waited for it."""
    spent, before = Spent(), _of_all()
    try:
        yield spent
    finally:
        spent.seconds = _of_all() - before


def _of_all() -> float:
    """The CPU time of this process and those below it, in seconds since they began."""
    stats: dict[int, tuple[int, int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it ended meanwhile
            stats[int(entry.name)] = int(words[1]), sum(map(int, words[11:15]))
    below = {os.getpid()}
    for pid in sorted(stats):  # a parent is older than its children
        if stats[pid][0] in below:
            below.add(pid)
    return sum(stats[pid][1] for pid in below if pid in stats) / _TICKS
