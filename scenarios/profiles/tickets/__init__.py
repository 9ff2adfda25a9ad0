"""Tickets: what Kafka did wrong. Each module is about one area and lists them as ``TICKETS``."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from scenarios import plugins
from scenarios.errors import BadInput, did_you_mean
from scenarios.profiles.profile import Difference, Profile
from scenarios.profiles.ticket import Ticket

TICKETS: dict[str, Ticket] = {}
"""Key to ticket, in the order of the modules and of their lists."""
BUGS: dict[str, Ticket] = {}
"""The tickets that a scenario can bring back: ``bugs = ["KAFKA-9539"]``."""
BROUGHT: dict[str, plugins.Plugin] = {}
"""Key to the plug-in that has registered the ticket."""


def register(ticket: Ticket) -> None:
    """Make a ticket known to scenario files, ``museum`` and docs/reference/bugs-and-guards.md.

    Raises: ValueError where its key is there already, or is no name.
    """
    if ticket.checker:  # which scenario files name; others may be called after a method and its releases
        plugins.check_name("ticket", ticket.key)
    if ticket.key in TICKETS:
        raise ValueError(f"there is a ticket {ticket.key!r} already")
    TICKETS[ticket.key] = ticket
    if ticket.checker:
        BUGS[ticket.key] = ticket
    brings = plugins.importing()
    if brings is not None:
        BROUGHT[ticket.key] = brings


for _area in sorted(module.name for module in iter_modules(__path__)):
    for _ticket in import_module(f"{__name__}.{_area}").TICKETS:
        register(_ticket)


def check_bug(key: str) -> str:
    """``key`` itself when it is a ticket that a scenario can bring back; ``BadInput`` otherwise."""
    if key not in BUGS:
        raise BadInput(f"unknown bug {key!r}; {did_you_mean(key, BUGS)}")
    return key


def differences(neighbour: Profile, release: str) -> tuple[Difference, ...]:
    """The differences between a release and its neighbour that tickets declare."""
    return tuple(found for ticket in TICKETS.values() for found in ticket.differences_of(neighbour, release))
