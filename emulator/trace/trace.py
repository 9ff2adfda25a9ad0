"""The trace: append-only, typed, cheap.

An event is a ``NamedTuple`` whose first fields are ``t_us`` (virtual time), ``seq`` (its place in the total order) and
``cause`` (the ``seq`` of the event that caused it, 0 for none); the others are ints, strings, ``None`` or tuples of
them. An event that touches many partitions has tuples for columns (``emulator.trace.columns``). Checkers and measures
are folds: they see each event as it happens. Sinks get whole chunks, in order.
"""

import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

from emulator.kernel.kernel_errors import KernelError, SubscriberFailed
from emulator.trace.columns import COLUMNS_OF, rows

if TYPE_CHECKING:
    from emulator.kernel import World

CHUNK = 1024
"""The number of events that are kept before they are digested and given to the sinks; each row of columns counts. It is
small enough that they are still in the processor's cache then: with 8192 an event costs half as much again."""

_LIST_HEADER = 5


class Event(Protocol):
    """The fields that every event has."""

    @property
    def t_us(self) -> int: ...
    @property
    def seq(self) -> int: ...
    @property
    def cause(self) -> int: ...


E = TypeVar("E")
_new: Any = tuple.__new__
Sink = Callable[[list[Any]], None]
Keeper = Callable[[list[Any], bytes], None]
"""A sink that gets a chunk with the bytes that were digested, which ``read_back`` turns into events again."""


class Collector(Protocol):
    """Rows that the current transition has collected, and that are not recorded yet (``Trace.collect``)."""

    def record(self) -> None:
        """Record the rows, with ``Trace.emit_columns``, and forget them."""


