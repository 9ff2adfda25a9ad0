"""Account of a run: the statements of its report as rows of the data set, so that a reader of the trace has them
without running it again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scenarios.runs.dataset.table_rows import AccountRow
from scenarios.runs.headlines import headlines

if TYPE_CHECKING:
    from scenarios.runs.run import Run

HEADLINE, EXPECTATION, KNOWN = "headline", "expectation", "known"
DRAWN, EXPLANATION, REPLAY = "drawn", "explanation", "replay"
"""The parts, see ``AccountRow``."""
TRACE = "TRACE"
"""The folder in which the statements are read, in the commands that they name: it may have been moved."""


def account(run: Run) -> list[AccountRow]:
    """The statements, in the order of the report."""
    return list(_rows(run))


def _rows(run: Run) -> Iterator[AccountRow]:
    for place, option, value in run.drawn:
        yield AccountRow(None, DRAWN, place, f"{option} = {value}")
    for reason, of_it in run.known:
        yield AccountRow(None, KNOWN, ", ".join(dict.fromkeys(finding.checker for finding in of_it)), str(reason))
    for label, text, bad in headlines(run, TRACE):
        yield AccountRow(None, HEADLINE, label, text, bad)
    for one in run.expectations:
        yield AccountRow(one.t_us, EXPECTATION, "", one.statement, ok=one.ok, found=one.detail)
    for line in run.explanation.splitlines():
        yield AccountRow(None, EXPLANATION, "", line)
    if run.replay:  # a live run that was not recorded has none
        yield AccountRow(None, REPLAY, "", run.replay)
