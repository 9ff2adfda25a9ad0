"""``test``: checks a checkout: style, format, types, then the tests. Further options go to pytest."""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import PIPE, STDOUT

from scenarios.cli import exits
from scenarios.cli.output import note, say, show
from scenarios.cli.parser import Program
from scenarios.errors import BadInput

MOST_WORKERS = 4
"""The most workers: each takes about half a gigabyte, and Spark's JVM one more."""


def workers(processors: int) -> tuple[str, ...]:
    """The options for one process more than there are processors, since tests with real clients, with sockets and with
    other processes wait for much of their time. A run of a few tests would only start later, and some options of
    pytest, such as ``--pdb``, need its own process."""
    return ("-n", str(min(processors + 1, MOST_WORKERS)))


SKIPPED = ("-rfEs",)
"""Ends with what was skipped, one line for each reason, which says how to get what was missing."""


def add(program: Program) -> None:
    program.command(
        "test",
        run,
        "in a checkout: run the linter, the formatter's check, the type checker and all tests",
        extras=True,
        epilog=f"alone, it runs the tests in one process more than there are processors ({MOST_WORKERS} at most); "
        "further options are passed on to pytest as they are: understudy test -k name",
    )


TYPES = ("mypy", ["mypy"])


def run(arguments: Namespace) -> int:
    """Run all four, even if one fails. The type checker is one process that takes a minute in a new clone, so it works
    beside the others and shows its lines when it is done."""
    root = _checkout()
    with ThreadPoolExecutor(max_workers=1) as beside:
        types = beside.submit(_passes_beside, *TYPES, root)
        failed = [name for name, command in _parts(arguments.extra) if not _passes(name, command, root)]
    if not types.result():
        failed.append(TYPES[0])
    if failed:
        note(f"understudy: failed: {', '.join(failed)}")
    return exits.FAILED if failed else exits.PASSED


def _parts(extra: list[str]) -> list[tuple[str, list[str]]]:
    return [
        ("ruff", ["ruff", "check", "."]),
        ("format", ["ruff", "format", "--check", "."]),
        ("pytest", ["pytest", *SKIPPED, *(extra or workers(os.cpu_count() or 1))]),
    ]


def _passes(name: str, command: list[str], root: Path) -> bool:
    say(f"== {name}")
    show()
    return subprocess.run(_module(command), cwd=root, env=_environment(), check=False).returncode == 0


def _passes_beside(name: str, command: list[str], root: Path) -> bool:
    done = subprocess.run(
        _module(command), cwd=root, env=_environment(), check=False, text=True, stdout=PIPE, stderr=STDOUT
    )
    say(f"\n== {name}\n{done.stdout.rstrip()}")
    show()
    return done.returncode == 0


def _module(command: list[str]) -> list[str]:
    return [sys.executable, "-m", *command]


def _environment() -> dict[str, str]:
    """The environment of this process, with two changes. Python keeps what it compiles, since the tests start the
    program some hundred times. It finds the checkout's own modules, which the tests start with ``python -m``."""
    left_out = ("PYTHONDONTWRITEBYTECODE", "PYTHONSAFEPATH")
    return {name: value for name, value in os.environ.items() if name not in left_out}


def _checkout() -> Path:
    """The folder of the checkout. Raises: BadInput in an installation, which has no tests."""
    from scenarios.runs.dataset.identity import IMPORT_ROOT

    root = IMPORT_ROOT.resolve()
    if not ((root / "tests").is_dir() and (root / "pyproject.toml").is_file()):
        raise BadInput("there are no tests in an installation; run ./understudy test in a clone", where="test")
    return root
