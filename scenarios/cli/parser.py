"""argparse with this project's errors: one line per refusal, raised as BadInput, with a suggestion."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from scenarios.cli import log_output, options
from scenarios.errors import BadInput, did_you_mean

_PATHS = ("DIR", "FILE", "OUT", "PATH", "RUN", "TRACE")
"""The words in help texts that stand for a path: an empty one is refused."""

_LACKS_VALUE = re.compile(r"argument (--\S+): expected one argument")

Run = Callable[[argparse.Namespace], int]


def is_path(metavar: object) -> bool:
    """Whether an argument with this name in the help texts takes a path: ``DIR``, or ``RUN|FILE``."""
    return isinstance(metavar, str) and any(part in _PATHS for part in metavar.split("|"))


class Parser(argparse.ArgumentParser):
    """A parser that remembers its arguments and the names of its options, and accepts no abbreviations."""

    def __init__(self, **settings: Any) -> None:
        self.option_names: list[str] = []
        self.arguments: list[argparse.Action] = []
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **settings)
        # No option begins with a digit, so -3:4 and -1s are values, which their options refuse in their own words.
        self._negative_number_matcher = re.compile(r"-\.?\d")

    def add_argument(self, *names: Any, **settings: Any) -> argparse.Action:
        options_of = [name for name in names if name.startswith("--")]
        self.option_names += options_of
        metavar = settings.get("metavar")
        if is_path(metavar):
            settings.setdefault("type", options.path(options_of[0] if options_of else str(metavar)))
        self.arguments.append(super().add_argument(*names, **settings))
        return self.arguments[-1]

    def error(self, message: str) -> NoReturn:
        lacks = _LACKS_VALUE.fullmatch(message)
        if lacks:  # also where the next word begins with a minus, which argparse takes for an option
            option = lacks[1].rpartition("/")[2]
            raise BadInput(f"needs a value, as in {option} VALUE; see {self.prog} --help", where=option)
        raise BadInput(f"{message}; see {self.prog} --help")


class Program:
    """All commands: turns a command line into the command to run and its arguments."""

    def __init__(self, version: Callable[[], str]) -> None:
        self.parser = Parser(
            prog="understudy",
            description="An emulated Kafka cluster in virtual time: script failures, replay them, compare strategies.",
            epilog="exit codes: 0 passed, 1 failed, 2 bad input, 3 not deterministic, 4 the tool failed, 130 Ctrl-C",
        )
        self.parser.add_argument("--version", action="store_true", help="print the version")
        self._version = version
        self._commands: dict[str, Parser] = {}
        self._extras: list[str] = []
        self._subparsers = self.parser.add_subparsers(
            dest="command", metavar="COMMAND", parser_class=Parser, title="commands"
        )

    def command(self, name: str, run: Run, help: str, *, extras: bool = False, epilog: str = "") -> Parser:
        """Add a command. With ``extras`` everything after its name is passed on to it unchanged."""
        parser = self._subparsers.add_parser(name, help=help, description=help, epilog=epilog)
        parser.set_defaults(run=run)
        parser.add_argument(
            "--log",
            metavar="LEVEL",
            type=options.one_of("--log", log_output.LEVELS),
            default=log_output.DEFAULT,
            help="log events to standard error: debug, info, warning, error or off (default)",
        )
        parser.add_argument(
            "--plugin",
            dest="plugins",
            metavar="FILE",
            action="append",
            help="import this Python file first, which registers checkers, actions, ...; repeatable",
        )
        parser.add_argument("--quiet", action="store_true", help="print the result only: no progress, no details")
        self._commands[name] = parser
        if extras:
            self._extras.append(name)
        return parser

    def read(self, argv: Sequence[str]) -> argparse.Namespace:
        """Read a command line. Raises BadInput for what is not understood, SystemExit after --help."""
        name = next((word for word in argv if not word.startswith("-")), None)
        if name == "help" and name not in self._commands:
            raise BadInput("there is no command 'help'; write understudy COMMAND --help, or understudy --help")
        if name is not None and name not in self._commands:
            raise BadInput(f"unknown command {name!r}; {did_you_mean(name, self._commands)}")
        if name in self._extras and argv[0] == name and argv[1:2] not in (["-h"], ["--help"]):
            arguments = self.parser.parse_args([name])
            arguments.extra = list(argv[1:])
            return arguments
        arguments, unknown = self.parser.parse_known_args(argv)
        if unknown:
            raise self._unknown(unknown, name)
        if name is None and not arguments.version:
            raise BadInput("no command is given; try: understudy demo, or: understudy --help")
        return arguments

    @property
    def commands(self) -> tuple[Parser, ...]:
        """The parsers of all commands that were added."""
        return tuple(self._commands.values())

    def version(self) -> str:
        return self._version()

    def _unknown(self, words: Sequence[str], name: str | None) -> BadInput:
        word = words[0]
        parser = self._commands[name] if name is not None else self.parser
        if not word.startswith("-"):
            return BadInput(f"{word!r} is one argument too many; see {parser.prog} --help")
        option, names = word.partition("=")[0], parser.option_names
        if option in names:
            return BadInput(f"{option} stands before the command; write {parser.prog} {word}")
        return BadInput(f"unknown option {option!r}; {did_you_mean(word, names)}")
