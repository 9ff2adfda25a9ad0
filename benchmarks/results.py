"""benchmarks/RESULTS.md: one section per benchmark, between markers, replaced as a whole."""

import datetime
import os
import platform
from collections.abc import Sequence
from pathlib import Path

RESULTS = Path(__file__).parent / "RESULTS.md"


def machine(command: str) -> str:
    """The line that says when, on what, and by which command the figures came about."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{today}, {os.cpu_count()} cores ({platform.machine()}), {python}, `{command}`"


def write_section(name: str, lines: Sequence[str]) -> None:
    """Put ``lines`` between ``<!-- name -->`` and ``<!-- /name -->``, in the place of what is there."""
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else "# Results\n"
    RESULTS.write_text(between_marks(text, name, [f"## {name}", "", *lines]), encoding="utf-8")


def between_marks(text: str, name: str, lines: list[str], heading: str = "") -> str:
    """``text`` with ``lines`` between the marks of ``name``; without such marks they come last, under ``heading``."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    section = "\n".join([begin, *lines, end])
    if begin in text and end in text:
        before, rest = text.split(begin, 1)
        return before + section + rest.split(end, 1)[1]
    return "\n\n".join(part for part in (text.rstrip(), heading, section) if part) + "\n"
