"""Findings that a release has by itself: what Kafka did wrong then, with its ticket, told apart from what is new.

A finding is known where the release of the run has the behaviour, every violation behind it comes with the marks of
that behaviour in the trace, and the checker is one that the behaviour breaks. A bug that a scenario switches on is no
behaviour of the release, so what it breaks is not known. A known finding is a finding all the same: the run has failed.
``scenarios/runs/known`` has the reasons, by subject.
"""

from __future__ import annotations

from collections.abc import Iterator

from scenarios.observe.checkers import Violation
from scenarios.profiles import PROFILES
from scenarios.runs.finding import Finding
from scenarios.runs.findings import findings
from scenarios.runs.known.control import CONTROL
from scenarios.runs.known.copies import COPIES
from scenarios.runs.known.isrs import ISRS
from scenarios.runs.known.logs import LOGS
from scenarios.runs.known.moves import MOVES
from scenarios.runs.known.producers import PRODUCERS
from scenarios.runs.known.reason import Known
from scenarios.runs.past import KeptEvents
from scenarios.runs.run import Run

KNOWN: tuple[Known, ...] = (*LOGS, *COPIES, *PRODUCERS, *CONTROL, *MOVES, *ISRS)
"""The first that applies is named."""


def known(run: Run, finding: Finding, past: KeptEvents | None = None) -> Known | None:
    """The reason that explains a finding of ``run``; None: it is new. Where several violations are behind the finding
    each of them has a reason, and that of the first is given. ``past``: the events of ``run``, where they are there."""
    policies = PROFILES[run.profile].policies
    reasons = [one for one in KNOWN if one.sees(finding) and one.applies(policies)]
    if not reasons:
        return None
    past = past or KeptEvents(run)
    behind: list[Violation | None] = [
        violation
        for violation in run.violations
        if (violation.invariant, violation.statement) == (finding.checker, finding.statement)
    ]
    found = [next((one for one in reasons if one.shows(past, violation)), None) for violation in behind or [None]]
    return found[0] if all(found) else None


def known_findings(run: Run) -> Iterator[tuple[Known, tuple[Finding, ...]]]:
    """The reasons that explain findings of ``run``, each with those findings; what is new is left out."""
    explained: dict[Known, list[Finding]] = {}
    past = KeptEvents(run)
    for finding in findings(run):
        reason = known(run, finding, past)
        if reason is not None:
            explained.setdefault(reason, []).append(finding)
    yield from ((reason, tuple(of_it)) for reason, of_it in explained.items())
