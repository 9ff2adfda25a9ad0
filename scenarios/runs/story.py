"""A run's memory of its control plane: what the timeline shows and an explanation follows.

Appends and high watermarks come by the thousand and explain little; only the newest of them are kept, for the case that
a causal chain leads through one. Metrics explain nothing and are not kept.
"""

from collections import deque
from typing import Any

from attrs import define, field

from emulator.trace import Trace
from scenarios.observe.timeline.summary import METRICS, is_data

NEWEST = 4096
MOST = 200_000
"""Events kept at most; the oldest go first."""


@define(eq=False)
class Story:
    """A sink for the trace."""

    _control: deque[Any] = field(factory=lambda: deque(maxlen=MOST))
    _data: deque[Any] = field(factory=lambda: deque(maxlen=NEWEST))

    @classmethod
    def of(cls, trace: Trace) -> "Story":
        story = cls()
        trace.sink(story.take)
        return story

    def take(self, chunk: list[Any]) -> None:
        for event in chunk:
            if type(event) not in METRICS:
                (self._data if is_data(event) else self._control).append(event)

    def events(self) -> tuple[Any, ...]:
        """Everything kept, in the order of the trace."""
        return tuple(sorted((*self._control, *self._data), key=lambda event: event.seq))
