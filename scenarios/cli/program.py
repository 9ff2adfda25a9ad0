"""``main``: reads the command line, runs the command, and turns its result or error into an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

from scenarios import plugins
from scenarios.cli import commands, exits, log_output, output
from scenarios.cli.parser import Program
from scenarios.errors import BadInput


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``understudy`` with these arguments (those of the process if None). Returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    output.prepare()
    try:
        code = _run(words)
        output.show()
        return code
    except SystemExit as finished:  # argparse has printed its help
        _show_what_was_said()
        return finished.code if isinstance(finished.code, int) else exits.PASSED
    except BaseException as error:
        _show_what_was_said()
        return exits.explain(error, debug=_wants_debug(words))


def _run(words: Sequence[str]) -> int:
    _check(words)
    plugins.load(_plugins(words))
    program = Program(commands.version)
    if words and words[0] in commands.COMMANDS:
        commands.add(program, words[0])
    else:
        commands.add_all(program)
    arguments = program.read(words)
    if arguments.version:
        output.say(program.version())
        return exits.PASSED
    log_output.configure(arguments.log)
    output.be_quiet(arguments.quiet)
    code: int = arguments.run(arguments)
    return code


def _check(words: Sequence[str]) -> None:
    """Refuse words that no option takes: bytes that are not UTF-8 text, and NUL."""
    for word in words:
        if "\0" in word or any("\ud800" <= letter <= "\udfff" for letter in word):
            raise BadInput(f"{word!r} is not UTF-8 text; write it in UTF-8")


def _plugins(words: Sequence[str]) -> list[str]:
    """The files of ``--plugin``. They are loaded before the other options are read, which may name what is in them."""
    apart = [file for word, file in pairwise(words) if word == plugins.OPTION]
    return apart + [word.partition("=")[2] for word in words if word.startswith(f"{plugins.OPTION}=")]


def _show_what_was_said() -> None:
    with suppress(Exception):  # the first error is the one to report
        output.show()


def _wants_debug(words: Sequence[str]) -> bool:
    """Whether the command line has ``--debug``, even if the rest of it cannot be read."""
    return "--log=debug" in words or "--log debug" in " ".join(words)
