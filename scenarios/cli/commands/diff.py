"""``diff RUN RUN``: the first event at which two recorded runs differ, and the first differences of their partitions'
states."""

from __future__ import annotations

import json
from argparse import Namespace

from scenarios.cli import exits, options, traces
from scenarios.cli.output import say
from scenarios.cli.parser import Program


def add(program: Program) -> None:
    parser = program.command("diff", run, "show where two runs part; the exit code is 0 if they are equal and 1 if not")
    for name, which in (("first", "one run"), ("second", "the other run")):
        parser.add_argument(name, metavar="RUN", help=f"the folder of run --trace that holds {which}")
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from scenarios.observe.timeline.divergence import divergence

    found = divergence(traces.read_only(arguments.first).events, traces.read_only(arguments.second).events)
    if arguments.format == "json":
        say(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        for line in found.lines():
            say(line)
    return exits.PASSED if found.index is None else exits.FAILED
