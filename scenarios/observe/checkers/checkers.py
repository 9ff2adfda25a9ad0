"""All checkers by name, and those of one run, armed on its trace."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from emulator.protocol.events import Violated
from emulator.protocol.types import TopicPartition
from emulator.trace import Event, Trace
from scenarios.errors import BadInput, did_you_mean
from scenarios.observe import invariants
from scenarios.observe.checkers.checker import Checker, Moment
from scenarios.observe.findings.facts import Facts, Part
from scenarios.observe.findings.violation import Violation
from scenarios.observe.history.history import History
from scenarios.observe.history.settings_history import StartSettings
from scenarios.observe.history.subscriptions import arm, check_subscriptions
from scenarios.observe.past.cluster_past import Past
from scenarios.plugins import check_name

KEPT = 10
"""Violations that are recorded per checker; a broken guard can break an invariant at every later event."""

REGISTRY: dict[str, type[Checker]] = {name: invariants.find(name) for name in invariants.names()}
"""All checkers, in the order in which they are armed."""

C = TypeVar("C", bound=Checker)


def register(kind: type[C]) -> type[C]:
    """Let a checker from outside this package watch every later run. Usable as a decorator.

    Raises: ValueError where a checker of its name is there already; TypeError where it lacks a name or a statement, or
        where one of its ``on_...`` methods cannot be subscribed.
    """
    lacking = [name for name in ("name", "ids", "statement") if not getattr(kind, name, None)]
    if lacking:
        raise TypeError(f"the checker {kind.__name__} has no {', no '.join(lacking)}")
    check_name("checker", kind.name)
    check_subscriptions(kind)
    if kind.name in REGISTRY:
        raise ValueError(f"there is a checker {kind.name!r} already: {REGISTRY[kind.name].__module__}")
    REGISTRY[kind.name] = invariants.ADDED[kind.name] = kind
    return kind


def _chosen(names: Iterable[str] | None, expected: Iterable[str]) -> list[type[Checker]]:
    """The checkers called ``names``, each once; for None all but those that are neither ``expected`` nor for every run.

    Raises: BadInput for an unknown name.
    """
    if names is None:
        expected = tuple(expected)
        return [kind for kind in REGISTRY.values() if not kind.opt_in or kind.name in expected]
    for name in (names := list(dict.fromkeys(names))):
        if name not in REGISTRY:
            raise BadInput(f"unknown invariant {name!r}; {did_you_mean(name, REGISTRY)}")
    return [REGISTRY[name] for name in names]


class Checkers:
    """Watches a trace from now on. Arm it before the run starts: the history knows only what it has seen.

    Args:
        names: which checkers; None: all that watch every run, and those ``expected``.
        expected: names of invariants that this run is expected to keep.
        past: the fold of the cluster's past, where this trace has one already.
        start: the settings that the run's brokers are started with.
        kept: how many violations per checker are emitted into the trace and remembered; the rest are counted.

    Attributes:
        violations: the violations remembered, in the order in which they were found.
        counts: per checker name, how many there were in all.
        history: the history of the run that checkers share; other parts may read it too.

    Raises: BadInput for an unknown name.
    """

    def __init__(
        self,
        trace: Trace,
        names: Iterable[str] | None = None,
        *,
        expected: Iterable[str] = (),
        past: Past | None = None,
        start: StartSettings | None = None,
        kept: int = KEPT,
    ) -> None:
        kinds = _chosen(names, expected)
        self.violations: list[Violation] = []
        self.counts: dict[str, int] = {kind.name: 0 for kind in kinds}
        self._trace = trace
        self._kept = kept
        past = past or Past(trace)
        self.history = history = History(trace, past, start or StartSettings())
        # All are made before any is armed: a part of the history that only the last checker asks for is still armed
        # before the first checker.
        self._checkers = [kind(history, self._report) for kind in kinds]
        for checker in self._checkers:
            arm(checker, trace, past)
        self._lookers = [checker for checker in self._checkers if type(checker).look is not Checker.look]
        self._finished = False

    def get(self, kind: type[C]) -> C | None:
        """The checker of this class, for what else it measures; None where it is not armed."""
        return next((checker for checker in self._checkers if isinstance(checker, kind)), None)

    def at_rest(self, now_us: int) -> None:
        """Make the checks of a moment after which nothing more happens by itself."""
        moment = Moment(now_us, self._trace.seq, self._trace.cause)
        for checker in self._checkers:
            checker.at_rest(moment)

    def look(self, now_us: int) -> None:
        """A second has passed: find what lasts for too long (``Checker.look``)."""
        moment = Moment(now_us, self._trace.seq, self._trace.cause)
        for checker in self._lookers:
            checker.look(moment)

    def recount(self, now_us: int) -> None:
        """Compute from scratch what is otherwise updated by changes (``Checker.recount``)."""
        moment = Moment(now_us, self._trace.seq, self._trace.cause)
        for checker in self._checkers:
            checker.recount(moment)

    def finish(self) -> list[Violation]:
        """The run is over: make the checks of its end, once, and return all violations."""
        if not self._finished:
            self._finished = True
            for checker in self._checkers:
                checker.finish()
        return self.violations

    def _report(
        self,
        checker: Checker,
        event: Event,
        facts: Facts,
        partition: TopicPartition | None,
        brokers: tuple[int, ...],
        part: Part | None,
    ) -> None:
        self.counts[checker.name] += 1
        if self.counts[checker.name] > self._kept:
            return
        trace = self._trace
        statement = checker.statement if part is None else part.words
        cause, trace.cause = trace.cause, event.seq
        violated = trace.emit(Violated, checker.name, f"{statement}; found: {facts.in_words(partition)}")
        trace.cause = cause
        self.violations.append(Violation(checker.name, violated.t_us, event.seq, facts, part, partition, brokers))
