"""The museum: bugs that Kafka had, each with a minimal scenario in which a checker sees it."""

from __future__ import annotations

from scenarios.errors import did_you_mean
from scenarios.observe.checkers.checkers import REGISTRY
from scenarios.profiles import bugs
from scenarios.profiles.bug import Bug


def register_bug(bug: Bug) -> None:
    """Make a plug-in's bug known to scenario files and ``museum``. Its own checkers are registered first.

    Raises: ValueError as ``bugs.register`` does, and where a checker that it names is not there: no run could show it.
    """
    for name in (bug.checker, *bug.also):
        if name not in REGISTRY:
            raise ValueError(f"bug {bug.ticket!r} names the unknown checker {name!r}; {did_you_mean(name, REGISTRY)}")
    bugs.register(bug)
