"""The heat maps of the atlas's page: one table per move and protocol, readable without any script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby

from attrs import frozen

from scenarios.language import STEPS
from scenarios.runs.dataset.table_rows import CellRow
from scenarios.studies.atlas.cells import ACTORS, FAULT_HELP, FAULTS
from scenarios.studies.atlas.summary import UndisturbedMove

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
ABSENT, LOST, STRAY, BROKEN, MILD = "absent", "lost", "stray", "broken", "mild"
SHADES: Mapping[str, str] = {
    "leaderless": ABSENT,
    "leader-outside-assignment": ABSENT,
    "isr-outside-assignment": ABSENT,
    "under-min-isr": ABSENT,
    "acks-1-loss": LOST,
    "stray": STRAY,
    "wrong-order": STRAY,
    "other-invariant": BROKEN,
    "steps-rerun": MILD,
}
"""The colour of each harm, a class of the style."""
IN_WORDS: Mapping[str, str] = {
    "finished": "finished, no harm",
    MILD: "only time: steps were done again",
    STRAY: "left behind: a stray replica, or another order of the replicas",
    ABSENT: "for a time without a leader, or without enough in sync, or with the wrong brokers",
    LOST: "records acknowledged with acks=1 are lost",
    BROKEN: "an invariant was broken that is not one of safety",
    "stuck": "the move does not end",
    "unsafe": "an invariant of safety was broken, or records acknowledged with acks=all are lost",
}
"""The meaning of each colour, from the mildest."""
FIRST_FAULT = next(iter(FAULTS))

Column = tuple[str, str]
"""A column of a map: actor and fault."""


@frozen(order=True)
class GateRow:
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
    """The cell's class in the style."""
    return SHADES[row.harm] if row.outcome == "harmed" else row.outcome


def _plays(actor: str, found: Mapping[int, CellRow]) -> bool:
    return any(row.actor == actor for row in found.values())


def _heading(own: UndisturbedMove, rows: list[CellRow]) -> Iterator[str]:
    yield f"<h2>{escape(own.protocol)} <small>{escape(own.title)}, profile {escape(own.profile)}</small></h2>"
    told = "; ".join(f"{harm} ({what})" for harm, what in own.harms.items())
    yield f'<p class="own">Undisturbed, the move does {f"this by itself: {escape(told)}" if told else "no harm"}.</p>'
    numbers = Counter(map(shade, rows))
    bar = (
        f'<i class="{kind}" style="flex-grow:{numbers[kind] / len(rows):.4f}"></i>'
        for kind in IN_WORDS
        if numbers[kind]
    )
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
    by_place: dict[GateRow, dict[Column, int]] = {}
    for i, row in found.items():
        place = GateRow(row.hop, row.step, row.edge, row.occurrence)
        by_place.setdefault(place, {})[row.actor, row.fault] = i
    yield "<tbody>"
    hop = 0
    for (of_hop, _), group in groupby(by_place, key=lambda place: (place.hop, place.step)):
        if of_hop != hop:
            yield f'<tr class="hop"><th colspan="{len(columns) + 2}" scope="colgroup">hop {of_hop}</th></tr>'
        hop, places = of_hop, list(group)
        for number, place in enumerate(places):
            yield f"<tr>{_row_head(place, len(places) if number == 0 else 0)}"
            for column in columns:
                yield _cell(by_place[place].get(column), found, column[1])
            yield "</tr>"
    yield "</tbody>"


def _row_head(place: GateRow, rows: int) -> str:
    """The head of a row. ``rows``: the number of rows of the step, if this is the first of them, which names it; else
    0."""
    again = f" {place.occurrence}" if place.occurrence > 1 else ""
    step = ""
    if rows:
        text = escape(STEPS[place.step].steps[place.step])
        step = f'<th class="step" scope="rowgroup" rowspan="{rows}"><b>{place.step.rpartition(".")[2]}</b> {text}</th>'
    return f'{step}<th scope="row" class="edge">{place.edge}{again}</th>'


def _cell(index: int | None, found: Mapping[int, CellRow], fault: str) -> str:
    if index is None:
        return f'<td class="na{_gap(fault)}"></td>'
    row = found[index]
    return f'<td role="gridcell" tabindex="-1" class="{shade(row)}{_gap(fault)}" data-i="{index}">{letter(row)}</td>'


def _gap(fault: str) -> str:
    """A gap before the first column of an actor."""
    return " first" if fault == FIRST_FAULT else ""
