"""The table of a campaign: client × kind of fault × (runs, stalls, duplicates, losses, deaths), with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from attrs import frozen

from scenarios.studies.clients.client_outcome import ClientOutcome
from scenarios.studies.statistics.counted_share import wilson

ALL = "all"
HEAD = ("client", "runs with", "runs", "stalls", "duplicates", "losses", "deaths")
TELLING = 20
"""The least number of runs of which a page shows the counts: the interval of none in 20 ends at 16 %."""
SHAPE = ("cluster", "healing", "topics", "settings", "schedules")
"""Kinds that draw no faults."""
_COUNTED: tuple[Callable[[ClientOutcome], bool], ...] = (
    lambda one: one.stalled,
    lambda one: one.doubled > 0,
    lambda one: one.lost > 0,
    lambda one: one.died,
)


@frozen(kw_only=True)
class OutcomeRow:
    """One row.

    Attributes:
        kind: a kind of fault; ``all`` for every run of the client.
        counts: the runs with stalls, duplicates, losses and deaths.
    """

    client: str
    kind: str
    runs: int
    counts: tuple[int, ...]

    def cells(self) -> tuple[str, ...]:
        """The row in words: each count with the interval of 95 % of its share."""
        return (self.client, self.kind, str(self.runs), *(_with_interval(count, self.runs) for count in self.counts))


def _with_interval(count: int, of: int) -> str:
    low, high = wilson(count, of)
    return f"{count} ({100 * low:.0f} to {100 * high:.0f} %)"


def rows(outcomes: Sequence[ClientOutcome]) -> Iterator[OutcomeRow]:
    """The rows, each client in the order of its first outcome, all of its runs first. Runs that the program itself
    failed in, or whose cluster did not get well, are left out."""
    counted = [one for one in outcomes if not one.tool_failed and one.well]
    kinds = sorted({kind for one in counted for kind in one.kinds} - {*SHAPE})
    for client in dict.fromkeys(_client(one) for one in counted):
        own = [one for one in counted if _client(one) == client]
        for kind in (ALL, *kinds):
            with_it = [one for one in own if kind in (ALL, *one.kinds)]
            if with_it:
                counts = tuple(sum(map(has, with_it)) for has in _COUNTED)
                yield OutcomeRow(client=client, kind=kind, runs=len(with_it), counts=counts)


def _client(outcome: ClientOutcome) -> str:
    return f"{outcome.client} {outcome.version.partition(' ')[0]}"


def lines(outcomes: Sequence[ClientOutcome]) -> Iterator[str]:
    """The table as lines of aligned columns."""
    found = [HEAD, *(row.cells() for row in rows(outcomes))]
    widths = [max(len(line[column]) for line in found) for column in range(len(HEAD))]
    for line in found:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()


def markdown(outcomes: Sequence[ClientOutcome]) -> Iterator[str]:
    """The table as lines of Markdown, without kinds that had fewer than ``TELLING`` runs."""
    yield f"| {' | '.join(HEAD)} |"
    yield f"| {' | '.join('---' for _ in HEAD)} |"
    yield from (f"| {' | '.join(row.cells())} |" for row in rows(outcomes) if row.kind == ALL or row.runs >= TELLING)
