"""The base of the checkers of a condition that must not last."""

from __future__ import annotations

from typing import Generic, TypeVar

from scenarios.observe.checkers.checker import Checker, Moment
from scenarios.observe.history.deadlines import Deadlines

K = TypeVar("K")


class InTime(Checker, Generic[K]):
    """The base. A subclass says in ``begin`` for how long the condition may hold, and notes in ``lasting`` where it
    begins and ends.

    Attributes:
        bound_us: how long it may hold.
        lasting: where it holds now.
    """

    bound_us: int

    def begin(self) -> None:
        self.lasting: Deadlines[K] = Deadlines()

    def more_us(self) -> int:
        """How much longer it may hold where there is much to do."""
        return 0

    def free_since_us(self, key: K) -> int | None:
        """Since when nothing excuses the condition; None: something does now."""
        raise NotImplementedError

    def report(self, moment: Moment, key: K, held_us: int) -> None:
        """Report a condition that has held for too long."""
        raise NotImplementedError

    def look(self, moment: Moment) -> None:
        if len(self.lasting):
            self.report_overdue(moment, self.bound_us + self.more_us())

    def at_rest(self, moment: Moment) -> None:
        self.report_overdue(moment, self.now.bound_at_rest(moment.t_us, self.bound_us))

    def report_overdue(self, moment: Moment, bound_us: int) -> None:
        for key, held_us in self.lasting.overdue(moment.t_us, bound_us, self.free_since_us):
            self.report(moment, key, held_us)
