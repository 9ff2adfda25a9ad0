"""The heat maps of the atlas's page: one table per move and protocol, readable without any script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from attrs import frozen

from scenarios.language import STEPS
from scenarios.runs.dataset.rows import CellRow
from scenarios.studies.atlas.cells import ACTORS, FAULT_HELP, FAULTS
from scenarios.studies.atlas.summary import UndisturbedMove, counts

LETTERS: Mapping[str, str] = {
    "finished": "·",
    "stuck": "S",
    "unsafe": "U",
    "leaderless": "l",
    "leader-outside-assignment": "o",
    "isr-outside-assignment": "i",
    "under-min-isr": "m",
    "acks-1-loss": "1",
    "stray": "y",
    "wrong-order": "w",
    "other-invariant": "v",
    "steps-rerun": "r",
}
"""The letter in a cell of the map, for readers who cannot tell the colours. A harmed cell shows its worst harm."""
MILD = "steps-rerun"
"""The one harm that costs only time: its cells are lighter."""
FIRST_FAULT = next(iter(FAULTS))

Column = tuple[str, str]
"""Actor and fault."""


@frozen(order=True)
class Place:
    """A row of a map: a gate."""

    hop: int
    step: str
    edge: str
    occurrence: int


def maps(rows: Sequence[CellRow], undisturbed: Sequence[UndisturbedMove]) -> Iterator[str]:
    """All maps; only those of the first move are shown until another is chosen."""
    for own in undisturbed:
        found = {i: row for i, row in enumerate(rows) if (row.protocol, row.plan) == (own.protocol, own.plan)}
        hidden = "" if own.plan == undisturbed[0].plan else " hidden"
        yield f'<section class="map" data-plan="{escape(own.plan)}"{hidden}>'
        yield from _heading(own, list(found.values()))
        yield f'<div class="scroll"><table role="grid" aria-label="{escape(own.protocol)} {escape(own.title)}">'
        columns = [(actor, fault) for actor in ACTORS for fault in FAULTS if _plays(actor, found)]
        yield from _head(columns)
        yield from _body(columns, found)
        yield "</table></div></section>"


def letter(row: CellRow) -> str:
    return LETTERS[row.harm if row.outcome == "harmed" else row.outcome]


def shade(row: CellRow) -> str:
    """The cell's class in the style baseline."""
    return "mild" if row.outcome == "harmed" and row.harm == MILD else row.outcome


def _plays(actor: str, found: Mapping[int, CellRow]) -> bool:
    return any(row.actor == actor for row in found.values())


def _heading(own: UndisturbedMove, rows: list[CellRow]) -> Iterator[str]:
    yield f"<h2>{escape(own.protocol)} <small>{escape(own.title)}, profile {escape(own.profile)}</small></h2>"
    told = "; ".join(f"{harm} ({what})" for harm, what in own.harms.items())
    yield f'<p class="own">Undisturbed, the move does {f"this by itself: {escape(told)}" if told else "no harm"}.</p>'
    shares = {outcome: number / len(rows) for outcome, number in counts(rows).items() if number}
    bar = (f'<i class="{outcome}" style="flex-grow:{share:.4f}"></i>' for outcome, share in shares.items())
    yield f'<div class="bar" aria-hidden="true">{"".join(bar)}</div>'


def _head(columns: list[Column]) -> Iterator[str]:
    yield '<thead><tr><th colspan="2" rowspan="2" scope="col" class="corner">step, and before or after it</th>'
    for actor in dict.fromkeys(actor for actor, _ in columns):
        title = escape(ACTORS[actor])
        yield f'<th colspan="{len(FAULTS)}" scope="colgroup" class="actor" title="{title}">{actor}</th>'
    yield "</tr><tr>"
    for _, fault in columns:
        title = escape(FAULT_HELP[fault])
        yield f'<th scope="col" class="fault{_gap(fault)}" title="{title}"><span>{fault}</span></th>'
    yield "</tr></thead>"


def _body(columns: list[Column], found: Mapping[int, CellRow]) -> Iterator[str]:
    by_place: dict[Place, dict[Column, int]] = {}
    for i, row in found.items():
        place = Place(row.hop, row.step, row.edge, row.occurrence)
        by_place.setdefault(place, {})[row.actor, row.fault] = i
    yield "<tbody>"
    hop, step = 0, ""
    for place, cells in by_place.items():
        if place.hop != hop:
            yield f'<tr class="hop"><th colspan="{len(columns) + 2}" scope="colgroup">hop {place.hop}</th></tr>'
        begins = place.step != step or place.edge == "before"
        hop, step = place.hop, place.step
        yield f"<tr>{_row_head(place, begins)}"
        for column in columns:
            yield _cell(cells.get(column), found, column[1])
        yield "</tr>"
    yield "</tbody>"


def _row_head(place: Place, begins: bool) -> str:
    """``begins``: this row is the first of its step and names it."""
    again = f" {place.occurrence}" if place.occurrence > 1 else ""
    text, name = "", ""
    if begins:
        text = escape(STEPS[place.step].steps[place.step])
        name = f"<b>{place.step.rpartition('.')[2]}</b> {text}"
    return f'<th class="step" title="{text}">{name}</th><th scope="row" class="edge">{place.edge}{again}</th>'


def _cell(index: int | None, found: Mapping[int, CellRow], fault: str) -> str:
    if index is None:
        return f'<td class="na{_gap(fault)}"></td>'
    row = found[index]
    return f'<td role="gridcell" tabindex="-1" class="{shade(row)}{_gap(fault)}" data-i="{index}">{letter(row)}</td>'


def _gap(fault: str) -> str:
    """A gap before the first column of an actor."""
    return " first" if fault == FIRST_FAULT else ""
