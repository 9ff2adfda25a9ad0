"""Pages of docs/ that the program writes parts of: a rendered section is between two marks of its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from scenarios.errors import BadInput

_MARKED = re.compile(r"<!-- reference: (\S+) -->\n.*?<!-- end -->", re.DOTALL)


def into_page(page: str, rendered: Mapping[str, str]) -> str:
    """The page with each marked section replaced by what ``rendered`` has under its name.

    Raises: BadInput for a mark of no section.
    """

    def fill(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in rendered:
            raise BadInput(f"no section is called {name!r}; known: {', '.join(rendered)}")
        return marked(name, rendered[name])

    return _MARKED.sub(fill, page)


def write_into(file: str, rendered: Mapping[str, str]) -> None:
    """Write rendered sections into a page."""
    page = Path(file)
    page.write_text(into_page(page.read_text(encoding="utf-8"), rendered), encoding="utf-8")


def marked(name: str, text: str) -> str:
    """A section between its marks."""
    return f"<!-- reference: {name} -->\n\n{text}\n\n<!-- end -->"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
