"""The pages of docs/ and the fenced blocks in them."""

from __future__ import annotations

import re
from functools import cache
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


@cache
def pages() -> dict[str, Path]:
    """Every page by its file name. The indexes, README.md, go by their paths in the repository: there are several."""
    found = [path for path in ROOT.glob("*.md") if path.name != "README.md"] + sorted(DOCS.rglob("*.md"))
    indexes = [ROOT / "README.md", *(path for path in found if path.name == "README.md")]
    named = [path for path in found if path.name != "README.md"]
    assert len({path.name for path in named}) == len(named), "two pages have the same name"
    return {path.name: path for path in named} | {str(path.relative_to(ROOT)): path for path in indexes}


def path_of(page: str) -> Path:
    return pages()[page]


def text_of(page: str) -> str:
    return path_of(page).read_text(encoding="utf-8")


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
        exec(compile("\n" * (block.line - 1) + block.text, str(path_of(block.page)), "exec"), names)
    return names
