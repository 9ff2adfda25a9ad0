"""``forecast FILE``: what a plan moves, whether it ends under a throttle, and when."""

from __future__ import annotations

import json
import shlex
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios import whole_files
from scenarios.cli import exits, options, output
from scenarios.cli.output import say, show, table
from scenarios.cli.parser import Program
from scenarios.errors import BadInput
from scenarios.units import format_rate

if TYPE_CHECKING:
    from scenarios.forecasting.arithmetic import Forecast
    from scenarios.forecasting.trials import TriedArm
    from scenarios.language import Plan, Scenario

NO_THROTTLE = "none"
SEEDS = 3
UNASKED_S = 120.0
"""The CPU time of runs without ``--seeds``, at most."""


def add(program: Program) -> None:
    parser = program.command(
        "forecast",
        run,
        "say how long a plan takes under some throttles and strategies, and which of them never end",
        epilog="docs/use/forecast.md says what is computed, and how far off it was.",
    )
    options.add_file(parser)
    parser.add_argument(
        "--plan", metavar="FILE", help="a reassignment JSON of Kafka's tools, in the place of the scenario's plan"
    )
    parser.add_argument(
        "--throttle",
        metavar="A,B,C",
        type=throttles,
        help="rates to compare, such as 50MB/s,100MB/s,none (default: the scenario's)",
    )
    options.add_strategies(parser, "a strategy to compare (list strategies); repeatable (default: the scenario's)")
    parser.add_argument("--arithmetic", action="store_true", help="compute only, and run nothing")
    parser.add_argument(
        "--seeds", metavar="N", type=options.whole("--seeds", 1, 1000),
        help=f"run each N times, with seeds from 0 (default: {SEEDS}, if all runs take about two minutes at most)",
    )  # fmt: skip
    options.add_jobs(parser, "share the runs")
    parser.add_argument("--page", metavar="FILE", help="write the forecast as an HTML page there")
    options.add_profile(parser)
    options.add_changes(parser)
    options.add_format(parser)


def throttles(text: str) -> tuple[int | None, ...]:
    """The rates of ``--throttle``; ``none`` is no throttle. Raises: BadInput."""
    found: list[int | None] = []
    for word in text.split(","):
        try:
            found.append(None if word.strip() == NO_THROTTLE else options.throttle(word))
        except BadInput as error:
            raise BadInput(f"{error.what}, or none", where=error.where) from None
    return tuple(dict.fromkeys(found))


def run(arguments: Namespace) -> int:
    from scenarios.forecasting.arithmetic import forecast

    if arguments.arithmetic and arguments.seeds is not None:
        raise BadInput("is for runs, and --arithmetic makes none; leave one out", where="--seeds")
    if arguments.page is not None:
        whole_files.check_target(Path(arguments.page), "forecast.html")
    scenario, plan = _asked(arguments)
    found = forecast(scenario, plan, arguments.throttle or (), arguments.strategies)
    if arguments.format != "json":
        for line in _computed(found, arguments.quiet):
            say(line)
        show()
    tried = () if arguments.arithmetic else _tried(arguments, scenario, plan, found)
    if arguments.format == "json":
        say(json.dumps({**found.to_json(), "trials": [one.to_json() for one in tried]}, ensure_ascii=False))
    elif tried:
        for line in _shown(tried):
            say(line)
    if arguments.page is not None:
        _write_page(arguments, found, tried)
    return exits.PASSED


def _computed(found: Forecast, quiet: bool) -> Iterator[str]:
    from scenarios.forecasting import forecast_words as words

    if not quiet:
        yield found.title
        yield words.what_moves(found)
        yield ""
        yield from table(list(words.broker_rows(found)))
        yield ""
    yield from table(list(words.outlook_rows(found.outlooks)))
    yield from words.lines(found)


def _shown(tried: Sequence[TriedArm]) -> Iterator[str]:
    from scenarios.forecasting import forecast_words as words

    yield ""
    yield words.about_trials(tried)
    yield from table(list(words.trial_rows(tried)))


def _tried(arguments: Namespace, scenario: Scenario, plan: Plan, found: Forecast) -> Sequence[TriedArm]:
    """The runs of what ends by arithmetic. Without ``--seeds`` they are made only where they do not take long."""
    from scenarios.forecasting.cpu_cost import cost_of
    from scenarios.forecasting.trials import trials, variants
    from scenarios.progress import Progress, words
    from scenarios.runs.batch import local_workers

    seeds = range(arguments.seeds or SEEDS)
    costs = [cost_of(one, precise=True) for one in variants(scenario, plan, found)]
    cpu_s = len(seeds) * sum(cost.cpu_s for cost in costs if cost is not None)
    if arguments.seeds is None and cpu_s > UNASKED_S:
        output.told(f"forecast: no runs, as they would take about {words(cpu_s)} of CPU; --seeds {SEEDS} makes them")
        return ()
    runs = len(costs) * len(seeds)
    output.progress(f"forecast: {runs} runs, about {words(cpu_s)} of CPU")
    progress = Progress("forecast", output.progress, runs)
    workers = local_workers(min(arguments.jobs, max(1, runs)))
    return trials(
        scenario, plan, found, seeds, workers, lambda done, all_: progress.report(done, f"{done} of {all_} runs")
    )


def _write_page(arguments: Namespace, found: Forecast, tried: Sequence[TriedArm]) -> None:
    from scenarios.cli import commands
    from scenarios.studies.report.forecast_page import forecast_page

    text = forecast_page(found, tried, _again(arguments), commands.version().split()[-1]).render()
    whole_files.save(Path(arguments.page), text)
    output.told(f"written to {arguments.page} ({len(text.encode()) / 1e6:.1f} MB); open it in a browser")


def _again(arguments: Namespace) -> str:
    """The command line that makes the page again."""
    words = ["understudy", "forecast", arguments.file]
    if arguments.plan is not None:
        words += ["--plan", arguments.plan]
    if arguments.throttle is not None:
        rates = (NO_THROTTLE if rate is None else format_rate(rate) for rate in arguments.throttle)
        words += ["--throttle", ",".join(rates)]
    words += [word for name in arguments.strategies for word in ("--strategy", name)]
    words += ["--seeds", str(arguments.seeds)] if arguments.seeds is not None else []
    words += ["--arithmetic"] if arguments.arithmetic else []
    words += ["--profile", arguments.profile] if arguments.profile is not None else []
    words += [word for key, value in arguments.changes for word in ("--set", f"{key}={value}")]
    return shlex.join([*words, "--page", arguments.page])


def _asked(arguments: Namespace) -> tuple[Scenario, Plan]:
    """The scenario and the plan that the command line names. Raises: BadInput."""
    from scenarios.cli.commands.plan import first_plan
    from scenarios.forecasting.variants import read_plan, with_plan
    from scenarios.language.files import load

    scenario = load(arguments.file, arguments.changes).for_run(profile=arguments.profile)
    if arguments.plan is not None:
        scenario = with_plan(scenario, read_plan(arguments.plan), arguments.plan)
    return scenario, first_plan(scenario)
