"""``metrics TRACE``: the brokers' metrics at a moment of a run, in Prometheus' text format."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from scenarios.cli import exits, options, traces
from scenarios.cli.output import say
from scenarios.cli.parser import Program
from scenarios.errors import BadInput


def add(program: Program) -> None:
    parser = program.command(
        "metrics", run, "show the brokers' metrics at a moment of a run, in Prometheus' text format"
    )
    parser.add_argument("trace", metavar="TRACE", help="the folder of run --trace")
    parser.add_argument(
        "--at",
        dest="at_us",
        metavar="T",
        type=options.duration("--at"),
        help="virtual time, such as 90s (default: the end of the run)",
    )
    parser.add_argument(
        "--node", metavar="N", type=options.whole("--node", 0), help="only this broker's metrics (default: all brokers)"
    )
    traces.add_choice(parser)


def run(arguments: Namespace) -> int:
    from scenarios.observe.exposition import Shown, text
    from scenarios.profiles import PROFILES

    recorded = traces.read(arguments)
    events = recorded.events
    end_us = events[-1].t_us
    at_us = end_us if arguments.at_us is None else arguments.at_us
    if at_us > end_us:
        raise BadInput(f"the run ended at {end_us / 1e6:g} s; ask for a moment up to then", where="--at")
    brokers = _brokers(events)
    if arguments.node is not None and arguments.node not in brokers:
        known = ", ".join(map(str, sorted(brokers)))
        raise BadInput(f"there is no broker {arguments.node}; the run has {known}", where="--node")
    shown = Shown(PROFILES[recorded.profile].policies.brokers.lacks_metrics)
    shown.see(events, at_us)
    for line in text(shown, at_us, arguments.node):
        say(line)
    return exits.PASSED


def _brokers(events: list[Any]) -> set[int]:
    from emulator.protocol.events import NodeStarted

    return {event.node for event in events if isinstance(event, NodeStarted) and event.node >= 0}
