"""``sweep FILE``: every combination of strategy, profile and values over every seed, the runs as Spark tasks, into one
data set."""

from __future__ import annotations

from argparse import Namespace

from scenarios.cli import exits, options, output
from scenarios.cli.output import say
from scenarios.cli.parser import Program


def add(program: Program) -> None:
    parser = program.command("sweep", run, "run strategies over many seeds on Spark and write a data set for compare")
    options.add_file(parser)
    parser.add_argument(
        "--seeds",
        metavar="A:B",
        type=options.seeds,
        help=f"{options.SEEDS_HELP} (default: those of the file's [study])",
    )
    options.add_strategies(
        parser,
        "a strategy to run (list strategies); repeatable: compare compares the others with the first "
        "(default: those of [study], else the scenario's own)",
    )
    parser.add_argument(
        "--profile",
        dest="profiles",
        metavar="P",
        type=options.profile,
        action="append",
        help="a Kafka release to behave like (list profiles); repeatable",
    )
    parser.add_argument(
        "--grid",
        metavar="KEY=A,B",
        type=options.axis,
        action="append",
        default=[],
        help="a key of the scenario and its values, as in --grid strategy.throttle=10MB/s,20MB/s; repeatable: every "
        "combination is run",
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
    options.add_changes(parser)


def run(arguments: Namespace) -> int:
    """Sweep. The whole design is checked before anything is started or written."""
    from scenarios.language.files import load
    from scenarios.studies.design import Axis, Design

    scenario = load(arguments.file, arguments.changes)
    design = Design.of(
        scenario,
        seeds=arguments.seeds or (),
        strategies=arguments.strategies or (),
        profiles=arguments.profiles or (),
        grid=[Axis(key, values) for key, values in arguments.grid],
    )

    from scenarios.studies.java import ensure_java

    ensure_java()
    from scenarios.studies.spark.sweep import sweep

    swept = sweep(
        design,
        arguments.out,
        master=arguments.master,
        experiment=arguments.experiment,
        progress=output.progress,
    )
    before = f", {swept.skipped} were there" if swept.skipped else ""
    say(f"{swept.runs} runs written to {swept.root}{before}; next: understudy compare {arguments.out}")
    if not swept.failures:
        return exits.PASSED
    first = swept.failures[0]
    output.note(
        f"understudy: {len(swept.failures)} of {swept.runs} runs failed, the first is {first.item.arm.name} with seed "
        f"{first.item.seed}: {first.what}; see {swept.errors}"
    )
    return exits.TOOL_FAILED
