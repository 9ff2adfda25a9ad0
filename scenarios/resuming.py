"""One rule for long work whose results are kept, in ``sweep``, ``chaos``, ``atlas`` and ``shrink``. The same command
goes on where it stopped, another one is refused in that folder with a line (``BadInput``), and a line after Ctrl-C says
so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in work of which something may be kept; its text says what, and where."""

    def __init__(self, done: str, place: str | Path | None) -> None:
        new = "nothing new is" if done.startswith("0 ") else f"{done} are"
        kept = f"{new} kept in {place}; the same command goes on" if place else "nothing is kept without --out"
        super().__init__(f"interrupted; {kept}")


@contextmanager
def resumable(done: Callable[[], str], place: str | Path | None) -> Iterator[None]:
    """Add to a Ctrl-C inside the block what is kept. ``done``: the amount, as in ``3 of 8 runs``; ``place``: where;
    None: nothing is kept."""
    try:
        yield
    except BaseException as error:
        if is_interrupt(error):
            raise Interrupted(done(), place) from None
        raise


def is_interrupt(error: BaseException) -> bool:
    """Whether the exception is Ctrl-C and nothing else; it may come out of tasks, as a group."""
    if isinstance(error, BaseExceptionGroup):
        return error.split(KeyboardInterrupt)[1] is None
    return isinstance(error, KeyboardInterrupt)
