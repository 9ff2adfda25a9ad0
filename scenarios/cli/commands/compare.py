"""``compare DIR...``: compares the arms of a study, with the figures that each run computed itself, or those that Spark
computes again from the data sets."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from scenarios.cli import comparing, exits
from scenarios.cli.options import MASTER, add_format, add_master
from scenarios.cli.output import say
from scenarios.cli.parser import Program
from scenarios.errors import BadInput

if TYPE_CHECKING:
    from scenarios.studies.statistics.result import Comparison


def add(program: Program) -> None:
    parser = program.command("compare", run, "compare the arms of a sweep, or of several, paired by seed")
    parser.add_argument(
        "directories", metavar="DIR", nargs="+", help="the --out folder of a sweep; several that share seeds are one"
    )
    comparing.add_options(parser)
    parser.add_argument("--all", action="store_true", help="show all differences, not only the ten most telling")
    parser.add_argument(
        "--recount",
        action="store_true",
        help="let Spark compute every figure again from the tables, and warn where a run computed another one",
    )
    add_format(parser)
    add_master(parser)


def run(arguments: Namespace) -> int:
    """Compare. Wrong options and data sets are refused before Spark is started, which takes seconds."""
    asked = comparing.asked(arguments)
    if not arguments.recount:
        if arguments.master != MASTER:
            raise BadInput("is for --recount, without which Spark computes nothing; add that", where="--master")
        from scenarios.studies.statistics.of_data_set import compare_folders

        return _show(compare_folders(*arguments.directories, asked=asked), arguments)

    from scenarios.runs.dataset.joined import open_data_sets

    data_set = open_data_sets(arguments.directories)
    comparing.prepare_spark("compare", data_set, asked, "the figures again")

    from scenarios.studies.spark.compare import compare_with_spark

    return _show(compare_with_spark(data_set, master=arguments.master, asked=asked), arguments)


def _show(comparison: Comparison, arguments: Namespace) -> int:
    from scenarios.studies.statistics.text import as_text

    say(comparison.to_json() if arguments.format == "json" else as_text(comparison, every=arguments.all))
    return exits.PASSED
