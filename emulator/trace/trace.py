"""The trace: append-only, typed, cheap.

An event is a ``NamedTuple`` whose first fields are ``t_us`` (virtual time), ``seq`` (its place in the total order) and
``cause`` (the ``seq`` of the event that caused it, 0 for none); the others are ints, strings, ``None`` or tuples of
them. Checkers and measures are folds: they see each event as it happens. Sinks get whole chunks, in order.
"""

import marshal
from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from emulator.kernel import World

CHUNK = 8192
"""How many events are kept before they are digested and given to the sinks."""


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


class Trace:
    """The events of one run.

    Attributes:
        seq: the number of events so far.
        cause: the ``seq`` of the event that caused the current transition. The code that starts a transition (delivers
            a message, takes an entry from a queue) sets it; ``anchor`` moves it forward.
    """

    def __init__(self, world: "World") -> None:
        self.seq = 0
        self.cause = 0
        self._world = world
        self._chunk: list[Any] = []
        self._folds: dict[type, list[Callable[[Any], None]]] = {}
        self._sinks: list[Sink] = []
        self._hash = sha256()

    def fold(self, kind: type[E], see: Callable[[E], None]) -> None:
        """Call ``see(event)`` for each later event of ``kind``, as it is emitted."""
        self._folds.setdefault(kind, []).append(see)

    def sink(self, sink: Sink) -> None:
        """Give every later chunk of events to ``sink``."""
        self._sinks.append(sink)

    def emit(self, kind: type[E], *fields: Any) -> E:
        """Record ``kind(t_us, seq, cause, *fields)``."""
        self.seq = seq = self.seq + 1
        # tuple.__new__ avoids the Python frame of the NamedTuple's own constructor; flush checks the number of fields.
        # Adding tuples is faster than unpacking, which builds a list first.
        event: E = _new(kind, (self._world.now, seq, self.cause) + fields)  # noqa: RUF005
        chunk = self._chunk
        chunk.append(event)
        if kind in self._folds:
            for see in self._folds[kind]:
                see(event)
        if len(chunk) >= CHUNK:
            self.flush()
        return event

    def anchor(self, kind: type[E], *fields: Any) -> E:
        """Like ``emit``, and what follows in this transition is caused by this event."""
        event = self.emit(kind, *fields)
        self.cause = event.seq  # type: ignore[attr-defined]
        return event

    def flush(self) -> None:
        """Digest the kept events and give them to the sinks."""
        chunk, self._chunk = self._chunk, []
        if not chunk:
            return
        shapes: set[tuple[Any, int]] = set(zip(map(type, chunk), map(len, chunk), strict=True))
        for kind, length in shapes:
            assert length == len(kind._fields), f"{kind.__name__} was emitted with {length} fields"
        # Version 2 of marshal has no back references and no interning flags: the bytes depend on the values alone. The
        # list's own header (a byte and its length) is left out, so that the digest does not depend on when flush ran.
        values = marshal.dumps([(event.__class__.__name__,) + event for event in chunk], 2)  # noqa: RUF005
        self._hash.update(memoryview(values)[_LIST_HEADER:])
        for sink in self._sinks:
            sink(chunk)

    def digest(self) -> str:
        """The SHA-256 of all events so far, as 64 hex digits."""
        self.flush()
        return self._hash.hexdigest()
