"""The museum as Markdown: docs/reference/bugs-and-guards.md has its tables, ``understudy museum --page`` prints all.

``python -m scenarios.museum.museum_page docs/reference/bugs-and-guards.md`` writes the tables into that page; a test
compares
them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

from scenarios.museum.densities import densities
from scenarios.museum.exhibits import Exhibit, case_text, exhibits
from scenarios.museum.guards import GUARDS
from scenarios.pages import table, write_into
from scenarios.profiles.tickets import BUGS

_HEADS = ("Bug", "What was wrong", "Fixed in", "Seen by", "Of 1,000 seeds")
_GUARD_HEADS = ("Guard", "What happens without it", "Seen by")


def sections() -> dict[str, str]:
    """The tables, by their marks in the page."""
    shown = list(exhibits())
    return {
        "bugs": table(_HEADS, (_row(one) for one in shown if one.is_bug)),
        "guards": table(_GUARD_HEADS, (_guard_row(one) for one in shown if not one.is_bug)),
    }


def whole(chosen: Iterable[Exhibit]) -> Iterator[str]:
    """The paragraphs of a page: of each bug or guard what happened, its case, and what a run of it shows."""
    yield "# The museum"
    yield from (_case(one) if one.is_bug else _guard_case(one) for one in chosen)


def _row(one: Exhibit) -> Sequence[str]:
    bug = BUGS[one.name]
    return _link(one.name), bug.title, bug.releases.rpartition("; ")[2], _seen_by(one), _density(bug.key)


def _guard_row(one: Exhibit) -> Sequence[str]:
    return _link(one.name), one.entry.title, _seen_by(one)


def _link(name: str) -> str:
    return f"[{name}](../../scenarios/museum/cases/{name}.toml)"


def _seen_by(one: Exhibit) -> str:
    return ", ".join(f"`{name}`" for name in (one.entry.checker, *one.entry.also))


def _density(ticket: str) -> str:
    measured = densities().get(ticket)
    if measured is None:
        return "not measured"
    return f"{measured.per_1000:.0f}" if measured.found else f"none of {measured.seeds}"


def _case(one: Exhibit) -> str:
    bug = BUGS[one.name]
    lines = [
        f"## {bug.key}",
        f"**{_sentence(bug.title)}** ({bug.releases}).",
        bug.happened,
        f"*Here:* {bug.here}",
        *([f"*Chaos would have to draw:* {bug.trigger}"] if bug.trigger else []),
        f"*Source:* {bug.source}.",
        *_shown(one),
    ]
    return "\n\n".join(lines)


def _guard_case(one: Exhibit) -> str:
    guard = GUARDS[one.name]
    places = ", ".join(f"`{taken.place}`" for taken in guard.taken_out)
    lines = [f"## {guard.name}", f"**{_sentence(guard.title)}.**", guard.here, f"*Replaced:* {places}.", *_shown(one)]
    return "\n\n".join(lines)


def _sentence(title: str) -> str:
    return title[0].upper() + title[1:]


def _shown(one: Exhibit) -> Sequence[str]:
    return f"```toml\n{case_text(one.name).rstrip()}\n```", f"```text\n{_what_is_seen(one)}\n```"


def _what_is_seen(one: Exhibit) -> str:
    """The report of the case's run with its bug, or without its guard, without the command that repeats it."""
    text = one.run_broken().explanation.partition("\nreplay it:")[0]
    return "\n".join(line.rstrip() for line in text.splitlines())


def main(arguments: Sequence[str]) -> None:
    """Write the sections into the page named."""
    write_into(arguments[0], sections())
    print(f"{len(BUGS)} bugs, {len(GUARDS)} guards")


if __name__ == "__main__":
    main(sys.argv[1:])
