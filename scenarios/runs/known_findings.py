"""Findings that a release has by itself: what Kafka did wrong then, with its ticket, told apart from what is new.

A finding is known where the release of the run has the behaviour, every violation behind it comes with the marks of
that behaviour in the trace, and the checker is one that the behaviour breaks. Violations, and the brokers that one is
about, may have different reasons: the finding is known where each has one. A bug that a scenario switches on is no
behaviour of the release, so what it breaks is not known. A known finding is a finding all the same: the verdict of the
run is failed. It fails no test and no seed of a campaign, which look for what is new (``fails``).
``scenarios/runs/known`` has the reasons, by subject.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from attrs import frozen

from scenarios.observe.checkers import Violation
from scenarios.observe.findings.log_facts import BatchRefused
from scenarios.profiles import PROFILES
from scenarios.runs.finding import Finding
from scenarios.runs.findings import findings
from scenarios.runs.known.control import CONTROL
from scenarios.runs.known.copies import COPIES
from scenarios.runs.known.epochs import EPOCHS
from scenarios.runs.known.fetchers import FETCHERS
from scenarios.runs.known.first_states import FIRST_STATES
from scenarios.runs.known.isrs import ISRS
from scenarios.runs.known.joins import JOINS
from scenarios.runs.known.kafka_6794 import DOCUMENTS
from scenarios.runs.known.known_losses import LOST
from scenarios.runs.known.known_moves import MOVES
from scenarios.runs.known.known_producers import PRODUCERS
from scenarios.runs.known.moves_cut_short import CUT_SHORT
from scenarios.runs.known.reason import Reason
from scenarios.runs.known.truncations import TRUNCATIONS
from scenarios.runs.known.watermarks import WATERMARKS
from scenarios.runs.past import Judged, KeptEvents

if TYPE_CHECKING:
    from scenarios.runs.run import Run

KNOWN: tuple[Reason, ...] = (
    *TRUNCATIONS,
    *LOST,
    *JOINS,
    *EPOCHS,
    *WATERMARKS,
    *FETCHERS,
    *COPIES,
    *PRODUCERS,
    *CONTROL,
    *FIRST_STATES,
    *MOVES,
    *CUT_SHORT,
    *DOCUMENTS,
    *ISRS,
)
"""The first that applies is named."""


class OfRelease(Judged, Protocol):
    """A run, or a cluster that a test drives, of a profile."""

    @property
    def profile(self) -> str: ...


def known(run: OfRelease, finding: Finding, past: KeptEvents | None = None) -> tuple[Reason, ...]:
    """The reasons that together explain a finding of ``run``; none: it is new. Each violation behind the finding, and
    each broker that it is about, has one of them. ``past``: the events of ``run``, where they are there."""
    profile = PROFILES[run.profile]
    reasons = [one for one in KNOWN if one.sees(finding) and one.applies(profile)]
    if not reasons:
        return ()
    past = past or KeptEvents(run)
    behind: list[Violation | None] = [
        part for violation in run.violations if Finding.of(violation) == finding for part in violation.apart()
    ]
    found = [next((one for one in reasons if one.shows(past, part)), None) for part in behind or [None]]
    if any(isinstance(part.facts, BatchRefused) for part in behind if part is not None):
        return ()  # what is in the log is not lost
    explaining = dict.fromkeys(reason for reason in found if reason)
    return tuple(explaining) if all(found) else ()


@frozen
class Explained:
    """Findings of a run, divided into known and new ones.

    Attributes:
        known: the reasons, each with the findings that it explains; several may explain one together.
        new: the findings without a reason.
    """

    known: tuple[tuple[Reason, tuple[Finding, ...]], ...]
    new: tuple[Finding, ...]


def explained(run: OfRelease, found: Iterable[Finding]) -> Explained:
    """The findings ``found`` of ``run``, those that its release does by itself apart from the new ones."""
    past = KeptEvents(run)
    reasons: dict[Reason, list[Finding]] = {}
    new: list[Finding] = []
    for finding in found:
        explaining = known(run, finding, past)
        if not explaining:
            new.append(finding)
        for reason in explaining:
            reasons.setdefault(reason, []).append(finding)
    return Explained(tuple((reason, tuple(of_it)) for reason, of_it in reasons.items()), tuple(new))


def shown(reason: Reason, of_it: Iterable[Finding]) -> str:
    """A reason, and the checkers whose findings it explains, in a line."""
    return f"{reason} ({', '.join(dict.fromkeys(finding.checker for finding in of_it))})"


def explained_findings(run: Run) -> Explained:
    """``explained`` for all findings of a run that has ended."""
    return explained(run, findings(run))


def explained_violations(run: OfRelease) -> Explained:
    """``explained`` for all violations that the checkers have found so far."""
    return explained(run, dict.fromkeys(map(Finding.of, run.violations)))


def fails(run: Run, *, drawn: bool = False) -> bool:
    """Whether a run fails a test: by a finding that is new, by an expectation of its file that was not met, or since it
    did not come to what it should test. ``drawn``: chance has made its faults, so that only what is new does, as in a
    campaign."""
    return not run.passed and bool((run.besides and not drawn) or explained_findings(run).new)
