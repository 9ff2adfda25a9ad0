"""``compare DIR``: compares the strategies of a sweep, with figures that Spark computes from the data set."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from scenarios.cli import exits
from scenarios.cli.options import add_format, add_master
from scenarios.cli.output import say
from scenarios.cli.parser import Program


def add(program: Program) -> None:
    parser = program.command("compare", run, "compare the strategies of a sweep, paired by seed")
    parser.add_argument("directory", metavar="DIR", help="the --out folder of a sweep")
    add_format(parser)
    add_master(parser)


def run(arguments: Namespace) -> int:
    """Refuses a data set that cannot be read before Spark is started, which takes seconds."""
    from scenarios.runs.dataset.reader import open_data_set

    open_data_set(Path(arguments.directory))

    from scenarios.studies.java import ensure_java

    ensure_java()
    from scenarios.studies.spark.compare import compare

    comparison = compare(arguments.directory, master=arguments.master)
    say(comparison.to_json() if arguments.format == "json" else comparison.text)
    return exits.PASSED
