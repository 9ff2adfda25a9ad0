"""The answers of brokers, for the checkers that look at those to some requests."""

from __future__ import annotations

from collections.abc import Callable

from emulator.trace.shown_znodes import RequestAnswered

LATE_US = 4_000_000
"""An answer that comes after so long is late, if its request may not wait."""

Look = Callable[[RequestAnswered], None]


class Answers:
    """One fold for all: brokers answer as often as anything happens.

    Attributes:
        late: called with each answer that comes after ``LATE_US``.
    """

    def __init__(self) -> None:
        self.late: list[Look] = []
        self._looks: dict[type, list[Look]] = {}

    def of(self, request: type, look: Look) -> None:
        """Call ``look`` with each answer to a request of this class."""
        self._looks.setdefault(request, []).append(look)

    def on_answered(self, event: RequestAnswered) -> None:
        kind = event.request.__class__
        if kind in self._looks:
            for look in self._looks[kind]:
                look(event)
        if event.t_us - event.since_us > LATE_US:
            for look in self.late:
                look(event)
