"""A rule that a run broke, in one shape for everything that looks for failures: random runs, minimal cases, shrinking.

Two runs in which the same rule is broken at other offsets, on other brokers or at another time have the same finding.
"""

from __future__ import annotations

from attrs import field, frozen

EXPECTATION, UNFINISHED, NOT_EXERCISED = "expectation", "unfinished", "not exercised"
LIVELOCK = "livelock"
OWN_DEFECT = "the tool's own defect"

IN_WORDS = {
    UNFINISHED: "every move that was requested is done before the horizon",
    LIVELOCK: "a cluster does not go on without end at one instant, nor for more events than the scenario allows",
    OWN_DEFECT: "the emulator itself does not fail; what the run shows after that is no fact about Kafka",
}
"""What should have held, by a run's reason, where neither a checker nor an expectation says it."""


@frozen(order=True)
class Finding:
    """A rule that a run broke. Two are equal where checker and statement are.

    Attributes:
        checker: the checker's name; or ``expectation``, for one that the file states; or else the run's reason, such as
            ``unfinished``.
        statement: what should have held.
        state: how it was found to be broken first, in a line; it names brokers, offsets and times.
    """

    checker: str
    statement: str
    state: str = field(default="", eq=False)

    def __str__(self) -> str:
        return f"{self.checker}: {self.statement}" + (f"; found: {self.state}" if self.state else "")
