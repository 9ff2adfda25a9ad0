"""The base class of all checkers, which report what they find (``scenarios.observe.findings``).

A checker subscribes to events by its methods: each ``on_...(self, event: Kind)`` is called with every event of
``Kind``, in the order of the trace (``scenarios.observe.history.subscriptions``). It reports by calling ``violated``.
The work per event is O(1), amortized; a bisection is allowed, a scan of a log is not.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from emulator.protocol.types import TopicPartition
from emulator.trace import Event
from scenarios.observe.findings.facts import Facts, Part
from scenarios.observe.history.history import History


class Gravity(IntEnum):
    """Gravity of a broken invariant, the gravest first."""

    LOSS = 0
    SAFETY = 1
    LIVENESS = 2
    REST = 3

    def __str__(self) -> str:
        return ("data loss", "safety", "liveness", "other")[self]


OF_SECTION = {
    **dict.fromkeys("SEIMRJGX", Gravity.SAFETY), "V": Gravity.LIVENESS, **dict.fromkeys("FT", Gravity.REST),
}  # fmt: skip
"""Gravity by the letter of a section, where a checker does not state its own."""


T = TypeVar("T")


@lru_cache(4096)
def _first_equal(value: Any) -> Any:
    return value


def shared(value: T) -> T:
    """One object for all equal values. It saves memory: a large cluster has many partitions and few different facts of
    them."""
    found: T = _first_equal(value)
    return found


class Moment(NamedTuple):
    """A time at which nothing happens; ``seq`` and ``cause`` are those of the last event before it."""

    t_us: int
    seq: int
    cause: int


class Report(Protocol):
    """Takes what a checker has found (``Checker.violated``)."""

    def __call__(
        self,
        checker: Checker,
        event: Event,
        facts: Facts,
        partition: TopicPartition | None,
        brokers: tuple[int, ...],
        part: Part | None,
    ) -> None: ...


def forget(broker: int, *tables: dict[Any, Any]) -> None:
    """Remove what tables have of a broker: the rows whose keys begin with it."""
    for table in tables:
        for key in [key for key in table if key[0] == broker]:
            del table[key]


class Checker:
    """The base of all checkers. A subclass gives the class variables, and ``begin`` and ``on_...`` methods.

    It is the one declaration of an invariant: what scenario files may expect, ``understudy list invariants`` and
    docs/reference/checker-list.md are read from it.

    Attributes:
        name: the name in scenario files and the registry. A checker of this package has that of its file.
        ids: the lines of the list of invariants that it checks, such as ``S14``; the first is its own.
        section: the letter of the first: ``S`` log safety, ``E`` epochs and fencing, ``I`` the in-sync set, ``M`` the
            controller's work, ``R`` moves, ``F`` fetchers, ``G`` groups, ``X`` transactions, ``J`` what clients
            see, ``T`` the truth of metrics, ``V`` liveness.
        statement: the formal line, a colon, and a sentence.
        catches: tickets of bugs that break it and do not say so themselves (``scenarios/profiles/tickets``).
        fails_when: the guard whose removal a test shows; None where a written history shows the violation.
        gravity: how grave a violation is; by default that of its section (``OF_SECTION``).
        opt_in: Kafka does not promise it, so it watches only the runs that expect it.
        cluster: the cluster as it is.
        now: which machines run and reach each other, and what excuses a delay.
        start: the settings that the brokers are started with.
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
        super().__init_subclass__()
        if hasattr(cls, "ids"):  # a base that several checkers share has none
            package, _, file = cls.__module__.rpartition(".")
            if package == __package__:
                cls.name = file
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
        self.now = history.circumstances
        self.start = history.start
        self._report = report
        self.begin()

    def begin(self) -> None:
        """The run begins: prepare what the checker keeps, and ask ``history`` for what it needs of the past."""

    def violated(
        self,
        event: Event,
        facts: Facts,
        partition: TopicPartition | None = None,
        brokers: tuple[int, ...] = (),
        part: Part | None = None,
    ) -> None:
        """``event`` shows that the invariant does not hold: ``facts`` say how, ``partition`` and ``brokers`` what it is
        about, and ``part`` which condition is broken, where there are several (``Violation``)."""
        self._report(self, event, facts, partition, brokers, part)

    def at_rest(self, moment: Moment) -> None:
        """Check what holds once nothing more happens by itself. Called near the end of a run, if at all."""

    def look(self, moment: Moment) -> None:
        """Find what lasts for too long; called once a second, at a time at which nothing happens."""

    def recount(self, moment: Moment) -> None:
        """Compute from scratch what is otherwise updated by changes; ten times a second, on one seed of twenty."""

    def finish(self) -> None:
        """The run is over: check what can only be checked at its end."""
