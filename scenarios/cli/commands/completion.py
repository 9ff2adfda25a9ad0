"""``completion SHELL``: the shell's completion for all commands and options, made by shtab from their declarations."""

from __future__ import annotations

from argparse import Action, Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from scenarios.cli import commands, exits, log_output, options
from scenarios.cli.output import say
from scenarios.cli.parser import Program

SHELLS = ("bash", "zsh", "fish")
_FOLDERS = {"DIR", "TRACE", "RUN"}
"""The ``metavar`` of arguments that are folders."""


def add(program: Program) -> None:
    parser = program.command(
        "completion", run, 'print the completion for a shell: eval "$(./understudy completion bash)"'
    )
    parser.add_argument(
        "shell", metavar="SHELL", type=options.one_of("SHELL", SHELLS), help=f"one of {', '.join(SHELLS)}"
    )


def run(arguments: Namespace) -> int:
    import shtab

    program = Program(commands.version)
    commands.add_all(program)
    words = _words()
    for parser in program.commands:
        for action in parser.arguments:
            _describe(action, words)
    say(shtab.complete(program.parser, shell=arguments.shell).rstrip())
    return exits.PASSED


def _words() -> dict[str, Sequence[str]]:
    """The words that may follow an option, or be a positional argument, by the name of either."""
    from scenarios.language.strategies.strategy import one_of_each_shape
    from scenarios.profiles import PROFILES

    strategies = one_of_each_shape()
    return {
        "--format": ("text", "json"), "--log": log_output.LEVELS, "--profile": tuple(PROFILES),
        "--strategy": strategies,
        "--protocol": strategies, "SHELL": SHELLS,
    }  # fmt: skip


def _describe(action: Action, words: Mapping[str, Sequence[str]]) -> None:
    """Give an argument the attributes that shtab reads: its choices, or its kind of path."""
    import shtab

    name = action.option_strings[0] if action.option_strings else str(action.metavar)
    if name in words:
        action.choices = words[name]
    elif name == "FILE":
        action.complete = _scenarios()  # type: ignore[attr-defined]
    elif action.metavar == "FILE":
        action.complete = shtab.FILE  # type: ignore[attr-defined]
    elif action.metavar in _FOLDERS:
        action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]


def _scenarios() -> dict[str, Any]:
    """Scenario files and, in bash, the names of the library's scenarios."""
    import shtab

    from scenarios.language.files import library

    both = f'_understudy_scenarios() {{ compgen -f -- "$1"; compgen -W "{" ".join(library())}" -- "$1"; }}'
    return {**shtab.FILE, "bash": "_understudy_scenarios", "preamble": {"bash": both}}
