"""``state TRACE``: the state of the cluster at a moment of a run, read from a folder of ``run --trace``."""

from __future__ import annotations

import json
from argparse import Namespace

from scenarios.cli import exits, options, traces
from scenarios.cli.output import say
from scenarios.cli.parser import Program
from scenarios.errors import BadInput


def add(program: Program) -> None:
    parser = program.command(
        "state", run, "show the cluster at a moment of a run: controller, moves and their steps, leaders, what is cut"
    )
    traces.add_moment(parser)
    parser.add_argument(
        "--fault",
        metavar="N",
        type=options.whole("--fault", 1),
        help="instead of --at: just before the N-th fault or other action of the scenario",
    )
    options.add_format(parser)
    traces.add_choice(parser)


def run(arguments: Namespace) -> int:
    if arguments.at_us is not None and arguments.fault is not None:
        raise BadInput("cannot be combined with --at; leave one out", where="--fault")
    events = traces.columns(arguments).events

    from scenarios.observe.timeline.moment import at
    from scenarios.observe.timeline.moment_words import lines

    with traces.known_events(arguments.trace):
        if arguments.fault is not None:
            fault = traces.fault(arguments.fault, events.control)
            at_us, happened = fault.t_us, events.before(fault.seq)
        else:
            at_us = traces.moment_us(arguments, events.end_us)
            happened = events.up_to(at_us)
        moment = at(happened.events, at_us, happened.appended())
    if arguments.format == "json":
        say(json.dumps(moment.to_json()))
    else:
        for line in lines(moment):
            say(line)
    return exits.PASSED
