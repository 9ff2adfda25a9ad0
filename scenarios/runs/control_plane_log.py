"""The events of a run's control plane: the timeline shows them, and explanations follow their causes.

There are thousands of appends and high watermarks, which explain little: only the newest are kept, since a chain of
causes can lead through one. Metrics are not kept.
"""

from collections import deque
from typing import Any

from attrs import define, field

from emulator.protocol.events import Produced
from emulator.trace import Trace, rows
from emulator.trace.columns import kind_of_rows
from scenarios.observe.timeline.summary import DATA, METRICS, is_data

NEWEST = 4096
MOST = 200_000
"""The most events that are kept; the oldest are dropped first."""
UNSORTED = 32
"""So many chunks are kept as they came."""


class _Groups(dict[type, str]):
    """By kind of event: ``data``, or ``columns`` of it; ``control``; ``metrics``; or ``outcomes`` of batches, which are
    ``columns`` or ``control``. Each kind is looked at once, and every event looked up."""

    def __missing__(self, kind: type) -> str:
        rows = kind_of_rows(kind)
        if rows in METRICS:
            group = "metrics"
        elif rows is Produced:
            group = "outcomes"
        elif rows in DATA:
            group = "data" if rows is kind else "columns"
        else:
            group = "control"
        self[kind] = group
        return group


_GROUPS = _Groups()


@define(eq=False)
class ControlPlaneLog:
    """A sink for the trace. It keeps columns as they are, at least ``NEWEST`` rows of them, and makes rows of them at
    the end."""

    _control: deque[Any] = field(factory=lambda: deque(maxlen=MOST))
    _data: deque[tuple[Any, int]] = field(factory=deque)
    """Each event with the number of its rows."""
    _data_rows: int = 0
    _unsorted: deque[list[Any]] = field(factory=deque)
    """The last chunks. Few runs are asked for their events, and short ones are over before any has to be sorted."""

    @classmethod
    def of(cls, trace: Trace) -> "ControlPlaneLog":
        log = cls()
        trace.sink(log.take, as_rows=False)
        return log

    def take(self, chunk: list[Any]) -> None:
        self._unsorted.append(chunk)
        if len(self._unsorted) > UNSORTED:
            self._sort(self._unsorted.popleft())

    def _sort(self, chunk: list[Any]) -> None:
        """This looks at every event; nearly all have columns or are metrics."""
        control, data, groups = self._control, self._data, _GROUPS
        for event in chunk:
            group = groups[event.__class__]
            if group == "columns" or (group == "outcomes" and is_data(event)):
                width = len(event.partitions)
                data.append((event, width))
                self._data_rows += width
            elif group == "control":
                control.append(event)
            elif group == "data":
                data.append((event, 1))
                self._data_rows += 1
            elif group == "outcomes":
                control.extend(rows((event,)))
        while data and self._data_rows - data[0][1] >= NEWEST:
            self._data_rows -= data.popleft()[1]

    def events(self) -> tuple[Any, ...]:
        """The kept events, in the order of the trace."""
        while self._unsorted:
            self._sort(self._unsorted.popleft())
        return tuple(
            sorted(
                (*self._control, *rows(event for event, _width in self._data)[-NEWEST:]), key=lambda event: event.seq
            )
        )
