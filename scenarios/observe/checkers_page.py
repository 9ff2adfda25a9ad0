"""docs/reference/checker-list.md: what each role promises and what each checker verifies, rendered from
the promises and the checkers.

``python -m scenarios.observe.checkers_page docs/reference/checker-list.md`` writes the sections into the page; a test
compares them.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Sequence

from scenarios.observe.checkers import REGISTRY, Checker
from scenarios.observe.promises import PROMISES, Promise
from scenarios.pages import table, write_into
from scenarios.profiles.tickets import TICKETS

SECTIONS = "SEIMRFGXJTV"
"""The letters of ``Checker.section``, in the order of the page."""

_HEADS = ("", "Checker", "Gravity", "In a sentence", "Catches", "Fails when")
_LABEL = re.compile(r"^(Verified|Not verified): ")


def sections() -> dict[str, str]:
    """The overview, and what each checker verifies, in one order."""
    kinds = sorted(REGISTRY.values(), key=_place)
    return {
        "promises": "\n\n".join(map(_promised, PROMISES)),
        "checkers": table(_HEADS, map(_row, kinds)),
        "docstrings": "\n\n".join(map(_verifies, kinds)),
    }


def _promised(role: str) -> str:
    rows = [(each.text, each.source, _seen_by(each)) for each in PROMISES[role]]
    return f"### {role}\n\n" + table(("It ...", "Source", "Seen by"), rows)


def _seen_by(promise: Promise) -> str:
    return ". ".join(filter(None, (", ".join(f"`{name}`" for name in promise.checkers), promise.unseen)))


def _place(kind: type[Checker]) -> tuple[int, int, str]:
    number = re.search(r"\d+", kind.ids[0])
    return SECTIONS.find(kind.section), int(number[0]) if number else 0, kind.name


def catches(kind: type[Checker]) -> tuple[str, ...]:
    """The tickets that a checker sees: those that say so of their case, and others that it names itself."""
    of_tickets = (key for key, ticket in TICKETS.items() if kind.name in (ticket.checker, *ticket.also))
    return tuple(dict.fromkeys((*of_tickets, *kind.catches)))


def _row(kind: type[Checker]) -> Sequence[str]:
    fails_when = kind.fails_when or "(shown on a written history)"
    return (
        ", ".join(kind.ids),
        f"`{kind.name}`",
        str(kind.gravity),
        kind.sentence(),
        ", ".join(catches(kind)),
        fails_when,
    )


def _verifies(kind: type[Checker]) -> str:
    first, *others = _paragraphs(inspect.cleandoc(kind.__doc__ or ""))
    return "\n\n".join([f"**`{kind.name}`.** {first}", *others])


def _paragraphs(doc: str) -> Iterator[str]:
    """The docstring in Markdown: a paragraph is one line; its attributes are for those who read code."""
    for block in re.split(r"\n\s*\n", doc):
        if not block.startswith("Attributes:"):
            yield _as_one(block.splitlines())


def _as_one(lines: Iterable[str]) -> str:
    text = " ".join(line.strip() for line in lines)
    return _LABEL.sub(lambda match: f"*{match[0].strip()}* ", text).replace("``", "`")


if __name__ == "__main__":
    write_into(sys.argv[1], sections())
