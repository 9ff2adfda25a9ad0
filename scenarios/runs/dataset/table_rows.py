"""The rows of the data set that no measure makes: a run, what is said of it, any event of its trace, a cell of the
atlas."""

from __future__ import annotations

from typing import Any, NamedTuple


class RunRow(NamedTuple):
    """One run and its result.

    ``status``: ``done``, or ``failed`` when the program raised: then there is an ``error``, and the fields after it are
    null. ``completed``: every move was finished; false is a result too (censored at ``virtual_us``), null when the run
    had no move. ``grid``: the arm's point of the grid, a JSON object. ``code``: the digest of the program that ran it.
    """

    seed: int
    profile: str
    scenario: str
    version: str
    code: str
    grid: str
    status: str
    error: str | None = None
    verdict: str | None = None
    reason: str | None = None
    digest: str | None = None
    virtual_us: int | None = None
    events: int | None = None
    completed: bool | None = None


class FigureRow(NamedTuple):
    """A figure of a run, by the name that people read; ``value``: null where the run has none."""

    name: str
    value: float | None


class AccountRow(NamedTuple):
    """A statement about the run, as ``understudy run`` prints it.

    Attributes:
        t_us: the time when an expectation came true or was found broken; null where that is not known, and for other
            parts.
        part: ``headline``, ``expectation``, ``known``, ``drawn``, ``explanation`` (a line of it) or ``replay``.
        label: the subject of a headline; the checkers of a known finding; the place in the file of a drawn value.
        text: the statement.
        bad: the parts of the text that report harm.
        ok: whether an expectation held; null for other parts.
        found: the observation about an expectation.
    """

    t_us: int | None
    part: str
    label: str
    text: str
    bad: tuple[str, ...] = ()
    ok: bool | None = None
    found: str = ""


class EventRow(NamedTuple):
    """Any event of the trace; ``fields``: the values without a column of their own, as compact JSON."""

    t_us: int
    seq: int
    cause: int
    kind: str
    node: int | None
    topic: str | None
    partition: int | None
    fields: str


class CellRow(NamedTuple):
    """A cell of the atlas and its result: a row of ``cells``, and an object of ``--format json``.

    Attributes:
        cell: name of the cell, as ``--cell`` takes it; ``plan`` to ``fault`` are its parts.
        hop: 0 for protocols without hops.
        occurrence: the number of the visit of the gate, counted from 1.
        broker: the broker that was hit.
        outcome: finished, harmed, stuck or unsafe.
        harm: the worst harm. ``harms``: all, worst first.
        why: one line. ``known``: the reading or ticket that explains it; empty where none is known.
        healed_us, virtual_us: the times when the last action hit the cluster, and when the run ended.
        command: the command that repeats it. ``digest``: the digest of the run's events.
        timeline: the timeline of the partition, from the request for the move on.
    """

    cell: str
    protocol: str
    profile: str
    plan: str
    step: str
    edge: str
    hop: int
    occurrence: int
    actor: str
    broker: int
    fault: str
    outcome: str
    harm: str
    harms: tuple[str, ...]
    why: str
    known: str
    seed: int
    healed_us: int
    virtual_us: int
    command: str
    digest: str
    timeline: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """An object of ``--format json``, without the timeline."""
        fields = self._asdict()
        del fields["timeline"]
        return fields