class Trace:
    """The events of one run.

    Attributes:
        seq: the number of events so far; each row of an event with columns counts.
        cause: the ``seq`` of the event that caused the current transition. The code that starts a transition (delivers
            a message, takes an entry from a queue) sets it; ``anchor`` moves it forward.
    """

    def __init__(self, world: "World") -> None:
        self.seq = 0
        self.cause = 0
        self.kinds: dict[str, type] = {}
        self._world = world
        self._chunk: list[Any] = []
        self._flush_at = CHUNK
        self._collectors: list[Collector] = []
        self._folds: dict[type, list[Callable[[Any], None]]] = {}
        self._sinks: list[Sink] = []
        self._sinks_of_columns: list[Sink] = []
        self._keepers: list[Keeper] = []
        self._hash = sha256()
        world.begins = self._forget_cause

    def _forget_cause(self) -> None:
        """Forget the cause, because a task goes on after a pause: what ran before it is not the cause of what it
        does."""
        self.cause = 0

    def fold(self, kind: type[E], see: Callable[[E], None]) -> None:
        """Call ``see(event)`` for each later event of ``kind``, as it is emitted. ``kind`` may be one of rows: they are
        made once for all who fold them."""
        columns = COLUMNS_OF.get(kind)
        if columns is not None and kind not in self._folds:
            self._folds.setdefault(columns, []).append(self._rows_for(kind))
        self._folds.setdefault(kind, []).append(see)

    def _rows_for(self, kind: type) -> Callable[[Any], None]:
        sees: list[Callable[[Any], None]] = []
        self._folds[kind] = sees

        def see_columns(event: Any) -> None:
            for row in event.rows():
                for see in sees:
                    see(row)

        return see_columns

    def retrace(self, events: Iterable[Any]) -> None:
        """Show the folds the recorded events of another trace, in order. Nothing is recorded here, and events that were
        only shown there are missing."""
        for event in events:
            for see in self._folds.get(type(event), ()):
                see(event)

    def sink(self, sink: Sink, *, as_rows: bool = True) -> None:
        """Give every later chunk of events to ``sink``: with rows in the place of columns, or as recorded."""
        (self._sinks if as_rows else self._sinks_of_columns).append(sink)

    def keep(self, keeper: Keeper) -> None:
        """Give every later chunk to ``keeper``, as recorded and as bytes. A keeper of the bytes keeps no event alive:
        they cost a tenth of the memory, new events take the place of old ones in the processor's cache, and at the end
        of the run the cyclic collector has nothing to walk through."""
        self._keepers.append(keeper)

    def emit(self, kind: type[E], *fields: Any) -> E:
        """Record ``kind(t_us, seq, cause, *fields)``, after the rows that were collected before it."""
        if self._collectors:
            self.record_collected()
        self.seq = seq = self.seq + 1
        # tuple.__new__ avoids the Python frame of the NamedTuple's own constructor; flush checks the number of fields.
        # Adding tuples is faster than unpacking, which builds a list first.
        event: E = _new(kind, (self._world.now, seq, self.cause) + fields)  # noqa: RUF005
        chunk = self._chunk
        chunk.append(event)
        if kind in self._folds:
            try:
                for see in self._folds[kind]:
                    see(event)
            except Exception as error:
                _fail(error, f"at event {seq}, {kind.__name__}")
        if seq >= self._flush_at:
            self.flush()
        return event

    def emit_columns(self, kind: type[E], count: int, *fields: Any) -> E:
        """Record ``kind(t_us, seq, cause, *fields)``, an event with columns of ``count`` rows, after the rows that were
        collected before it."""
        if self._collectors:
            self.record_collected()
        first = self.seq + 1
        self.seq = last = self.seq + count
        event: E = _new(kind, (self._world.now, first, self.cause) + fields)  # noqa: RUF005
        self._chunk.append(event)
        if kind in self._folds:
            try:
                for see in self._folds[kind]:
                    see(event)
            except Exception as error:
                _fail(error, f"at event {first}, {kind.__name__}")
        if last >= self._flush_at:
            self.flush()
        return event

    def shows(self, kind: type[Any]) -> bool:
        """Whether there are folds of ``kind``, for ``show``: what is costly to describe is described only then."""
        return kind in self._folds

    def show(self, kind: type[Any], *fields: Any) -> None:
        """Let those who fold ``kind`` see ``kind(t_us, seq, cause, *fields)``, which is not recorded: neither the
        digest nor a sink has it, so its fields may be any objects that do not change. For what would make the trace
        many times as large, and can be derived from what is recorded. ``seq`` is that of the last recorded event."""
        if kind in self._folds:
            if self._collectors:
                self.record_collected()
            event: Any = _new(kind, (self._world.now, self.seq, self.cause) + fields)  # noqa: RUF005
            try:
                for see in self._folds[kind]:
                    see(event)
            except Exception as error:
                _fail(error, f"at {kind.__name__}, after event {self.seq}")

    def mark(self, kind: type[Any], *fields: Any) -> None:
        """As ``show``, and rows that are collected stay collected: where this is called within a loop, the trace is the
        same whether ``kind`` is folded or not."""
        for see in self._folds.get(kind, ()):
            see(_new(kind, (self._world.now, self.seq, self.cause) + fields))  # noqa: RUF005

    @property
    def collects(self) -> bool:
        """Whether rows that were collected are not recorded yet."""
        return bool(self._collectors)

    def collect(self, collector: Collector) -> None:
        """Take note that ``collector`` has its first row. The transition that collects it calls ``record_collected``
        when it ends."""
        self._collectors.append(collector)

    def record_collected(self) -> None:
        """Record the rows that were collected, as one event with columns for each kind. A loop over the partitions of a
        request collects rows and ends with this. Any other event that it emits on its way comes after the rows
        collected until then, so that the order of rows is that in which things happened."""
        collectors, self._collectors = self._collectors, []
        for collector in collectors:
            collector.record()

    def anchor(self, kind: type[E], *fields: Any) -> E:
        """Like ``emit``, and what follows in this transition is caused by this event."""
        event = self.emit(kind, *fields)
        self.cause = event.seq  # type: ignore[attr-defined]
        return event

    def flush(self) -> None:
        """Digest the kept events and give them to the sinks."""
        self.record_collected()
        chunk, self._chunk = self._chunk, []
        self._flush_at = self.seq + CHUNK
        if not chunk:
            return
        shapes: set[tuple[Any, int]] = set(zip(map(type, chunk), map(len, chunk), strict=True))
        for kind, length in shapes:
            assert length == len(kind._fields), f"{kind.__name__} was emitted with {length} fields"
            assert self.kinds.setdefault(kind.__name__, kind) is kind, f"two kinds are called {kind.__name__}"
            # A fold of the columns would not see it.
            assert kind not in COLUMNS_OF, f"{kind.__name__} was emitted as a row; emit {COLUMNS_OF[kind].__name__}"
        values = as_bytes(chunk)
        # Without the list's own header (a byte and its length), so that the digest does not depend on when flush ran.
        self._hash.update(memoryview(values)[_LIST_HEADER:])
        for keeper in self._keepers:
            keeper(chunk, values)
        for sink in self._sinks_of_columns:
            sink(chunk)
        if self._sinks:
            events = rows(chunk)
            for sink in self._sinks:
                sink(events)

    def digest(self) -> str:
        """The SHA-256 of all events so far, as 64 hex digits."""
        self.flush()
        return self._hash.hexdigest()


def as_bytes(chunk: list[Any]) -> bytes:
    """The digested bytes of a chunk. Version 2 of marshal has no back references and no interning flags: the bytes
    depend on the values alone."""
    return marshal.dumps([(event.__class__.__name__,) + event for event in chunk], 2)  # noqa: RUF005


def read_back(values: bytes, kinds: Mapping[str, type]) -> Iterator[Any]:
    """The events in the bytes of a chunk, of the kinds in ``kinds``, which is by the names of the classes."""
    for name, *fields in marshal.loads(values):
        if name in kinds:
            yield _new(kinds[name], fields)


def _fail(error: Exception, place: str) -> NoReturn:
    """Raise what a subscriber has raised: an error of the world as it is, any other as one that ends the run."""
    if isinstance(error, KernelError):
        raise error
    raise SubscriberFailed(place) from error
