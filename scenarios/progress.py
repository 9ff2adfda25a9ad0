"""How far long work is, for the person who waits: real time, which no run uses."""

from __future__ import annotations

import time
from collections.abc import Callable

from attrs import define, field

SOON_S = 2.0
"""Work that is done sooner is not reported, and a time left that is shorter is not named."""


@define
class Progress:
    """Says how far some work is, with the time that it will still take if it goes on like that.

    Attributes:
        command: the word before each line, as in ``sweep: 12 of 40 runs``.
        show: prints a line.
        total: of what is counted; done: how much of it was there at the beginning.
        about: the word before the time left. clock: the time in seconds.
    """

    command: str
    show: Callable[[str], object]
    total: float
    done: float = 0
    about: str = "about"
    clock: Callable[[], float] = time.monotonic
    _began: float = field(init=False)
    _shown: float = field(init=False, default=0.0)

    def __attrs_post_init__(self) -> None:
        self._began = self.clock()

    def report(self, done: float, text: str) -> None:
        """Show ``text`` and the time left; ``done``: how much is done now."""
        self.show(f"{self.command}: {text}{self.time_left(done)}")

    def report_seldom(self, done: float, text: Callable[[float], str]) -> None:
        """The same, at most once in ``SOON_S``, and not before. ``text`` gets the seconds since the beginning."""
        seconds = self.clock() - self._began
        if seconds - self._shown >= SOON_S:
            self._shown = seconds
            self.report(done, text(seconds))

    def time_left(self, done: float) -> str:
        """``, about 40 s left``; nothing where that is not known, or short."""
        if done <= self.done:
            return ""
        seconds = (self.clock() - self._began) * (self.total - done) / (done - self.done)
        return f", {self.about} {words(seconds)} left" if seconds >= SOON_S else ""


def words(seconds: float) -> str:
    """A time for people: ``40 s``, ``12 min``, ``3 h 20 min``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
