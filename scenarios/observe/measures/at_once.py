"""How many things are in a state at once: for how long any of them, and the most."""

from __future__ import annotations

from attrs import define


@define(eq=False)
class AtOnce:
    """Counts members of a state over virtual time. What lasts no microsecond does not count.

    Attributes:
        any_us: for how long there was at least one, up to the last change.
        peak: the most there were at a time.
        until_us: when there was one last, up to the last change; 0 if never.
    """

    any_us: int = 0
    peak: int = 0
    until_us: int = 0
    _count: int = 0
    _since_us: int = 0

    def change(self, t_us: int, by: int) -> None:
        """From ``t_us`` on there are ``by`` more; 0 closes what is open, at the end of a run."""
        if t_us > self._since_us:
            if self._count:
                self.any_us += t_us - self._since_us
                self.until_us = t_us
                self.peak = max(self.peak, self._count)
            self._since_us = t_us
        self._count += by
