"""The checkers of one run, armed on its trace."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from emulator.protocol.events import Violated
from emulator.trace import Event, Trace
from scenarios.observe.checkers.checker import Checker, Moment, Violation
from scenarios.observe.checkers.ghosts import Ghosts
from scenarios.observe.checkers.registry import chosen
from scenarios.observe.checkers.subscriptions import arm
from scenarios.observe.measures.topology import Topology

KEPT = 10
"""Violations that are recorded per checker; a broken guard can break an invariant at every later event."""

C = TypeVar("C", bound=Checker)


class Checkers:
    """Watches a trace from now on. Arm it before the run starts: ghosts know only what they have seen.

    Args:
        names: which checkers; None: all.
        topology: the decoder of ZooKeeper's writes, where somebody else has one on this trace already.
        kept: how many violations per checker are emitted into the trace and remembered; the rest are counted.

    Attributes:
        violations: those remembered, in the order in which they were found.
        counts: per checker name, how many there were in all.
        ghosts: what the checkers remember of the run, for whoever asks the same of it.

    Raises: BadInput for an unknown name.
    """

    def __init__(
        self,
        trace: Trace,
        names: Iterable[str] | None = None,
        *,
        topology: Topology | None = None,
        kept: int = KEPT,
    ) -> None:
        kinds = chosen(names)
        self.violations: list[Violation] = []
        self.counts: dict[str, int] = {kind.name: 0 for kind in kinds}
        self._trace = trace
        self._kept = kept
        topology = topology or Topology(trace)
        self.ghosts = ghosts = Ghosts(trace, topology)
        # All are made before any is armed: a ghost that the last one asks for still comes before the
        # first one.
        self._checkers = [kind(ghosts, self._report) for kind in kinds]
        for checker in self._checkers:
            arm(checker, trace, topology)
        self._finished = False

    def get(self, kind: type[C]) -> C | None:
        """The checker of this class, for what else it measures; None where it is not armed."""
        return next((checker for checker in self._checkers if isinstance(checker, kind)), None)

    def at_rest(self, now_us: int) -> None:
        """Nothing is going to happen by itself: make the checks of such a moment."""
        moment = Moment(now_us, self._trace.seq, self._trace.cause)
        for checker in self._checkers:
            checker.at_rest(moment)

    def recount(self, now_us: int) -> None:
        """Look at all that is otherwise followed by changes (``Checker.recount``)."""
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

    def _report(self, checker: Checker, event: Event, state: str) -> None:
        self.counts[checker.name] += 1
        if self.counts[checker.name] > self._kept:
            return
        trace = self._trace
        cause, trace.cause = trace.cause, event.seq
        violated = trace.emit(Violated, checker.name, f"{checker.statement}; found: {state}")
        trace.cause = cause
        self.violations.append(Violation(checker.name, checker.statement, violated.t_us, event.seq, state))
