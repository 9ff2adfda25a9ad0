"""All counters of one run, and the names of all that runs under a profile and a reassignment protocol can reach.

A run in which they are not asked for pays nothing: the parts subscribe to events when ``Reach`` is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from controller.procedures import PROCEDURES
from controller.shapes import SHAPES
from emulator.trace import Trace
from scenarios.observe.history.subscriptions import arm
from scenarios.observe.past.cluster_past import Past
from scenarios.observe.reach.part import ReachPart, Release
from scenarios.observe.reach.reached_answers import ReachedAnswers, ReachedSessions
from scenarios.observe.reach.reached_requests import ReachedElections, ReachedRequests, ReachedStates
from scenarios.observe.reach.replication import ReachedFetchers, ReachedIsrs, ReachedLogs, ReachedZombies
from scenarios.observe.reach.steps import ReachedSteps
from scenarios.observe.reach.tickets import ReachedTickets
from scenarios.profiles import PROFILES

PARTS: tuple[type[ReachPart], ...] = (
    ReachedSteps, ReachedRequests, ReachedElections, ReachedStates, ReachedIsrs, ReachedZombies, ReachedFetchers,
    ReachedLogs, ReachedAnswers, ReachedSessions, ReachedTickets,
)  # fmt: skip


class _Counts(dict[str, int]):
    """Counters that tell of each name when it is first counted."""

    told: Callable[[str], object] | None = None

    def __setitem__(self, name: str, count: int) -> None:
        if self.told is not None and name not in self:
            self.told(name)
        super().__setitem__(name, count)


class Reach:
    """Watches a trace from now on.

    Attributes:
        counts: how often each name was reached; names without a count were not.
    """

    def __init__(self, trace: Trace, past: Past | None = None) -> None:
        past = past or Past(trace)
        self.counts: dict[str, int] = _Counts()
        self._parts = [part(self.counts, past.now) for part in PARTS]
        for part in self._parts:
            arm(part, trace, past)

    def on_first(self, told: Callable[[str], object]) -> None:
        """Call ``told`` with each name when it is first reached."""
        assert isinstance(self.counts, _Counts)
        self.counts.told = told


def reachable(profile: str, protocol: str | None = None) -> tuple[str, ...]:
    """The names of all that runs can reach, in a fixed order.

    Args:
        profile: the release.
        protocol: the reassignment protocol of the strategy (``Strategy.protocol``); None: the one of the release.

    Raises: KeyError for an unknown profile or protocol.
    """
    found = PROFILES[profile]
    release = Release(found.policies, PROCEDURES[protocol or SHAPES[found.strategy].protocol])
    return tuple(dict.fromkeys(name for part in PARTS for name in part.names(release)))


def never(counts: Mapping[str, int], names: tuple[str, ...]) -> tuple[str, ...]:
    """The ``names`` that were not reached."""
    return tuple(name for name in names if not counts.get(name))
