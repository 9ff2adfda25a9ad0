"""Every argument that takes a path refuses one that can name nothing it could use. The arguments are those that the
parser knows as paths, so that a new one is among them."""

from __future__ import annotations

import os
import socket
from functools import cache
from pathlib import Path

import pytest

from scenarios.cli import commands
from scenarios.cli.parser import Parser, Program, is_path
from tests.limited import calls, refused
from tests.scenarios.language.builders import SMALL
from tests.scenarios.wire.recording.written import write_recording

WRITTEN = {
    "--out", "--rollback-out", "--trace", "--plan-out", "--page", "--ready-file", "--record", "--to-scenario",
    "--write-scenario",
}  # fmt: skip
"""Options that name what is written; everything else names what is read."""
SCENARIO, RECORDING = "small.toml", "recording"
GOOD = {"FILE": SCENARIO, "RUN|FILE": SCENARIO, "DIR": RECORDING, "TRACE": RECORDING, "RUN": RECORDING}
"""A path that can be used, by what the help texts call it."""
MORE = {
    "ctl": ["state"],
    "why": ["--partition", "orders-0"],
    "chaos": ["--seeds", "0:1"],
    "sweep": ["--seeds", "0:1", "--out", "out"],
    "atlas": ["--partition", "orders-0"],
    "shrink": ["--seed", "1"],
}
"""Other arguments that a command needs. One that needs more is refused for that, and the test says so."""
TEXTS = {
    "A", "ADDRESS", "AXIS", "CHECKER", "DRIVER", "ID", "NAME", "P", "PARTITION", "PROTOCOL[:PORT]", "RUN_ID", "S",
    "SIZE", "URL", "WORD",
}  # fmt: skip
"""Metavars of a text that is no path, where the command itself looks at it."""


@cache
def parsers() -> dict[str, Parser]:
    program = Program(commands.version)
    commands.add_all(program)
    return {parser.prog.split()[-1]: parser for parser in program.commands}


def path_arguments() -> list[tuple[str, str]]:
    return [
        (name, action.option_strings[-1] if action.option_strings else action.dest)
        for name, parser in parsers().items()
        for action in parser.arguments
        if is_path(action.metavar)
    ]


def bad_paths(written: bool) -> dict[str, str]:
    bad = {
        "5,000 characters": "x" * 5000,
        "too many folders": "a/" * 3000 + "b",
        "NUL": "a\0b",
        "no UTF-8": "a\udcffb",
        "below a file": f"{SCENARIO}/below/it",
        "below a link to itself": "loop/below",
    }
    if not written:
        bad |= {"missing": "missing", "a link to itself": "loop", "a pipe": "pipe", "a socket": "socket"}
        bad |= {"an empty file": "void"}
    return bad


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    (folder / SCENARIO).write_text(SMALL)
    (folder / "void").write_text("")
    (folder / "loop").symlink_to("loop")
    os.mkfifo(folder / "pipe")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.path.relpath(folder / "socket"))
    listener.close()
    write_recording(folder / RECORDING)
    return folder


def command_line(name: str, argument: str, path: str) -> list[str]:
    """The command with this path, and with what else it needs."""
    words = [name]
    for action in parsers()[name].arguments:
        if action.option_strings[-1:] == [argument] or action.dest == argument:
            words += [*action.option_strings[-1:], path]
        elif not action.option_strings and isinstance(action.metavar, str) and action.metavar in GOOD:
            words.append(GOOD[action.metavar])
    more = MORE.get(name, [])
    return words + (more if argument not in more else more[: more.index(argument)])


@pytest.mark.parametrize(("name", "argument"), path_arguments())
def test_a_path_that_can_be_nothing_is_refused(name: str, argument: str, place: Path) -> None:
    before = sorted(place.rglob("*"))
    paths = bad_paths(argument in WRITTEN)
    called = calls(*(command_line(name, argument, path) for path in paths.values()), cwd=place)
    for what, one in zip(paths, called, strict=True):
        refused(one, what)
    assert sorted(place.rglob("*")) == before


def test_every_argument_says_what_it_takes() -> None:
    """It has a reader of its own, or a name that says whether it is a path."""
    unclear = [
        f"{name} {action.dest}"
        for name, parser in parsers().items()
        for action in parser.arguments
        if action.nargs != 0 and action.type is None and not is_path(action.metavar) and action.metavar not in TEXTS
    ]
    assert unclear == []
