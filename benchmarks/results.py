"""benchmarks/RESULTS.md: one section per benchmark, between markers, replaced as a whole."""

import datetime
import os
import platform
from pathlib import Path

RESULTS = Path(__file__).parent / "RESULTS.md"


def machine(command: str) -> str:
    """The line that says when, on what, and by which command the figures came about."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{today}, {os.cpu_count()} cores ({platform.machine()}), {python}, `{command}`"


def write_section(name: str, lines: list[str]) -> None:
    """Put ``lines`` between ``<!-- name -->`` and ``<!-- /name -->``, in the place of what is there."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else "# Results\n"
    section = "\n".join([begin, f"## {name}", "", *lines, end])
    if begin in text and end in text:
        before, rest = text.split(begin, 1)
        text = before + section + rest.split(end, 1)[1]
    else:
        text = f"{text.rstrip()}\n\n{section}\n"
    RESULTS.write_text(text, encoding="utf-8")
