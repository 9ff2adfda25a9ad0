"""``compare DIR``: compares the strategies of a sweep, with figures that Spark computes from the data set."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.cli import exits, output
from scenarios.cli.options import add_format, add_master
from scenarios.cli.output import say
from scenarios.cli.parser import Program

if TYPE_CHECKING:
    from scenarios.studies.statistics.comparison_table import Comparison


def add(program: Program) -> None:
    parser = program.command("compare", run, "compare the strategies of a sweep, paired by seed")
    parser.add_argument("directory", metavar="DIR", help="the --out folder of a sweep")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="compare the figures that each run computed itself, without Spark, which else computes them again",
    )
    add_format(parser)
    add_master(parser)


def run(arguments: Namespace) -> int:
    """Refuses a data set that cannot be read before Spark is started, which takes seconds."""
    if arguments.quick:
        from scenarios.studies.statistics.own_figures import quick_comparison

        return _show(quick_comparison(arguments.directory), arguments)

    from scenarios.runs.dataset.reader import open_data_set

    data_set = open_data_set(Path(arguments.directory))

    from scenarios.studies.java import ensure_java

    ensure_java()
    runs = len(data_set.run_ids)
    output.progress(f"compare: Spark computes the figures of {runs} runs again; --quick takes those of the runs")

    from scenarios.studies.spark.compare import compare

    return _show(compare(arguments.directory, master=arguments.master), arguments)


def _show(comparison: Comparison, arguments: Namespace) -> int:
    say(comparison.to_json() if arguments.format == "json" else comparison.text)
    return exits.PASSED
