"""The places of the keys of a TOML file: line and column, for error messages.

``tomllib`` reads values and forgets their places. This scanner goes over a text that ``tomllib`` has accepted, so it
checks nothing: it only finds where each key and each item of a list begins.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from typing import NamedTuple

from scenarios.errors import BadInput, join_path

_SPACE = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
"""Between statements, and between the items of a list."""
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
# The loops of the long texts may be given back: those that may not go wrong before Python 3.11.5 (gh-106052).
_TEXT = re.compile(
    r'''"""(?:[^"\\]++|\\.|""?+(?!"))*"{3,5}|"(?:[^"\\]++|\\.)*+"'''
    r"""|'''(?:[^']++|''?+(?!'))*'{3,5}|'[^']*+'""",
    re.DOTALL,
)
_QUOTES = "\"'"
_SCALAR = re.compile(r"[^\s,\]}#]+(?: \d\d:[^\s,\]}#]+)?")
"""A number, a truth value, or a date, in which a space may stand before the time."""


class Place(NamedTuple):
    """A line and a column, both counted from 1."""

    line: int
    column: int


class Places:
    """The places of all key paths in a TOML text: ``topics[0].size``, as ``BadInput.where`` names them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._found: dict[str, int] = {}
        self._lengths: dict[str, int] = {}
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._document()

    def find(self, path: str) -> Place | None:
        """The place where ``path`` begins. If it is not in the text, the place of the nearest key that would hold it;
        None: there is none."""
        while path:
            if path in self._found:
                start = self._found[path]
                line = bisect_right(self._lines, start)
                return Place(line, start - self._lines[line - 1] + 1)
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return None

    # -- the text ---------------------------------------------------------------------------------------------------

    def _document(self) -> None:
        table = ""
        self._take(_GAP)
        while self._at < len(self._text):
            if self._text.startswith("[", self._at):
                table = self._header()
            else:
                self._assignment(table)
            self._take(_GAP)

    def _header(self) -> str:
        """Read ``[a.b]`` or ``[[a]]``. Returns the path of the table that begins."""
        start = self._at
        many = self._text.startswith("[[", start)
        self._at += 1 + many
        *parents, last = self._keys()
        path = ""
        for name in parents:
            path = self._latest(join_path(path, name))
        path = join_path(path, last)
        self._found.setdefault(path, start)
        if many:
            index = self._lengths.get(path, 0)
            self._lengths[path] = index + 1
            path = f"{path}[{index}]"
            self._found[path] = start
        self._at += 1 + many
        return path

    def _latest(self, path: str) -> str:
        """The path of the last table of a list of tables; any other path unchanged."""
        return f"{path}[{self._lengths[path] - 1}]" if path in self._lengths else path

    def _assignment(self, table: str) -> None:
        start, path = self._at, table
        for name in self._keys():
            path = join_path(path, name)
            self._found.setdefault(path, start)
        self._at += 1  # =
        self._take(_SPACE)
        self._value(path)

    def _keys(self) -> list[str]:
        """The parts of a dotted key, up to what follows it."""
        names: list[str] = []
        while True:
            self._take(_SPACE)
            if self._text[self._at] in _QUOTES:
                names.append(tomllib.loads(f"key = {self._take(_TEXT)}")["key"])
            else:
                names.append(self._take(_BARE_KEY))
            self._take(_SPACE)
            if not self._text.startswith(".", self._at):
                return names
            self._at += 1

    def _value(self, path: str) -> None:
        opening = self._text[self._at]
        if opening == "[":
            self._items(path)
        elif opening == "{":
            self._inline_table(path)
        elif opening in _QUOTES:
            self._take(_TEXT)
        else:
            self._take(_SCALAR)

    def _items(self, path: str) -> None:
        self._at += 1
        index = 0
        while True:
            self._take(_GAP)
            if self._text[self._at] == "]":
                break
            if self._text[self._at] == ",":
                self._at += 1
                continue
            item = f"{path}[{index}]"
            self._found[item] = self._at
            self._value(item)
            index += 1
        self._at += 1

    def _inline_table(self, path: str) -> None:
        self._at += 1
        while True:
            self._take(_GAP)
            if self._text[self._at] == "}":
                break
            if self._text[self._at] == ",":
                self._at += 1
            else:
                self._assignment(path)
        self._at += 1

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        assert match is not None, f"no TOML at {self._at}: {self._text[self._at : self._at + 20]!r}"
        self._at = match.end()
        return match[0]


def placed(error: BadInput, text: str) -> BadInput:
    """``error`` with line and column of each key path that it names, in the TOML file ``text``."""
    places = Places(text)

    def place(one: BadInput) -> BadInput:
        found = None if one.source or one.line is not None else places.find(one.where)
        return one if found is None else one.at_place(found.line, found.column)

    return error.each(place)
