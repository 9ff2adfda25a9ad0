"""The first lines of a report: the questions that an engineer asks of any run, answered whatever was expected of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scenarios.cli.output import red
from scenarios.units import counted

if TYPE_CHECKING:
    from scenarios.runs import Run

_INDENT = "  "


def headlines(run: Run) -> Iterator[str]:
    """A line for each question: was acknowledged data lost?"""
    rows = [("acknowledged data lost", lost(run))]
    width = max(len(label) for label, _ in rows)
    for label, text in rows:
        yield f"{_INDENT}{label.ljust(width)}  {text}"


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


def _unclean(run: Run) -> str:
    broken = any(violation.invariant == "no_acked_record_lost" for violation in run.violations)
    return "Kafka promises to keep them" if broken else "by an unclean election"
