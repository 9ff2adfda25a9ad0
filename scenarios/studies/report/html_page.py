"""The shell that all reports share: one HTML file with its style, its scripts, the drawing library and its data.

Nothing is loaded from anywhere, and the page's content security policy has the browser refuse it: scripts run only if
their digest is that of one written here, so text from a scenario file cannot become a script. What a reader has to know
is in the HTML itself; scripts draw the figures from the JSON in ``<script type="application/json">``.

A page consists of a *lead*, which is the first screen, and of sections, which the navigation lists. A figure is an
empty frame here (``figure``); the page's own script in ``assets/`` draws into it: ``report.figure(id, …)``.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

from attrs import frozen

from scenarios.studies.report.markup import Html, Node, element, joined

_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; style-src 'unsafe-inline'; "
    "script-src {scripts}"
)


@frozen(kw_only=True)
class Section:
    """A part of a page.

    Attributes:
        id: fragment of the page's address, as ``comparison`` in ``report.html#comparison``.
        title: heading, and name in the navigation.
    """

    id: str
    title: str
    body: Html


@frozen(kw_only=True)
class Page:
    """A report.

    Attributes:
        title: the heading, plain text.
        about: subject of the page, below the heading; plain text.
        lead: the first screen.
        bar: nodes that follow the first screen and stay in sight below the navigation.
        sections: sections in the order of the navigation.
        script: the page's own script, ``assets/NAME.js``.
        style: style besides that of all pages, ``assets/NAME.css``; empty: none.
        data: data that the script draws: JSON without NaN or infinities.
        command: the command line that makes the page again.
        version: version of Understudy.
    """

    title: str
    about: str
    lead: Html
    sections: Sequence[Section]
    script: str
    data: object
    command: str
    version: str
    style: str = ""
    bar: Html | None = None

    def render(self) -> str:
        """The whole file. Raises: ValueError for data that JSON cannot hold."""
        scripts = [asset(f"{name}.js") for name in ("libraries", "theme", "page", self.script)]
        policy = _POLICY.format(scripts=" ".join(map(_digest, scripts)))
        head = joined(
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=policy),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("title", self.title),
            element("style", Html(asset("page.css"))),
            element("style", Html(asset(f"{self.style}.css"))) if self.style else None,
        )
        body = joined(
            element("a", "Skip to the content", class_="skip", href="#lead"),
            self._header(),
            element(
                "main",
                element("section", self.lead, id="lead", tabindex="-1"),
                self.bar,
                *map(_section, self.sections),
            ),
            self._footer(),
            element("div", id="said", role="status", class_="toast"),
            element("script", Html(as_json(self.data)), type="application/json", id="data"),
            *(element("script", Html(script)) for script in scripts),
        )
        return f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n<body>{body}</body>\n</html>\n'

    def _header(self) -> Html:
        links = [element("a", section.title, href=f"#{section.id}") for section in self.sections]
        theme = element("button", "Dark theme", type="button", id="theme", class_="button", hidden=True)
        top = element("div", element("h1", self.title), element("p", self.about, class_="about"))
        nav = element("nav", element("div", *links, class_="links"), theme, aria_label="Sections")
        return element("header", top, nav)

    def _footer(self) -> Html:
        return element(
            "footer",
            element("p", f"Made by Understudy {self.version}. The same page again:"),
            command(self.command),
            element(
                "details",
                element("summary", "Drawn with Observable Plot and D3: licences"),
                element("pre", asset("LICENSES.txt"), tabindex="0", role="region", aria_label="Licences"),
                class_="licences",
            ),
        )


# -- parts of a page -------------------------------------------------------------------------------------------------


def tile(label: str, value: str, note: str = "", tone: str = "") -> Html:
    """One number of the first screen. ``tone``: ``good``, ``bad`` or none."""
    return element(
        "div",
        element("dt", label),
        element("dd", element("b", value), element("span", note, class_="note") if note else None),
        class_=f"tile {tone}".rstrip(),
    )


def tiles(*each: Html) -> Html:
    return element("dl", *each, class_="tiles")


def figure(id: str, title: str, caption: Node = None, *, controls: Node = None, wide: bool = False) -> Html:
    """The frame of a figure: its title, buttons that save it as SVG and its rows as CSV, controls, and a caption.

    The page's script draws it: ``report.figure(id, {draw, rows})``. ``wide``: never beside another one.
    """
    buttons = [
        element("button", form, type="button", class_="button", data_save=form.lower(), title=f"Save as {form}")
        for form in ("SVG", "CSV")
    ]
    return element(
        "figure",
        element(
            "div", element("h3", title, id=f"{id}-title"), element("div", *buttons, class_="buttons"), class_="bar"
        ),
        element("div", controls, class_="controls") if controls is not None else None,
        element("div", class_="legend"),
        element("div", class_="drawing", role="group", aria_labelledby=f"{id}-title"),
        element("figcaption", caption) if caption is not None else None,
        id=id,
        class_="figure wide" if wide else "figure",
    )


def figures(*each: Html) -> Html:
    """Figures beside each other where the screen is wide enough."""
    return element("div", *each, class_="figures")


def choice(name: str, label: str, options: Iterable[tuple[str, str]], chosen: str = "") -> Html:
    """A labelled select; options are pairs of a value and a text. The script finds it by ``data-choice=name``."""
    found = [element("option", text, value=value, selected=value == chosen) for value, text in options]
    return element("label", element("span", label), element("select", *found, data_choice=name), class_="choice")


def table(
    heads: Sequence[str], rows: Iterable[Sequence[Node]], *, caption: str, numeric: Iterable[int] = (), id: str = ""
) -> Html:
    """A table that scrolls by itself where it is too wide. The first cell of a row is its heading.

    ``numeric``: the columns that are aligned to the right. ``caption`` names the table for screen readers.
    """
    right = frozenset(numeric)
    style = ["number" if column in right else None for column in range(len(heads))]
    head = [element("th", text, scope="col", class_=style[column]) for column, text in enumerate(heads)]
    body = [
        element(
            "tr",
            *(
                element("th", cell, scope="row") if column == 0 else element("td", cell, class_=style[column])
                for column, cell in enumerate(row)
            ),
        )
        for row in rows
    ]
    made = element(
        "table",
        element("caption", element("span", caption)),
        element("thead", element("tr", *head)),
        element("tbody", *body),
        id=id or None,
    )
    return element("div", made, class_="scroll", tabindex="0", role="region", aria_label=caption)


def command(line: str) -> Html:
    """A command line with a button that copies it."""
    copy = element("button", "Copy", type="button", class_="button copy", data_copy=line, aria_label="Copy the command")
    return element("div", element("code", line, tabindex="0"), copy, class_="command")


def note(*text: Node, tone: str = "") -> Html:
    """A remark. ``tone``: ``warning`` for a reason to doubt what the page says."""
    return element("p", *text, class_=f"remark {tone}".rstrip())


def as_json(data: object) -> str:
    """JSON that can be inside ``<script>``. Raises: ValueError for NaN and infinities, which JSON cannot hold."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign, code in (
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("&", "\\u0026"),
        ("\u2028", "\\u2028"),
        ("\u2029", "\\u2029"),
    ):
        text = text.replace(sign, code)
    return text


@cache
def asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _section(section: Section) -> Html:
    return element(
        "section",
        element("h2", section.title, id=f"{section.id}-heading"),
        section.body,
        id=section.id,
        aria_labelledby=f"{section.id}-heading",
    )


def _digest(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
