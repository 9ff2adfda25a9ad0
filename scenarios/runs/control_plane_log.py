"""The events of a run's control plane: the timeline shows them, and explanations follow their causes.

There are thousands of appends and high watermarks, which explain little: only the newest are kept, since a chain of
causes can lead through one. Metrics are not kept.
"""

from collections import deque
from typing import Any

from attrs import define, field

from emulator.trace import Trace
from scenarios.observe.timeline.summary import METRICS, is_data

NEWEST = 4096
MOST = 200_000
"""The most events that are kept; the oldest are dropped first."""


@define(eq=False)
class ControlPlaneLog:
    """A sink for the trace."""

    _control: deque[Any] = field(factory=lambda: deque(maxlen=MOST))
    _data: deque[Any] = field(factory=lambda: deque(maxlen=NEWEST))

    @classmethod
    def of(cls, trace: Trace) -> "ControlPlaneLog":
        log = cls()
        trace.sink(log.take)
        return log

    def take(self, chunk: list[Any]) -> None:
        for event in chunk:
            if type(event) not in METRICS:
                (self._data if is_data(event) else self._control).append(event)

    def events(self) -> tuple[Any, ...]:
        """The kept events, in the order of the trace."""
        return tuple(sorted((*self._control, *self._data), key=lambda event: event.seq))
