"""Counterfactual: a run again without one ticket, to see whether its findings are gone once that policy is fixed.

It is a test of a reason, and no judge: a run that goes another way may find something else, or nothing, by chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import evolve, frozen

from scenarios.language import Scenario
from scenarios.observe.timeline.divergence import Divergence, divergence
from scenarios.profiles import PROFILES
from scenarios.profiles.ticket import Ticket
from scenarios.runs.finding import Finding
from scenarios.runs.findings import findings
from scenarios.runs.known_findings import explained_findings
from scenarios.runs.record import run_scenario
from scenarios.runs.run import Run


@frozen
class Counterfactual:
    """Two runs of a scenario, with a ticket and without it.

    Attributes:
        shown: the findings of the first that the ticket explains.
        gone: the shown findings that the second run has not. stay: those that it has, too.
        appeared: the findings of the second that the first has not.
        parting: the difference between the two runs.
    """

    ticket: Ticket
    had: Run
    without: Run
    shown: tuple[Finding, ...]
    gone: tuple[Finding, ...]
    stay: tuple[Finding, ...]
    appeared: tuple[Finding, ...]
    parting: Divergence

    def to_json(self) -> dict[str, Any]:
        """The object that ``run --without --format json`` prints."""
        return {
            "ticket": self.ticket.key,
            "digests": [self.had.digest, self.without.digest],
            **{name: [one.checker for one in getattr(self, name)] for name in ("shown", "gone", "stay", "appeared")},
            "parting": self.parting.to_json(),
        }

    def lines(self) -> Iterator[str]:
        places = ", ".join(self.ticket.policies)
        yield f"without {self.ticket.key} ({places} as since the fix):"
        for word, found in (("gone", self.gone), ("stays", self.stay), ("appears", self.appeared)):
            yield from (f"  {word}: {one.checker}: {one.state or one.statement}" for one in found)
        if not (self.gone or self.stay or self.appeared):
            yield "  neither run has a finding"
        names = sorted({one.checker for one in self.shown})
        yield f"known as {self.ticket.key} with it: {', '.join(names) or 'nothing'}"
        yield from self.parting.lines()


def without(scenario: Scenario, ticket: Ticket) -> Counterfactual:
    """Run a scenario, and the same again without a ticket.

    Raises: ValueError for a ticket that has no policy, or none that the scenario's cluster has.
    """
    if not ticket.policies:
        raise ValueError(f"{ticket.key} has no policy of its own that could be as it was fixed")
    had = run_scenario(scenario)
    policies = scenario.policies.changed(ticket.without)
    if policies == scenario.policies:
        raise ValueError(f"{scenario.profile} does not have {ticket.key}")
    name = f"{scenario.profile}-without-{ticket.key}"
    PROFILES[name] = evolve(PROFILES[scenario.profile], name=name, policies=policies)
    try:
        other = run_scenario(evolve(had.scenario, profile=name, bugs=(), source=""))
    finally:
        del PROFILES[name]
    before, after = findings(had), findings(other)
    shown = [of_it for reason, of_it in explained_findings(had).known if reason.ticket == ticket.key]
    return Counterfactual(
        ticket,
        had,
        other,
        tuple(finding for of_it in shown for finding in of_it),
        tuple(one for one in before if one not in after),
        tuple(one for one in before if one in after),
        tuple(one for one in after if one not in before),
        divergence(had.control_plane, other.control_plane),
    )
