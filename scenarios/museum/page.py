"""docs/museum.md: each bug, what happened in Kafka, and how it looks here, rendered from the museum.

``python -m scenarios.museum.page docs/museum.md`` runs all cases and writes the sections into the page; a test compares
them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from scenarios.museum.densities import densities
from scenarios.museum.exhibits import Exhibit, case_text, exhibits
from scenarios.pages import into_page, table
from scenarios.profiles.bugs import BUGS

_HEADS = ("Bug", "What was wrong", "Fixed in", "Seen by", "Of 1,000 seeds")


def sections() -> dict[str, str]:
    """The overview, and a section for each bug, in one order."""
    every = list(exhibits())
    return {"bugs": table(_HEADS, map(_row, every)), "cases": "\n\n".join(map(_case, every))}


def _row(one: Exhibit) -> Sequence[str]:
    bug = one.bug
    link = f"[{bug.ticket}](#{bug.ticket.lower()})"
    seen_by = ", ".join(f"`{name}`" for name in (bug.checker, *bug.also))
    return link, bug.title, bug.affected.rpartition("; ")[2], seen_by, _density(bug.ticket)


def _density(ticket: str) -> str:
    measured = densities().get(ticket)
    if measured is None:
        return "not measured"
    return f"{measured.per_1000:.0f}" if measured.found else f"none of {measured.seeds}"


def _case(one: Exhibit) -> str:
    bug = one.bug
    lines = [
        f"### {bug.ticket}",
        f"**{bug.title[0].upper()}{bug.title[1:]}** ({bug.affected}).",
        bug.happened,
        f"*Here:* {bug.here}",
        *([f"*Chaos would have to draw:* {bug.trigger}"] if bug.trigger else []),
        f"*Source:* {bug.source}.",
        f"```toml\n{case_text(bug.ticket).rstrip()}\n```",
        f"```text\n{_what_is_seen(one)}\n```",
    ]
    return "\n\n".join(lines)


def _what_is_seen(one: Exhibit) -> str:
    """What the run of the case with its bug says, without the command that repeats it."""
    text = one.run_broken().explanation.partition("\nreplay it:")[0]
    return "\n".join(line.rstrip() for line in text.splitlines())


def main(arguments: Sequence[str]) -> None:
    """Write the sections into the page named."""
    page = Path(arguments[0])
    page.write_text(into_page(page.read_text(encoding="utf-8"), sections()), encoding="utf-8")
    print(f"{len(BUGS)} bugs")


if __name__ == "__main__":
    main(sys.argv[1:])
