"""A rule that a run broke, in one shape for everything that looks for failures: random runs, minimal cases, shrinking.

Two runs in which the same rule is broken at other offsets, on other brokers or at another time have the same finding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from scenarios.observe.findings.facts import about

if TYPE_CHECKING:
    from scenarios.language.expect import Expect, SteadyState
    from scenarios.observe.findings.facts import Part
    from scenarios.observe.findings.violation import Violation

    Rule = Part | Expect | SteadyState | str | None

EXPECTATION, UNFINISHED, NOT_EXERCISED = "expectation", "unfinished", "not exercised"
LIVELOCK = "livelock"
OWN_DEFECT = "the tool's own defect"

IN_WORDS = {
    UNFINISHED: "every move that was requested is done before the horizon",
    LIVELOCK: "a cluster does not go on without end at one instant, nor for more events than the scenario allows",
    OWN_DEFECT: "the emulator itself does not fail; what the run shows after that is no fact about Kafka",
}
"""Reason of a run to what should have held, where neither a checker nor an expectation says it."""


@frozen
class Finding:
    """A rule that a run broke: a view of the violation that showed it first, where there is one. Two are equal where
    checker and part are.

    Attributes:
        checker: the checker's name; or ``expectation``, for one that the file states; or else the run's reason, such as
            ``unfinished``.
        part: which condition of the invariant, where it has several; which expectation, or steady state, of the file;
            of an exception, its kind.
        violation: the first that broke the rule; None: no checker has found it.
    """

    checker: str
    part: Rule = None
    violation: Violation | None = field(default=None, eq=False)
    _statement: str = field(default="", eq=False, kw_only=True)
    _state: str = field(default="", eq=False, kw_only=True)

    @classmethod
    def of(cls, violation: Violation) -> Finding:
        """The finding that a violation shows."""
        return cls(violation.invariant, violation.part, violation)

    @property
    def rule(self) -> Finding:
        """The finding as that which is broken, without how it was."""
        return Finding(self.checker, self.part)

    @property
    def statement(self) -> str:
        """The sentence that says what should have held."""
        return self._statement if self.violation is None else self.violation.statement

    @property
    def state(self) -> str:
        """The sentence about how it was first found to be broken; it names brokers, offsets and times."""
        return self._state if self.violation is None else self.violation.state

    @property
    def about(self) -> dict[str, Any]:
        """The subject and the facts of the finding, as JSON has them; empty where no checker has found it."""
        return {} if self.violation is None else about(self.violation)

    def __str__(self) -> str:
        return f"{self.checker}: {self.statement}" + (f"; found: {self.state}" if self.state else "")
