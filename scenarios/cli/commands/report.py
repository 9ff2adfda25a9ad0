"""``report DIR...``: a study, or one recorded run, as one HTML page that needs no network."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.cli import commands, comparing, exits, traces
from scenarios.cli.options import add_master
from scenarios.cli.output import say
from scenarios.cli.parser import Program
from scenarios.errors import BadInput

if TYPE_CHECKING:
    from scenarios.runs.dataset.reader import DataSet
    from scenarios.studies.report.html_page import Page
    from scenarios.studies.report.over_time import Series
    from scenarios.studies.statistics.result import Comparison
    from scenarios.studies.statistics.study_comparison import ComparisonSpec

DEFAULT = "report.html"


def add(program: Program) -> None:
    parser = program.command(
        "report", run, "write a study, or what happened in one run, as an HTML page that needs no network"
    )
    parser.add_argument(
        "directories",
        metavar="DIR",
        nargs="+",
        help="the --out folder of a sweep, several that share seeds, the --trace folder of a run, or "
        "the --record folder of serve",
    )
    parser.add_argument("-o", "--out", metavar="FILE", default=DEFAULT, help=f"the page (default: {DEFAULT})")
    comparing.add_options(parser)
    parser.add_argument("--quick", action="store_true", help="leave out what is drawn over time, which needs Spark")
    add_master(parser)
    traces.add_choice(parser)


def run(arguments: Namespace) -> int:
    """Write the report. A wrong folder, option or file is refused before anything is computed."""
    from scenarios.runs.dataset.joined import open_data_sets
    from scenarios.whole_files import check_target, save

    target, asked = Path(arguments.out), comparing.asked(arguments)
    check_target(target, "report.html")
    with ExitStack() as folders:
        directories = [folders.enter_context(traces.traced(directory)) for directory in arguments.directories]
        text = _page(arguments, open_data_sets(directories), asked).render()
    save(target, text)
    say(f"written to {target} ({len(text.encode()) / 1e6:.1f} MB); open it in a browser")
    return exits.PASSED


def _page(arguments: Namespace, data_set: DataSet, asked: ComparisonSpec) -> Page:
    """The page of a study, or of the run in a folder of ``run --trace``."""
    from scenarios.runs.dataset.manifest import SINGLE_RUN, read_manifest

    version = commands.version().split()[-1]
    if data_set.manifest.experiment == SINGLE_RUN and len(data_set.folders) == 1:
        for option, _value in comparing.given(arguments):
            raise BadInput(
                "is about the runs of a sweep, and this is the folder of one run; leave it out", where=option
            )
        from scenarios.studies.likely.kept_likelihood import kept_likelihood
        from scenarios.studies.report.run.recorded import read_recorded
        from scenarios.studies.report.run.run_page import run_page

        run = traces.choose(data_set, arguments)
        recorded = read_recorded(data_set, run.row["run_id"])
        likely = kept_likelihood(data_set.folders[0].root, run.row["seed"])
        return run_page(recorded, again=_again(arguments), version=version, likely=likely)
    for option, value in _chosen(arguments):
        raise BadInput(
            f"chooses among the runs of run --trace; a sweep has no events to show {value} by: run that one again with "
            "--trace, or leave this out", where=option,
        )  # fmt: skip

    from scenarios.studies.report.compared import Origin, compared_page

    origin = Origin(
        files={str(folder.root): read_manifest(folder.root).file for folder in data_set.folders},
        seeds=data_set.manifest.seeds,
        arms=data_set.manifest.arms,
        where=asked.where,
        command=_again(arguments),
        spark=not arguments.quick,
        version=version,
    )
    return compared_page(*_computed(arguments, data_set, asked), origin)


def _computed(arguments: Namespace, data_set: DataSet, asked: ComparisonSpec) -> tuple[Comparison, list[Series]]:
    """The comparison, and, unless it is to be quick, the series over time."""
    if not arguments.quick:
        comparing.prepare_spark("report", data_set, asked, "what is drawn over time")

    from scenarios.studies.statistics.of_data_set import compare_data_set
    from scenarios.studies.statistics.own_figures import own_figures

    comparison = compare_data_set(data_set, own_figures(data_set), asked=asked)
    if arguments.quick:
        return comparison, []

    from scenarios.studies.report.over_time import series
    from scenarios.studies.spark.compare import session_for

    with session_for(data_set, arguments.master) as spark:
        return comparison, series(spark, data_set, comparison)


def _again(arguments: Namespace) -> str:
    """The command line that makes this page."""
    words = ["understudy", "report", *arguments.directories, "-o", arguments.out]
    words += [word for pair in (*comparing.given(arguments), *_chosen(arguments)) for word in pair]
    return shlex.join([*words, "--quick"] if arguments.quick else words)


def _chosen(arguments: Namespace) -> Iterator[tuple[str, str]]:
    """The options that choose among the runs of a folder, with their values."""
    for option, value in (
        ("--run", arguments.run_id), ("--seed", arguments.seed), ("--strategy", arguments.strategy),
    ):  # fmt: skip
        if value is not None:
            yield option, str(value)
