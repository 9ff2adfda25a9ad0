"""Tickets: what Kafka did wrong. Each is declared once: releases, what happened, policies, and checkers that see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve, field, frozen

from scenarios.profiles.profile import Difference, Policies, Profile, in_short, is_before, is_within

LOSSES = ("leader_completeness", "no_acked_record_lost", "isr_complete")
DIVERGENCES = (
    "truncate_safety",
    "log_matching",
    "reads_consistent",
    "isr_logs_identical",
    "no_batch_twice",
    "converged",
)
"""Checkers of what follows where a replica leads without batches of the others. It may also take such batches twice."""


@frozen(kw_only=True)
class Effect:
    """One way in which runs of a release show a ticket. Its reason is in ``scenarios/runs/known``.

    Attributes:
        text: line that says what happens; "": the ticket's title.
        checkers: names of the checkers that see it.
        parts: names of the conditions of convergence that it breaks.
        expects: statements of the expectations that it breaks.
        since, until: the releases that have it, where the ticket's others have another effect.
        only: a condition on the policies of a release that has it.
    """

    text: str = ""
    checkers: tuple[str, ...]
    parts: tuple[str, ...] = ("SAME_LOGS",)
    expects: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    only: Callable[[Policies], bool] | None = None

    def shown_by(self, profile: Profile) -> bool:
        """Whether a profile that has the ticket shows it so."""
        return is_within(profile.release, self.since, self.until) and (self.only is None or self.only(profile.policies))


@frozen(kw_only=True)
class Ticket:
    """One thing that Kafka did wrong, by the ticket or KIP that ended it; where there is none, by the method of Kafka
    that does it and the releases that were read.

    Profiles, the museum and the known findings are drawn from it. A ticket with a ``checker`` is a bug switch: a
    scenario can bring it back in any profile (``bugs = ["KAFKA-9539"]``).

    Attributes:
        key: the ticket or KIP, such as ``KIP-101``; or the method.
        title: the wrong behaviour, in one line without a full stop.
        since: the first release that has it; "" for one that had it from the beginning.
        last: the last release that has it; "" where ``affected`` says which have it.
        until: the releases that ended it, on each branch the first; empty where no release of the ZooKeeper era did.
        affected: the releases that had it, in words, where ``since``, ``last`` and ``until`` do not say all.
        happened: what happened in Kafka, step by step, and who met it, in some sentences.
        here: the form of it in Understudy: what the switch puts back, and what the checker sees.
        checker: the checker that sees it. also: the others that see its case, in the order in which they do.
        policies: policies that it puts back, by place in the bundle (``Policies``).
        fixed: these policies since the fix, where they differ from those of Kafka 2.3.
        rule: whether a release has it, by its policies, where its switch has another form there.
        by_release: whether releases have it by their number alone, whatever its switch says.
        effects: the effects that runs of a release with the ticket show.
        witness: the name by which brokers and controllers show that they do it (``Deviated``); "": they do not.
        differences: differences of profiles for it, in words: of the releases that have it, or, for a ticket that 2.3
            has, of those that have it no more. A difference has the ticket's policies, unless it has its own.
        trigger: the draws that a random run would need for it; "" where chaos finds it without help.
        case: file of a minimal scenario in which ``checker`` sees a plug-in's ticket; "" where there is none. The
            museum has the cases of its own tickets.
        source: classes and releases of Kafka that were read for it.
    """

    key: str
    title: str
    since: str = ""
    last: str = ""
    until: tuple[str, ...] = ()
    affected: str = ""
    happened: str = ""
    here: str = ""
    checker: str = ""
    also: tuple[str, ...] = ()
    policies: Mapping[str, Any] = field(factory=dict)
    fixed: Mapping[str, Any] | None = None
    rule: Callable[[Policies], bool] | None = None
    by_release: bool = False
    effects: tuple[Effect, ...] = ()
    witness: str = ""
    differences: tuple[Difference, ...] = ()
    trigger: str = ""
    case: str = ""
    source: str = ""

    @property
    def releases(self) -> str:
        """The releases that had it and the first that has not, such as ``up to 2.0.0; fixed in 2.0.1``."""
        if self.affected:
            return self.affected
        had = self.last if self.since == self.last else f"{self.since or 'up'} to {self.last}"
        return f"{had}; fixed in {' and '.join(self.until)}"

    @property
    def breaks(self) -> tuple[str, ...]:
        """The checkers that see it: in its case, or in runs of a release that has it."""
        of_effects = (name for effect in self.effects for name in effect.checkers)
        return tuple(dict.fromkeys(name for name in (self.checker, *self.also, *of_effects) if name))

    @property
    def without(self) -> Mapping[str, Any]:
        """The policies of the ticket as they are since the fix."""
        return {place: Policies().at(place) for place in self.policies} if self.fixed is None else self.fixed

    def had_by(self, release: str) -> bool:
        """Whether a release has it: ``2.3.1``."""
        return is_within(release, self.since, self.until[0] if self.until else "")

    def shown_by(self, profile: Profile) -> bool:
        """Whether a profile does it by itself: by its policies, or by its release where no policy is about it."""
        if self.rule is None and (self.by_release or not self.policies):
            return self.had_by(profile.release)
        return self.done_by(profile.policies)

    def done_by(self, policies: Policies) -> bool:
        """Whether policies do it; where none is about it, all do."""
        return policies.have(self.policies) if self.rule is None else self.rule(policies)

    def differences_of(self, neighbour: Profile, release: str) -> tuple[Difference, ...]:
        """The differences between a release and its neighbour for it: it has it and the neighbour has not, or, of a
        release after its neighbour, has it no more."""
        has, had = self.had_by(release), self.had_by(neighbour.release)
        if not self.differences or has == had or (had and is_before(release, neighbour.release)):
            return ()
        policies = self.policies if has else self.without
        if neighbour.policies.have(policies):
            return ()
        source = f"{self.key}, {in_short(self.until[0])}"
        found = [
            evolve(one, policies=one.policies or policies, source=one.source or source) for one in self.differences
        ]
        if had and Policies().have(policies):  # it ended what 2.3 had not yet: as in 2.3 again
            found = [evolve(one, here=one.before, before="") for one in found if one.before]
        return tuple(found)
