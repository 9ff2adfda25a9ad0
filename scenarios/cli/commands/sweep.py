"""``sweep FILE``: every strategy over every seed, the runs as Spark tasks, into one data set."""

from __future__ import annotations

from argparse import Namespace

from scenarios.cli import exits, options, output
from scenarios.cli.output import say
from scenarios.cli.parser import Program


def add(program: Program) -> None:
    parser = program.command("sweep", run, "run strategies over many seeds on Spark and write a data set for compare")
    options.add_file(parser)
    parser.add_argument("--seeds", metavar="A:B", type=options.seeds, required=True, help=options.SEEDS_HELP)
    parser.add_argument(
        "--strategy",
        dest="strategies",
        metavar="S",
        type=options.strategy,
        action="append",
        help="a strategy to run (list strategies); repeatable: compare compares the others with the first "
        "(default: the scenario's own)",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        required=True,
        help="the folder of the data set; runs that are in it already are not run again",
    )
    options.add_master(parser)
    parser.add_argument(
        "--experiment", metavar="NAME", default="sweep", help="its name in the data set (default: sweep)"
    )
    options.add_profile(parser)
    options.add_changes(parser)


def run(arguments: Namespace) -> int:
    """Checks the scenario under every strategy before anything is started or written."""
    from scenarios.cli.files import load

    scenario = load(arguments.file, arguments.changes).for_run(profile=arguments.profile)
    strategies = arguments.strategies or [scenario.strategy.name]
    for strategy in strategies:
        scenario.for_run(strategy=strategy)

    from scenarios.studies.java import ensure_java

    ensure_java()
    from scenarios.studies.spark.sweep import sweep

    swept = sweep(
        scenario,
        arguments.seeds,
        strategies,
        arguments.out,
        master=arguments.master,
        experiment=arguments.experiment,
        grid=dict(arguments.changes),
        progress=output.progress,
    )
    before = f", {swept.skipped} were there" if swept.skipped else ""
    say(f"{swept.runs} runs written to {swept.root}{before}; next: understudy compare {arguments.out}")
    return exits.PASSED
