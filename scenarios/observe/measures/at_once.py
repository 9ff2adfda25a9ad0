"""The number of things that are in a state at once: the times with any, their sum, and the most."""

from __future__ import annotations

from attrs import Factory, define


@define(eq=False)
class AtOnce:
    """Counts members of a state over virtual time. A state of less than a microsecond does not count.

    Attributes:
        episodes: begin and end of each time with at least one, in us, up to the last change. Two that touch are one.
        peak: the most at a time.
    """

    episodes: list[list[int]] = Factory(list)
    peak: int = 0
    _count: int = 0
    _since_us: int = 0

    @property
    def any_us(self) -> int:
        """The time with at least one, in sum."""
        return sum(end_us - begin_us for begin_us, end_us in self.episodes)

    @property
    def until_us(self) -> int:
        """The end of the last time with at least one; 0 if there was none."""
        return self.episodes[-1][1] if self.episodes else 0

    def change(self, t_us: int, by: int) -> None:
        """Change the number by ``by`` from ``t_us`` on; 0 closes an open time, at the end of a run."""
        if t_us > self._since_us:
            if self._count:
                if self.until_us == self._since_us and self.episodes:
                    self.episodes[-1][1] = t_us
                else:
                    self.episodes.append([self._since_us, t_us])
                self.peak = max(self.peak, self._count)
            self._since_us = t_us
        self._count += by
