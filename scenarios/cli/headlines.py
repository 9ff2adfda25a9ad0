"""The first lines of a report: the questions that an engineer asks of any run, answered whatever was expected of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scenarios.cli.output import number, red
from scenarios.units import counted

if TYPE_CHECKING:
    from scenarios.runs import Run

_INDENT = "  "


def headlines(run: Run) -> Iterator[str]:
    """A line for each question: was acknowledged data lost? how long was the cluster under-replicated?"""
    rows = [("acknowledged data lost", lost(run)), *(("under-replicated", text) for text in under_replicated(run))]
    width = max(len(label) for label, _ in rows)
    before = ""
    for label, text in rows:
        yield f"{_INDENT}{('' if label == before else label).ljust(width)}  {text}"
        before = label


def lost(run: Run) -> str:
    """What was lost of what producers know to be written, with acks=all and acks=1 apart."""
    used = dict.fromkeys(workload.acks for workload in run.scenario.workloads)
    parts = []
    for acks, why in (("all", _unclean(run)), ("1", "Kafka does not promise to keep them")):
        batches, records = (run.metrics[f"lost_acks_{acks}_{what}"] for what in ("batches", "records"))
        assert isinstance(batches, int)
        assert isinstance(records, int)
        if records:
            found = f"{counted(records, 'record')} in {counted(batches, 'batch')}"
            parts.append(red(f"acks={acks}: {found}") + f" ({why})")
        elif acks in used:
            parts.append(f"acks={acks}: none")
    return "; ".join(parts) or "none, since nothing was produced with acks=all or acks=1"


def under_replicated(run: Run) -> Iterator[str]:
    """For how long any partition lacked a replica that was not being added (KIP-352); then in more detail."""
    any_s, worst_s, total_s, by_moves_s = (
        number(run.metrics[f"under_replicated_{what}_s"]) for what in ("any", "worst", "final", "by_moves")
    )
    peak = run.metrics["under_replicated_peak"]
    assert isinstance(peak, int)
    if peak:
        if total_s == worst_s:
            yield f"{any_s} s, {run.worst_partition} alone"
        else:
            most = f"at most {counted(peak, 'partition')} at once"
            yield f"{any_s} s; {most}, longest {run.worst_partition}: {worst_s} s; {total_s} partition-seconds in all"
    else:
        yield "0 s"
    if run.metrics["under_replicated_by_moves_s"]:
        yield f"by Kafka's rule up to 2.4 the moves themselves add {by_moves_s} partition-seconds"


def _unclean(run: Run) -> str:
    broken = any(violation.invariant == "no_acked_record_lost" for violation in run.violations)
    return "Kafka promises to keep them" if broken else "by an unclean election"
