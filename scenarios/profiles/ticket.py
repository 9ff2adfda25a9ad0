"""What Kafka did wrong, each thing said once: in which releases, what happened, by which policy, and who sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve, frozen

from scenarios.profiles.profile import Difference, Policies, Profile, in_short, is_before


@frozen(kw_only=True)
class Ticket:
    """One thing that Kafka did wrong, by the ticket or KIP that ended it.

    Profiles, the museum and the known findings are drawn from it. One with a ``checker`` is a bug switch: a scenario
    can bring it back in any profile (``bugs = ["KAFKA-9539"]``).

    Attributes:
        key: the ticket or KIP, such as ``KIP-101``.
        title: what was wrong, in one line without a full stop.
        since: the first release that has it; "" for one that had it from the beginning.
        last: the last release that has it; "" where ``affected`` says which have it.
        until: the releases that ended it, on each branch the first; empty where no release of the ZooKeeper era did.
        affected: the releases that had it, in words, where ``since``, ``last`` and ``until`` do not say all.
        happened: what happened in Kafka, step by step, and who met it, in some sentences.
        here: how it looks in Understudy: what the switch puts back, and what the checker sees.
        checker: the checker that sees it. also: the others that see its case, in the order in which they do.
        policies: what it puts back, by place in the bundle (``Policies``).
        fixed: the same places since the fix, where that is not what Kafka 2.3 has.
        differences: what profiles do otherwise for it, in words; those of the releases that have it, or, of one that
            2.3 has, those that have it no more. Its policies are those of the ticket, unless it has its own.
        trigger: what a random run would have to draw for it; "" where chaos finds it without help.
        case: of a plug-in's ticket, the file of a minimal scenario in which ``checker`` sees it; "" where there is
            none. The museum has the cases of its own tickets.
        source: classes and releases of Kafka that were read for it.
    """

    key: str
    title: str
    since: str = ""
    last: str = ""
    until: tuple[str, ...] = ()
    affected: str = ""
    happened: str
    here: str
    checker: str
    also: tuple[str, ...] = ()
    policies: Mapping[str, Any]
    fixed: Mapping[str, Any] | None = None
    differences: tuple[Difference, ...] = ()
    trigger: str = ""
    case: str = ""
    source: str

    @property
    def releases(self) -> str:
        """The releases that had it and the first that has not, such as ``up to 2.0.0; fixed in 2.0.1``."""
        if self.affected:
            return self.affected
        had = self.last if self.since == self.last else f"{self.since or 'up'} to {self.last}"
        return f"{had}; fixed in {' and '.join(self.until)}"

    @property
    def without(self) -> Mapping[str, Any]:
        """Its policies as they are since the fix."""
        return {place: Policies().at(place) for place in self.policies} if self.fixed is None else self.fixed

    def had_by(self, release: str) -> bool:
        """Whether a release has it: ``2.3.1``."""
        return not (self.since and is_before(release, self.since)) and (
            not self.until or is_before(release, self.until[0])
        )

    def differences_of(self, neighbour: Profile, release: str) -> tuple[Difference, ...]:
        """What a release does in another way than its neighbour for it: it has it and the neighbour has not, or, of a
        release after its neighbour, has it no more."""
        has, had = self.had_by(release), self.had_by(neighbour.release)
        if not self.differences or has == had or (had and is_before(release, neighbour.release)):
            return ()
        policies = self.policies if has else self.without
        if neighbour.policies.have(policies):
            return ()
        source = f"{self.key}, {in_short(self.until[0])}"
        return tuple(
            evolve(one, policies=one.policies or policies, source=one.source or source) for one in self.differences
        )
