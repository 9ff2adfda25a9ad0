"""``timeline TRACE [PARTITION]``: what happened, event by event, read from a folder of ``run --trace``."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from scenarios.cli import exits, options, traces
from scenarios.cli.output import say
from scenarios.cli.parser import Program
from scenarios.errors import BadInput

DEFAULT_WINDOW_US = 2_000_000


def add(program: Program) -> None:
    parser = program.command("timeline", run, "show what happened in a run, in one partition or in the cluster")
    parser.add_argument("trace", metavar="TRACE", help="the folder of run --trace, of a sweep or of serve --record")
    parser.add_argument(
        "partition", metavar="PARTITION", nargs="?", help="a partition such as orders-0 (default: the whole cluster)"
    )
    parser.add_argument(
        "--from",
        dest="from_us",
        metavar="T",
        type=options.duration("--from"),
        help="virtual time, such as 5s",
    )
    parser.add_argument(
        "--to", dest="to_us", metavar="T", type=options.duration("--to"), help="virtual time, such as 90s"
    )
    parser.add_argument(
        "--fault",
        metavar="N",
        type=options.whole("--fault", 1),
        help="only around the N-th fault or other action of the scenario",
    )
    parser.add_argument(
        "--window",
        metavar="D",
        type=options.duration("--window"),
        default=DEFAULT_WINDOW_US,
        help="how long before and after --fault (default: 2s)",
    )
    options.add_format(parser, "text, or json: one object per event and line")
    traces.add_choice(parser)


def run(arguments: Namespace) -> int:
    events = traces.read(arguments).events
    from_us, to_us = _window(arguments, events)
    if arguments.format == "json":
        for line in _json_lines(events, arguments.partition, from_us, to_us):
            say(line)
        return exits.PASSED

    from scenarios.observe.timeline.timeline import lines

    if arguments.fault is not None:
        _say_state(arguments.fault, events)
    for line in lines(events, arguments.partition, from_us=from_us, to_us=to_us):
        say(line)
    return exits.PASSED


def _json_lines(events: Sequence[Any], partition: str | None, from_us: int | None, to_us: int | None) -> Iterator[str]:
    """An object for each event: the columns of the table ``events``, with the event in words as ``text``."""
    from scenarios.observe.timeline.timeline import shown
    from scenarios.observe.timeline.words import words
    from scenarios.runs.dataset.events import event_row

    for event in shown(events, partition, from_us, to_us):
        row = event_row(event)._asdict()
        yield json.dumps({**row, "fields": json.loads(row["fields"]), "text": words(event)}, ensure_ascii=False)


def _window(arguments: Namespace, events: Sequence[Any]) -> tuple[int | None, int | None]:
    """The first and the last time of the lines, in microseconds."""
    from_us, to_us = arguments.from_us, arguments.to_us
    if arguments.fault is not None:
        if from_us is not None or to_us is not None:
            raise BadInput("cannot be combined with --from and --to; leave one out", where="--fault")
        fault = traces.fault(arguments.fault, events)
        return max(0, fault.t_us - arguments.window), fault.t_us + arguments.window
    if from_us is not None and to_us is not None and to_us < from_us:
        raise BadInput("ends before --from begins; exchange them", where="--to")
    if from_us is not None:
        traces.check_moment("--from", from_us, events[-1].t_us)
    return from_us, to_us


def _say_state(number: int, events: Sequence[Any]) -> None:
    """Print the state just before the fault, above its consequences."""
    from scenarios.observe.timeline.moment import before
    from scenarios.observe.timeline.moment_words import lines

    for line in lines(before(events, traces.fault(number, events).seq), partitions=False):
        say(line)
    say()
