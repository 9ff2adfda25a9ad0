"""``metrics TRACE``: the brokers' metrics, at a moment of a run in Prometheus' text format, or over the whole run as
OpenMetrics with timestamps."""

from __future__ import annotations

from argparse import Namespace
from datetime import UTC, datetime
from typing import Any

from scenarios.cli import exits, options, traces
from scenarios.cli.output import say
from scenarios.cli.parser import Program
from scenarios.errors import BadInput

DEFAULT_START = "2020-01-01T00:00:00Z"


def add(program: Program) -> None:
    parser = program.command(
        "metrics", run, "show the brokers' metrics at a moment of a run, in Prometheus' text format"
    )
    traces.add_moment(parser)
    parser.add_argument(
        "--node", metavar="N", type=options.whole("--node", 0), help="only this broker's metrics (default: all brokers)"
    )
    parser.add_argument(
        "--every",
        dest="every_us",
        metavar="D",
        type=options.duration("--every"),
        help="the whole run as OpenMetrics with timestamps, a sample each D of virtual time, for Grafana: "
        "promtool tsdb create-blocks-from openmetrics FILE",
    )
    parser.add_argument(
        "--start",
        dest="epoch_s",
        metavar="TIME",
        type=_unix_time,
        help=f"with --every: the date and time at which the run begins (default: {DEFAULT_START})",
    )
    traces.add_choice(parser)


def run(arguments: Namespace) -> int:
    _check(arguments)

    from scenarios.observe.exposition import ShownMetrics, series, text
    from scenarios.profiles import PROFILES
    from scenarios.wire.released_versions import error_names, versions_of_requests

    recorded = traces.read(arguments)
    events = recorded.events
    at_us = traces.moment_us(arguments, events[-1].t_us)
    brokers = _brokers(events)
    if arguments.node is not None and arguments.node not in brokers:
        known = ", ".join(map(str, sorted(brokers)))
        raise BadInput(f"there is no broker {arguments.node}; the run has {known}", where="--node")
    profile = PROFILES[recorded.profile]
    lacks = profile.policies.brokers.lacks_metrics
    shown = ShownMetrics(lacks, versions_of_requests(profile.release), error_names(profile.release))
    if arguments.every_us is None:
        shown.see(events, at_us)
        lines = text(shown, at_us, arguments.node)
    else:
        epoch_s = _unix_time(DEFAULT_START) if arguments.epoch_s is None else arguments.epoch_s
        lines = series(shown, events, arguments.every_us, epoch_s, arguments.node)
    for line in lines:
        say(line)
    return exits.PASSED


def _unix_time(text: str) -> int:
    """A date and time in ISO 8601, UTC where it names no zone, as seconds since 1970."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(f"{text!r} is no date and time; write one such as {DEFAULT_START}", where="--start") from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())


def _check(arguments: Namespace) -> None:
    if arguments.every_us is not None and arguments.at_us is not None:
        raise BadInput("cannot be combined with --every; leave one out", where="--at")
    if arguments.epoch_s is not None and arguments.every_us is None:
        raise BadInput("dates the samples of --every; write that too", where="--start")
    if arguments.every_us == 0:
        raise BadInput("is 0; write how far apart the samples are, such as 5s", where="--every")


def _brokers(events: list[Any]) -> set[int]:
    from emulator.protocol.events import NodeStarted

    return {event.node for event in events if isinstance(event, NodeStarted) and event.node >= 0}
