"""``museum [BUG]``: run the cases of bugs that Kafka had, each with the bug, which its checker sees, and without; and
those of guards, which are taken out for the checkers that see no such bug."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from scenarios.cli import exits, options
from scenarios.cli.output import say, table
from scenarios.cli.parser import Program
from scenarios.errors import BadInput, did_you_mean
from scenarios.profiles.ticket import Ticket
from scenarios.profiles.tickets import BROUGHT, BUGS

if TYPE_CHECKING:
    from scenarios.museum.exhibits import ExhibitRuns


def add(program: Program) -> None:
    parser = program.command("museum", run, "run the cases of bugs that Kafka had, with each bug and without it")
    parser.add_argument(
        "bug",
        metavar="BUG",
        nargs="?",
        type=_chosen,
        help="one of them (list bugs), or a checker, for all that it sees; without it all",
    )
    parser.add_argument("--file", action="store_true", help="print the case as a scenario file and run nothing")
    parser.add_argument("--page", action="store_true", help="print the story, the case and its run as a Markdown page")
    options.add_format(parser)


def _chosen(text: str) -> str:
    """A reader of a bug, by its ticket, of a guard, by its name, or of a checker."""
    from scenarios.museum.exhibits import checkers, names

    known = (*names(), *checkers())
    if text not in known and text in BUGS:
        raise BadInput(_without_a_case(BUGS[text]), where="BUG")
    if text not in known:
        raise BadInput(f"unknown bug {text!r}; {did_you_mean(text, known)}", where="BUG")
    return text


def _without_a_case(bug: Ticket) -> str:
    brings = BROUGHT.get(bug.key)
    where = "" if brings is None else f" of plug-in {brings}"
    if bug.case:
        return f"the case of bug {bug.key!r}{where} is not there: {bug.case}"
    return (
        f"bug {bug.key!r}{where} has no case here; switch it on with run FILE --bug {bug.key}, and name the file "
        "of its case in Ticket(case=...), see docs/extend/plugins.md"
    )


def run(arguments: Namespace) -> int:
    from scenarios.museum.exhibits import case_text, exhibit, exhibits, names

    is_one = arguments.bug in names()
    if arguments.file:
        if not is_one:
            raise BadInput("prints the case of one bug; name it", where="--file")
        say(case_text(arguments.bug).rstrip())
        return exits.PASSED
    found = [exhibit(arguments.bug)] if is_one else exhibits()
    chosen = [one for one in found if arguments.bug in (None, one.name, one.entry.checker)]
    if arguments.page:
        from scenarios.museum.museum_page import whole

        for paragraph in whole(chosen):
            say(f"{paragraph}\n")
        return exits.PASSED
    shown = [one.show() for one in chosen]
    if arguments.format == "json":
        say(json.dumps([one.to_json() for one in shown], indent=1))
    else:
        lines = _in_full(shown[0]) if is_one else _table(shown)
        for line in lines:
            say(line)
    return exits.PASSED if all(one.caught and one.clean for one in shown) else exits.FAILED


def _table(shown: list[ExhibitRuns]) -> Iterator[str]:
    rows = [
        (
            one.exhibit.name,
            one.exhibit.entry.checker,
            "caught" if one.caught else "NOT CAUGHT",
            f"clean {one.exhibit.otherwise}" if one.clean else f"NOT CLEAN {one.exhibit.otherwise}",
            one.exhibit.entry.title,
        )
        for one in shown
    ]
    yield from table(rows, indent="")
    good = sum(one.caught and one.clean for one in shown)
    yield f"{good} of {len(shown)} are caught by their checker and clean otherwise"


def _in_full(shown: ExhibitRuns) -> Iterator[str]:
    from scenarios.runs.dataset.identity import command_line

    exhibit = shown.exhibit
    yield f"{exhibit.name}: {exhibit.entry.title} ({exhibit.kind_in_words})"
    yield ""
    yield from exhibit.story
    yield ""
    yield from (shown.explanation or "nothing was found").splitlines()
    yield ""
    broken = ", ".join(dict.fromkeys(one.invariant for one in shown.fixed.violations))
    why = f"failed ({shown.fixed.reason}{': ' if broken else ''}{broken})"
    yield f"{exhibit.otherwise}: {'passed' if shown.clean else why}"
    case = command_line("museum", exhibit.name, "--file")
    if exhibit.is_bug:
        case += f" > {exhibit.name}.toml && {command_line('run', f'{exhibit.name}.toml')}"
    yield f"the case: {case}"
