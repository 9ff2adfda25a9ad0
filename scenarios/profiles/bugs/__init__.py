"""Bugs that Kafka had, as switches: each module is about one area and lists them as ``BUGS``."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from scenarios import plugins
from scenarios.errors import BadInput, did_you_mean
from scenarios.profiles.bug import Bug

BUGS: dict[str, Bug] = {}
"""Ticket to bug, in the order of the modules and of their lists."""
BROUGHT: dict[str, plugins.Plugin] = {}
"""Ticket to the plug-in that has registered the bug."""


def register(bug: Bug) -> None:
    """Make a bug known to scenario files, ``museum`` and docs/reference/bugs-and-guards.md.

    Raises: ValueError where its ticket is there already, or is no name.
    """
    plugins.check_name("bug", bug.ticket)
    if bug.ticket in BUGS:
        raise ValueError(f"there is a bug {bug.ticket!r} already")
    BUGS[bug.ticket] = bug
    brings = plugins.importing()
    if brings is not None:
        BROUGHT[bug.ticket] = brings


for _area in sorted(module.name for module in iter_modules(__path__)):
    for _bug in import_module(f"{__name__}.{_area}").BUGS:
        register(_bug)


def check_bug(ticket: str) -> str:
    """``ticket`` itself when it names a bug; ``BadInput`` otherwise."""
    if ticket not in BUGS:
        raise BadInput(f"unknown bug {ticket!r}; {did_you_mean(ticket, BUGS)}")
    return ticket
