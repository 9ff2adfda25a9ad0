"""The events of a run's control plane: the timeline shows them, and explanations follow their causes.

There are thousands of appends and high watermarks, which explain little: only the newest are kept, since a chain of
causes can lead through one. Metrics are not kept.
"""

from collections import deque
from collections.abc import Iterable
from typing import Any

from attrs import define, field

from emulator.protocol.events import Produced
from emulator.protocol.shown import Deviated
from emulator.trace import Trace, read_back, rows
from emulator.trace.columns import kind_of_rows
from scenarios.observe.timeline.log_changes import DATA, METRICS, is_data

NEWEST = 4096
MOST = 200_000
"""The most events that are kept; the oldest are dropped first."""
UNSORTED = 32
"""The number of chunks that are kept as they came."""


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
    """Keeps the events of a trace's control plane, and the newest of its data.

    It keeps bytes, and makes events of them when it is asked: few runs are, and a world full of events takes long to
    free. The first chunks it does not even look at.

    Attributes:
        kinds: kinds of the trace's events.
        witnesses: where brokers and controllers did what a release did before a fix, in order.
    """

    kinds: dict[str, type] = field(factory=dict)
    witnesses: list[Deviated] = field(factory=list)
    _control: deque[Any] = field(factory=lambda: deque(maxlen=MOST))
    _data: deque[tuple[bytes, int]] = field(factory=deque)
    """Chunks with the numbers of their rows of data."""
    _data_rows: int = 0
    _unsorted: list[bytes] = field(factory=list)
    """The first chunks, which are all of a short run."""

    @classmethod
    def of(cls, trace: Trace) -> "ControlPlaneLog":
        log = cls(trace.kinds)
        trace.keep(log.take)
        trace.fold(Deviated, log.witnesses.append)
        return log

    def take(self, chunk: list[Any], values: bytes) -> None:
        if len(self._unsorted) < UNSORTED:
            self._unsorted.append(values)
        else:
            self._sort(chunk, values)

    def _sort(self, chunk: Iterable[Any], values: bytes) -> None:
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
        log = ControlPlaneLog(self.kinds)
        for values in self._unsorted:
            log._sort(read_back(values, self.kinds), values)
        control = [*log._control, *self._control][-MOST:]
        kept = (event for values, _ in (*log._data, *self._data) for event in read_back(values, self.kinds))
        data = rows(event for event in kept if _GROUPS[type(event)] != "control" and is_data(event))[-NEWEST:]
        return tuple(sorted((*control, *data), key=lambda event: event.seq))
