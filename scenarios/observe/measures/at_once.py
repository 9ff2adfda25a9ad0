"""How many things are in a state at once: when any of them is, for how long, and the most."""

from __future__ import annotations

from attrs import Factory, define


@define(eq=False)
class AtOnce:
    """Counts members of a state over virtual time. What lasts no microsecond does not count.

    Attributes:
        episodes: begin and end of each time with at least one, in us, up to the last change. Where one ends another
            does not begin.
        peak: the most there were at a time.
    """

    episodes: list[list[int]] = Factory(list)
    peak: int = 0
    _count: int = 0
    _since_us: int = 0

    @property
    def any_us(self) -> int:
        """For how long there was at least one."""
        return sum(end_us - begin_us for begin_us, end_us in self.episodes)

    @property
    def until_us(self) -> int:
        """When there was one last; 0 if never."""
        return self.episodes[-1][1] if self.episodes else 0

    def change(self, t_us: int, by: int) -> None:
        """From ``t_us`` on there are ``by`` more; 0 closes what is open, at the end of a run."""
        if t_us > self._since_us:
            if self._count:
                if self.until_us == self._since_us and self.episodes:
                    self.episodes[-1][1] = t_us
                else:
                    self.episodes.append([self._since_us, t_us])
                self.peak = max(self.peak, self._count)
            self._since_us = t_us
        self._count += by
