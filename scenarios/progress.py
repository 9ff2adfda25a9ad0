"""The progress of long work, for the person who waits: in real time, which no run uses."""

from __future__ import annotations

import time
from collections.abc import Callable

from attrs import define, field

SOON_S = 2.0
"""The time below which work is not reported, and a time left is not named."""


@define
class Progress:
    """Reports the progress of some work, with the time that it will still take at the present speed.

    Attributes:
        command: the word before each line, as in ``sweep: 12 of 40 runs``.
        show: prints a line.
        total, done: the whole amount, and the amount that was done at the beginning.
        about: the word before the time left.
        clock: returns the time in seconds.
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
        """Show ``text`` and the time left; ``done``: the amount that is done now."""
        self.show(f"{self.command}: {text}{self.time_left(done)}")

    def report_seldom(self, done: float, text: Callable[[float], str]) -> None:
        """Report at most once in ``SOON_S``, and not before. ``text`` gets the seconds since the beginning."""
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
