"""What a checker is.

A checker says what it wants to see by its methods: each ``on_...(self, event: Kind)`` is called with
every event of ``Kind``, in the order of the trace (``scenarios.observe.checkers.subscriptions``). It answers by
calling ``violated``. The work per event is O(1), amortized; a bisection is allowed, a scan of a log is
not.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol

from attrs import frozen

from emulator.trace import Event
from scenarios.observe.checkers.ghosts import Ghosts


@frozen
class Violation:
    """A broken invariant.

    Attributes:
        invariant: the checker's name.
        statement: what should have held.
        t_us: virtual time at which it was found.
        seq: the event that showed it. Its causal chain is the answer to "how did it come to this?".
        state: the offending state, in a line.
    """

    invariant: str
    statement: str
    t_us: int
    seq: int
    state: str

    def __str__(self) -> str:
        return f"{self.invariant}: {self.statement}; found: {self.state}"


class Moment(NamedTuple):
    """A time at which nothing happens; ``seq`` and ``cause`` are those of the last event before it."""

    t_us: int
    seq: int
    cause: int


class Report(Protocol):
    """Takes a violation: who, the event that shows it, and the offending state."""

    def __call__(self, checker: Checker, event: Event, state: str) -> None: ...


class Checker:
    """The base of all checkers. A subclass gives the class variables and methods ``on_...``.

    Attributes:
        name: what scenarios and the registry call it.
        ids: which lines of the list of invariants it holds, as ``S14``; the first is its own.
        section: the letter of the first: ``S`` log safety, ``E`` epochs and fencing, ``I`` the in-sync set,
            ``F`` fetchers.
        statement: the formal line and a sentence.
        catches: tickets of the bugs that break it.
    """

    name: ClassVar[str]
    ids: ClassVar[tuple[str, ...]]
    section: ClassVar[str]
    statement: ClassVar[str]
    catches: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        if hasattr(cls, "ids"):  # what several checkers share has none
            cls.section = cls.ids[0][0]

    def __init__(self, ghosts: Ghosts, report: Report) -> None:
        self.ghosts = ghosts
        self._report = report

    def violated(self, event: Event, state: str) -> None:
        """``event`` shows that the invariant does not hold: ``state`` says how."""
        self._report(self, event, state)

    def at_rest(self, moment: Moment) -> None:
        """Nothing is going to happen by itself: check what holds then. Called near the end of a run, if at all."""

    def recount(self, moment: Moment) -> None:
        """In the midst of a run whose seed asks for it: count anew what is followed by changes otherwise."""

    def finish(self) -> None:
        """The run is over: check what can only be checked at its end."""
