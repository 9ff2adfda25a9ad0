"""The pages of docs/ and the fenced blocks in them."""

from __future__ import annotations

import re
from pathlib import Path

from attrs import frozen

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@frozen
class Fenced:
    """A fenced block: its language, its text, and the line of its page on which the text begins."""

    page: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def text_of(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def fenced(page: str, language: str) -> list[Fenced]:
    """The page's blocks of one language, in order."""
    text = text_of(page)
    return [
        Fenced(page, text.count("\n", 0, match.start(2)) + 1, language, match.group(2))
        for match in _FENCED.finditer(text)
        if match.group(1) == language
    ]


def run_blocks(blocks: list[Fenced]) -> dict[str, object]:
    """Run Python blocks one after the other in one namespace, as a reader would type them; return that namespace."""
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        # Empty lines in front make the lines of a traceback those of the page.
        exec(compile("\n" * (block.line - 1) + block.text, str(DOCS / block.page), "exec"), names)
    return names
