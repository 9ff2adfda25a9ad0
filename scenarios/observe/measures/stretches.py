"""The stretches of a sampled run that stand for its leaps, and the weights that this gives to what is seen in them.

In a leap no latency is seen. The stretch before it, in which all was simulated, stands for it: what is seen once in a
stretch of ``s`` that stands for leaps of ``l`` in all counts ``SCALE + SCALE * l / s`` times, and anything else
``SCALE`` times. A run without leaps has no weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import define, field

from emulator.protocol.events import Leapt, StretchBegan, StretchEnded
from emulator.trace import Trace
from scenarios.observe.measures.percentile import weighted_percentiles

SCALE = 1000
LOW, HIGH, NEAR = 0.45, 0.55, 0.2
"""Stretches say to about five per cent of all that is seen what is below a value. So a median is known where these two
percentiles are as near to it as this share of it. Where it lies between two groups of values it can be either."""


@define(eq=False)
class Stretch:
    """One stretch: what is seen between its ends, the instants of its ends left out.

    Attributes:
        until_us: its end; 0: it is not over.
        seen: each value, and how often it was seen.
        leapt_us: the length of the leaps that it stands for.
    """

    since_us: int
    until_us: int = 0
    seen: dict[int, int] = field(factory=dict)
    leapt_us: int = 0
    _last_us: int = 0
    _at_last: list[int] = field(factory=list)

    def add(self, t_us: int, values: Iterable[int]) -> None:
        """Count ``values``, which are seen now."""
        if t_us > self._last_us:
            self._count()
            self._last_us = t_us
        self._at_last += values

    def end(self, t_us: int) -> None:
        """Take note that it is over."""
        self.until_us = t_us
        if self._last_us < t_us:
            self._count()

    def _count(self) -> None:
        if self._last_us > self.since_us:
            for value in self._at_last:
                self.seen[value] = self.seen.get(value, 0) + 1
        self._at_last = []


@define(eq=False)
class Stretches:
    """The stretches of one run.

    Attributes:
        open: the stretch that is under way.
        has_leapt: whether there was a leap.
    """

    open: Stretch | None = None
    has_leapt: bool = False
    _ended: Stretch | None = None
    """The last one that is over."""
    _more: dict[int, int] = field(factory=dict)
    """How often each value counts more than ``SCALE`` times, summed over those before it."""

    @classmethod
    def of(cls, trace: Trace) -> Stretches:
        """The stretches of the run that ``trace`` tells."""
        stretches = cls()
        trace.fold(StretchBegan, stretches._began)
        trace.fold(StretchEnded, stretches._over)
        trace.fold(Leapt, stretches._leapt)
        return stretches

    def weighted(self, seen: Mapping[int, int]) -> Mapping[int, int]:
        """All that was ``seen`` in the run, weighted; called when it has ended."""
        if not self.has_leapt:
            return seen
        self._settle()
        found = {value: SCALE * count for value, count in seen.items()}
        for value, more in self._more.items():
            found[value] = found.get(value, 0) + more
        return found

    def percentiles(self, seen: Mapping[int, int], places: Sequence[float]) -> list[float | None]:
        """The percentiles of all that was ``seen`` in the run, weighted; None for a median that is not known."""
        low, high, *found = weighted_percentiles(self.weighted(seen), (LOW, HIGH, *places))
        if self.has_leapt and low is not None and high is not None:
            for number, place in enumerate(places):
                value = found[number]
                if place == 0.5 and value is not None and (low < (1 - NEAR) * value or high > (1 + NEAR) * value):
                    found[number] = None
        return found

    def _began(self, event: StretchBegan) -> None:
        self.open = Stretch(event.t_us)

    def _over(self, event: StretchEnded) -> None:
        if self.open is not None:
            self._settle()
            self._ended, self.open = self.open, None
            self._ended.end(event.t_us)

    def _leapt(self, event: Leapt) -> None:
        if event.t_us > event.since_us:
            self.has_leapt = True
            if self._ended is not None:
                self._ended.leapt_us += event.t_us - event.since_us

    def _settle(self) -> None:
        stretch, self._ended = self._ended, None
        if stretch is not None and stretch.leapt_us:
            weight = SCALE * stretch.leapt_us // (stretch.until_us - stretch.since_us)
            for value, count in stretch.seen.items():
                self._more[value] = self._more.get(value, 0) + weight * count
