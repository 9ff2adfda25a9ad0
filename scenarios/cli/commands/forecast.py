"""``forecast FILE``: what a plan moves, whether it ends under a throttle, and when."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import TYPE_CHECKING

from scenarios.cli import exits, options
from scenarios.cli.output import say, table
from scenarios.cli.parser import Program
from scenarios.errors import BadInput

if TYPE_CHECKING:
    from scenarios.language import Plan, Scenario

NO_THROTTLE = "none"


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
    parser.add_argument(
        "--strategy",
        dest="strategies",
        metavar="S",
        type=options.strategy,
        action="append",
        default=[],
        help="a strategy to compare (list strategies); repeatable (default: the scenario's)",
    )
    parser.add_argument("--arithmetic", action="store_true", help="compute only, and run nothing")
    options.add_profile(parser)
    options.add_changes(parser)
    options.add_format(parser)


def throttles(text: str) -> tuple[int | None, ...]:
    """The rates of ``--throttle``; ``none`` is no throttle. Raises: BadInput."""
    from scenarios.units import parse_rate

    found: list[int | None] = []
    for word in text.split(","):
        try:
            rate = None if word.strip() == NO_THROTTLE else parse_rate(word)
        except BadInput as error:
            raise BadInput(f"{error.what}, or none", where="--throttle") from None
        if rate == 0:
            raise BadInput("a throttle of nothing lets nothing move; write a rate such as 50MB/s", where="--throttle")
        found.append(rate)
    return tuple(dict.fromkeys(found))


def run(arguments: Namespace) -> int:
    from scenarios.forecasting.arithmetic import forecast

    scenario, plan = _asked(arguments)
    found = forecast(scenario, plan, arguments.throttle or (), arguments.strategies)
    if arguments.format == "json":
        say(json.dumps(found.to_json(), ensure_ascii=False))
        return exits.PASSED
    from scenarios.forecasting import forecast_words as words

    if not arguments.quiet:
        say(found.title)
        say(words.what_moves(found))
        say()
        for line in table(list(words.broker_rows(found))):
            say(line)
        say()
    for line in table(list(words.outlook_rows(found.outlooks))):
        say(line)
    for line in words.lines(found):
        say(line)
    return exits.PASSED


def _asked(arguments: Namespace) -> tuple[Scenario, Plan]:
    """The scenario and the plan that the command line names. Raises: BadInput."""
    from scenarios.cli.commands.plan import first_plan
    from scenarios.forecasting.variants import read_plan, with_plan
    from scenarios.language.files import load

    scenario = load(arguments.file, arguments.changes).for_run(profile=arguments.profile)
    if arguments.plan is not None:
        scenario = with_plan(scenario, read_plan(arguments.plan), arguments.plan)
    return scenario, first_plan(scenario)
