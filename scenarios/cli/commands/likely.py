"""``likely RUN|FILE``: at which moment of a failing run its finding became likely, and with which entry or event."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from scenarios.cli import exits, options, output
from scenarios.cli.output import say
from scenarios.cli.parser import Program
from scenarios.units import counted

BRANCHES, POINTS = 50, 20


def add(program: Program) -> None:
    parser = program.command("likely", run, "show when a finding became likely: continuations from growing instants")
    options.add_failing_run(parser, "it is about")
    parser.add_argument(
        "--branches",
        metavar="N",
        type=options.whole("--branches", 2, 10_000),
        default=BRANCHES,
        help=f"the number of continuations from each instant (default: {BRANCHES})",
    )
    parser.add_argument(
        "--points",
        metavar="N",
        type=options.whole("--points", 2, 1_000),
        default=POINTS,
        help=f"the most instants (default: {POINTS})",
    )
    options.add_jobs(parser, "share the continuations", every_processor=True)
    options.add_profile(parser)
    options.add_bugs(parser)
    options.add_changes(parser)
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    """Continue the run from growing instants. A run that does not fail is refused."""
    from scenarios.chaos.draw import concrete
    from scenarios.cli.failing import chosen_finding, failing_scenario
    from scenarios.progress import Progress
    from scenarios.runs.batch import kept_workers
    from scenarios.studies.likely.kept_likelihood import as_json, keep
    from scenarios.studies.likely.likelihood import Original, Point, likelihood
    from scenarios.studies.likely.likely_words import lines

    asked = failing_scenario(arguments, "look at")
    finding = chosen_finding(concrete(asked, asked.seed), arguments.finding, "look at")
    progress, points = Progress("likely", output.progress, arguments.points, about="at most"), []

    def told(point: Point) -> None:
        points.append(point)
        progress.report_seldom(len(points), lambda _: counted(len(points), "instants"))

    with kept_workers(arguments.jobs) as workers:
        found = likelihood(Original.of(asked, finding), arguments.branches, arguments.points, workers, told)
    kept = as_json(found, asked.seed)
    if arguments.format == "json":
        say(json.dumps(kept))
    else:
        for line in lines(kept):
            say(line)
    folder = Path(arguments.file)
    if folder.is_dir():
        keep(folder, kept)
        if arguments.format == "text":
            say(f"kept for the page of the run: understudy report {folder}")
    return exits.PASSED
