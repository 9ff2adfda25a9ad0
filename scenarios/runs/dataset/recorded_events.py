"""The events of a recorded run as columns, from which only those are made that a question about a moment needs.

Nearly all events of a run are appends, high watermarks, metrics and batches without an error. Their result at a moment
is read from the columns, however many they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from attrs import frozen
from numpy.typing import NDArray

from emulator.protocol.events import Appended, Produced, Unfinished
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import CONFIG_BROKERS
from emulator.trace.events import ZkWritten
from scenarios.observe.history.quotas import WINDOW_US
from scenarios.observe.timeline.log_changes import DATA, METRICS
from scenarios.runs.dataset.events import KINDS, read_events

_MANY = (*DATA, *METRICS, Produced)
_NO_ERROR = '"error":"NONE"'
"""A part of the fields of every ``Produced`` whose batch has not failed."""
Rows = NDArray[np.int64]
"""Places in the table, in order."""
Column = Any
"""A column, ``pyarrow.Array`` or ``ChunkedArray``: their stubs lack methods that are used here."""


@frozen
class UpTo:
    """The events up to a moment.

    Attributes:
        events: the events in order, without the many that do not change the state. Of the appends to a replica there is
            the last, and where a throttle is set those of the seconds before.
        by_seq: every event of the run, including those that are not among ``events``.
        appended: the numbers of records and bytes that the left-out appends brought each partition.
    """

    events: list[Any]
    by_seq: Mapping[int, Any]
    appended: Callable[[], Mapping[TopicPartition, tuple[int, int]]]


class RecordedEvents:
    """The events of one run, in their order. Raises: KeyError, TypeError or ValueError for a row that is not an event.

    Attributes:
        end_us: the time of the last one.
        control: the events of the control plane, and the failed batches.
    """

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self._t_us, self._seq = (_values(table[name]) for name in ("t_us", "seq"))
        kinds = table["kind"].combine_chunks().dictionary_encode()
        self._names = [KINDS[str(name)].__name__ for name in kinds.dictionary.to_pylist()]
        self._kinds = _values(kinds.indices)
        self.end_us = int(self._t_us[-1])
        produced = self._rows(Produced)
        given_up = _true(pc.invert(pc.match_substring(self._fields(produced), _NO_ERROR)))
        few = np.flatnonzero(~np.isin(self._kinds, self._codes(*_MANY)))
        self.control = self._made(np.union1d(few, produced[given_up]))

    def up_to(self, t_us: int) -> UpTo:
        """The events up to and including ``t_us``."""
        return self._until(int(np.searchsorted(self._t_us, t_us, side="right")))

    def before(self, seq: int) -> UpTo:
        """The events before event ``seq``."""
        return self._until(int(np.searchsorted(self._seq, seq)))

    def batches(self, tp: TopicPartition) -> list[int]:
        """The batches of a partition in the whole run, whatever their outcome: written, acknowledged, failed or
        unfinished."""
        rows = np.concatenate([self._of(tp, self._rows(kind)) for kind in (Appended, Produced, Unfinished)])
        found: list[int] = np.unique(_numbers(self._fields(rows), "id")).tolist()
        return found

    def outcome(self, tp: TopicPartition, id: int) -> list[Any]:
        """The outcome of a batch, as its producer learned it."""
        rows = self._of(tp, self._rows(Produced))
        return self._made(rows[_numbers(self._fields(rows), "id") == id])

    # -- up to a moment -----------------------------------------------------------------------------------------------

    def _until(self, end: int) -> UpTo:
        """The events of the first ``end`` rows."""
        before = [event for event in self.control if end == len(self._seq) or event.seq < self._seq[end]]
        appends = self._rows(Appended)
        appends = appends[appends < end]
        needed = self._last_of_each(appends)
        if any(type(event) is ZkWritten and _sets_rate(event) for event in before):
            since_us = self._t_us[end - 1] - WINDOW_US if end else 0
            needed = np.union1d(needed, appends[self._t_us[appends] >= since_us])
        events = sorted((*before, *self._made(needed)), key=lambda event: event.seq)
        left_out = np.setdiff1d(appends, needed, assume_unique=True)
        return UpTo(events, _BySeq(self, events), lambda: self._appended(left_out))

    def _last_of_each(self, appends: Rows) -> Rows:
        """The last append to each replica."""
        replicas = self._partitions(appends) * (2**16) + _values(self._table["node"].take(_array(appends)))
        _, backwards = np.unique(replicas[::-1], return_index=True)
        return np.sort(appends[len(appends) - 1 - backwards])

    def _appended(self, rows: Rows) -> dict[TopicPartition, tuple[int, int]]:
        fields, partitions = self._fields(rows), self._partitions(rows)
        records = _numbers(fields, "next_offset") - _numbers(fields, "base_offset")
        sizes, found = _numbers(fields, "size"), {}
        for code, first in zip(*np.unique(partitions, return_index=True), strict=True):
            [row] = self._table.select(["topic", "partition"]).slice(int(rows[first]), 1).to_pylist()
            own = partitions == code
            tp = TopicPartition.of(row["topic"], row["partition"])
            found[tp] = (int(records[own].sum()), int(sizes[own].sum()))
        return found

    # -- columns ------------------------------------------------------------------------------------------------------

    def _codes(self, *kinds: type[Any]) -> list[int]:
        names = [kind.__name__ for kind in kinds]
        return [code for code, name in enumerate(self._names) if name in names]

    def _rows(self, kind: type[Any]) -> Rows:
        return np.flatnonzero(np.isin(self._kinds, self._codes(kind)))

    def _fields(self, rows: Rows) -> Column:
        return self._table["fields"].take(_array(rows))

    def _partitions(self, rows: Rows) -> NDArray[np.int64]:
        """A number for the partition of each row."""
        places = _array(rows)
        topics = self._table["topic"].take(places).combine_chunks().dictionary_encode().indices
        numbers = _values(self._table["partition"].take(places))
        found: Rows = _values(topics).astype(np.int64) * 2**32 + numbers
        return found

    def _of(self, tp: TopicPartition, rows: Rows) -> Rows:
        own = self._table.select(["topic", "partition"]).take(_array(rows))
        topic, partition = pa.scalar(tp.topic), pa.scalar(tp.partition)
        is_own: Column = pc.and_(pc.equal(own["topic"], topic), pc.equal(own["partition"], partition))
        return rows[_true(is_own)]

    def _made(self, rows: Rows) -> list[Any]:
        return list(read_events(self._table.take(_array(rows))))

    def event(self, seq: int) -> Any:
        """Event ``seq``; None: there is none."""
        row = int(np.searchsorted(self._seq, seq))
        if row == len(self._seq) or self._seq[row] != seq:
            return None
        return next(read_events(self._table.slice(row, 1)))


class _BySeq(Mapping[int, Any]):
    """Events by their ``seq``, made when they are needed."""

    def __init__(self, recorded: RecordedEvents, at_hand: list[Any]) -> None:
        self._recorded = recorded
        self._at_hand = {event.seq: event for event in at_hand}

    def __getitem__(self, seq: int) -> Any:
        found = self._at_hand.get(seq) or self._recorded.event(seq)
        if found is None:
            raise KeyError(seq)
        return found

    def __iter__(self) -> Iterator[int]:
        return iter(self._at_hand)

    def __len__(self) -> int:
        return len(self._at_hand)


def _numbers(fields: Column, name: str) -> NDArray[np.int64]:
    """A whole number of each event's fields. Raises: ValueError."""
    found = pc.struct_field(pc.extract_regex(fields, rf'"{name}":(?P<found>-?\d+)'), "found")
    if found.null_count:
        raise ValueError(f"no {name}")
    return _values(pc.cast(found, pa.int64()))


# pyarrow's own ways to numpy and back import pandas, which takes longer than all the rest.


def _values(column: Column) -> NDArray[Any]:
    """The values of a column of whole numbers without nulls."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    kind = np.dtype(str(whole.type))
    if not len(whole):
        return np.empty(0, kind)
    buffer: Any = whole.buffers()[1]
    found: NDArray[Any] = np.frombuffer(buffer, kind, len(whole), whole.offset * kind.itemsize)
    return found


def _array(rows: Rows) -> Column:
    whole: Any = np.ascontiguousarray(rows, np.int64)
    return pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(whole)])


def _true(mask: Column) -> Rows:
    """The places at which the mask is true."""
    return _values(pc.indices_nonzero(mask)).astype(np.int64)


def _sets_rate(event: ZkWritten) -> bool:
    return event.path.startswith(CONFIG_BROKERS) and "throttled.rate" in event.data
