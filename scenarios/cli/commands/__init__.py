"""The commands, one file each: ``add`` declares the command's arguments, ``run`` carries it out.

A command imports what it needs when it runs, so ``--help`` is fast, and only the Spark commands load Spark.
"""

from __future__ import annotations

from scenarios.cli.commands import atlas, compare, demo, listing, metrics, run, schema, suite, sweep, timeline, validate
from scenarios.cli.parser import Program

_COMMANDS = (validate, run, timeline, metrics, sweep, compare, atlas, demo, listing, schema, suite)


def add_all(program: Program) -> None:
    for command in _COMMANDS:
        command.add(program)


def version() -> str:
    """``understudy 0.1.0``."""
    from scenarios.runs.dataset.identity import program_version

    return f"understudy {program_version()}"
