"""The commands, one file each: ``add`` declares the command's arguments, ``run`` carries it out.

A command's file is imported when it is called, or for ``--help``; and a command imports what it needs when it runs, so
only the Spark commands load Spark.
"""

from __future__ import annotations

from importlib import import_module

from scenarios.cli.parser import Program

COMMANDS = (
    "import", "validate", "plan", "forecast", "run", "serve", "ctl", "replay", "state", "timeline", "why", "diff",
    "metrics", "sweep", "compare", "report", "atlas", "chaos", "shrink", "likely", "museum", "demo", "list", "schema",
    "completion", "test",
)  # fmt: skip
"""The commands, in the order of ``--help``."""

_FILES = {"import": "import_command", "list": "listing", "test": "suite"}
"""The files of commands whose file has another name: pytest would collect a test.py; list and import are
Python's."""


def add(program: Program, name: str) -> None:
    """Import one command and declare its arguments."""
    import_module(f"{__name__}.{_FILES.get(name, name)}").add(program)


def add_all(program: Program) -> None:
    for name in COMMANDS:
        add(program, name)


def version() -> str:
    """The program's name and version: ``understudy 0.2.0``."""
    from scenarios.runs.dataset.identity import VERSION

    return f"understudy {VERSION}"
