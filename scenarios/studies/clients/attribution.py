"""The attribution of findings: to the client, to Kafka of that release, or to this program."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from scenarios.runs.known_findings import Explained
from scenarios.studies.clients.attached_run import AttachedRun
from scenarios.studies.clients.evidence import ClientFinding
from scenarios.studies.clients.judges import judge_named

STALLS = ("producer_stalled", "consumer_stopped")
TOOL, INTERFACE, NOT_WELL = "tool", "driver_interface", "cluster_not_well"


@frozen(kw_only=True)
class OutcomeFinding:
    """One finding of a run.

    Attributes:
        judge: the judge, or the checker of the cluster.
        whose: who may be at fault, and why.
    """

    judge: str
    detail: str
    whose: str


def whose(finding: ClientFinding, found: AttachedRun, explained: Explained) -> str:
    """The words for who may be at fault, by what the checkers of the cluster see in the same run."""
    run = found.run
    if run.defects:
        return f"this program's: {run.defects[0]}"
    checkers = judge_named(finding.judge).checkers
    new = [one.checker for one in explained.new if one.checker in checkers]
    if new:
        return f"this program's, or a bug of Kafka that has no ticket here: the cluster breaks {new[0]} too"
    tickets = [
        reason.ticket for reason, of_it in explained.known if any(one.checker in checkers for one in of_it)
    ]  # fmt: skip
    if tickets:
        return f"{run.profile}'s: {', '.join(dict.fromkeys(tickets))}"
    if found.machine_was_late and finding.judge in STALLS:
        pace = f"{found.pace:.1f} virtual seconds passed in a second, not {found.case.rate:g}"
        return f"the machine's, it seems: {pace}; lower --rate or --jobs"
    others = list(dict.fromkeys(reason.ticket for reason, _ in explained.known))
    if others:
        return f"the client's, or {run.profile}'s: the run also shows {', '.join(others)}"
    return "the client's, as far as the checkers see: they find nothing wrong with the cluster"


def of_cluster(found: AttachedRun, explained: Explained) -> Iterator[OutcomeFinding]:
    """The findings that are not of the applications: of the cluster, of the interface, and of this program."""
    run = found.run
    for defect in run.defects:
        yield OutcomeFinding(judge=TOOL, detail=defect, whose="this program's")
    if found.unreadable:
        yield OutcomeFinding(judge=INTERFACE, detail=f"a line is not of the interface: {found.unreadable}",
                             whose="the driver's")  # fmt: skip
    if not found.well or found.evidence.log is None:
        what = f"no leader, or one replica in sync, {found.evidence.bound_s:g} s after healing"
        yield OutcomeFinding(
            judge=NOT_WELL, detail=what, whose="this program's, or Kafka's of that release; clients are not judged"
        )
    broken = {violation.invariant for violation in run.violations}
    for one in explained.new:
        if one.checker in broken:  # a run that is stopped while a move goes on is unfinished, which is no finding
            yield OutcomeFinding(
                judge=one.checker, detail=one.state, whose="this program's, or a bug of Kafka that has no ticket here"
            )
