"""The atlas as one self-contained HTML page: a heat map per move and protocol, and the timeline of every cell.

The maps are plain tables, so they can be read without JavaScript; the cells' details and timelines are packed into one
text (``packing``) that the page's script unpacks. Nothing is loaded from anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files

from scenarios.language import STEPS
from scenarios.runs.dataset.table_rows import CellRow
from scenarios.studies.atlas.cells import ACTORS, FAULT_HELP
from scenarios.studies.atlas.maps import IN_WORDS, LETTERS, SHADES, maps
from scenarios.studies.atlas.outcome import HARMS, OUTCOMES
from scenarios.studies.atlas.packing import pack
from scenarios.studies.atlas.summary import UndisturbedMove, counts
from scenarios.studies.report.html_page import asset as shared

NAME = "atlas.html"


def page(rows: Sequence[CellRow], undisturbed: Sequence[UndisturbedMove]) -> str:
    template = _asset("page.html")
    parts = {
        "style": f"{shared('page.css')}\n{_asset('page.css')}",
        "script": f"{shared('theme.js')}\n{_asset('page.js')}",
        "subtitle": escape(_subtitle(rows, undisturbed)),
        "tally": "".join(_tally(rows)),
        "harms": "".join(_harm_filters(rows)),
        "plans": "".join(_plan_options(undisturbed)),
        "shades": "".join(_shades()),
        "faults": "".join(_definitions(FAULT_HELP)),
        "actors": "".join(_definitions(ACTORS)),
        "maps": "".join(maps(rows, undisturbed)),
        "data": pack([row.timeline for row in rows], _details(rows)),
    }
    for name, text in parts.items():
        template = template.replace(f"<!--{name}-->", text)
    return template


def _asset(name: str) -> str:
    return files(__package__).joinpath("web", name).read_text(encoding="utf-8")


def _subtitle(rows: Sequence[CellRow], undisturbed: Sequence[UndisturbedMove]) -> str:
    protocols = ", ".join(dict.fromkeys(own.protocol for own in undisturbed))
    seeds = ", ".join(map(str, dict.fromkeys(row.seed for row in rows)))
    return f"{len(rows):,} cells: {protocols}; seed {seeds}"


def _details(rows: Sequence[CellRow]) -> dict[str, object]:
    """The data of the cells for the script, by field."""
    names = "cell", "why", "known", "outcome", "broker", "step", "healed_us", "virtual_us", "command", "profile"
    found: dict[str, object] = {name: [getattr(row, name) for row in rows] for name in names}
    found["harms"] = [list(row.harms) for row in rows]
    found["digest"] = [row.digest[:16] for row in rows]
    found["steps"] = {row.step: STEPS[row.step].steps[row.step] for row in rows}
    return {**found, "outcomes": dict(OUTCOMES), "harm_help": dict(HARMS)}


# -- filters and legends ---------------------------------------------------------------------------------------------


def _tally(rows: Sequence[CellRow]) -> Iterator[str]:
    """The four outcomes with their numbers of cells; each is a filter."""
    for outcome, number in reversed(counts(rows).items()):
        yield (
            f'<button type="button" class="tally" data-filter="{outcome}" aria-pressed="false" '
            f'title="{escape(OUTCOMES[outcome])}"><span class="swatch {outcome}">{LETTERS.get(outcome, "h")}</span>'
            f"<b>{number:,}</b> {outcome}</button>"
        )


def _harm_filters(rows: Sequence[CellRow]) -> Iterator[str]:
    for harm, help in HARMS.items():
        number = sum(harm in row.harms for row in rows)
        if number:
            kind = SHADES[harm]
            yield (
                f'<button type="button" class="chip" data-filter="{harm}" aria-pressed="false" title="{escape(help)}">'
                f'<span class="swatch {kind}">{LETTERS[harm]}</span>{harm} <span class="n">{number:,}</span></button>'
            )


def _shades() -> Iterator[str]:
    for kind, text in IN_WORDS.items():
        yield f'<li><span class="swatch {kind}"></span>{escape(text)}</li>'


def _plan_options(undisturbed: Sequence[UndisturbedMove]) -> Iterator[str]:
    for plan, title in dict.fromkeys((own.plan, own.title) for own in undisturbed):
        yield f'<option value="{escape(plan)}">{escape(title)}</option>'


def _definitions(texts: Mapping[str, str]) -> Iterator[str]:
    for name, text in texts.items():
        yield f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>"
