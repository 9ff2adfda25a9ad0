"""The events of a run's control plane: the timeline shows them, and explanations follow their causes.

There are thousands of appends and high watermarks, which explain little: only the newest are kept, since a chain of
causes can lead through one. Metrics are not kept.
"""

from collections import deque
from typing import Any

from attrs import define, field

from emulator.protocol.events import Produced
from emulator.trace import Trace, read_back, rows
from emulator.trace.columns import COLUMNS_OF, kind_of_rows
from scenarios.observe.timeline.summary import DATA, METRICS, is_data

NEWEST = 4096
MOST = 200_000
"""The most events that are kept; the oldest are dropped first."""


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
_MANY = {kind.__name__: kind for row in (*DATA, Produced) for kind in (row, COLUMNS_OF.get(row, row))}
"""By their names in a chunk's bytes: the kinds that can be data."""


@define(eq=False)
class ControlPlaneLog:
    """Keeps the events of a trace's control plane. Of the data it keeps the bytes, of ``NEWEST`` rows at least,
    and makes events of them when it is asked: few runs are, and a world full of events takes long to free."""

    _control: deque[Any] = field(factory=lambda: deque(maxlen=MOST))
    _data: deque[tuple[bytes, int]] = field(factory=deque)
    """Chunks with the numbers of their rows of data."""
    _data_rows: int = 0

    @classmethod
    def of(cls, trace: Trace) -> "ControlPlaneLog":
        log = cls()
        trace.keep(log.take)
        return log

    def take(self, chunk: list[Any], values: bytes) -> None:
        """This looks at every event; nearly all have columns or are metrics."""
        control, groups, width = self._control, _GROUPS, 0
        for event in chunk:
            group = groups[event.__class__]
            if group == "columns" or (group == "outcomes" and is_data(event)):
                width += len(event.partitions)
            elif group == "control":
                control.append(event)
            elif group == "data":
                width += 1
            elif group == "outcomes":
                control.extend(rows((event,)))
        if width:
            self._data.append((values, width))
            self._data_rows += width
        while self._data and self._data_rows - self._data[0][1] >= NEWEST:
            self._data_rows -= self._data.popleft()[1]

    def events(self) -> tuple[Any, ...]:
        """The kept events, in the order of the trace."""
        many = (event for values, _ in self._data for event in read_back(values, _MANY) if is_data(event))
        return tuple(sorted((*self._control, *rows(many)[-NEWEST:]), key=lambda event: event.seq))
