"""The commands, one file each: `add` tells the parser what a command takes, `run` does it.

Whatever a command needs beyond that it imports when it runs, so that `--help` is there at once and nothing
but the Spark commands loads Spark.
"""

from __future__ import annotations

from scenarios.cli.commands import atlas, compare, demo, listing, metrics, run, schema, suite, sweep, timeline, validate
from scenarios.cli.parser import Program

_COMMANDS = (validate, run, timeline, metrics, sweep, compare, atlas, demo, listing, schema, suite)


def add_all(program: Program) -> None:
    for command in _COMMANDS:
        command.add(program)


def version() -> str:
    """`understudy 0.1.0`."""
    from scenarios.runs.dataset.identity import program_version

    return f"understudy {program_version()}"
