"""The page: what it shows is what was found, it loads nothing, and its packed data unpacks to the very lines."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from scenarios.studies.atlas.atlas_page import page
from scenarios.studies.atlas.maps import LETTERS, letter, shade
from scenarios.studies.atlas.outcome import HARMS, OUTCOMES
from scenarios.studies.atlas.packing import pack, put
from scenarios.studies.atlas.summary import UndisturbedMove
from tests.scenarios.studies.atlas.decoded import number, unpack
from tests.scenarios.studies.atlas.made import CELLS, baselines, rows

OWN = tuple(UndisturbedMove.of(baseline) for baseline in baselines())
MOST_BYTES = 10_000_000
DEFAULT_CELLS = 3_650


class Read(HTMLParser):
    """The page's cells, ids, buttons and references."""

    void = ("meta", "link", "br", "input", "hr")

    def __init__(self) -> None:
        super().__init__()
        self.cells: dict[int, tuple[str, str]] = {}
        self.open: list[str] = []
        self.ids: list[str] = []
        self.filters: list[str] = []
        self.references: list[str] = []
        self.data = ""
        self._cell: tuple[int, str] | None = None
        self._in_data = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag not in self.void:
            self.open.append(tag)
        if "data-i" in found:
            self._cell = int(found["data-i"]), found["class"]
        if "id" in found:
            self.ids.append(found["id"])
        if "data-filter" in found:
            self.filters.append(found["data-filter"])
        self.references += [found[name] for name in ("src", "href", "action") if name in found]
        self._in_data = found.get("id") == "data"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self._in_data = False

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            index, kind = self._cell
            self.cells[index] = data, kind.split()[0]
            self._cell = None
        if self._in_data:
            self.data += data


def read() -> Read:
    reader = Read()
    reader.feed(page(rows(), OWN))
    reader.close()
    return reader


def test_every_cell_is_in_its_map_with_letter_and_colour() -> None:
    reader = read()
    assert reader.open == []
    assert len(reader.cells) == len(rows()) == CELLS
    for index, row in enumerate(rows()):
        assert reader.cells[index] == (letter(row), shade(row))


def test_nothing_is_loaded_from_anywhere() -> None:
    text = page(rows(), OWN)
    reader = read()
    assert all(reference.startswith("#") for reference in reader.references)
    for mark in ("http:", "https:", "@import", "url(", "<!--"):
        assert mark not in text


def test_the_packed_data_unpacks_to_the_very_lines() -> None:
    head, timelines = unpack(read().data)
    assert [tuple(lines) for lines in timelines] == [row.timeline for row in rows()]
    assert head["cell"] == [row.cell for row in rows()]
    assert head["command"] == [row.command for row in rows()]
    assert head["why"] == [row.why for row in rows()]


def test_every_outcome_and_every_harm_there_is_can_be_chosen() -> None:
    harms = [harm for harm in HARMS if any(harm in row.harms for row in rows())]
    assert harms
    assert sorted(read().filters) == sorted([*OUTCOMES, *harms])


def test_ids_are_unique_and_those_that_the_script_asks_for_are_there() -> None:
    import re

    ids = read().ids
    assert len(set(ids)) == len(ids)
    asked = set(re.findall(r'byId\("([\w-]+)"\)', page(rows(), OWN)))
    assert asked
    assert asked <= set(ids)


def test_letters_distinguish_what_colours_do() -> None:
    assert len(set(LETTERS.values())) == len(LETTERS)
    assert set(LETTERS) == {*HARMS, *OUTCOMES} - {"harmed"}


def test_a_page_of_the_default_atlas_stays_small() -> None:
    """Texts are kept once, so a cell costs less the more there are."""
    assert len(page(rows(), OWN)) / CELLS * DEFAULT_CELLS < MOST_BYTES


@given(st.integers(0, 2**40))
def test_varints(value: int) -> None:
    body = bytearray(b"x")
    put(body, value)
    assert number(bytes(body), 1) == (value, len(body))


def test_a_short_timeline_and_none_can_be_packed() -> None:
    _, timelines = unpack(pack([(), ("only a heading",)], {}))
    assert timelines == [[], ["only a heading"]]
