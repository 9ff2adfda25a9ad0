"""``run FILE``: one run, or one per seed, or the same run twice to check that it is deterministic (``--check``)."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.cli import exits, options, output
from scenarios.cli.output import say
from scenarios.cli.parser import Program
from scenarios.errors import BadInput

if TYPE_CHECKING:
    from scenarios.language import Scenario


def add(program: Program) -> None:
    parser = program.command("run", run, "run a scenario on an emulated cluster and judge the outcome")
    options.add_file(parser)
    parser.add_argument("--seed", metavar="N", type=options.whole("--seed", 0), help="the seed of all random draws")
    parser.add_argument("--seeds", metavar="A:B", type=options.seeds, help=f"one run per seed: {options.SEEDS_HELP}")
    options.add_jobs(parser, "share the seeds")
    options.add_strategy(parser)
    options.add_profile(parser)
    options.add_bugs(parser)
    options.add_schedule(parser)
    options.add_sampled(parser)
    options.add_changes(parser)
    parser.add_argument(
        "--trace",
        metavar="DIR",
        help="write the run's tables there, for timeline and metrics, over those of an earlier run of the same file; "
        "with --seeds one folder per seed",
    )
    parser.add_argument(
        "--plan-out", metavar="FILE", help="write the plan there, as kafka-reassign-partitions.sh reads it"
    )
    parser.add_argument(
        "--without", metavar="TICKET", type=options.ticket, help="run again as since the fix of a ticket, and compare"
    )
    options.add_against_specification(parser)
    parser.add_argument("--check", action="store_true", help="run twice, in two processes, and compare event by event")
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    """Run. Wrong options are refused before anything runs or is written."""
    from scenarios.language.fidelity import SAMPLED
    from scenarios.language.files import load

    if arguments.seed is not None and arguments.seeds is not None:
        raise BadInput("cannot be combined with --seeds; leave one out", where="--seed")
    if arguments.jobs > 1 and arguments.seeds is None:
        raise BadInput("shares out the runs of --seeds; name some, such as 0:20", where="--jobs")
    if arguments.check and (arguments.trace or arguments.seeds is not None):
        other = "--trace" if arguments.trace else "--seeds"
        raise BadInput(f"looks at one run and writes none; leave out {other}", where="--check")
    if arguments.without and (arguments.trace or arguments.seeds is not None or arguments.check):
        other = "--trace" if arguments.trace else "--check" if arguments.check else "--seeds"
        raise BadInput(f"compares two runs of one seed and writes none; leave out {other}", where="--without")
    if arguments.against_specification and (arguments.without or arguments.seeds is not None or arguments.check):
        other = "--without" if arguments.without else "--check" if arguments.check else "--seeds"
        raise BadInput(f"looks at one run; leave out {other}", where="--against-specification")
    arguments.changes = options.changes(arguments)
    if arguments.schedule:
        arguments.changes.append(("schedule", arguments.schedule))
    if arguments.sampled:
        arguments.changes.append(("fidelity", SAMPLED))
    scenario = load(arguments.file, arguments.changes)
    asked = scenario.for_run(seed=arguments.seed, strategy=arguments.strategy, profile=arguments.profile)
    if arguments.plan_out:
        from scenarios.cli.commands.plan import first_plan, save

        save(arguments.plan_out, first_plan(asked), "--plan-out")
        output.told(f"plan written to {arguments.plan_out}")
    if arguments.without:
        return _run_without(asked, arguments)
    if arguments.check:
        from scenarios.cli.check import check

        return check(asked, as_json=arguments.format == "json")
    if arguments.seeds is not None:
        from scenarios.cli.many import run_seeds

        return run_seeds(scenario, arguments)
    return _run_once(scenario, arguments)


def _run_without(scenario: Scenario, arguments: Namespace) -> int:
    from scenarios.profiles.tickets import TICKETS
    from scenarios.runs.counterfactual import without

    try:
        compared = without(scenario, TICKETS[arguments.without])
    except ValueError as error:
        raise BadInput(str(error), where="--without") from None
    if arguments.format == "json":
        say(json.dumps(compared.to_json(), ensure_ascii=False))
    else:
        for line in compared.lines():
            say(line)
    return exits.FAILED if set(compared.shown) & set(compared.stay) else exits.PASSED


def _tell_cost(scenario: Scenario) -> None:
    """Tell the person what the run will cost, where that is much."""
    from scenarios.forecasting.cpu_cost import cost_of, in_words

    cost = cost_of(scenario)
    if cost is not None and cost.worth_saying:
        output.told(f"run: {in_words(cost)}; understudy validate says what makes it cheaper")


# run_scenario takes the scenario as it was read, and the seed, strategy and profile apart from it: both make up the
# identity of the run, and its replay command names the options.
def _run_once(scenario: Scenario, arguments: Namespace) -> int:
    from scenarios.cli.report import report, verdict
    from scenarios.progress import Progress
    from scenarios.runs import run_scenario

    _tell_cost(scenario.for_run(seed=arguments.seed, strategy=arguments.strategy, profile=arguments.profile))
    trace = Path(arguments.trace) if arguments.trace else None
    horizon_us = scenario.horizon_us
    progress = Progress("run", output.progress, horizon_us, about="at most about")

    def show_progress(t_us: int) -> None:
        progress.report_seldom(
            t_us, lambda passed: f"at {t_us / 1e6:.0f} of at most {horizon_us / 1e6:g} virtual s after {passed:.0f} s"
        )

    finished = run_scenario(
        scenario,
        seed=arguments.seed,
        strategy=arguments.strategy,
        profile=arguments.profile,
        trace_dir=trace,
        overwrite=True,
        on_time=show_progress,
        against_specification=arguments.against_specification,
        changes=arguments.changes,
    )
    if arguments.format == "json":
        say(json.dumps(finished.to_json()))
    elif arguments.quiet:
        say(verdict(finished))
    else:
        for line in report(finished, trace):
            say(line)
    return exits.PASSED if finished.passed and not finished.rejections else exits.FAILED
