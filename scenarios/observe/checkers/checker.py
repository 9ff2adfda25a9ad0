"""The base class of all checkers, and what they report.

A checker subscribes to events by its methods: each ``on_...(self, event: Kind)`` is called with every event of
``Kind``, in the order of the trace (``scenarios.observe.history.subscriptions``). It reports by calling ``violated``.
The work per event is O(1), amortized; a bisection is allowed, a scan of a log is not.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from attrs import evolve, frozen

from emulator.trace import Event
from scenarios.observe.history.history import History


class Gravity(IntEnum):
    """How grave it is that an invariant is broken, the gravest first."""

    LOSS = 0
    SAFETY = 1
    LIVENESS = 2
    REST = 3

    def __str__(self) -> str:
        return ("data loss", "safety", "liveness", "other")[self]


OF_SECTION = {
    **dict.fromkeys("SEIMRJ", Gravity.SAFETY), "V": Gravity.LIVENESS, **dict.fromkeys("FT", Gravity.REST),
}  # fmt: skip
"""By the letter of a section, where a checker does not state its own."""


@frozen
class Violation:
    """A broken invariant.

    Attributes:
        invariant: the checker's name.
        statement: what should have held.
        t_us: virtual time at which it was found.
        seq: the event that showed it. Its causal chain is the answer to "how did it come to this?".
        state: the offending state, in a line.
        brokers: those whose replicas, roles or metadata it is about, where it is about some. Each of them may be so for
            a reason of its own.
    """

    invariant: str
    statement: str
    t_us: int
    seq: int
    state: str
    brokers: tuple[int, ...] = ()

    @property
    def broker(self) -> int | None:
        """The broker that it is about; None: it is about none, or several."""
        return self.brokers[0] if len(self.brokers) == 1 else None

    def apart(self) -> tuple[Violation, ...]:
        """The violation, of one of its brokers each."""
        return tuple(evolve(self, brokers=(broker,)) for broker in self.brokers) or (self,)

    def __str__(self) -> str:
        return f"{self.invariant}: {self.statement}; found: {self.state}"


T = TypeVar("T")


@lru_cache(4096)
def _first_equal(value: Any) -> Any:
    return value


def shared(value: T) -> T:
    """The same tuple for all partitions of which equal facts are kept: in a large cluster there are few such facts and
    many partitions."""
    found: T = _first_equal(value)
    return found


class Moment(NamedTuple):
    """A time at which nothing happens; ``seq`` and ``cause`` are those of the last event before it."""

    t_us: int
    seq: int
    cause: int


class Report(Protocol):
    """Takes a violation: the checker, the event that shows it, the offending state, what should have held, and the
    brokers that it is about."""

    def __call__(
        self, checker: Checker, event: Event, state: str, statement: str, brokers: tuple[int, ...]
    ) -> None: ...


class Checker:
    """The base of all checkers. A subclass gives the class variables, and ``on_...`` methods.

    It is the one declaration of an invariant: what scenario files may expect, ``understudy list invariants`` and
    docs/checkers.md are read from it.

    Attributes:
        name: what scenario files and the registry call it; the name of its file.
        ids: the lines of the list of invariants that it checks, such as ``S14``; the first is its own.
        section: the letter of the first: ``S`` log safety, ``E`` epochs and fencing, ``I`` the in-sync set,
            ``M`` the controller's work, ``R`` moves, ``F`` fetchers, ``J`` what clients see, ``T`` the truth of
            metrics, ``V`` liveness.
        statement: the formal line, a colon, and a sentence.
        catches: tickets of the bugs that break it.
        fails_when: the guard whose removal a test shows; None where a written history shows the violation.
        gravity: how grave a violation is; by default that of its section (``OF_SECTION``).
        opt_in: Kafka does not promise it, so it watches only the runs that expect it.
    """

    name: ClassVar[str]
    ids: ClassVar[tuple[str, ...]]
    section: ClassVar[str]
    statement: ClassVar[str]
    catches: ClassVar[tuple[str, ...]] = ()
    fails_when: ClassVar[str | None] = None
    gravity: ClassVar[Gravity]
    opt_in: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        if hasattr(cls, "ids"):  # a base that several checkers share has none
            cls.section = cls.ids[0][0]
            if not hasattr(cls, "gravity"):
                cls.gravity = OF_SECTION.get(cls.section, Gravity.REST)

    @classmethod
    def sentence(cls) -> str:
        """The statement in words, without its formal line."""
        return cls.statement.rpartition(": ")[2]

    def __init__(self, history: History, report: Report) -> None:
        self.history = history
        self.cluster = history.cluster
        self._report = report

    def violated(self, event: Event, state: str, statement: str = "", brokers: tuple[int, ...] = ()) -> None:
        """``event`` shows that the invariant does not hold: ``state`` says how; ``statement``: which part of it, where
        it has several; ``brokers``: those that it is about (``Violation``)."""
        self._report(self, event, state, statement or self.statement, brokers)

    def at_rest(self, moment: Moment) -> None:
        """Nothing more will happen by itself: check what holds then. Called near the end of a run, if at all."""

    def look(self, moment: Moment) -> None:
        """Find what lasts for too long; called once a second, at a time at which nothing happens."""

    def recount(self, moment: Moment) -> None:
        """Compute from scratch what is otherwise updated by changes; ten times a second, on one seed of twenty."""

    def finish(self) -> None:
        """The run is over: check what can only be checked at its end."""
