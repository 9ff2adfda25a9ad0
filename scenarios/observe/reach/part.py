"""One subject of ``Reach``: what it counts, and the names of all that a release can reach."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from controller.procedures import PROCEDURES
from controller.steps import Procedure
from scenarios.observe.past.cluster_state import FoldedState
from scenarios.profiles.profile import Policies


@frozen
class Release:
    """The policies and the protocol of a run: they decide what it can reach.

    Attributes:
        policies: policies of the profile.
        protocol: the reassignment protocol of the strategy.
    """

    policies: Policies
    protocol: Procedure

    @property
    def procedures(self) -> Iterator[Procedure]:
        """The procedures whose steps a controller passes: of the reassignment protocols only its own."""
        for procedure in PROCEDURES.values():
            if procedure.phases and procedure is not self.protocol:
                continue
            if procedure.name == "delete" and not self.policies.deletes_topics:
                continue
            yield procedure

    @property
    def steps(self) -> Iterator[str]:
        for procedure in self.procedures:
            yield from procedure.steps


class ReachPart:
    """A subclass has ``on_...`` methods like a checker, which count. The work per event is O(1).

    Attributes:
        counts: how often each name was reached; all parts share them.
        cluster: the cluster as it is now.
    """

    def __init__(self, counts: dict[str, int], cluster: FoldedState) -> None:
        self.counts = counts
        self.cluster = cluster

    def count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    @classmethod
    def names(cls, release: Release) -> Iterator[str]:
        """All that can be reached. A name that is counted and not among these was not foreseen, and counts as well."""
        raise NotImplementedError
