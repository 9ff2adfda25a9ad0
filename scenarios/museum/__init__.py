"""The museum: bugs that Kafka had, each with a minimal scenario in which a checker sees it."""

from __future__ import annotations

from scenarios.errors import did_you_mean
from scenarios.observe.checkers.checkers import REGISTRY
from scenarios.profiles import tickets
from scenarios.profiles.ticket import Ticket


def register_ticket(ticket: Ticket) -> None:
    """Make a plug-in's ticket known to scenario files and ``museum``. Its own checkers are registered first.

    Raises: ValueError as ``tickets.register`` does, and where a checker that it names is not there: no run could show
    it.
    """
    for name in (ticket.checker, *ticket.also):
        if name not in REGISTRY:
            raise ValueError(
                f"ticket {ticket.key!r} names the unknown checker {name!r}; {did_you_mean(name, REGISTRY)}"
            )
    tickets.register(ticket)
